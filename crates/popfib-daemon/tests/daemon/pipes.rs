//! Pipes of updates whose writers take their time.

use std::fs;
use std::io::Write;
use std::net::Ipv4Addr;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;

use crate::common::{good, path, run};
use crate::restart::{end, signal};
use crate::routers::{announce, bmp, router, up};
use crate::{Follow, popfibd};

fn named_pipe(name: &str) -> String {
    let pipe = path(name);
    let _ = fs::remove_file(&pipe);
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    pipe
}

#[test]
fn a_named_pipe_without_a_writer_makes_nobody_wait() {
    const PEER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
    let pipe = named_pipe("pipe-of-updates");
    let options = ["--updates", &pipe, "--bmp", "127.0.0.1:0"];
    let mut follow = Follow::start("pipe", &options);
    let address = follow.connect("BMP on");
    follow.note("answering");
    let mut router = router(address, &[up(PEER), announce(PEER, 1)]);
    let answer = "10.1.0.0\t10.1.0.0/16\t192.0.2.1 as-path 64500\n";
    follow.expect("10.1.0.0\n", answer);
    router.write_all(&bmp(2, PEER, &[4])).unwrap();
    follow.expect("10.1.0.0\n", "10.1.0.0\t-\t-\n");
    // A writer comes at last.
    fs::write(&pipe, "announce 10.2.0.0/16 east\n").unwrap();
    let both = "ok\n10.2.0.0\t10.2.0.0/16\teast\n";
    follow.expect("table main\n10.2.0.0\n", both);
    end(follow);
    // Nobody has opened this one when the command ends.
    end(Follow::start("pipe-alone", &options[..2]));
    fs::remove_file(&pipe).unwrap();
}

#[test]
fn the_first_write_to_a_pipe_may_end_anywhere() {
    let image = path("first-write.fib");
    let line = "announce 10.0.0.0/8 east\n";
    let whole = |first| (first, line);
    let part = |length| line.split_at(length);
    let writes = [
        part(1),
        part(3),
        part(8),
        whole("# a comment first\n"),
        whole("\n"),
        ("# a", "\nannounce 10.0.0.0/8 east\n"),
    ];
    for (first, rest) in writes {
        let mut command = popfibd(&["--updates", "-", "--publish", &image]);
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut follow = command.spawn().unwrap();
        let mut input = follow.stdin.take().unwrap();
        input.write_all(first.as_bytes()).unwrap();
        sleep(Duration::from_millis(100));
        input.write_all(rest.as_bytes()).unwrap();
        drop(input);
        assert_eq!(good(&follow.wait_with_output().unwrap()), "", "{first:?}");
        let answer = run(&["lookup", "--table", &image, "10.1.0.1"]);
        assert_eq!(good(&answer), "10.1.0.1\t10.0.0.0/8\teast\n", "{first:?}");
        fs::remove_file(&image).unwrap();
    }
}

#[test]
fn lost_routes_leave_and_the_process_ends_while_the_image_waits_for_its_disk() {
    const PEER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
    // Opening it to see whether it is an image waits for a writer.
    let pipe = named_pipe("pipe-image");
    let options = ["--publish", &pipe, "--bmp", "127.0.0.1:0"];
    let mut follow = Follow::start("pipe-image", &options);
    let address = follow.connect("BMP on");
    follow.note("answering");
    let mut router = router(address, &[up(PEER), announce(PEER, 1)]);
    let answer = "10.1.0.0\t10.1.0.0/16\t192.0.2.1 as-path 64500\n";
    follow.expect("10.1.0.0\n", answer);
    sleep(Duration::from_millis(1200));
    router.write_all(&bmp(2, PEER, &[4])).unwrap();
    follow.expect("10.1.0.0\n", "10.1.0.0\t-\t-\n");
    // The process ends all the same.
    signal(&follow.child, Signal::TERM);
    follow.note("takes too long");
    assert_eq!(follow.child.wait().unwrap().signal(), Some(15));
    fs::remove_file(&pipe).unwrap();
}
