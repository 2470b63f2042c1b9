//! Clients that only ask, and take more than their share: memory, places, threads.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::{Follow, POPFIBD, frame};

/// The length of the image that follows, and its version.
fn head(client: &mut BufReader<UnixStream>) -> (u64, usize) {
    let mut line = String::new();
    client.read_line(&mut line).unwrap();
    let words: Vec<&str> = line.trim().split(' ').collect();
    let ["image", version, length] = words[..] else {
        panic!("{line}");
    };
    (version.parse().unwrap(), length.parse().unwrap())
}

fn ask_for_image(follow: &Follow, lines: &str) -> BufReader<UnixStream> {
    let mut client = UnixStream::connect(&follow.socket).unwrap();
    client.write_all(lines.as_bytes()).unwrap();
    BufReader::with_capacity(64, client)
}

fn count(follow: &Follow, name: &str) -> u64 {
    let stats = follow.ask("stats\n");
    let line = stats
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.expect("a count").parse().unwrap()
}

#[test]
fn values_of_packed_clients_leave_the_memory_of_routes() {
    let options = ["--updates", "-", "--max-memory", "8"];
    let mut follow = Follow::start("packed-memory", &options);
    let mut stdin = follow.child.stdin.take().unwrap();
    let mut client = BufReader::new(UnixStream::connect(&follow.socket).unwrap());
    let mut question = b"bulk4 50\n".to_vec();
    (0..50).for_each(|n| question.extend([10, n, 0, 0]));
    // Of 4,000 bytes each, 20 MB in all.
    for round in 0..100 {
        let value = |n: u32| format!("{:04000}", round * 50 + n);
        let lines: String = (0..50)
            .map(|n| format!("announce 10.{n}.0.0/16 {}\n", value(n)))
            .collect();
        stdin.write_all(lines.as_bytes()).unwrap();
        follow.expect(
            "10.49.0.0\n",
            &format!("10.49.0.0\t10.49.0.0/16\t{}\n", value(49)),
        );
        client.get_mut().write_all(&question).unwrap();
        let mut answer = vec![0; "ok 0000000\n".len() + 200];
        client.read_exact(&mut answer).unwrap();
        assert!(answer.starts_with(format!("ok {:07}\n", (round + 1) * 50).as_bytes()));
    }
    let taken = count(&follow, "popfib_client_bytes");
    assert!((20_000_000..30_000_000).contains(&taken), "{taken}");
    stdin.write_all(b"announce 192.0.2.0/24 west\n").unwrap();
    follow.expect("192.0.2.1\n", "192.0.2.1\t192.0.2.0/24\twest\n");
    assert_eq!(count(&follow, "popfib_refused_total"), 0);
    // All of them are still known, and forgotten with the client.
    client.get_mut().write_all(b"values 5000\n").unwrap();
    let mut line = String::new();
    client.read_line(&mut line).unwrap();
    assert_eq!(line, format!("5000\t{:04000}\n", 4999));
    drop(client);
    let begin = Instant::now();
    while count(&follow, "popfib_client_bytes") > 0 {
        assert!(begin.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn clients_that_do_not_read_their_image_do_not_keep_it() {
    let mut follow = Follow::start("unread", &["--updates", "-"]);
    let mut stdin = follow.child.stdin.take().unwrap();
    let line = |n: u32| format!("announce 10.{}.{}.0/24 hop-{n}\n", n >> 8, n & 255);
    let lines: String = (0..30_000).map(line).collect();
    stdin.write_all(lines.as_bytes()).unwrap();
    follow.expect("tables\n", "main\t30000\t0\n\n");
    let mut clients = Vec::new();
    for number in 0..4 {
        let line = format!("announce 192.0.2.0/24 {number}\n");
        stdin.write_all(line.as_bytes()).unwrap();
        follow.expect(
            "192.0.2.1\n",
            &format!("192.0.2.1\t192.0.2.0/24\t{number}\n"),
        );
        let mut client = ask_for_image(&follow, "image\n");
        let (_, length) = head(&mut client);
        clients.push((client, length));
    }
    // The first two have made room; the last two images are kept.
    sleep(Duration::from_millis(2500));
    for (number, (mut client, length)) in clients.into_iter().enumerate() {
        let patience = Some(Duration::from_secs(60));
        client.get_mut().set_read_timeout(patience).unwrap();
        client
            .get_mut()
            .shutdown(std::net::Shutdown::Write)
            .unwrap();
        let mut bytes = Vec::new();
        let _ = client.read_to_end(&mut bytes);
        assert_eq!(
            bytes.len() == length,
            number >= 2,
            "{number}: {} of {length}",
            bytes.len()
        );
    }
}

#[test]
fn an_image_of_an_unchanged_table_is_made_once_for_all() {
    let mut follow = Follow::start("one-image", &["--updates", "-"]);
    let mut stdin = follow.child.stdin.take().unwrap();
    stdin.write_all(b"announce 10.0.0.0/8 east\n").unwrap();
    follow.expect("tables\n", "main\t1\t0\n\n");
    let begin = Instant::now();
    for lines in ["image\n", "table main\nimage\n"].repeat(8) {
        let mut client = ask_for_image(&follow, lines);
        if lines.starts_with("table") {
            client.read_line(&mut String::new()).unwrap();
        }
        head(&mut client);
    }
    // Each that is made takes a second.
    assert!(begin.elapsed() < Duration::from_secs(8));
}

#[test]
fn health_is_answered_while_others_read_slowly() {
    let options = ["--updates", "-", "--http", "127.0.0.1:0"];
    let mut follow = Follow::start("slow-http", &options);
    let mut stdin = follow.child.stdin.take().unwrap();
    stdin.write_all(b"announce 10.0.0.0/8 east\n").unwrap();
    let address = follow.connect("HTTP on");
    follow.expect("tables\n", "main\t1\t0\n\n");
    // Their answers are longer than what the system keeps for them.
    let body = "x\n".repeat(1 << 18);
    let head = format!(
        "POST /v1/lookup HTTP/1.1\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut slow = Vec::new();
    let get = |path: &str| {
        let mut client = TcpStream::connect(address).unwrap();
        let request = format!("GET {path} HTTP/1.0\r\n\r\n");
        client.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    };
    for _ in 0..64 {
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(head.as_bytes()).unwrap();
        client.write_all(body.as_bytes()).unwrap();
        // It is being answered.
        client.read_exact(&mut [0; 9]).unwrap();
        slow.push(client);
    }
    assert!(get("/v1/tables").ends_with("too many clients\"}\n"));
    for _ in 0..20 {
        let health = get("/health");
        let is_one = health.ends_with("\nloading\n") || health.ends_with("\nready\n");
        assert!(is_one, "{health}");
    }
    drop(slow);
    let begin = Instant::now();
    while get("/v1/tables").ends_with("too many clients\"}\n") {
        assert!(begin.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn lines_about_connections_are_summed_up() {
    let mut follow = Follow::start("many-lines", &["--bmp", "127.0.0.1:0"]);
    let bmp = follow.connect("BMP on");
    follow.note("answering");
    // Fewer than may be there at a time, however late the daemon sees that they are gone.
    for _ in 0..50 {
        drop(TcpStream::connect(bmp).unwrap());
    }
    let begin = Instant::now();
    // Then all lines have been said.
    while count(&follow, "popfib_connections_total") < 50
        || count(&follow, "popfib_feeds_connected") > 0
    {
        assert!(begin.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(10));
    }
    super::restart::signal(&follow.child, Signal::TERM);
    assert_eq!(follow.child.wait().unwrap().code(), Some(0));
    let lines: Vec<String> = follow.notes.iter().collect();
    // 20 of 100; a thread may say its last line after the sum that the end makes.
    assert!((21..30).contains(&lines.len()), "{lines:?}");
    let sum = "more lines about connections of 127.0.0.1 in a minute\n";
    assert!(lines[20].ends_with(sum), "{lines:?}");
}

/// Nobody reads its standard error, which is full: it is made, answers and ends all the same.
#[cfg(target_os = "linux")]
#[test]
fn a_standard_error_that_nobody_reads_makes_nobody_wait() {
    let (unread, mut full) = std::io::pipe().unwrap();
    full.write_all(&[b'x'; 1 << 16]).unwrap();
    let socket = Follow::socket("full-pipe");
    let mut command = super::popfibd(&["--bmp", "127.0.0.1:0", "--socket"]);
    let mut child = command.arg(&socket).stderr(full).spawn().unwrap();
    let begin = Instant::now();
    let mut answer = [0; 64];
    loop {
        assert!(begin.elapsed() < Duration::from_secs(60));
        if let Ok(mut client) = UnixStream::connect(&socket) {
            client.write_all(b"10.1.2.3\n").unwrap();
            let length = client.read(&mut answer).unwrap();
            assert_eq!(&answer[..length], b"10.1.2.3\t-\t-\n");
            break;
        }
        sleep(Duration::from_millis(10));
    }
    super::restart::signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(unread);
}

#[cfg(target_os = "linux")]
#[test]
fn without_threads_clients_are_refused_and_the_next_are_answered() {
    let user = [
        "--nproc=16:16",
        "setpriv",
        "--reuid=65533",
        "--clear-groups",
    ];
    let try_one = Command::new("prlimit")
        .args(user)
        .arg(POPFIBD)
        .arg("--version")
        .output();
    if !try_one.is_ok_and(|output| output.status.success()) {
        println!(
            "skipped: without_threads_clients_are_refused_and_the_next_are_answered: this user may not become another"
        );
        return;
    }
    let folder = std::env::temp_dir().join(format!("popfib-threads-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(&folder, open).unwrap();
    let socket = folder.join("s");
    let mut command = Command::new("prlimit");
    command
        .args(user)
        .arg(POPFIBD)
        .args([
            "--fpm",
            "127.0.0.1:0",
            "--bmp",
            "127.0.0.1:0",
            "--http",
            "127.0.0.1:0",
            "--socket",
        ])
        .arg(&socket);
    let mut follow = Follow::by("threads", command);
    follow.socket = socket;
    let fpm = follow.connect("FPM on");
    let bmp = follow.connect("BMP on");
    let http = follow.connect("HTTP on");
    // An answer proves that the listener, the last, has its threads: the clients take all that are left.
    let mut answered = TcpStream::connect(http).unwrap();
    answered
        .write_all(b"GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n")
        .unwrap();
    assert!(answered.read(&mut [0; 64]).unwrap() > 0);
    drop(answered);
    let clients: Vec<_> = (0..20)
        .map(|_| UnixStream::connect(&follow.socket).unwrap())
        .collect();
    let notes = follow.note("no thread can be started");
    assert!(notes.contains("a client was refused"), "{notes}");
    let mut connections = Vec::new();
    for (address, what) in [(bmp, "BMP"), (fpm, "FPM")] {
        // The thread of an earlier one may have ended only now, and serve another.
        loop {
            connections.push(TcpStream::connect(address).unwrap());
            assert!(connections.len() < 50, "none is refused");
            let mut lines =
                std::iter::from_fn(|| follow.notes.recv_timeout(Duration::from_secs(1)).ok());
            if lines.any(|line| line.contains("no thread can be started") && line.contains(what)) {
                break;
            }
        }
    }
    drop(connections);
    drop(clients);
    // Threads of earlier clients end in their own time, so any client may still be refused: its connection is reset.
    let begin = Instant::now();
    let expect = |expected: &str| loop {
        let mut client = UnixStream::connect(&follow.socket).unwrap();
        let mut answer = String::new();
        let _ = client.write_all(b"10.1.2.3\nquit\n");
        let _ = client.read_to_string(&mut answer);
        if answer == expected {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{answer}");
    };
    expect("10.1.2.3\t-\t-\n");
    let mut frr = TcpStream::connect(fpm).unwrap();
    frr.write_all(&frame(1, true)).unwrap();
    expect("10.1.2.3\t10.1.0.0/16\t192.0.2.1\n");
    crate::restart::signal(&follow.child, Signal::TERM);
    assert_eq!(follow.child.wait().unwrap().code(), Some(0));
    std::fs::remove_dir_all(&folder).unwrap();
}
