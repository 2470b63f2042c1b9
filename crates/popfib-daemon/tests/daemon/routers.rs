//! Routers that speak BMP: many of them, and several connections of one.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::Follow;

/// A message of this kind about the peer.
pub(super) fn bmp(kind: u8, peer: Ipv4Addr, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![3];
    bytes.extend((48 + body.len() as u32).to_be_bytes());
    bytes.push(kind);
    bytes.extend([0; 22]);
    bytes.extend(peer.octets());
    bytes.extend([0; 16]);
    bytes.extend(body);
    bytes
}

pub(super) fn bgp(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xff; 16];
    bytes.extend((19 + body.len() as u16).to_be_bytes());
    bytes.push(kind);
    bytes.extend(body);
    bytes
}

/// The peer is up.
pub(super) fn up(peer: Ipv4Addr) -> Vec<u8> {
    let open = bgp(1, &[4, 0, 100, 0, 180, 192, 0, 2, 1, 0]);
    bmp(3, peer, &[&[0; 20][..], &open, &open].concat())
}

/// The peer announces 10.N.0.0/16, itself the next hop.
pub(super) fn announce(peer: Ipv4Addr, number: u8) -> Vec<u8> {
    let mut body = vec![0, 0, 0, 20, 0x40, 1, 1, 0, 0x40, 2, 6, 2, 1];
    body.extend(64500u32.to_be_bytes());
    body.extend([0x40, 3, 4]);
    body.extend(peer.octets());
    body.extend([16, 10, number]);
    bmp(0, peer, &bgp(2, &body))
}

pub(super) fn end_of_rib(peer: Ipv4Addr) -> Vec<u8> {
    bmp(0, peer, &bgp(2, &[0; 4]))
}

/// A connection that has sent these messages.
pub(super) fn router(address: SocketAddr, messages: &[Vec<u8>]) -> TcpStream {
    let mut router = TcpStream::connect(address).unwrap();
    router.write_all(&messages.concat()).unwrap();
    router
}

const ONE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const TWO: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);

#[test]
fn two_connections_of_one_address_with_other_peers_both_stay() {
    let mut follow = Follow::start("two-of-one", &["--bmp", "127.0.0.1:0", "--idle", "1"]);
    let address = follow.connect("BMP on");
    follow.note("answering");
    let mut one = router(address, &[up(ONE), announce(ONE, 1), end_of_rib(ONE)]);
    let both = "10.1.0.0\t10.1.0.0/16\t192.0.2.1 as-path 64500\n10.2.0.0\t10.2.0.0/16\t192.0.2.2 as-path 64500\n";
    follow.expect("10.1.0.0\n", both.split_inclusive('\n').next().unwrap());
    let two = router(address, &[up(TWO), announce(TWO, 2), end_of_rib(TWO)]);
    follow.expect("10.1.0.0\n10.2.0.0\n", both);
    // The first is still heard, and its connection is open.
    one.write_all(&announce(ONE, 3)).unwrap();
    let third = "10.3.0.0\t10.3.0.0/16\t192.0.2.1 as-path 64500\n";
    follow.expect("10.3.0.0\n", third);
    one.set_read_timeout(Some(Duration::from_millis(10)))
        .unwrap();
    assert!(one.read(&mut [0]).is_err(), "it is open");
    // One that sends the same peer takes over that peer.
    let again = router(address, &[up(ONE), announce(ONE, 1), end_of_rib(ONE)]);
    follow.expect(
        "10.1.0.0\n10.2.0.0\n10.3.0.0\n",
        &format!("{both}10.3.0.0\t-\t-\n"),
    );
    drop((one, two, again));
    follow.note("disconnected");
    follow.note("disconnected");
    follow.note("disconnected");
    assert_eq!(follow.ask("10.1.0.0\n10.2.0.0\n"), both);
}

#[test]
fn tables_are_not_whole_before_a_router_has_connected_to_each_listener() {
    // Of IPv6, too.
    let end = bmp(0, ONE, &bgp(2, &[0, 0, 0, 6, 0x80, 15, 3, 0, 2, 1]));
    for idle in ["3600", "1"] {
        let options = ["--bmp", "127.0.0.1:0", "--fpm", "127.0.0.1:0"];
        let mut follow = Follow::start("awaited", &[&options[..], &["--idle", idle]].concat());
        let address = follow.connect("BMP on");
        follow.note("answering");
        let all = [up(ONE), announce(ONE, 1), end_of_rib(ONE), end.clone()];
        let _router = router(address, &all);
        let answer = "10.1.0.0\t10.1.0.0/16\t192.0.2.1 as-path 64500\n";
        follow.expect("10.1.0.0\n", answer);
        let is_loading = || {
            let health = follow.ask("GET /health HTTP/1.0\n\n");
            health.ends_with("\nloading\n")
        };
        if idle == "3600" {
            sleep(Duration::from_millis(300));
            assert!(is_loading());
        }
        let begin = Instant::now();
        while idle == "1" && is_loading() {
            assert!(begin.elapsed() < Duration::from_secs(60));
            sleep(Duration::from_millis(20));
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn places_of_routers_that_have_gone_are_used_again() {
    let mut follow = Follow::start("places", &["--bmp", "127.0.0.1:0"]);
    let address = follow.connect("BMP on");
    follow.note("answering");
    for _ in 0..1100 {
        // One after the other: so many at a time would be refused.
        let mut router = TcpStream::connect(address).unwrap();
        router.shutdown(std::net::Shutdown::Write).unwrap();
        router.read_to_end(&mut Vec::new()).unwrap();
    }
    let _router = router(address, &[up(ONE), announce(ONE, 1)]);
    let answer = "10.1.0.0\t10.1.0.0/16\t192.0.2.1 as-path 64500\n";
    follow.expect("10.1.0.0\n", answer);
    let begin = Instant::now();
    let open = || {
        let files = format!("/proc/{}/fd", follow.child.id());
        fs::read_dir(files).unwrap().count()
    };
    while open() > 40 {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "{} files",
            open()
        );
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn messages_that_are_left_out_are_told_by_router_and_reason_with_the_first() {
    let mut follow = Follow::start("left-out", &["--bmp", "127.0.0.1:0"]);
    let address = follow.connect("BMP on");
    follow.note("answering");
    // A prefix of IPv4 that is longer than 32 bits.
    let odd = bmp(0, ONE, &bgp(2, &[0, 2, 99, 10, 0, 0]));
    let cut = bmp(3, TWO, &[0; 10]);
    let messages = [up(ONE), odd.clone(), odd, cut, announce(ONE, 1)];
    let _router = router(address, &messages);
    let note = follow.note("messages left out");
    let other = follow.note("messages left out");
    let mut notes = [note, other];
    notes.sort();
    let begins = "popfibd: BMP 127.0.0.1: 1 messages left out: the OPENs of a Peer Up are invalid; the first: peer 192.0.2.2, pre-policy, 0000";
    assert!(notes[0].starts_with(begins), "{notes:?}");
    let begins = "popfibd: BMP 127.0.0.1: 2 messages left out: ";
    let ends = "; the first: peer 192.0.2.1, pre-policy, ffffffffffffffffffffffffffffffff0019020002630a0000\n";
    assert!(
        notes[1].starts_with(begins) && notes[1].ends_with(ends),
        "{notes:?}"
    );
    let stats = follow.ask("stats\n");
    let line = "popfib_feed_left_out_total{feed=\"BMP 127.0.0.1\",reason=\"the OPENs of a Peer Up are invalid\"} 1\n";
    assert!(stats.contains(line), "{stats}");
    assert!(
        stats.contains("popfib_feed_invalid_total{feed=\"BMP 127.0.0.1\"} 3\n"),
        "{stats}"
    );
    let answer = "10.1.0.0\t10.1.0.0/16\t192.0.2.1 as-path 64500\n";
    follow.expect("10.1.0.0\n", answer);
}
