//! Starts, settings that are read again, and what is published and healthy meanwhile.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::common::{file, good, path, run};
use crate::restart::{end, port, signal};
use crate::routers::{announce, bgp, bmp, end_of_rib, router, up};
use crate::{Follow, frame, popfibd};

/// Waits until it is so.
#[track_caller]
fn until(mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(20));
    }
}

fn in_image(image: &str, address: &str) -> String {
    let output = run(&["lookup", "--table", image, address]);
    String::from_utf8(output.stdout).unwrap()
}

fn health(address: SocketAddr) -> String {
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"GET /health HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    let status = &answer["HTTP/1.1 ".len()..][..3];
    format!("{status} {}", answer.rsplit('\n').nth(1).unwrap())
}

#[test]
fn what_is_added_by_reading_settings_again_is_written_but_over_no_other_file() {
    let (one, two) = (path("reload-one.fib"), path("reload-two.fib"));
    let _ = (fs::remove_file(&one), fs::remove_file(&two));
    let input = file("reload.txt", "announce 10.0.0.0/8 east\n");
    let precious = file("reload-precious", "no snapshot\n");
    let socket = Follow::socket("reload");
    let always = format!(
        "socket = {socket:?}\nfpm = \"127.0.0.1:{}\"\nupdates = [{input:?}]\n",
        port()
    );
    let settings = file("reload.toml", format!("{always}publish = {one:?}\n"));
    let mut follow = Follow::of("reload", &["--config", &settings]);
    follow.note("answering on");
    until(|| in_image(&one, "10.1.2.3") == "10.1.2.3\t10.0.0.0/8\teast\n");
    let more = format!("publish = {two:?}\nsnapshot = {precious:?}\nsnapshot-every = 1\n");
    fs::write(&settings, always.clone() + &more).unwrap();
    signal(&follow.child, Signal::HUP);
    assert!(
        follow
            .note("reload-precious")
            .contains("not a snapshot of popfibd")
    );
    follow.note("read again");
    // No route has changed.
    until(|| in_image(&two, "10.1.2.3") == "10.1.2.3\t10.0.0.0/8\teast\n");
    // Another snapshot is written, and read after that.
    let good = path("reload.snapshot");
    let _ = fs::remove_file(&good);
    let more = format!("publish = {two:?}\nsnapshot = {good:?}\nsnapshot-every = 1\n");
    fs::write(&settings, always + &more).unwrap();
    signal(&follow.child, Signal::HUP);
    follow.note("read again");
    until(|| fs::metadata(&good).is_ok());
    signal(&follow.child, Signal::HUP);
    follow.note("read again");
    end(follow);
    assert_eq!(fs::read(&precious).unwrap(), b"no snapshot\n");
    assert!(fs::read_to_string(&good).unwrap().contains("10.0.0.0/8"));
}

#[test]
fn a_signal_to_read_settings_does_not_end_a_process_that_is_starting() {
    let pipe = path("reload-pipe");
    let _ = fs::remove_file(&pipe);
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let socket = Follow::socket("reload-start");
    let text = format!("socket = {socket:?}\nfpm = \"127.0.0.1:0\"\nsnapshot = {pipe:?}\n");
    let settings = file("reload-start.toml", text);
    let mut follow = Follow::of("reload-start", &["--config", &settings]);
    // It reads its snapshot now, since somebody opens this to read.
    let mut snapshot = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    signal(&follow.child, Signal::HUP);
    let text = "# popfibd snapshot 1\n#{\"end\":0}\n";
    snapshot.write_all(text.as_bytes()).unwrap();
    drop(snapshot);
    follow.note("answering on");
    follow.note("read again");
    let _ = fs::remove_file(&pipe);
    end(follow);
}

#[test]
fn a_file_of_updates_may_be_called_like_another_source() {
    for name in ["kernel", "FPM", "BMP 192.0.2.1"] {
        let folder = path("reload-names");
        fs::create_dir_all(&folder).unwrap();
        fs::write(format!("{folder}/{name}"), "announce 10.0.0.0/8 east\n").unwrap();
        let socket = Follow::socket("names");
        let text = format!(
            "socket = {socket:?}\nfpm = \"127.0.0.1:0\"\nbmp = \"127.0.0.1:0\"\nupdates = [{name:?}]\n"
        );
        let settings = file("reload-names.toml", text);
        let settings = fs::canonicalize(settings).unwrap();
        let mut command = popfibd(&["--config"]);
        command.arg(settings).current_dir(folder);
        let mut follow = Follow::by("names", command);
        follow.note("answering on");
        let answer = "10.1.1.1\t10.0.0.0/8\teast\n";
        follow.expect("10.1.1.1\n", answer);
        signal(&follow.child, Signal::HUP);
        follow.note("read again");
        sleep(Duration::from_millis(300));
        assert_eq!(follow.ask("10.1.1.1\n"), answer, "{name}");
        let paths = follow.ask("paths 10.0.0.0/8\n");
        assert!(paths.starts_with(&format!("./{name}\t")), "{paths}");
        end(follow);
    }
}

const ONE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const TWO: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);

/// All of both families.
fn all_sent(peer: Ipv4Addr) -> Vec<u8> {
    let ipv6 = bgp(2, &[0, 0, 0, 6, 0x80, 15, 3, 0, 2, 1]);
    [end_of_rib(peer), bmp(0, peer, &ipv6)].concat()
}

#[test]
fn an_image_is_not_replaced_while_the_table_is_loading() {
    let list = file("reload-image.txt", "10.1.0.0/16 good\n10.2.0.0/16 good\n");
    let image = path("reload-image.fib");
    good(&run(&["compile", "--table", &list, "-o", &image]));
    let before = fs::read(&image).unwrap();
    let args = [
        "--bmp",
        "127.0.0.1:0",
        "--publish",
        &image,
        "--publish-every",
        "20",
    ];
    let mut follow = Follow::start("reload-image", &args);
    let address = follow.connect("BMP on");
    follow.note("answering");
    let first = router(address, &[up(ONE), announce(ONE, 1)]);
    let answer = "10.1.0.0\t10.1.0.0/16\t192.0.2.1 as-path 64500\n";
    follow.expect("10.1.0.0\n", answer);
    sleep(Duration::from_millis(300));
    signal(&follow.child, Signal::TERM);
    follow.note("left as it was, since not all routes had been received");
    follow.child.wait().unwrap();
    drop((first, follow));
    assert_eq!(fs::read(&image).unwrap(), before);

    let mut follow = Follow::start("reload-image", &args);
    let address = follow.connect("BMP on");
    follow.note("answering");
    let _router = router(
        address,
        &[up(ONE), announce(ONE, 1), announce(ONE, 3), all_sent(ONE)],
    );
    until(|| in_image(&image, "10.3.0.0").contains("10.3.0.0/16"));
    end(follow);
}

#[test]
fn what_was_loaded_once_is_never_loading_again() {
    let args = ["--bmp", "127.0.0.1:0", "--http", "127.0.0.1:0"];
    let mut follow = Follow::start("reload-health", &args);
    let address = follow.connect("BMP on");
    let http = follow.connect("HTTP on");
    assert_eq!(health(http), "503 loading");
    let mut first = router(address, &[up(ONE), announce(ONE, 1), all_sent(ONE)]);
    until(|| health(http) == "200 ready");
    // A router that does not say when it has sent all; and many changes.
    let begin = Instant::now();
    let other = router(address, &[up(TWO), announce(TWO, 2)]);
    let mut seen = Vec::new();
    while begin.elapsed() < Duration::from_secs(2) {
        for number in 0..100 {
            first.write_all(&announce(ONE, number)).unwrap();
        }
        let health = health(http);
        assert!(health.starts_with("200 "), "{health}");
        if seen.last() != Some(&health) {
            seen.push(health);
        }
    }
    assert!(seen.contains(&"200 stale".to_owned()), "{seen:?}");
    drop(other);
    until(|| health(http) == "200 stale");
    let _again = router(address, &[up(TWO), announce(TWO, 2)]);
    for _ in 0..20 {
        let health = health(http);
        assert!(health.starts_with("200 "), "{health}");
    }
}

#[test]
fn the_table_of_a_source_that_is_removed_is_not_the_default() {
    let image = path("reload-default.fib");
    let socket = Follow::socket("reload-default");
    let (fpm, bmp) = (port(), port());
    let always = format!(
        "socket = {socket:?}\nbmp = \"127.0.0.1:{bmp}\"\npublish = {image:?}\npublish-every = 20\n"
    );
    let both = format!("{always}fpm = \"127.0.0.1:{fpm}\"\n");
    let _ = fs::remove_file(&image);
    let settings = file("reload-default.toml", both);
    let mut follow = Follow::of("reload-default", &["--config", &settings]);
    follow.note("answering on");
    let address = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
    let _router = router(address(bmp), &[up(ONE), announce(ONE, 1), all_sent(ONE)]);
    let mut frr = TcpStream::connect(address(fpm)).unwrap();
    frr.write_all(&frame(1, true)).unwrap();
    let main = "10.1.2.3\t10.1.0.0/16\t192.0.2.1\n";
    let pre_policy = "10.1.2.3\t10.1.0.0/16\t192.0.2.1 as-path 64500\n";
    follow.expect("10.1.2.3\n", main);
    until(|| in_image(&image, "10.1.2.3") == main);
    fs::write(&settings, always).unwrap();
    signal(&follow.child, Signal::HUP);
    follow.note("read again");
    until(|| in_image(&image, "10.1.2.3") == pre_policy);
    assert_eq!(follow.ask("10.1.2.3\n"), pre_policy);
    end(follow);
    assert_eq!(in_image(&image, "10.1.2.3"), pre_policy);
}
