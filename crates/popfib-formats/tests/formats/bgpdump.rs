//! `bgpdump -m` lines as tables, and those of bgpscanner.

use crate::common::{SKIP, STRICT, error, read, routes, table_as};
use popfib_formats::{Format, LoadOptions, RouteValue};

const LINES: &str = "\
TABLE_DUMP2|1404172800|B|192.0.2.1|64501|10.0.0.0/8|64501 2 3|IGP|192.0.2.11|0|0||NAG||
TABLE_DUMP2|1404172800|B|192.0.2.2|64502|10.0.0.0/8|64502 3|IGP|192.0.2.12|0|0||NAG||
TABLE_DUMP2|1404172800|B|192.0.2.1|64501|11.0.0.0/8|64501 (1 2) {4,5}|IGP|192.0.2.11|0|0||NAG||
TABLE_DUMP2|1404172800|B|192.0.2.2|64502|11.0.0.0/8|64502 3|IGP|192.0.2.12|0|0||NAG||
TABLE_DUMP2|1404172800|B|2001:db8::1|64503|2001:db8::/32||IGP|2001:db8::1|0|0||NAG||
";

fn with(peer: Option<&str>, value: RouteValue) -> LoadOptions {
    LoadOptions {
        peer: peer.map(|peer| peer.parse().unwrap()),
        value,
        ..STRICT.clone()
    }
}

#[test]
fn tables_of_several_peers() {
    assert_eq!(Format::detect(LINES.as_bytes()).name(), "bgpdump");
    let all = |options| routes(&read(LINES, &options).unwrap());
    let next_hops = [
        "10.0.0.0/8 192.0.2.12",
        "11.0.0.0/8 192.0.2.11",
        "2001:db8::/32 2001:db8::1",
    ];
    // A confederation does not count, however many ASes it has.
    assert_eq!(all(with(None, RouteValue::NextHop)), next_hops);
    let one = all(with(Some("AS64501"), RouteValue::OriginAs));
    assert_eq!(one, ["10.0.0.0/8 3", "11.0.0.0/8 {4,5}"]);
    let one = all(with(Some("2"), RouteValue::OriginAs));
    assert_eq!(one, ["2001:db8::/32 64503"]);
    let single = LINES.replace("{4,5}", "{4}");
    let table = read(single, &with(Some("0"), RouteValue::OriginAs)).unwrap();
    assert_eq!(routes(&table)[1], "11.0.0.0/8 {4}");
    let peers = all(with(Some("192.0.2.1"), RouteValue::Peer));
    assert_eq!(peers, ["10.0.0.0/8 192.0.2.1", "11.0.0.0/8 192.0.2.1"]);
}

#[test]
fn announcements_are_routes_of_which_the_last_counts() {
    let lines = "\
BGP4MP|1|A|192.0.2.1|64501|10.0.0.0/8|1|IGP|192.0.2.11|0|0||NAG||
BGP4MP|2|A|192.0.2.1|64501|10.0.0.0/8|1 2 3|IGP|192.0.2.12|0|0||NAG||
BGP4MP|3|W|192.0.2.1|64501|10.0.0.0/8
BGP4MP|4|STATE|192.0.2.1|64501|6|1
";
    let table = read(lines, &STRICT).unwrap();
    assert_eq!(routes(&table), ["10.0.0.0/8 192.0.2.12"]);
    assert_eq!(table.notes, ["1 withdrawal left out"]);
}

#[test]
fn lines_that_are_invalid() {
    let cases = [
        (
            "TABLE_DUMP2|x|B|1.1.1.1|1|::/0|1|IGP|1.1.1.1|",
            "\"x\": not a time",
        ),
        (
            "TABLE_DUMP2|1|B|one|1|::/0|1|IGP|1.1.1.1|",
            "\"one\": not an address",
        ),
        (
            "TABLE_DUMP2|1|B|1.1.1.1|AS1|::/0|1|IGP|1.1.1.1|",
            "\"AS1\": not an AS number",
        ),
        (
            "TABLE_DUMP2_AP|1|B|192.0.2.1|64500|10.0.0.0/8|x|64500|IGP|192.0.2.1",
            "\"x\": not a path identifier",
        ),
        (
            "TABLE_DUMP2|1|B|1.1.1.1|1|::/0|1|IGP",
            "no next hop in this line",
        ),
        (
            "TABLE_DUMP2|1|B|1.1.1.1|1|::/0|1|IGP|",
            "a route without a next hop",
        ),
        ("10.0.0.0/8 a", "not a line of bgpdump -m"),
        (
            "TABLE_DUMP2|\u{1}|B",
            "this is not text: control character U+0001",
        ),
    ];
    for (line, reason) in cases {
        let data = format!("{LINES}{line}\n{LINES}");
        assert_eq!(error(data.clone(), &STRICT), format!("t:6: {reason}"));
        let table = read(data, &SKIP).unwrap();
        assert_eq!(
            (table.ribs.ipv4.len(), table.ribs.ipv6.len(), table.skipped),
            (2, 1, 1)
        );
    }
    assert!(
        error(
            "TABLE_DUMP2|1|B|1.1.1.1|1|10.0.0.1/8|1|IGP|1.1.1.1|\n",
            &STRICT
        )
        .contains("host bits")
    );
}

/// A line of `bgpdump -m` as bgpscanner has it, by the documented order of its fields.
fn scanned(line: &str) -> String {
    let f: Vec<&str> = line.split('|').collect();
    let (kind, path) = match f[2] {
        "A" => ("+", f[6]),
        "B" => ("=", f[6]),
        _ => ("-", ""),
    };
    let hop = f.get(8).unwrap_or(&"");
    // Sets with blanks between their members.
    let path = path.replace(',', " ");
    let (address, asn) = (f[3], f[4]);
    format!(
        "{kind}|{}|{path}|{hop}|i||||{address} {asn}|{}|1\n",
        f[5], f[1]
    )
}

#[test]
fn lines_of_bgpscanner_say_what_those_of_bgpdump_say() {
    let lines: String = LINES.lines().map(scanned).collect();
    assert_eq!(Format::detect(lines.as_bytes()).name(), "bgpscanner");
    for peer in [None, Some("AS64501"), Some("2"), Some("192.0.2.2")] {
        for value in [RouteValue::NextHop, RouteValue::OriginAs, RouteValue::Peer] {
            let options = with(peer, value);
            let (ours, theirs) = (read(&*lines, &options), read(LINES, &options));
            let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
            assert_eq!(routes(&ours), routes(&theirs), "{peer:?} {value:?}");
        }
    }
}

#[test]
fn bgpscanner() {
    // The example of its documentation, then several prefixes, a state, a next hop with an address
    // of the link.
    let text = "\
=|1.23.250.0/24|14061 6453 9498 45528 45528|198.32.160.170|i|||6453:50 6453:1000|198.32.160.170 14061|1545345848|1
+|10.0.0.0/8 10.1.0.0/16|64501 2|192.0.2.1|i|||64501:7|192.0.2.1 64501|1779000000|1
#|ESTABLISHED - IDLE|||||||192.0.2.1 64501|1779000000|1
+|2001:db8::/32|64501 3|2001:db8::1 fe80::1|i||||192.0.2.1 64501|1779000000|1
-|10.0.0.0/8 10.9.0.0/16|||||||192.0.2.1 64501|1779000000|1
+|10.1.0.0/16|64501 2 3|192.0.2.2|i||||192.0.2.1 64501|1779000000|1
";
    let table = table_as("bgpscanner", text);
    assert_eq!(
        routes(&table),
        [
            "1.23.250.0/24 198.32.160.170",
            "10.0.0.0/8 192.0.2.1",
            "10.1.0.0/16 192.0.2.2",
            "2001:db8::/32 2001:db8::1"
        ]
    );
    assert_eq!(
        table.notes,
        ["2 withdrawals left out", "1 line of other types left out"]
    );
    for (line, reason) in [
        (
            "=|10.0.0.1/8|1|192.0.2.1|i||||192.0.2.1 1|1|1",
            "\"10.0.0.1/8\": ",
        ),
        (
            "=|10.0.0.0/8|1|east|i||||192.0.2.1 1|1|1",
            "\"east\": not an address",
        ),
        (
            "=|10.0.0.0/8|1||i||||192.0.2.1 1|1|1",
            "a route without a next hop",
        ),
        (
            "=|10.0.0.0/8|1|192.0.2.1|i||||x 1|1|1",
            "\"x 1\": not a peer's address",
        ),
        (
            "=|10.0.0.0/8|1|192.0.2.1|i||||192.0.2.1|1|1",
            "\"192.0.2.1\": not a peer's AS number",
        ),
        (
            "=|10.0.0.0/8|1|192.0.2.1|i||||192.0.2.1 1 2|1|1",
            "\"192.0.2.1 1 2\": not an address and an AS number",
        ),
        (
            "=|10.0.0.0/8|1|192.0.2.1 x|i||||192.0.2.1 1|1|1",
            "\"x\": not an address",
        ),
        (
            "=|10.0.0.0/8|1|192.0.2.1|i||||192.0.2.1 1|1|1|x",
            "not TIME|0 or 1",
        ),
        ("=|10.0.0.0/8|1|192.0.2.1", "no origin in this line"),
        (
            "=|10.0.0.0/8|1|192.0.2.1|i||||192.0.2.1 1|1",
            "no width of AS numbers in this line",
        ),
        ("10.0.0.0/8 east", "not a line of bgpscanner"),
    ] {
        let text = format!(
            "{}{line}\n",
            text.lines().next().map(|l| format!("{l}\n")).unwrap()
        );
        let message = error(&*text, &STRICT);
        assert!(message.starts_with(&format!("t:2: {reason}")), "{message}");
        assert_eq!(read(text, &SKIP).unwrap().skipped, 1, "{line}");
    }
}
