//! Updates: every format, what is recognised, peers and times, bad input.

use crate::common::input;
use crate::mrt_file::{as_path, message, next_hop, path_attribute, record, session, update};
use popfib_formats::bgp::{BgpPath, unpack_path};
use popfib_formats::updates::Message;
use popfib_formats::{Change, UpdateFormat, UpdateOptions, UpdateSource, open_updates};

pub(crate) fn all_of(source: &mut dyn UpdateSource) -> Vec<String> {
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

pub(crate) fn updates(data: impl Into<Vec<u8>>) -> Vec<String> {
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
pub(crate) const BGPDUMP: &str = "\
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

pub(crate) const RIS: &str = r#"{"type":"ris_message","data":{"timestamp":1.5,"peer":"192.0.2.9","peer_asn":"64500","id":"x","host":"rrc00","type":"UPDATE","path":[64500,[64501,64502]],"community":[[64500,1]],"origin":"IGP","med":0,"announcements":[{"next_hop":"2001:db8::1,fe80::1","prefixes":["2001:db8::/32"]}],"withdrawals":["10.0.0.0\/8"]}}"#;
const EXABGP: &str = r#"{"exabgp":"4.0.1","time":1.5,"host":"h","pid":1,"ppid":1,"counter":1,"type":"update","neighbor":{"address":{"local":"192.0.2.1","peer":"192.0.2.9"},"asn":{"local":64999,"peer":64500},"direction":"receive","message":{"update":{"attribute":{"origin":"igp","as-path":[64500],"as-set":[64501,64502],"confederation-path":[],"med":0,"community":[[64500,1]],"extended-community":[]},"announce":{"ipv6 unicast":{"2001:db8::1":[{"nlri":"2001:db8::/32","path-information":"0.0.0.7"}]}},"withdraw":{"ipv4 unicast":[{"nlri":"10.0.0.0/8"}]}}}}}"#;
const OWN: &str = r#"{"type":"announce","prefix":"2001:db8::/32","peer":"192.0.2.9","peer_as":64500,"time":1.5,"id":7,"as_path":"64500 {64501,64502}","origin_as":"{64501,64502}","origin":"IGP","next_hop":"2001:db8::1","local_preference":null,"med":0,"communities":["64500:1"],"atomic":false,"aggregator":null}"#;

/// All that the messages say, attributes too, or an error.
pub(crate) fn in_full(data: &str) -> Result<Vec<String>, String> {
    let mut source = open_updates(input(data), &UpdateOptions::default()).unwrap();
    let mut all = Vec::new();
    let mut path = BgpPath::default();
    while source.advance().map_err(|error| error.to_string())? {
        match source.message() {
            Message::End { .. } => {}
            Message::Session(session) => all.push(format!("{session:?}")),
            Message::Update(update) => {
                if let Some(packed) = update.attributes {
                    unpack_path(packed, &mut path).unwrap();
                }
                let is_withdrawn = update.change == Change::Withdraw;
                let path = if is_withdrawn {
                    BgpPath::default()
                } else {
                    path.clone()
                };
                all.push(format!(
                    "{:?} {:?} {} {:?} {} {:?} {:?} {} {:?} {}",
                    update.time,
                    update.peer,
                    update.prefix,
                    update.path_id.filter(|&id| id != 7),
                    path.as_path,
                    path.next_hop,
                    path.med,
                    path.communities,
                    path.local_preference,
                    path.origin,
                ));
            }
        }
    }
    all.extend(source.notes());
    Ok(all)
}

#[test]
fn json() {
    let wanted = "Some(1500000) Some((192.0.2.9, 64500))";
    let wanted = [
        format!("{wanted} 10.0.0.0/8 None  None None  None "),
        format!(
            "{wanted} 2001:db8::/32 None 64500 {{64501,64502}} Some(2001:db8::1) Some(0) 64500:1 None IGP"
        ),
    ];
    for line in [RIS, EXABGP] {
        assert_eq!(in_full(line).unwrap(), wanted);
        assert_eq!(of_peer(line, "AS64501"), [""; 0]);
    }
    assert_eq!(in_full(OWN).unwrap(), wanted[1..]);
    let withdrawal = r#"{"type":"withdraw","prefix":"10.0.0.0/8","peer":"192.0.2.9","peer_as":64500,"time":1.5,"id":null}"#;
    let state = r#"{"type":"state","peer":"192.0.2.9","peer_as":64500,"time":1.5,"old":6,"new":1}"#;
    assert_eq!(in_full(withdrawal).unwrap(), wanted[..1]);
    // The end of a session, in all three.
    let down = r#"{"timestamp":1.5,"peer":"192.0.2.9","peer_asn":"64500","type":"RIS_PEER_STATE","state":"down"}"#;
    let lost = r#"{"exabgp":"4.0.1","time":1.5,"type":"state","neighbor":{"address":{"peer":"192.0.2.9"},"asn":{"peer":"64500"},"state":"down","reason":"x"}}"#;
    for line in [down, lost] {
        assert_eq!(in_full(line).unwrap(), in_full(state).unwrap());
    }
    // What says nothing of routes, and what is left out.
    let other = EXABGP.replace("ipv6 unicast", "ipv6 mpls-vpn");
    assert_eq!(
        in_full(&other).unwrap()[1],
        "1 update of other families left out"
    );
    let sent = EXABGP.replace("receive", "send");
    assert_eq!(
        in_full(&sent).unwrap(),
        ["1 update that ExaBGP sent left out"]
    );
    for silent in [
        r#"{"type":"pong","data":null}"#,
        r#"{"type":"ris_message","data":{"type":"KEEPALIVE","peer":"192.0.2.9","timestamp":1.5}}"#,
        r#"{"exabgp":"4.0.1","time":1.5,"type":"keepalive","neighbor":{}}"#,
    ] {
        assert!(in_full(silent).unwrap().is_empty());
    }
    let many = RIS.replace(
        "::/32\"",
        &format!("::/32\"{}", ",\"::/0\"".repeat(1 << 16)),
    );
    let reason = "t:1: more than 65,536 prefixes in a line";
    assert_eq!(in_full(&many).unwrap_err(), reason);
    for (line, reason) in [
        ("{}", "t:1: no object of RIS Live, ExaBGP or popfib updates"),
        (
            r#"{"type":"x"}"#,
            "t:1: \"x\": not a type of RIS Live or popfib updates",
        ),
        (
            r#"{"exabgp":"4","type":"x"}"#,
            "t:1: \"x\": not a type of ExaBGP",
        ),
        ("{", "t:1: EOF while parsing an object"),
        (
            r#"{"type":"x","type":"x"}"#,
            "t:1: \"type\" twice in an object",
        ),
        (
            r#"{"type":"STATE","peer":"::1","state":"x"}"#,
            "t:1: \"x\": not a state of a session",
        ),
    ] {
        assert_eq!(in_full(line).unwrap_err(), reason);
    }
}

/// Each member renamed, doubled, set to null, dropped, with an escape: the result is the right one, an error, or it has a note.
#[test]
fn every_member_of_json_counts() {
    for line in [RIS, EXABGP, OWN] {
        let right = in_full(line).unwrap();
        for (at, _) in line.match_indices("\":") {
            let start = line[..at].rfind('"').unwrap();
            let name = &line[start + 1..at];
            let value = &line[at + 2..];
            let length = serde_json::Deserializer::from_str(value)
                .into_iter::<&serde_json::value::RawValue>()
                .next()
                .unwrap()
                .unwrap()
                .get()
                .len();
            let (value, rest) = value.split_at(length);
            let before = &line[..start];
            let escaped = format!("\\u{:04x}{}", u32::from(name.as_bytes()[0]), &name[1..]);
            let changed = [
                format!("{before}\"x{name}\":{value}{rest}"),
                format!("{before}\"{name}\":{value},\"{name}\":{value}{rest}"),
                format!("{before}\"{name}\":null{rest}"),
                format!("{before}\"{escaped}\":{value}{rest}"),
            ];
            for line in changed {
                // In lines of popfib, null is what it says: none.
                let is_none = ["\"id\":null", "\"med\":null"]
                    .iter()
                    .any(|text| line.contains(text));
                if is_none {
                    continue;
                }
                if let Ok(found) = in_full(&line) {
                    let is_noted = found.iter().any(|line| line.ends_with("left out"));
                    let is_doubled = found.len() > right.len();
                    let is_right = found == right;
                    assert!(is_right || is_noted || is_doubled, "{line}\n{found:#?}");
                }
            }
            assert_eq!(
                in_full(&line.replace(&format!("\"{name}\":"), &format!("\"{escaped}\":")))
                    .unwrap(),
                right
            );
        }
    }
}

pub(crate) fn mrt() -> Vec<u8> {
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
                Message::End { .. } => continue,
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
    for (line, reason) in [
        (
            "W|1.1.1.1|1|::/0|x",
            "more than a line of bgpdump -m: \"x\"",
        ),
        (
            "A|1.1.1.1|1|::/0|1|IGP|::1|0|0||NAG|||x",
            "more than a line of bgpdump -m: \"x\"",
        ),
        (
            "A|1.1.1.1|1|::/0|1|x|::1|0|0||NAG||",
            "\"x\": not an origin",
        ),
        (
            "A|1.1.1.1|1|::/0|1|IGP|::1|0|0||x||",
            "\"x\": not AG or NAG",
        ),
        (
            "STATE|1.1.1.1|1|6|1|x",
            "not a change of a state: TIME|STATE|PEER|PEER_AS|OLD|NEW",
        ),
    ] {
        assert_eq!(bars(&format!("BGP4MP|1|{line}")), format!("t:2: {reason}"));
    }
    let gobgp = "1 192.0.2.1 W ::/0\n1 192.0.2.1 A ::/0 192.0.2.2 x\n";
    assert_eq!(updates(gobgp)[1], "t:2: \"x\": not an origin AS");
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
