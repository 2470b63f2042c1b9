//! Updates: every format, what is recognised, peers and times, bad input.

use crate::common::input;
use crate::mrt_file::{as_path, message, next_hop, path_attribute, record, session, update};
use popfib_formats::updates::Message;
use popfib_formats::{Change, UpdateFormat, UpdateOptions, UpdateSource, open_updates};

fn all_of(source: &mut dyn UpdateSource) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        all.push(match source.next_update() {
            Ok(None) => return all,
            Err(error) => format!("{error}"),
            Ok(Some(update)) => {
                let time = update.time.map_or("-".into(), |time| time.to_string());
                let peer = match update.peer {
                    Some((address, asn)) => format!("{address}/{asn}"),
                    None => "-".into(),
                };
                match update.change {
                    Change::Announce(hop) => format!("{time} {peer} A {} {hop}", update.prefix),
                    Change::Withdraw => format!("{time} {peer} W {}", update.prefix),
                }
            }
        });
    }
}

fn updates(data: impl Into<Vec<u8>>) -> Vec<String> {
    all_of(&mut *open_updates(input(data), &UpdateOptions::default()).unwrap())
}

fn of_peer(data: impl Into<Vec<u8>>, peer: &str) -> Vec<String> {
    let options = UpdateOptions {
        peer: Some(peer.parse().unwrap()),
        ..UpdateOptions::default()
    };
    all_of(&mut *open_updates(input(data), &options).unwrap())
}

const TEXT: &str =
    "# morning\nA 10.0.0.0/8 192.0.2.1\nW 10.0.0.0/8 ; gone\n\nA 2001:db8::/32\teast\n";
const GOBGPDUMP: &str = "\
1356999224 147.28.7.2 A 115.170.128.0/17 147.28.7.2 4847
1356999224.5 134.222.87.1 W 58.184.229.0/24
1356999223 147.28.7.2 W 115.170.128.0/17
";
const BGPDUMP: &str = "\
BGP4MP|1470931200|STATE|192.0.2.1|64501|6|1
BGP4MP|1470931200|A|192.0.2.1|64501|10.0.0.0/8|64501 {5,6}|IGP|192.0.2.7|0|0||NAG||
BGP4MP_ET|1470931201.000250|W|2001:db8::9|64502|2001:db8::/32
";

#[test]
fn text() {
    let wanted = [
        "- - A 10.0.0.0/8 192.0.2.1",
        "- - W 10.0.0.0/8",
        "- - A 2001:db8::/32 east",
    ];
    assert_eq!(updates(TEXT), wanted);
    assert!(updates("# nothing\n").is_empty());
}

#[test]
fn gobgpdump() {
    let wanted = [
        "1356999224000000 147.28.7.2/0 A 115.170.128.0/17 147.28.7.2",
        "1356999224500000 134.222.87.1/0 W 58.184.229.0/24",
        "1356999223000000 147.28.7.2/0 W 115.170.128.0/17",
    ];
    assert_eq!(updates(GOBGPDUMP), wanted);
    assert_eq!(of_peer(GOBGPDUMP, "134.222.87.1"), wanted[1..2]);
    assert_eq!(of_peer(GOBGPDUMP, "0"), [wanted[0], wanted[2]]);
}

#[test]
fn bgpdump() {
    let wanted = [
        "1470931200000000 192.0.2.1/64501 A 10.0.0.0/8 192.0.2.7",
        "1470931201000250 2001:db8::9/64502 W 2001:db8::/32",
    ];
    assert_eq!(updates(BGPDUMP), wanted);
    assert_eq!(of_peer(BGPDUMP, "AS64502"), wanted[1..]);
    let mixed = format!("TABLE_DUMP2|1|B|192.0.2.1|1|10.0.0.0/8|1|IGP|192.0.2.7|\n{BGPDUMP}");
    let mut source = open_updates(input(mixed), &UpdateOptions::default()).unwrap();
    assert_eq!(all_of(&mut *source), wanted);
    assert_eq!(source.notes(), ["1 line of a table left out"]);
}

fn mrt() -> Vec<u8> {
    let v4 = [as_path(&[(2, &[64501])]), next_hop([192, 0, 2, 7])].concat();
    let hop6 = [&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[7]].concat();
    let reach = [&[0, 2, 1, 16][..], &hop6, &[0, 32, 0x20, 1, 0xd, 0xb8]].concat();
    let unreach = [0, 2, 1, 16, 0x20, 2];
    let v6 = [path_attribute(14, &reach), path_attribute(15, &unreach)].concat();
    // Multicast is another table.
    let multicast = path_attribute(15, &[0, 2, 2, 16, 0x20, 2]);
    let precise = message([192, 0, 2, 2], &[], &multicast, &[]);
    let precise = [&250u32.to_be_bytes()[..], &precise].concat();
    [
        record(16, 3, b"a snapshot"),
        session([192, 0, 2, 1], 5, 6),
        update([192, 0, 2, 1], &[8, 11], &v4, &[8, 10, 12, 172, 16]),
        record(17, 4, &precise),
        update([192, 0, 2, 2], &[], &v6, &[]),
    ]
    .concat()
}

#[test]
fn mrt_of_both_families() {
    let wanted = [
        "1000000000000000 192.0.2.1/64501 W 11.0.0.0/8",
        "1000000000000000 192.0.2.1/64501 A 10.0.0.0/8 192.0.2.7",
        "1000000000000000 192.0.2.1/64501 A 172.16.0.0/12 192.0.2.7",
        "1000000000000000 192.0.2.2/64501 W 2002::/16",
        "1000000000000000 192.0.2.2/64501 A 2001:db8::/32 2001:db8::7",
    ];
    let mut source = open_updates(input(mrt()), &UpdateOptions::default()).unwrap();
    assert_eq!(all_of(&mut *source), wanted);
    assert_eq!(
        source.notes(),
        ["1 record that holds no BGP message left out"]
    );
    let counts: Vec<_> = source
        .peers()
        .iter()
        .map(|p| (p.ipv4_routes, p.ipv6_routes))
        .collect();
    assert_eq!(counts, [(3, 0), (0, 2)]);
    assert_eq!(of_peer(mrt(), "192.0.2.2"), wanted[3..]);
    assert_eq!(of_peer(mrt(), "0"), wanted[..3]);
}

/// Changes of states stand where they came, from MRT as from text; they are no updates.
#[test]
fn sessions() {
    let seen = |data: Vec<u8>, peer: Option<&str>| {
        let peer = peer.map(|peer| peer.parse().unwrap());
        let options = UpdateOptions {
            peer,
            ..UpdateOptions::default()
        };
        let mut source = open_updates(input(data), &options).unwrap();
        let mut all = Vec::new();
        while source.advance().unwrap() {
            all.push(match source.message() {
                Message::Update(update) => update.prefix.to_string(),
                Message::Session(session) => {
                    let (address, asn) = session.peer;
                    let (old, new) = (session.old, session.new);
                    assert_eq!(source.message().time(), Some(session.time));
                    format!("{address} {asn} {old} {new} {}", session.is_reset())
                }
            });
        }
        all
    };
    let withdrawn = update([192, 0, 2, 1], &[8, 11], &[], &[]);
    let down = session([192, 0, 2, 1], 6, 1);
    let mrt = [
        &withdrawn[..],
        &down,
        &session([192, 0, 2, 2], 1, 2),
        &withdrawn,
    ]
    .concat();
    let all = [
        "11.0.0.0/8",
        "192.0.2.1 64501 6 1 true",
        "192.0.2.2 64501 1 2 false",
        "11.0.0.0/8",
    ];
    assert_eq!(seen(mrt.clone(), None), all);
    assert_eq!(seen(mrt, Some("192.0.2.2")), all[2..3]);
    let text = "\
BGP4MP|1|W|192.0.2.1|64501|11.0.0.0/8
BGP4MP|1|STATE|192.0.2.1|64501|6|1
BGP4MP|1|STATE|192.0.2.2|64501|1|2
BGP4MP|1|W|192.0.2.1|64501|11.0.0.0/8
";
    assert_eq!(seen(text.into(), None), all);
    assert_eq!(seen(text.into(), Some("192.0.2.2")), all[2..3]);
    let short = record(16, 5, &down[12..down.len() - 1]);
    assert!(updates(short)[0].ends_with("a field reaches beyond its record"));
}

#[test]
fn microseconds_of_mrt() {
    let body = message([192, 0, 2, 2], &[8, 11], &[], &[]);
    let data = record(17, 4, &[&250u32.to_be_bytes()[..], &body].concat());
    assert_eq!(
        updates(data),
        ["1000000000000250 192.0.2.2/64501 W 11.0.0.0/8"]
    );
}

#[test]
fn additional_paths_of_mrt() {
    let attributes = [as_path(&[]), next_hop([1; 4])].concat();
    let nlri = [0, 0, 0, 5, 8, 10, 0, 0, 0, 6, 8, 11];
    let data = record(
        16,
        9,
        &message([192, 0, 2, 1], &[0, 0, 0, 1, 8, 12], &attributes, &nlri),
    );
    let seen = updates(data);
    let seen: Vec<_> = seen.iter().map(|u| u.splitn(3, ' ').nth(2)).collect();
    let wanted = [
        "W 12.0.0.0/8",
        "A 10.0.0.0/8 1.1.1.1",
        "A 11.0.0.0/8 1.1.1.1",
    ];
    assert_eq!(seen, wanted.map(Some));
}

#[test]
fn what_is_older_than_what_came_before_is_counted() {
    let mut source = open_updates(input(GOBGPDUMP), &UpdateOptions::default()).unwrap();
    assert_eq!(all_of(&mut *source).len(), 3);
    assert_eq!(source.out_of_order(), 1);
}

#[test]
fn formats_are_recognised() {
    let detected = |head: &[u8]| UpdateFormat::detect(head).name();
    assert_eq!(detected(TEXT.as_bytes()), "text");
    assert_eq!(detected(GOBGPDUMP.as_bytes()), "gobgpdump");
    assert_eq!(detected(BGPDUMP.as_bytes()), "bgpdump");
    assert_eq!(detected(&mrt()), "mrt");
    for head in [
        &b""[..],
        b"10.0.0.0/8 a\n",
        b"\0\0\0",
        b"A|B|C\n",
        b"1 2 3\n",
    ] {
        assert_eq!(detected(head), "text", "{head:?}");
    }
    for format in UpdateFormat::all() {
        assert_eq!(UpdateFormat::by_name(format.name()), Some(format));
    }
}

#[test]
fn lines_that_are_invalid() {
    let second = |text: &str| {
        let lines: Vec<_> = text.lines().collect();
        let seen = updates(text);
        assert_eq!(seen.len(), lines.len(), "{seen:?}");
        seen[1].clone()
    };
    let text = |line: &str| second(&format!("W 10.0.0.0/8\n{line}\nW 11.0.0.0/8\n"));
    assert_eq!(text("A 10.0.0.0/8"), "t:2: no next hop in this line");
    assert_eq!(text("A"), "t:2: no prefix in this line");
    assert_eq!(text("X 10.0.0.0/8"), "t:2: \"X\": neither A nor W");
    assert_eq!(text("W 10.0.0.0/8 b"), "t:2: more than an update: \"b\"");
    assert!(text("W 10.0.0.1/8").starts_with("t:2: \"10.0.0.1/8\": "));
    assert_eq!(
        text("W 10.0.0.0/8\0"),
        "t:2: this is not text: control character U+0000"
    );
    let time = |line: &str| {
        second(&format!(
            "1 1.1.1.1 W 10.0.0.0/8\n{line}\n2 1.1.1.1 W 10.0.0.0/8\n"
        ))
    };
    assert_eq!(time("x 1.1.1.1 W 10.0.0.0/8"), "t:2: \"x\": not a time");
    assert_eq!(time("1. 1.1.1.1 W 10.0.0.0/8"), "t:2: \"1.\": not a time");
    assert_eq!(time("1 peer W 10.0.0.0/8"), "t:2: \"peer\": not an address");
    let bars = |line: &str| {
        second(&format!(
            "BGP4MP|1|W|1.1.1.1|1|::/0\n{line}\nBGP4MP|1|W|1.1.1.1|1|::/0\n"
        ))
    };
    assert_eq!(bars("BGP4MP|1|W|1.1.1.1|1"), "t:2: no prefix in this line");
    assert_eq!(
        bars("BGP4MP|1|A|1.1.1.1|1|::/0|1|IGP|"),
        "t:2: a route without a next hop"
    );
    assert_eq!(
        bars("BGP4MP|1|Q|1.1.1.1|1|::/0"),
        "t:2: \"Q\": not a type of line"
    );
    assert_eq!(bars("hello"), "t:2: not a line of bgpdump -m");
    let options = UpdateOptions {
        peer: Some("1".parse().unwrap()),
        ..UpdateOptions::default()
    };
    let seen = all_of(&mut *open_updates(input(TEXT), &options).unwrap());
    assert_eq!(seen[0], "t:2: this update names no peer to choose by");
}

#[test]
fn messages_that_are_invalid() {
    let good = update([192, 0, 2, 1], &[8, 11], &[], &[]);
    let bad = |bytes: Vec<u8>, reason: &str| {
        let data = [good.clone(), bytes, good.clone()].concat();
        let seen = updates(data);
        assert_eq!(seen.len(), 3, "{seen:?}");
        assert_eq!(seen[1], format!("t: byte {}: {reason}", good.len()));
    };
    bad(
        update([192, 0, 2, 1], &[33, 1, 2, 3, 4, 5], &[], &[]),
        "a prefix is longer than its addresses",
    );
    bad(
        update([192, 0, 2, 1], &[8], &[], &[]),
        "a field reaches beyond its record",
    );
    // What is wrong at the end leaves nothing of the message.
    let no_hop = "an announcement without a next hop";
    bad(
        update([192, 0, 2, 1], &[8, 11], &as_path(&[]), &[8, 10]),
        no_hop,
    );
    bad(record(16, 4, &[0; 10]), "a field reaches beyond its record");
    let mut short = update([192, 0, 2, 1], &[8, 11], &[], &[]);
    short[12 + 20 + 16 + 1] = 18;
    bad(short, "a BGP message of less than a header");
    let mut family = update([192, 0, 2, 1], &[8, 11], &[], &[]);
    family[12 + 11] = 9;
    bad(family, "peers of an unknown address family");
    let cut = updates(&mrt()[..mrt().len() - 1]);
    assert!(
        cut.last()
            .unwrap()
            .contains(": the file ends in a record: "),
        "{cut:?}"
    );
    assert_eq!(cut.len(), 4);
}
