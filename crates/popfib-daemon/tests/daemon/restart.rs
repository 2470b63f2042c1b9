//! Snapshots, and settings that are read again.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::small_disk::SmallDisk;
use crate::common::{bad, file, good, run};
use crate::{Follow, frame, run_daemon};

const BOTH: &str = "10.1.2.3\n10.2.0.0\n";

pub(super) fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

pub(super) fn end(mut follow: Follow) {
    signal(&follow.child, Signal::TERM);
    assert_eq!(follow.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_restart_answers_at_once_and_sources_confirm_or_take_back() {
    let path = crate::common::path("follow.snapshot");
    let args = ["--fpm", "127.0.0.1:0", "--idle", "1", "--snapshot", &path];
    let mut follow = Follow::start("snapshot", &args);
    let mut router = TcpStream::connect(follow.connect("FPM on")).unwrap();
    let routes = [frame(1, true), frame(2, true)].concat();
    router.write_all(&routes).unwrap();
    follow.note("answering");
    let both = "10.1.2.3\t10.1.0.0/16\t192.0.2.1\n10.2.0.0\t10.2.0.0/16\t192.0.2.1\n";
    follow.expect(BOTH, both);
    end(follow);
    // It is a table, too.
    let listed = run(&["lookup", "--table", &path, "10.1.2.3"]);
    assert_eq!(good(&listed), "10.1.2.3\t10.1.0.0/16\t192.0.2.1\n");

    let mut follow = Follow::start(
        "snapshot",
        &[&args[..], &["--http", "127.0.0.1:0"]].concat(),
    );
    assert!(follow.note("stale").contains(": 2 paths, stale until"));
    let address = follow.connect("FPM on");
    follow.note("HTTP on");
    let stale = both.replace('\n', "\tstale\n");
    assert_eq!(follow.ask(BOTH), stale);
    let stats = follow.ask("stats");
    assert!(stats.contains("\npopfib_stale 1\n") && stats.contains("\npopfib_stale_paths 2\n"));
    assert!(
        follow
            .ask("GET /health HTTP/1.0\n\n")
            .ends_with("\n\r\nstale\n")
    );
    let json = follow.ask("GET /v1/lookup?address=10.1.2.3 HTTP/1.0\n\n");
    assert!(
        json.ends_with("\"next_hop\":\"192.0.2.1\",\"stale\":true}\n"),
        "{json}"
    );
    let socket = follow.socket.to_str().unwrap();
    let asked = run(&["lookup", "--live", socket, "10.1.2.3"]);
    assert_eq!(asked.stdout, b"10.1.2.3\t10.1.0.0/16\t192.0.2.1\n");
    assert!(String::from_utf8_lossy(&asked.stderr).contains("1 answers are of routes"));
    assert_eq!(
        follow.ask("paths 10.1.0.0/16"),
        "FPM\t-\t0\tstale\t192.0.2.1\n\n"
    );
    // Nothing leaves before the router has come.
    sleep(Duration::from_millis(1500));
    assert_eq!(follow.ask(BOTH), stale);
    let mut router = TcpStream::connect(address).unwrap();
    router.write_all(&frame(2, true)).unwrap();
    let left = "10.1.2.3\t-\t-\n10.2.0.0\t10.2.0.0/16\t192.0.2.1\n";
    follow.expect(BOTH, left);
    let begin = Instant::now();
    while !follow.ask("stats").contains("\npopfib_stale 0\n") {
        assert!(begin.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(10));
    }
    assert!(follow.ask("GET /health HTTP/1.0\n\n").ends_with("ready\n"));
    end(follow);

    // A source that is not followed any more takes its routes along.
    let input = file("follow-other.txt", "announce 10.9.0.0/16 other\n");
    let follow = Follow::start("snapshot", &["--updates", &input, "--snapshot", &path]);
    follow.expect("10.9.0.1", "10.9.0.1\t10.9.0.0/16\tother\n");
    assert_eq!(follow.ask("10.2.0.0"), "10.2.0.0\t-\t-\n");
}

#[test]
fn what_is_no_snapshot_is_not_written_over_and_a_damaged_one_is_left_out() {
    let input = file("follow-snapshot.txt", "announce 10.0.0.0/8 east\n");
    let other = file("follow-no-snapshot", "10.0.0.0/8 east\n");
    let args = ["--socket", "x", "--updates", &input, "--snapshot", &other];
    assert_eq!(
        bad(&run_daemon(&args)),
        format!("{other}: not a snapshot of popfibd")
    );
    assert_eq!(fs::read(&other).unwrap(), b"10.0.0.0/8 east\n");
    let cut = file("follow-cut.snapshot", "# popfibd snapshot 1\nx\n");
    let mut follow = Follow::start(
        "damaged",
        &[
            "--updates",
            &input,
            "--snapshot",
            &cut,
            "--http",
            "127.0.0.1:0",
        ],
    );
    let note = follow.note("beginning without routes");
    assert!(note.contains(&format!(
        "{cut}: line 2: not a route, as a snapshot has them;"
    )));
    follow.note("HTTP on");
    follow.expect("10.0.0.1", "10.0.0.1\t10.0.0.0/8\teast\n");
    end(follow);
    assert!(
        fs::read_to_string(&cut)
            .unwrap()
            .ends_with("\n#{\"end\":1}\n")
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_snapshot_before() {
    let Some(disk) = SmallDisk::mount("snapshot-disk", "size=256k") else {
        println!(
            "skipped: a_full_disk_leaves_the_snapshot_before: this user may not mount a tmpfs"
        );
        return;
    };
    let path = disk.0.join("snapshot");
    let place = path.to_str().unwrap();
    let few = file("follow-few.txt", "announce 10.0.0.0/8 east\n");
    let follow = Follow::start("full", &["--updates", &few, "--snapshot", place]);
    follow.expect("10.0.0.1", "10.0.0.1\t10.0.0.0/8\teast\n");
    end(follow);
    let before = fs::read(&path).unwrap();
    let lines = (0..40_000).map(|n| format!("announce 10.{}.{}.0/24 hop-{n}\n", n >> 8, n & 255));
    let many = file("follow-many.txt", lines.collect::<String>());
    let mut follow = Follow::start(
        "full",
        &[
            "--updates",
            &many,
            "--snapshot",
            place,
            "--snapshot-every",
            "1",
            "--http",
            "127.0.0.1:0",
        ],
    );
    // Said once and not each second, while it goes on.
    let full = format!("{place}: No space left on device");
    assert!(follow.note("No space").contains(&full));
    sleep(Duration::from_millis(2200));
    follow.expect("10.0.7.1", "10.0.7.1\t10.0.7.0/24\thop-7\n");
    signal(&follow.child, Signal::TERM);
    let rest: Vec<String> = follow.notes.iter().collect();
    assert_eq!(follow.child.wait().unwrap().code(), Some(2));
    assert_eq!(
        rest.iter().filter(|line| line.contains(&full)).count(),
        1,
        "{rest:?}"
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(&disk.0).unwrap().count(), 1);
}

/// A port that is free, for now.
pub(super) fn port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn settings_are_read_again_and_what_is_the_same_goes_on() {
    let one = file("follow-one.txt", "announce 10.1.0.0/16 one\n");
    let two = file("follow-two.txt", "announce 10.2.0.0/16 two\n");
    let socket = Follow::socket("config");
    let (fpm, metrics) = (port(), port());
    let always = format!("socket = {socket:?}\nfpm = \"127.0.0.1:{fpm}\"\nidle = 1\n");
    let path = file("follow.toml", format!("{always}updates = [{one:?}]\n"));
    let mut follow = Follow::of("config", &["--config", &path]);
    follow.note("answering on");
    let mut router = TcpStream::connect(("127.0.0.1", fpm)).unwrap();
    router.write_all(&frame(7, true)).unwrap();
    let asked = "10.1.0.1\n10.2.0.1\n10.7.0.1\n";
    let answers = |present: [bool; 3]| {
        let mut text = String::new();
        for ((number, value), is_there) in [(1, "one"), (2, "two"), (7, "192.0.2.1")]
            .into_iter()
            .zip(present)
        {
            text += &match is_there {
                true => format!("10.{number}.0.1\t10.{number}.0.0/16\t{value}\n"),
                false => format!("10.{number}.0.1\t-\t-\n"),
            };
        }
        text
    };
    follow.expect(asked, &answers([true, false, true]));
    // A client and a router that stay connected over all that follows.
    let mut client = std::os::unix::net::UnixStream::connect(&socket).unwrap();

    fs::write(
        &path,
        format!("{always}updates = [{two:?}]\nhttp = \"127.0.0.1:{metrics}\"\n"),
    )
    .unwrap();
    signal(&follow.child, Signal::HUP);
    follow.expect(asked, &answers([false, true, true]));
    follow.note("read again");
    drop(TcpStream::connect(("127.0.0.1", metrics)).unwrap());
    router.write_all(&frame(7, false)).unwrap();
    follow.expect(asked, &answers([false, true, false]));
    router.write_all(&frame(7, true)).unwrap();

    // What is wrong changes nothing.
    fs::write(&path, format!("{always}updates = [{one:?}]\nupdate = 1\n")).unwrap();
    signal(&follow.child, Signal::HUP);
    let note = follow.note("going on as before");
    assert!(
        note.contains(&format!("{path}:5: unknown field `update`")),
        "{note}"
    );
    follow.expect(asked, &answers([false, true, true]));

    // A part that fails is said and leaves the others.
    let bad = "updates = [\"/no/such\"]\n";
    fs::write(
        &path,
        format!("socket = {socket:?}\nidle = 1\n{bad}http = \"127.0.0.1:{metrics}\"\n"),
    )
    .unwrap();
    signal(&follow.child, Signal::HUP);
    follow.note("/no/such: No such file");
    follow.expect(asked, &answers([false, false, false]));
    assert!(TcpStream::connect(("127.0.0.1", fpm)).is_err());
    drop(TcpStream::connect(("127.0.0.1", metrics)).unwrap());
    assert_eq!(std::io::Read::read(&mut router, &mut [0]).unwrap_or(0), 0);

    client.write_all(b"10.1.0.1\nquit\n").unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut client, &mut answer).unwrap();
    assert_eq!(answer, "10.1.0.1\t-\t-\n");
    end(follow);
}

#[test]
fn settings_that_are_wrong_are_one_line_with_their_place() {
    for (text, reason) in [
        (
            "fpm = \"127.0.0.1:2620\"\nscoket = \"x\"\n",
            ":2: unknown field `scoket`",
        ),
        ("fpm = \"127.0.0.1\"\n", ":1: invalid socket address syntax"),
        (
            "\n\nidle = \"1\"\n",
            ":3: invalid type: string \"1\", expected u64",
        ),
        ("idle = [\n", ":1: "),
        ("idle = 1\nidle = 2\n", ":2: duplicate key"),
        ("socket = \"x\"\n", ": nothing to serve"),
        ("updates = [\"-\"]\n", ": nobody could read the tables"),
        (
            "updates = [\"-\"]\nsocket = \"x\"\nsnapshot-every = 0\n",
            ": a snapshot every 0 seconds",
        ),
        (
            "updates = [\"-\"]\nhttp = \"127.0.0.1:0\"\nhttp-key = \"x\"\n",
            ": --http-certificate and --http-key need each other",
        ),
    ] {
        let path = file("follow-wrong.toml", text);
        let output = run_daemon(&["--config", &path, "--check"]);
        let line = bad(&output);
        assert!(
            line.starts_with(&format!("{path}{reason}")),
            "{text:?}: {line}"
        );
    }
    let path = file(
        "follow-good.toml",
        "updates = [\"/no/such\"]\nsocket = \"x\"\n",
    );
    assert_eq!(good(&run_daemon(&["--config", &path, "--check"])), "");
    let both = run_daemon(&["--config", &path, "--idle", "1"]);
    assert!(bad(&both).contains("cannot be used with"));
    assert!(bad(&run_daemon(&["--check"])).contains("--config"));
}
