//! Routers that misbehave: what they send costs themselves time, and the others next to none. What is bounded is the longest
//! hold of the tables' lock, as CPU time, which does not depend on what else the machine does.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::routers::{bgp, bmp, end_of_rib, up};
use crate::{Follow, memory};

const PEER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 9);

/// The longest hold of the lock that is good: 2 ms, and more without optimisation.
const HOLD: Duration = match cfg!(debug_assertions) {
    true => Duration::from_millis(60),
    false => Duration::from_millis(2),
};

/// The peer announces these, each some NLRI.
fn announce(peer: Ipv4Addr, nlri: &[Vec<u8>]) -> Vec<u8> {
    let mut messages = Vec::new();
    for some in nlri.chunks(400) {
        let mut body = vec![0, 0, 0, 20, 0x40, 1, 1, 0, 0x40, 2, 6, 2, 1];
        body.extend(64500u32.to_be_bytes());
        body.extend([0x40, 3, 4, 192, 0, 2, 1]);
        body.extend(some.concat());
        messages.extend(bmp(0, peer, &bgp(2, &body)));
    }
    messages
}

fn down(peer: Ipv4Addr) -> Vec<u8> {
    bmp(2, peer, &[4])
}

/// NLRI of 1.0.0.0/24 and so on.
fn prefixes(count: u32) -> Vec<Vec<u8>> {
    let prefix = |number: u32| {
        vec![
            24,
            1 + (number >> 16) as u8,
            (number >> 8) as u8,
            number as u8,
        ]
    };
    (0..count).map(prefix).collect()
}

fn start(name: &str, options: &[&str]) -> (Follow, TcpStream) {
    let options = [&["--bmp", "127.0.0.1:0", "--idle", "5"], options].concat();
    let mut follow = Follow::start(name, &options);
    let address = follow.connect("BMP on");
    follow.note("answering");
    (follow, TcpStream::connect(address).unwrap())
}

fn count(follow: &Follow, name: &str) -> u64 {
    let stats = follow.ask("stats\n");
    let count = stats.lines().find_map(|line| line.strip_prefix(name));
    count.expect("a count").trim().parse().unwrap()
}

/// Waits for this number of paths, then looks at the longest hold.
fn paths(follow: &Follow, expected: u64) {
    let begin = Instant::now();
    while count(follow, "popfib_paths ") != expected {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    let hold = count(follow, "popfib_longest_hold_microseconds ");
    assert!(u128::from(hold) <= HOLD.as_micros(), "{hold} us");
}

#[test]
fn many_paths_of_one_prefix_cost_little_each() {
    let (follow, mut router) = start("paths-of-one", &[]);
    // ADD-PATH in both directions.
    let mut body = vec![4, 0, 100, 0, 180, 192, 0, 2, 1, 12, 2, 10];
    body.extend([69, 8, 0, 1, 1, 3, 0, 2, 1, 3]);
    let open = bgp(1, &body);
    let up = bmp(3, PEER, &[&[0; 20][..], &open, &open].concat());
    router.write_all(&up).unwrap();
    let path = |id: u32| [&id.to_be_bytes()[..], &[8, 10]].concat();
    let all: Vec<Vec<u8>> = (0..20_000).map(path).collect();
    router.write_all(&announce(PEER, &all)).unwrap();
    paths(&follow, 20_000);
    let listed = follow.ask("table pre-policy\npaths 10.0.0.0/8\n");
    assert_eq!(
        listed
            .lines()
            .filter(|line| line.starts_with("BMP"))
            .count(),
        20_000
    );
    router.write_all(&down(PEER)).unwrap();
    paths(&follow, 0);
}

/// Paths that share 4 kB of communities, which are 10 kB as text: clients that do not read their answer of 20 MB take next to nothing,
/// and one that does gets all of it.
#[cfg(target_os = "linux")]
#[test]
fn answers_are_made_as_they_are_read() {
    let (mut follow, mut router) = start("unread-paths", &["--http", "127.0.0.1:0"]);
    let http = follow.connect("HTTP on");
    let mut body = vec![4, 0, 100, 0, 180, 192, 0, 2, 1, 12, 2, 10];
    body.extend([69, 8, 0, 1, 1, 3, 0, 2, 1, 3]);
    let open = bgp(1, &body);
    router
        .write_all(&bmp(3, PEER, &[&[0; 20][..], &open, &open].concat()))
        .unwrap();
    let mut attributes = vec![0x40, 1, 1, 0, 0x40, 2, 0, 0x40, 3, 4, 192, 0, 2, 1, 0xd0, 8];
    attributes.extend(4000u16.to_be_bytes());
    attributes.extend((0..1000u32).flat_map(|n| (0xffff_0000 | n).to_be_bytes()));
    let paths_of = |id: u32| [&id.to_be_bytes()[..], &[8, 10]].concat();
    let nlri: Vec<u8> = (0..2000).flat_map(paths_of).collect();
    let length = attributes.len() as u16;
    let update = [&[0, 0], &length.to_be_bytes()[..], &attributes, &nlri].concat();
    router.write_all(&bmp(0, PEER, &bgp(2, &update))).unwrap();
    paths(&follow, 2000);
    let before = memory(&follow);
    let mut unread = Vec::new();
    for _ in 0..8 {
        let mut client = UnixStream::connect(&follow.socket).unwrap();
        client.write_all(b"paths 10.0.0.0/8\n").unwrap();
        client.read_exact(&mut [0; 3]).unwrap();
        unread.push(client);
    }
    let request = b"GET /v1/paths?prefix=10.0.0.0/8 HTTP/1.1\r\nConnection: close\r\n\r\n";
    let mut answer = String::new();
    let mut client = TcpStream::connect(http).unwrap();
    client.write_all(request).unwrap();
    client.read_to_string(&mut answer).unwrap();
    let grown = memory(&follow) - before;
    assert!(grown < 16 << 10, "{grown} KiB");
    assert_eq!(answer.matches("\"path_id\":").count(), 2000);
    assert!(answer.contains("chunked") && answer.ends_with("}\n\r\n0\r\n\r\n"));
    let mut rest = String::new();
    let mut client = unread.pop().unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    client.read_to_string(&mut rest).unwrap();
    assert_eq!(rest.matches("\tfresh\t").count(), 2000);
    assert!(rest.ends_with("\n\n"));
}

#[test]
fn a_thousand_lost_peers_are_one_walk() {
    let (follow, mut router) = start("lost-peers", &[]);
    router
        .write_all(
            &[
                up(PEER),
                announce(PEER, &prefixes(60_000)),
                end_of_rib(PEER),
            ]
            .concat(),
        )
        .unwrap();
    let peer = |number: u16| Ipv4Addr::from([10, 9, (number >> 8) as u8, number as u8]);
    let last = [vec![24, 223, 255, 255]];
    let bad: Vec<u8> = (0..1000).flat_map(|n| announce(peer(n), &last)).collect();
    router.write_all(&bad).unwrap();
    paths(&follow, 61_000);
    let lost: Vec<u8> = (0..1000).flat_map(|n| down(peer(n))).collect();
    router.write_all(&lost).unwrap();
    paths(&follow, 60_000);
}

#[test]
fn a_peer_that_is_lost_takes_its_routes_along_whatever_its_connection_does() {
    for is_replaced in [false, true] {
        let (follow, mut router) = start("down-then-close", &[]);
        let address = router.peer_addr().unwrap();
        router
            .write_all(
                &[
                    up(PEER),
                    announce(PEER, &prefixes(60_000)),
                    end_of_rib(PEER),
                ]
                .concat(),
            )
            .unwrap();
        paths(&follow, 60_000);
        router.write_all(&down(PEER)).unwrap();
        drop(router);
        let _next = is_replaced.then(|| TcpStream::connect(address).unwrap());
        paths(&follow, 0);
        assert_eq!(follow.ask("1.0.0.1\n"), "1.0.0.1\t-\t-\n");
    }
}

#[test]
fn a_peer_that_is_dropped_takes_its_routes_along_when_its_connection_closes() {
    let (mut follow, mut router) = start("dropped-then-close", &["--max-peer-paths", "30000"]);
    router
        .write_all(&[up(PEER), announce(PEER, &prefixes(31_000))].concat())
        .unwrap();
    drop(router);
    follow.note("dropped from table");
    paths(&follow, 0);
    assert_eq!(follow.ask("1.0.0.1\n"), "1.0.0.1\t-\t-\n");
}
