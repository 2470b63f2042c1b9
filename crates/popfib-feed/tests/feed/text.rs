use std::io::Read;
use std::time::Instant;

use popfib_feed::files::{FileUpdates, UpdateError};
use popfib_feed::{Tables, Transaction};
use popfib_formats::{Input, UpdateOptions};

use crate::at_once::AtOnce as _;
use crate::{answers, limits, survived};

/// Bytes as a slow pipe gives them.
struct Pipe(Vec<u8>, fastrand::Rng);

impl Read for Pipe {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let length = self.1.usize(1..=200).min(self.0.len()).min(to.len());
        to[..length].copy_from_slice(&self.0[..length]);
        self.0.drain(..length);
        Ok(length)
    }
}

/// The tables after all lines, what read them, and its first error.
fn run(lines: impl Into<Vec<u8>>) -> (Tables, FileUpdates, Option<String>) {
    let mut tables = Tables::new(limits());
    let now = Instant::now();
    let id = tables.connected("pipe", now);
    let pipe = Pipe(lines.into(), fastrand::Rng::with_seed(1));
    let input = Input::from_reader("pipe", pipe);
    let mut updates = FileUpdates::open(input, &UpdateOptions::default()).unwrap();
    let mut transaction = Transaction::default();
    let mut first = None;
    loop {
        match updates.next(&mut transaction) {
            Ok(true) => {
                transaction.settle();
                tables.apply(id, updates.streams(), &mut transaction, now);
            }
            Ok(false) => break,
            Err(UpdateError::Read(error)) => {
                first.get_or_insert(error.to_string());
                if !error.is_invalid_line() {
                    break;
                }
            }
            Err(error) => panic!("{error}"),
        }
    }
    tables.tick(now, usize::MAX);
    (tables, updates, first)
}

fn values(lines: &str) -> Vec<String> {
    let answers = answers(&run(lines).0, "main");
    answers
        .iter()
        .map(|(prefix, value)| format!("{prefix} {value}"))
        .collect()
}

#[test]
fn plain_lines() {
    let lines = "# a comment\n\nannounce 10.0.0.0/8 AS64500\nannounce 2001:db8::/32 east\r\n\
                 announce 10.1.0.0/16 x\nwithdraw 10.1.0.0/16\nwithdraw 10.9.0.0/16\nannounce 192.0.2.1 host";
    assert_eq!(
        values(lines),
        [
            "10.0.0.0/8 AS64500",
            "192.0.2.1/32 host",
            "2001:db8::/32 east"
        ]
    );
}

#[test]
fn commands_of_exabgp() {
    let lines = "announce route 10.0.0.0/8 next-hop 192.0.2.1\n\
                 announce route 10.1.0.0/16 next-hop 192.0.2.1 origin igp as-path [ 64500 64501 ] med 5 \
                 local-preference 200 community [64500:1 64500:2] cluster-list [ 192.0.2.1 ]\n\
                 neighbor 192.0.2.9 announce route 10.2.0.0/16 next-hop 192.0.2.2 community 64500:9\n\
                 announce route 10.3.0.0/16 next-hop 192.0.2.3\nwithdraw route 10.3.0.0/16 next-hop 192.0.2.3\n";
    assert_eq!(
        values(lines),
        [
            "10.0.0.0/8 192.0.2.1",
            "10.1.0.0/16 192.0.2.1 as-path 64500 64501 local-pref 200 med 5 communities 64500:1 64500:2",
            "10.2.0.0/16 192.0.2.2 communities 64500:9",
        ]
    );
}

#[test]
fn messages_of_ris_live() {
    let message = |peer: &str, rest: &str| {
        format!(
            "{{\"type\":\"ris_message\",\"data\":{{\"timestamp\":1.5,\"peer\":\"{peer}\",\"peer_asn\":\"1\",{rest}}}}}\n"
        )
    };
    let update = |peer, path, rest: &str| {
        let rest = format!(
            "\"type\":\"UPDATE\",\"path\":{path},\"community\":[[64500,1]],\"origin\":\"IGP\",{rest}"
        );
        message(peer, &rest)
    };
    let announce = |prefixes| {
        format!("\"announcements\":[{{\"next_hop\":\"192.0.2.1\",\"prefixes\":[{prefixes}]}}]")
    };
    let mut lines = update(
        "192.0.2.9",
        "[1,2,[3,4]]",
        &announce("\"10.0.0.0/8\",\"10.1.0.0/16\""),
    );
    lines += &update("192.0.2.8", "[1,2]", &announce("\"10.0.0.0\\/8\""));
    lines += &update("192.0.2.9", "[]", "\"withdrawals\":[\"10.1.0.0/16\"]");
    lines += &message("192.0.2.9", "\"type\":\"KEEPALIVE\"");
    assert_eq!(
        values(&lines),
        ["10.0.0.0/8 192.0.2.1 as-path 1 2 communities 64500:1"]
    );
    // The better peer is lost.
    lines += &message(
        "192.0.2.8",
        "\"type\":\"RIS_PEER_STATE\",\"state\":\"down\"",
    );
    assert_eq!(
        values(&lines),
        ["10.0.0.0/8 192.0.2.1 as-path 1 2 {3,4} communities 64500:1"]
    );
    assert_eq!(run(&*lines).1.counts().invalid, 0);
}

#[test]
fn wrong_lines_are_counted_and_the_next_is_read() {
    let wrong = [
        "announce",
        "announce 10.0.0.0/8",
        "announce 10.0.0.0/33 x",
        "announce 10.0.0.1/8 x",
        "announce 10.0.0.0/8 x y",
        "withdraw 10.0.0.0/8 x",
        "announce route 10.0.0.0/8",
        "announce attributes next-hop 192.0.2.1 nlri",
        "announce attributes next-hop 192.0.2.1",
        "announce attributes next-hop 192.0.2.1 nlri 10.0.0.0/8 10.0.0.1/8",
        "announce attributes next-hop 192.0.2.1 split /24 nlri 10.0.0.0/8",
        "announce ipv4 unicast next-hop 192.0.2.1",
        "announce route 10.0.0.0/8 next-hop 192.0.2.1 as-path [ 1",
        "announce route 10.0.0.0/8 next-hop 192.0.2.1 as-path 1 2",
        "announce route 10.0.0.0/8 next-hop 192.0.2.1 next-hop 192.0.2.2",
        "announce route 10.0.0.0/8 next-hop 192.0.2.1 origin x",
        "withdraw route 10.0.0.0/8 x",
        "announce eor ipv4 unicast x",
        "{}",
        "{\"type\":\"ris_message\"}",
        "{\"type\":\"x\",\"peer\":\"192.0.2.9\"}",
        "{\"type\":\"ris_message\",\"data\":{\"type\":\"UPDATE\",\"peer\":\"192.0.2.9\",\"x\":[\"10.0.0.0/8\"]}}",
        "{\"type\":\"ris_message\",\"data\":{\"type\":\"UPDATE\",\"withdrawals\":[\"10.0.0.0/8\"]}}",
        "{",
        "hello",
    ];
    let long = [60_001, 3 << 20].map(|length| {
        let value = "x".repeat(length);
        format!("announce 10.0.0.0/8 {value}\n")
    });
    let lines = format!(
        "# none\nwithdraw 10.0.0.0/8\n{}\n{}announce 10.0.0.0/8 good\n",
        wrong.join("\n"),
        long.concat()
    );
    assert_eq!(values(&lines), ["10.0.0.0/8 good"]);
    let (_, updates, first) = run(&*lines);
    assert_eq!(updates.counts().invalid, (wrong.len() + long.len()) as u64);
    assert_eq!(first.unwrap(), "pipe:3: no prefix in this line");
    // A value may be long.
    let value = "x".repeat(60_000);
    assert_eq!(
        values(&format!("announce 10.0.0.0/8 {value}\n")),
        [format!("10.0.0.0/8 {value}")]
    );
}

#[test]
fn what_is_no_route_of_unicast_is_left_out_by_kind() {
    let lines = "announce route 10.1.0.0/16 next-hop 192.0.2.1 label 100 rd 64500:1\n\
                 withdraw route 10.0.0.0/8 rd 64500:1\n\
                 announce flow route { match { destination 10.9.0.0/24; } then { discard; } }\n\
                 announce ipv4 mpls-vpn 10.2.0.0/16 next-hop 192.0.2.1 label 100 rd 64500:1\n\
                 announce eor ipv4 unicast\n{\"type\":\"pong\",\"data\":null}\n";
    let (tables, updates, _) = run(format!("announce 10.0.0.0/8 a\n{lines}"));
    assert_eq!(answers(&tables, "main").len(), 1);
    assert_eq!((updates.counts().invalid, updates.counts().other), (0, 6));
    assert_eq!(
        updates.notes(),
        [
            "2 updates of other families left out",
            "2 updates with a label or route distinguisher left out"
        ]
    );
}

#[test]
fn commands_of_exabgp_for_many_prefixes() {
    let lines = "announce attributes next-hop 192.0.2.1 med 5 nlri 10.3.0.0/24 10.4.0.0/24 2001:db8::/32\n\
                 announce ipv4 unicast 10.5.0.0/24 next-hop 192.0.2.1\n";
    assert_eq!(
        values(&format!(
            "{lines}withdraw attributes next-hop 192.0.2.1 nlri 10.4.0.0/24\n"
        )),
        [
            "10.3.0.0/24 192.0.2.1 med 5",
            "10.5.0.0/24 192.0.2.1",
            "2001:db8::/32 192.0.2.1 med 5"
        ]
    );
    assert_eq!(
        values(&format!("{lines}withdraw ipv4 unicast 10.5.0.0/24\n")).len(),
        3
    );
    // A value of the plain form may be called as a command.
    assert_eq!(
        values("announce 10.0.0.0/8 attributes\n"),
        ["10.0.0.0/8 attributes"]
    );
}

#[test]
fn commands_of_exabgp_for_all_neighbors() {
    let lines = "neighbor 192.0.2.9 announce route 10.0.0.0/8 next-hop 192.0.2.1\n\
                 neighbor 192.0.2.9 announce route 11.0.0.0/8 next-hop 192.0.2.1 local-preference 200\n\
                 neighbor 192.0.2.8 announce route 12.0.0.0/8 next-hop 192.0.2.1\n";
    let after = |more: &str| values(&format!("{lines}{more}"));
    // A neighbor withdraws what is its own; without one, a command is for all.
    let [ten, eleven, twelve] = [10, 11, 12].map(|n| format!("{n}.0.0.0/8 192.0.2.1"));
    let eleven = format!("{eleven} local-pref 200");
    let all = [ten.clone(), eleven.clone(), twelve.clone()];
    assert_eq!(after("neighbor 192.0.2.8 withdraw route 10.0.0.0/8\n"), all);
    assert_eq!(
        after("withdraw route 10.0.0.0/8\n"),
        [eleven.clone(), twelve.clone()]
    );
    assert_eq!(
        after("announce route 11.0.0.0/8 next-hop 192.0.2.2\n"),
        [
            ten.clone(),
            "11.0.0.0/8 192.0.2.2".to_owned(),
            twelve.clone()
        ]
    );
    // Of another path identifier, it is another path.
    assert_eq!(
        after("withdraw route 11.0.0.0/8 path-information 0.0.0.1\n"),
        all
    );
    // Routes of its own.
    let own = "announce route 10.1.0.0/16 next-hop self as-path [ 1 ]\nneighbor 192.0.2.9 announce attributes next-hop self nlri 2001:db8::/32\n";
    assert_eq!(
        values(own),
        ["10.1.0.0/16 0.0.0.0 as-path 1", "2001:db8::/32 ::"]
    );
    // A split prefix, announced and withdrawn in part.
    let split = "announce route 10.1.0.0/22 next-hop 192.0.2.2 atomic-aggregate split /24\n\
                 withdraw route 10.1.2.0/23 next-hop self split /24\n";
    assert_eq!(
        values(split),
        ["10.1.0.0/24 192.0.2.2", "10.1.1.0/24 192.0.2.2"]
    );
}

#[test]
fn additional_paths_of_exabgp() {
    let lines = "announce route 10.9.0.0/16 next-hop 192.0.2.1 path-information 1.2.3.4\n\
                 announce route 10.9.0.0/16 next-hop 192.0.2.2 path-information 1.2.3.5\n";
    for id in ["1.2.3.4", "16909060"] {
        let withdrawn = format!("{lines}withdraw route 10.9.0.0/16 path-information {id}\n");
        assert_eq!(values(&withdrawn), ["10.9.0.0/16 192.0.2.2"]);
    }
    assert_eq!(values(lines), ["10.9.0.0/16 192.0.2.1"]);
}

#[test]
fn any_bytes_are_survived() {
    let mut random = fastrand::Rng::with_seed(7);
    let good = "announce 10.0.0.0/8 x\nannounce route 10.1.0.0/16 next-hop ::1 as-path [ 1 2 ]\n\
                {\"type\":\"ris_message\",\"data\":{\"type\":\"UPDATE\",\"peer\":\"::1\",\"path\":[1,[2]],\
                \"announcements\":[{\"next_hop\":\"::2,fe80::1\",\"prefixes\":[\"::/0\"]}]}}\n";
    survived(good.as_bytes(), &mut random, |bytes| {
        let (tables, _, first) = run(bytes);
        assert!(first.is_none_or(|error| !error.contains('\n')));
        tables
    });
}

#[test]
fn a_line_of_ris_live_does_not_multiply_what_its_announcements_share() {
    let line = |path: usize, announcements: usize, hops: usize| {
        let path = vec!["1"; path].join(",");
        let announcement = |n: usize| {
            let hop = n * hops / announcements;
            format!(
                r#"{{"next_hop":"10.0.{}.{}","prefixes":["10.{}.{}.0/24"]}}"#,
                hop >> 8,
                hop & 255,
                n >> 8,
                n & 255
            )
        };
        let all: Vec<String> = (0..announcements).map(announcement).collect();
        let all = all.join(",");
        format!(
            r#"{{"data":{{"peer":"192.0.2.9","type":"UPDATE","path":[{path}],"announcements":[{all}]}}}}"#
        )
    };
    // Attributes, and how many there may be: as long as they are no longer than a line.
    for (path, announcements, hops, fits) in [
        (3, 5000, 1, true),
        (3, 5000, 5000, true),
        (4000, 5000, 2, true),
        (4000, 5000, 200, false),
        (100_000, 1000, 1, false),
    ] {
        let line = line(path, announcements, hops) + "\n";
        assert!(line.len() < 1 << 20);
        let (tables, updates, _) = run(&*line);
        let paths = if fits { announcements } else { 0 };
        assert_eq!(
            (tables.totals().paths, updates.counts().invalid),
            (paths, u64::from(!fits)),
            "{path} {hops}"
        );
    }
}
