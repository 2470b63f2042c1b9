//! What others may take up: paths of a peer, memory, tables, connections, questions.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use popfib::Prefix;

use crate::{Follow, bad, frame, memory, popfibd, route_frame};

/// `count` lines that announce 10.0.0.0/24 and so on.
fn lines(count: u32) -> String {
    let line = |n: u32| format!("announce 10.{}.{}.0/24 east\n", n >> 8, n & 255);
    (0..count).map(line).collect()
}

#[test]
fn a_peer_with_too_many_paths_is_dropped_and_named_once() {
    let options = ["--updates", "-", "--max-peer-paths", "100"];
    let mut follow = Follow::start("peer-limit", &options);
    let mut stdin = follow.child.stdin.take().unwrap();
    stdin.write_all(lines(100).as_bytes()).unwrap();
    follow.expect("tables\n", "main\t100\t0\n\n");
    stdin.write_all(lines(150).as_bytes()).unwrap();
    assert_eq!(
        follow.note("dropped"),
        "popfibd: standard input: dropped from table main, with more paths than --max-peer-paths\n"
    );
    follow.expect("tables\n", "main\t0\t0\n\n");
    let stats = follow.ask("stats\n");
    for count in [
        "popfib_dropped_peers_total 1",
        "popfib_paths 0",
        "popfib_refused_total 50",
    ] {
        assert!(stats.lines().any(|line| line == count), "{count}: {stats}");
    }
}

#[test]
fn memory_is_limited() {
    let options = ["--updates", "-", "--max-memory", "8"];
    let mut follow = Follow::start("memory", &options);
    let mut stdin = follow.child.stdin.take().unwrap();
    stdin.write_all(lines(10).as_bytes()).unwrap();
    follow.expect("tables\n", "main\t10\t0\n\n");
    // Values of their own, of 1,000 bytes.
    let long: String = (0..20_000)
        .map(|number| {
            let (high, low) = (number >> 8, number & 255);
            format!("announce 10.{high}.{low}.1/32 {number:01000}\n")
        })
        .collect();
    stdin.write_all(long.as_bytes()).unwrap();
    assert!(follow.note("refused").contains("--max-memory"));
    let stats = follow.ask("stats\n");
    let paths = stats
        .lines()
        .find_map(|line| line.strip_prefix("popfib_paths "));
    let paths: u32 = paths.expect("a count").parse().unwrap();
    // Of 1,000 bytes at least, 8 MiB hold no more; what waits to be read takes a part.
    assert!((1000..8389).contains(&paths), "{paths} paths");
    // What is there changes and leaves.
    stdin
        .write_all(b"withdraw 10.0.9.0/24\nannounce 10.0.8.0/24 west\n")
        .unwrap();
    follow.expect(
        "10.0.8.9\n10.0.9.9",
        "10.0.8.9\t10.0.8.0/24\twest\n10.0.9.9\t-\t-\n",
    );
    let output = popfibd(&["--updates", "-", "--max-memory", "much"])
        .output()
        .unwrap();
    let stderr = bad(&output);
    assert!(stderr.contains("--max-memory"), "{stderr}");
}

/// A frame with the number of a table beyond 255.
fn frame_of_table(table: u32, prefix: Prefix<u32>, gateway: Option<Ipv4Addr>) -> Vec<u8> {
    let mut bytes = route_frame(prefix, gateway);
    // The table is said by an attribute.
    bytes[4 + 16 + 4] = 0;
    bytes.extend(8u16.to_ne_bytes());
    bytes.extend(15u16.to_ne_bytes());
    bytes.extend(table.to_ne_bytes());
    let length = bytes.len();
    bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    bytes[4..8].copy_from_slice(&(length as u32 - 4).to_ne_bytes());
    bytes
}

#[test]
fn a_thousand_vrfs_have_their_own_routes_and_lose_none_in_a_break() {
    let mut follow = Follow::start("vrfs", &["--fpm", "127.0.0.1:0", "--idle", "1"]);
    let address = follow.connect("FPM on");
    follow.note("answering");
    let gateway = |table: u32| Ipv4Addr::from(0xc000_0200 + table);
    let of = |table: u32, number: u32| {
        Prefix::new_masked(0x0a00_0000 | number << 16, 16)
            .map(|prefix| frame_of_table(table, prefix, Some(gateway(table))))
    };
    let frames = |numbers: std::ops::Range<u32>| -> Vec<u8> {
        let frames = (1000..2000).flat_map(|table| numbers.clone().map(move |n| (table, n)));
        frames
            .flat_map(|(table, n)| of(table, n).unwrap())
            .collect()
    };
    let all = |count: u32| {
        let line = |table: u32| format!("{table}\t{count}\t0\n");
        let mut text: String = (1000..2000).map(line).collect();
        text.push('\n');
        text
    };
    let mut router = TcpStream::connect(address).unwrap();
    router.write_all(&frames(0..3)).unwrap();
    follow.expect("tables\n", &all(3));
    for table in [1000, 1255, 1999] {
        let answer = format!("ok\n10.2.3.4\t10.2.0.0/16\t{}\n", gateway(table));
        assert_eq!(follow.ask(&format!("table {table}\n10.2.3.4\n")), answer);
    }
    // Each of them keeps what comes again.
    drop(router);
    follow.note("disconnected");
    assert_eq!(follow.ask("tables\n"), all(3));
    let mut router = TcpStream::connect(address).unwrap();
    router.write_all(&frames(1..3)).unwrap();
    follow.expect("tables\n", &all(2));
    assert_eq!(follow.ask("table 1500\n10.0.0.1\n"), "ok\n10.0.0.1\t-\t-\n");
}

#[test]
fn a_half_open_connection_is_replaced() {
    let mut follow = Follow::start("half-open", &["--fpm", "127.0.0.1:0", "--idle", "1"]);
    let address = follow.connect("FPM on");
    follow.note("answering");
    // Of the router that lost its power nothing is heard any more, not even an end.
    let mut old = TcpStream::connect(address).unwrap();
    let both = [frame(1, true), frame(2, true)].concat();
    old.write_all(&both).unwrap();
    old.write_all(&frame(3, true)[..9]).unwrap();
    follow.expect("tables\n", "main\t2\t0\n\n");
    let mut new = TcpStream::connect(address).unwrap();
    new.write_all(&frame(1, true)).unwrap();
    follow.expect("tables\n", "main\t1\t0\n\n");
    old.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    assert_eq!(old.read(&mut [0]).unwrap_or(0), 0, "the old one is closed");
    new.write_all(&frame(4, true)).unwrap();
    follow.expect("tables\n", "main\t2\t0\n\n");
}

#[test]
fn questions_of_any_bytes_end_nothing_but_their_client() {
    let options = ["--updates", "-", "--http", "127.0.0.1:0"];
    let mut follow = Follow::start("hostile", &options);
    let mut stdin = follow.child.stdin.take().unwrap();
    stdin.write_all(lines(10).as_bytes()).unwrap();
    let http = follow.connect("HTTP on");
    follow.expect("tables\n", "main\t10\t0\n\n");
    let words: [&[u8]; 16] = [
        b"lookup ",
        b"paths ",
        b"table ",
        b"bulk4 ",
        b"bulk6 ",
        b"values ",
        b"watch ",
        b"image ",
        b"GET /",
        b"POST /v1/lookup ",
        b"\n",
        b"\r\n\r\n",
        b"18446744073709551616",
        b"10.0.0.0/8",
        b"::/0",
        b"%00",
    ];
    let mut random = fastrand::Rng::with_seed(7);
    for round in 0..300 {
        let mut bytes = Vec::new();
        for _ in 0..random.usize(1..40) {
            match random.bool() {
                true => bytes.extend(words[random.usize(..words.len())]),
                false => bytes.extend((0..random.usize(..200)).map(|_| random.u8(..))),
            }
        }
        if round % 50 == 0 {
            bytes.extend(vec![b'1'; 100_000]);
        }
        // It may be refused in the midst of what it says, and what it watches has no end.
        let patience = Some(Duration::from_millis(100));
        if round % 2 == 0 {
            let mut client = UnixStream::connect(&follow.socket).unwrap();
            client.set_read_timeout(patience).unwrap();
            client.set_write_timeout(patience).unwrap();
            let _ = client.write_all(&bytes);
            let _ = client.shutdown(Shutdown::Write);
            let _ = client.read_to_end(&mut Vec::new());
        } else {
            let mut client = TcpStream::connect(http).unwrap();
            client.set_read_timeout(patience).unwrap();
            client.set_write_timeout(patience).unwrap();
            let _ = client.write_all(&bytes);
            let _ = client.shutdown(Shutdown::Write);
            let _ = client.read_to_end(&mut Vec::new());
        }
    }
    let answer = "10.0.3.4\t10.0.3.0/24\teast\n";
    assert_eq!(follow.ask("10.0.3.4\n"), answer);
    stdin.write_all(b"withdraw 10.0.3.0/24\n").unwrap();
    follow.expect("10.0.3.4\n", "10.0.3.4\t-\t-\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_of_ris_live_takes_memory_as_it_is_long() {
    let path = vec!["1"; 1 << 17].join(",");
    let announcements = vec![r#"{"next_hop":"::","prefixes":[]}"#; 1 << 14].join(",");
    let line = format!(
        r#"{{"data":{{"peer":"192.0.2.9","type":"UPDATE","path":[{path}],"announcements":[{announcements}]}}}}"#
    );
    assert!((700_000..1 << 20).contains(&line.len()));
    let mut follow = Follow::start("ris-line", &["--updates", "-"]);
    let mut stdin = follow.child.stdin.take().unwrap();
    writeln!(stdin, "{line}\nannounce 10.0.0.0/8 east").unwrap();
    follow.expect("10.0.0.1\n", "10.0.0.1\t10.0.0.0/8\teast\n");
    let most = memory(&follow);
    assert!(most < 64 << 10, "{most} KiB");
}
