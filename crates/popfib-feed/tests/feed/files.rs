//! Update files: the same changes in MRT and in text have the same paths, and one table keeps the best.

use std::time::Instant;

use popfib::IpPrefix;
use popfib_feed::files::{BestPathUpdates, FileUpdates, UpdateError};
use popfib_feed::{Tables, Transaction};
use popfib_formats::{Input, UpdateOptions};

use crate::at_once::AtOnce as _;
use crate::{answers, limits, wire};

fn input(bytes: &[u8]) -> Input {
    Input::from_reader("updates", std::io::Cursor::new(bytes.to_vec()))
}

fn best_paths(bytes: &[u8]) -> BestPathUpdates {
    BestPathUpdates::open(input(bytes), &UpdateOptions::default()).expect("updates")
}

/// The routes after all updates, and how many were invalid.
fn run(bytes: &[u8]) -> (Vec<String>, usize) {
    let mut tables = Tables::new(limits());
    let now = Instant::now();
    let id = tables.connected("file", now);
    let mut updates = FileUpdates::open(input(bytes), &UpdateOptions::default()).expect("updates");
    let mut transaction = Transaction::default();
    let mut invalid = 0;
    loop {
        match updates.next(&mut transaction) {
            Ok(true) => {
                invalid += usize::from(updates.invalid().is_some());
                tables.apply(id, updates.streams(), &mut transaction, now);
            }
            Ok(false) => break,
            Err(UpdateError::Read(error)) if error.is_invalid_line() => invalid += 1,
            Err(error) => panic!("{error}"),
        }
    }
    // What a session had is removed by the sweep.
    while tables.tick(now, usize::MAX) {}
    let routes = answers(&tables, "main");
    let routes = routes
        .iter()
        .map(|(prefix, value)| format!("{prefix} {value}"));
    (routes.collect(), invalid)
}

/// A record of BGP4MP from 192.0.2.PEER, of AS 64500.
fn record(peer: u8, has_ids: bool, message: &[u8]) -> Vec<u8> {
    let mut body = [64500u32.to_be_bytes(), 64999u32.to_be_bytes()].concat();
    body.extend([0, 0, 0, 1, 192, 0, 2, peer, 192, 0, 2, 254]);
    body.extend(message);
    let mut record = vec![0, 0, 0, 1, 0, 16, 0, if has_ids { 9 } else { 4 }];
    record.extend((body.len() as u32).to_be_bytes());
    record.extend(body);
    record
}

fn announcement(id: Option<u32>, prefix: &str, preference: u32, as_path: &[u32]) -> Vec<u8> {
    let prefix: IpPrefix = prefix.parse().expect("a prefix");
    let hop = "192.0.2.7".parse().expect("an address");
    wire::update(&[(id, prefix)], Some((hop, preference, as_path)))
}

fn withdrawal(id: Option<u32>, prefix: &str) -> Vec<u8> {
    wire::update(&[(id, prefix.parse().expect("a prefix"))], None)
}

#[test]
fn paths_have_their_attributes_and_identifiers() {
    let mrt = [
        record(
            1,
            true,
            &announcement(Some(1), "10.0.0.0/8", 200, &[64500, 64501]),
        ),
        record(
            1,
            true,
            &announcement(Some(2), "10.0.0.0/8", 100, &[64500, 64502]),
        ),
        record(2, false, &announcement(None, "10.0.0.0/8", 50, &[64509])),
        record(2, false, &announcement(None, "2001:db8::/32", 50, &[64509])),
    ]
    .concat();
    let routes = |more: &[u8]| run(&[&mrt, more].concat());
    let ipv6 = "2001:db8::/32 192.0.2.7 as-path 64509 local-pref 50".to_owned();
    let ten = |rest| {
        (
            vec![format!("10.0.0.0/8 192.0.2.7 {rest}"), ipv6.clone()],
            0,
        )
    };
    assert_eq!(routes(&[]), ten("as-path 64500 64501 local-pref 200"));
    let first = record(1, true, &withdrawal(Some(1), "10.0.0.0/8"));
    assert_eq!(routes(&first), ten("as-path 64500 64502 local-pref 100"));
    let second = record(1, true, &withdrawal(Some(2), "10.0.0.0/8"));
    let both = [&first[..], &second].concat();
    assert_eq!(routes(&both), ten("as-path 64509 local-pref 50"));

    let text = "BGP4MP_AP|1|A|192.0.2.1|64500|10.0.0.0/8|1|64500 64501|IGP|192.0.2.7|200|0||NAG||\n\
                BGP4MP_AP|1|A|192.0.2.1|64500|10.0.0.0/8|2|64500 64502|IGP|192.0.2.7|100|0||NAG||\n\
                BGP4MP|1|A|192.0.2.2|64509|10.0.0.0/8|64509|IGP|192.0.2.7|50|0||NAG||\n\
                BGP4MP|1|A|192.0.2.2|64509|2001:db8::/32|64509|IGP|192.0.2.7|50|0||NAG||\n";
    assert_eq!(run(text.as_bytes()), routes(&[]));
    let withdrawn = format!("{text}BGP4MP_AP|2|W|192.0.2.1|64500|10.0.0.0/8|1\n");
    assert_eq!(run(withdrawn.as_bytes()), routes(&first));
}

#[test]
fn invalid_attributes_are_a_withdrawal() {
    let good = announcement(None, "10.0.0.0/8", 200, &[64500]);
    let mut bad = good.clone();
    // The origin, the first attribute, says what no origin is.
    bad[19 + 4 + 4] = 9;
    let mrt = [record(1, false, &good), record(1, false, &bad)].concat();
    assert_eq!(run(&mrt[..mrt.len() / 2]).0.len(), 1);
    assert_eq!(run(&mrt), (vec![], 1));
    // A line of text that says so is invalid as a whole.
    let text = "BGP4MP|1|A|192.0.2.1|64500|10.0.0.0/8|64500|IGP|192.0.2.7|0|0||NAG||\n\
                BGP4MP|1|A|192.0.2.1|64500|10.0.0.0/8|64500 {|IGP|192.0.2.8|0|0||NAG||\n\
                BGP4MP|1|A|192.0.2.1|64500|10.0.0.0/8|64500|igp|192.0.2.8|0|0||NAG||\n";
    assert_eq!(run(text.as_bytes()).1, 2);
}

/// The end of a session withdraws the paths of its peer; its other states change nothing.
#[test]
fn sessions_that_end() {
    let text = "BGP4MP|1|A|192.0.2.1|64501|10.0.0.0/8|64501|IGP|192.0.2.11|0|0||NAG||\n\
                BGP4MP|1|A|192.0.2.1|64501|2001:db8::/32|64501|IGP|192.0.2.11|0|0||NAG||\n\
                BGP4MP|2|A|192.0.2.2|64502|10.0.0.0/8|64502 7|IGP|192.0.2.12|0|0||NAG||\n\
                BGP4MP|3|STATE|192.0.2.1|64501|2|3\n";
    let down = format!("{text}BGP4MP|4|STATE|192.0.2.1|64501|6|1\n");
    let (kept, _) = run(text.as_bytes());
    assert_eq!(kept.len(), 2);
    let (left, _) = run(down.as_bytes());
    assert_eq!(left.len(), 1, "{left:?}");
    let mut updates = best_paths(down.as_bytes());
    let mut best = Vec::new();
    while let Some((prefix, target)) = updates.next_best().expect("an update") {
        let hop = target.and_then(|target| target.as_path()?.next_hop);
        best.push((prefix.to_string(), hop.map(|hop| hop.to_string())));
    }
    best[3..].sort_unstable();
    let hop = |hop: &str| Some(hop.to_owned());
    assert_eq!(
        best[3..],
        [
            ("10.0.0.0/8".to_owned(), hop("192.0.2.12")),
            ("2001:db8::/32".to_owned(), None)
        ]
    );
}

#[test]
fn one_table_keeps_the_best_path_of_all_peers() {
    let text = "BGP4MP|1|A|192.0.2.1|64501|10.0.0.0/8|64501 7|IGP|192.0.2.11|0|0||NAG||\n\
                BGP4MP|2|A|192.0.2.2|64502|10.0.0.0/8|64502 8 7|IGP|192.0.2.12|0|0||NAG||\n\
                BGP4MP_AP|3|A|192.0.2.2|64502|10.0.0.0/8|5|7|IGP|192.0.2.13|0|0||NAG||\n\
                BGP4MP_AP|4|W|192.0.2.2|64502|10.0.0.0/8|5\n\
                BGP4MP|5|W|192.0.2.1|64501|10.0.0.0/8\n\
                BGP4MP|6|W|192.0.2.2|64502|10.0.0.0/8\n\
                BGP4MP|7|W|192.0.2.3|64503|10.0.0.0/8\n";
    let mut updates = best_paths(text.as_bytes());
    let mut best = Vec::new();
    while let Some((prefix, target)) = updates.next_best().expect("an update") {
        assert_eq!(prefix.to_string(), "10.0.0.0/8");
        let hop = target.and_then(|target| target.as_path()?.next_hop);
        best.push(hop.map(|hop| hop.to_string()));
    }
    let expected = [
        Some("192.0.2.11"),
        Some("192.0.2.11"),
        Some("192.0.2.13"),
        Some("192.0.2.11"),
        Some("192.0.2.12"),
        None,
        None,
    ];
    assert_eq!(best, expected.map(|hop| hop.map(str::to_owned)));
}

#[test]
fn what_names_no_peer_takes_the_place_of_all() {
    let text = "neighbor 192.0.2.1 announce route 10.0.0.0/8 next-hop 192.0.2.11\n\
                neighbor 192.0.2.2 announce attributes next-hop 192.0.2.12 med 1 nlri 10.0.0.0/8 11.0.0.0/8\n\
                announce route 10.0.0.0/8 next-hop 192.0.2.13 local-preference 1\n\
                withdraw 11.0.0.0/8\n\
                withdraw 10.0.0.0/8\n";
    let mut updates = best_paths(text.as_bytes());
    let mut best = Vec::new();
    while let Some((prefix, target)) = updates.next_best().expect("an update") {
        let target = target.map(|target| target.to_string());
        best.push(format!("{prefix} {}", target.unwrap_or_default()));
    }
    let expected = [
        "10.0.0.0/8 192.0.2.11",
        "10.0.0.0/8 192.0.2.11",
        "11.0.0.0/8 192.0.2.12 med 1",
        "10.0.0.0/8 192.0.2.13 local-pref 1",
        "11.0.0.0/8 ",
        "10.0.0.0/8 ",
    ];
    assert_eq!(best, expected);
    assert!(run(text.as_bytes()).0.is_empty());
}
