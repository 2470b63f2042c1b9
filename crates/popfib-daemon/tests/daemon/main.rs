//! `popfibd`: what comes by its listeners and files is what its socket answers.

mod clients;
#[path = "../../../popfib-cli/tests/command/common/mod.rs"]
mod common;
mod comparison;
mod differences;
mod files;
mod greedy;
mod hostile;
mod http;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod kernel_losses;
mod limits;
mod pipes;
mod reload;
mod reports;
mod restart;
mod routers;
mod soak;
#[cfg(feature = "tls")]
mod tls;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use popfib::Prefix;
use rustix::process::Signal;

use crate::common::{bad, feed, file, good, run};

/// The daemon.
const POPFIBD: &str = env!("CARGO_BIN_EXE_popfibd");

/// The command, which asks it: an example of this crate, since a test is given the programs of its own crate only.
fn program() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let beside = PathBuf::from(POPFIBD).with_file_name("examples/popfib");
        assert!(
            beside.exists(),
            "`cargo build -p popfib-daemon --example popfib` makes the command for these tests"
        );
        beside.to_str().expect("UTF-8").to_owned()
    });
    &PROGRAM
}

/// The daemon, to be run.
fn popfibd(args: &[&str]) -> Command {
    let mut command = Command::new(POPFIBD);
    command.args(args).stdin(Stdio::null());
    command
}

/// Runs the daemon, which ends by itself.
fn run_daemon(args: &[&str]) -> Output {
    popfibd(args).output().expect("the daemon runs")
}

/// A running daemon; it is ended when this is dropped.
struct Follow {
    child: Child,
    /// The lines of its standard error, by a thread that reads them.
    notes: Receiver<String>,
    socket: PathBuf,
}

impl Drop for Follow {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.socket);
    }
}

impl Follow {
    fn start(name: &str, args: &[&str]) -> Self {
        let socket = Self::socket(name);
        let socket = ["--socket", socket.to_str().unwrap()];
        let mut follow = Self::of(name, &[&socket, args].concat());
        if args.is_empty() || !args.iter().any(|arg| arg.ends_with(":0")) {
            follow.note("answering");
        }
        follow
    }

    /// Where tests of this name have their socket: its path is short.
    fn socket(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("popfib-{}-{name}", std::process::id()))
    }

    /// With these options and no other.
    fn of(name: &str, args: &[&str]) -> Self {
        Self::by(name, popfibd(args))
    }

    /// Started by this command.
    fn by(name: &str, mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let (to, notes) = channel();
        spawn(move || {
            // A test may end before.
            let lines = stderr.lines().map_while(Result::ok);
            lines.for_each(|line| drop(to.send(line + "\n")));
        });
        Self {
            child,
            notes,
            socket: Self::socket(name),
        }
    }

    /// Waits for a note with this in it.
    #[track_caller]
    fn note(&mut self, what: &str) -> String {
        loop {
            let line = self.notes.recv_timeout(Duration::from_secs(120));
            let line = line.unwrap_or_else(|error| panic!("no note of {what:?}: {error}"));
            if line.contains(what) {
                return line;
            }
        }
    }

    /// Connects to the listener that is announced next with this word.
    fn connect(&mut self, what: &str) -> SocketAddr {
        let note = self.note(what);
        let address = note
            .trim()
            .rsplit([' ', '/'])
            .find_map(|word| word.parse().ok());
        address.unwrap_or_else(|| panic!("{note}"))
    }

    /// What the socket answers to these lines.
    fn ask(&self, lines: &str) -> String {
        let mut client = UnixStream::connect(&self.socket).expect("the socket is there");
        client.write_all(lines.as_bytes()).unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answers = String::new();
        client.read_to_string(&mut answers).unwrap();
        answers
    }

    /// Asks until this is the answer.
    #[track_caller]
    fn expect(&self, lines: &str, answers: &str) {
        let begin = Instant::now();
        loop {
            let seen = self.ask(lines);
            if seen == answers {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{seen}");
            sleep(Duration::from_millis(10));
        }
    }
}

/// An FPM frame: 10.N.0.0/16 through 192.0.2.1, or gone.
fn frame(number: u8, is_new: bool) -> Vec<u8> {
    let prefix = Prefix::new_masked(u32::from_be_bytes([10, number, 0, 0]), 16).unwrap();
    route_frame(prefix, is_new.then_some(Ipv4Addr::new(192, 0, 2, 1)))
}

/// An FPM frame: a route, or that it is gone.
fn route_frame(prefix: Prefix<u32>, gateway: Option<Ipv4Addr>) -> Vec<u8> {
    let kind = u8::from(gateway.is_some());
    let mut body = vec![2, prefix.len(), 0, 0, 254, 186, 0, kind, 0, 0, 0, 0];
    let mut attribute = |kind: u16, value: [u8; 4]| {
        body.extend(8u16.to_ne_bytes());
        body.extend(kind.to_ne_bytes());
        body.extend(value);
    };
    attribute(1, prefix.address().to_be_bytes());
    if let Some(gateway) = gateway {
        attribute(5, gateway.octets());
    }
    let mut bytes = vec![1, 1];
    bytes.extend((body.len() as u16 + 20).to_be_bytes());
    bytes.extend((body.len() as u32 + 16).to_ne_bytes());
    bytes.extend(if kind == 1 { 24u16 } else { 25 }.to_ne_bytes());
    bytes.extend([0; 10]);
    bytes.extend(body);
    bytes
}

#[test]
fn routes_of_fpm_survive_a_reconnection() {
    let mut follow = Follow::start("fpm", &["--fpm", "127.0.0.1:0", "--idle", "1"]);
    let address = follow.connect("FPM on");
    follow.note("answering");
    let mode = fs::metadata(&follow.socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(follow.ask("10.1.2.3\n"), "10.1.2.3\t-\t-\n");

    let mut router = TcpStream::connect(address).unwrap();
    router
        .write_all(&[frame(1, true), frame(2, true)].concat())
        .unwrap();
    let both = "10.1.2.3\t10.1.0.0/16\t192.0.2.1\n10.2.0.0\t10.2.0.0/16\t192.0.2.1\n";
    follow.expect("10.1.2.3\nlookup 10.2.0.0\n", both);
    assert_eq!(follow.ask("tables"), "main\t2\t0\n\n");
    let path = "FPM\t-\t0\tfresh\t192.0.2.1\n\n";
    assert_eq!(follow.ask("paths 10.1.0.0/16"), path);
    drop(router);
    follow.note("disconnected");
    assert_eq!(follow.ask("10.1.2.3\n10.2.0.0"), both);

    // One of the two does not come again.
    let mut router = TcpStream::connect(address).unwrap();
    router.write_all(&frame(2, true)).unwrap();
    follow.expect(
        "10.1.2.3\n10.2.0.0",
        &format!(
            "10.1.2.3\t-\t-\n{}",
            both.lines().nth(1).unwrap().to_owned() + "\n"
        ),
    );
    router.write_all(&frame(2, false)).unwrap();
    follow.expect("10.2.0.0", "10.2.0.0\t-\t-\n");

    // What is no FPM ends the connection and nothing else.
    router.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert!(
        follow
            .note("disconnected")
            .contains("FPM of version 71, not 1")
    );
    assert_eq!(follow.ask("10.2.0.0"), "10.2.0.0\t-\t-\n");
}

#[test]
fn clients_that_do_not_read_and_too_many_of_them_wait_alone() {
    let mut follow = Follow::start("slow", &["--fpm", "127.0.0.1:0"]);
    let address = follow.connect("FPM on");
    follow.note("answering");
    let mut slow = UnixStream::connect(&follow.socket).unwrap();
    slow.set_write_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let lines = "10.1.2.3\n".repeat(10_000);
    while slow.write_all(lines.as_bytes()).is_ok() {}
    let mut packed = UnixStream::connect(&follow.socket).unwrap();
    packed
        .set_write_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let question = [&b"bulk4 65536\n"[..], &[10; 4 * 65536]].concat();
    while packed.write_all(&question).is_ok() {}
    // A body that does not come.
    let mut body = UnixStream::connect(&follow.socket).unwrap();
    let head = b"POST /v1/lookup HTTP/1.1\r\nContent-Length: 9\r\n\r\n";
    body.write_all(head).unwrap();
    let mut router = TcpStream::connect(address).unwrap();
    router.write_all(&frame(1, true)).unwrap();
    follow.expect("10.1.2.3", "10.1.2.3\t10.1.0.0/16\t192.0.2.1\n");
    drop((slow, packed, body));
    // A client counts until it is gone, so each has been heard before the next comes.
    let mut clients = Vec::new();
    let refused = loop {
        let mut client = UnixStream::connect(&follow.socket).unwrap();
        let mut answer = [0; 64];
        // One that is refused is closed, maybe before it has asked.
        let _ = client.write_all(b"10.9.9.9\n");
        let read = client.read(&mut answer).unwrap();
        if answer[..read].starts_with(b"error") {
            break answer[..read].to_vec();
        }
        clients.push(client);
        assert!(clients.len() <= 256);
    };
    assert_eq!(refused, b"error: too many clients\n");
    router.write_all(&frame(1, false)).unwrap();
    drop(clients);
    follow.expect("10.1.2.3", "10.1.2.3\t-\t-\n");
}

#[test]
fn clients_are_told_what_is_wrong() {
    let input = file(
        "follow.txt",
        "announce 10.0.0.0/8 east\nannounce 2001:db8::/32 west\n",
    );
    let follow = Follow::start("wrong", &["--updates", &input]);
    follow.expect("10.0.0.1", "10.0.0.1\t10.0.0.0/8\teast\n");
    let asked = "10.0.0\nlookup\nfly 1\ntable \x1b[2J\npaths x\nvalues 18446744073709551615\n\n2001:db8::1\r\ntable main\nquit\n10.0.0.1\n";
    let answers = [
        r#"error: "10.0.0": not an IP address"#,
        r#"error: "": not an IP address"#,
        r#"error: "fly": no such command"#,
        r#"error: "\u{1b}[2J": no such table"#,
        r#"error: "x": not a prefix"#,
        "",
        "2001:db8::1\t-\t-",
        "ok",
    ];
    assert_eq!(follow.ask(asked), answers.join("\n") + "\n");
    let long = follow.ask(&"1".repeat(5000));
    assert_eq!(long, "error: a line of more than 4096 bytes\n");
    assert!(
        follow
            .ask("stats")
            .contains("popfib_prefixes{table=\"main\",family=\"ipv4\"} 1\n")
    );
    // A second process does not take its socket.
    let socket = follow.socket.to_str().unwrap();
    let again = run_daemon(&["--socket", socket, "--updates", &input]);
    assert!(bad(&again).contains("another process answers there"));
}

#[test]
fn the_socket_of_a_process_that_is_gone_is_replaced() {
    let input = file("follow-gone.txt", "announce 10.0.0.0/8 east\n");
    let mut follow = Follow::start("gone", &["--updates", &input]);
    follow.child.kill().unwrap();
    follow.child.wait().unwrap();
    assert!(follow.socket.exists());
    let again = Follow::start("gone", &["--updates", &input]);
    again.expect("10.0.0.1", "10.0.0.1\t10.0.0.0/8\teast\n");
}

#[test]
fn updates_are_published_as_an_image() {
    let image = crate::common::path("follow.fib");
    let lines = b"announce 10.0.0.0/8 east\nannounce 10.1.0.0/16 west\nwithdraw 10.1.0.0/16\n";
    let output = feed(popfibd(&["--updates", "-", "--publish", &image]), lines);
    assert_eq!(good(&output), "");
    let answer = run(&["lookup", "--table", &image, "10.1.0.1"]);
    assert_eq!(good(&answer), "10.1.0.1\t10.0.0.0/8\teast\n");
    // The other forms of updates.
    let lines = b"A 10.0.0.0/8 a\nA 10.2.0.0/16 b\nW 10.0.0.0/8\n";
    let output = feed(popfibd(&["--updates", "-", "--publish", &image]), lines);
    assert_eq!(good(&output), "");
    let answer = run(&["lookup", "--table", &image, "10.2.0.1"]);
    assert_eq!(good(&answer), "10.2.0.1\t10.2.0.0/16\tb\n");
}

#[test]
fn signals_end_it_with_the_last_image() {
    for signal in [Signal::TERM, Signal::INT] {
        let image = file("follow-end.fib", "");
        let mut follow = Follow::start(
            "end",
            &[
                "--updates",
                "-",
                "--publish",
                &image,
                "--publish-every",
                "3600000",
            ],
        );
        let stdin = follow.child.stdin.as_mut().expect("a pipe");
        stdin.write_all(b"announce 10.0.0.0/8 east\n").unwrap();
        follow.expect("10.0.0.1", "10.0.0.1\t10.0.0.0/8\teast\n");
        restart::signal(&follow.child, signal);
        // Its standard input is still open.
        let stdin = follow.child.stdin.take();
        assert_eq!(follow.child.wait().unwrap().code(), Some(0));
        drop(stdin);
        assert!(!follow.socket.exists());
        let answer = run(&["lookup", "--table", &image, "10.0.0.1"]);
        assert_eq!(good(&answer), "10.0.0.1\t10.0.0.0/8\teast\n");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_service_is_one_and_is_confined() {
    let place = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../packaging/popfibd.service"
    );
    let unit = fs::read_to_string(place).unwrap();
    let unit = file(
        "popfibd.service",
        unit.replace("/usr/bin/popfibd ", &format!("{POPFIBD} ")),
    );
    let analyze = |args: &[&str]| {
        std::process::Command::new("systemd-analyze")
            .args(args)
            .arg(&unit)
            .output()
    };
    let Ok(verified) = analyze(&["verify", "--man=no"]) else {
        println!("skipped: the systemd unit: no systemd-analyze");
        return;
    };
    let notes = String::from_utf8_lossy(&verified.stderr);
    let of_unit: Vec<&str> = notes
        .lines()
        .filter(|line| line.contains("popfib"))
        .collect();
    assert!(verified.status.success() && of_unit.is_empty(), "{notes}");
    // 0 is the least exposed, 100 the most; before version 250 there is no such question.
    let Ok(exposed) = analyze(&["security", "--offline=yes", "--threshold=20"]) else {
        return;
    };
    let notes = String::from_utf8_lossy(&exposed.stderr);
    assert!(
        exposed.status.success() || notes.contains("option"),
        "{notes}"
    );
}

#[test]
fn metrics_are_for_who_asks_this_host() {
    let input = file("follow-metrics.txt", "announce 10.0.0.0/8 east\n");
    let mut follow = Follow::start("metrics", &["--updates", &input, "--http", "127.0.0.1:0"]);
    let address = follow.connect("HTTP on");
    let get = |host: &str, path: &str| {
        let mut client = TcpStream::connect(address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        client.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    };
    follow.expect("10.0.0.1", "10.0.0.1\t10.0.0.0/8\teast\n");
    let metrics = get("127.0.0.1:9180", "/metrics");
    assert!(metrics.starts_with("HTTP/1.1 200 OK\r\n") && metrics.contains("\npopfib_paths 1\n"));
    assert!(get("localhost", "/x").starts_with("HTTP/1.1 404 "));
    assert!(get("evil.example", "/metrics").starts_with("HTTP/1.1 403 "));
    let begin = Instant::now();
    while !get("[::1]:9180", "/health").starts_with("HTTP/1.1 200 ") {
        assert!(begin.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn what_cannot_work_is_told_at_once() {
    let input = file("follow-usage.txt", "announce 10.0.0.0/8 east\n");
    for (args, reason) in [
        (&["--socket", "x"][..], "nothing to serve"),
        (&["--updates", &input], "nobody could read the tables"),
        (
            &["--updates", "/no/such", "--publish", "x"],
            "/no/such: No such file",
        ),
        (&["--updates", &input, "--socket", &input], "not a socket"),
        (
            &["--fpm", "192.0.2.1:2620", "--socket", "x"],
            "FPM on 192.0.2.1:2620: ",
        ),
        (
            &["--updates", &input, "--publish", "/no/such/x"],
            "/no/such/x: No such file",
        ),
    ] {
        let output = run_daemon(args);
        assert!(bad(&output).contains(reason), "{args:?}: {}", bad(&output));
    }
    // A file that ends in the middle of a record.
    let cut = file(
        "follow-cut.mrt",
        [0x60, 0, 0, 0, 0, 16, 0, 4, 0, 0, 0, 99, 1],
    );
    let output = run_daemon(&["--updates", &cut, "--publish", "x.fib"]);
    assert_eq!(output.status.code(), Some(2));
}

/// The most memory that the process has had so far, in KiB.
#[cfg(target_os = "linux")]
fn memory(follow: &Follow) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", follow.child.id())).unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let most = most.unwrap().trim().trim_end_matches(" kB");
    most.parse().unwrap()
}
