//! The text format: what is read, and what is refused with which words.

use crate::common::{MASK, SKIP, STRICT, error, input, read, read_as, routes};
use popfib_formats::{LoadOptions, open_routes};

fn lines(text: &str) -> Vec<String> {
    routes(&read(text, &STRICT).unwrap())
}

const NO_UTF8: &str =
    "this is not text: invalid UTF-8; of Latin-1 `iconv -f LATIN1 -t UTF-8` makes text";

#[test]
fn separators() {
    for text in [
        "10.0.0.0/8 a",
        "10.0.0.0/8\ta",
        "10.0.0.0/8,a",
        "10.0.0.0/8 , a",
        "10.0.0.0/8\t,\ta",
        "  10.0.0.0/8 \t  a  ",
        "\t10.0.0.0/8  a\t\r\n",
    ] {
        assert_eq!(lines(text), ["10.0.0.0/8 a"], "{text:?}");
    }
}

#[test]
fn a_length_may_be_a_mask() {
    assert_eq!(lines("10.0.0.0/255.128.0.0 a"), ["10.0.0.0/9 a"]);
    assert_eq!(lines("2001:db8::/ffff:ffff:: a"), ["2001:db8::/32 a"]);
    // Behind a prefix with a length it is a name like any other.
    assert_eq!(lines("10.0.0.0/8 255.0.0.0"), ["10.0.0.0/8 255.0.0.0"]);
    assert_eq!(lines("10.0.0.0 255.a"), ["10.0.0.0/32 255.a"]);
    assert_eq!(
        lines("10.0.0.0/32 10.0.0.255\n10.1.0.1 192.0.2.1"),
        ["10.0.0.0/32 10.0.0.255", "10.1.0.1/32 192.0.2.1"]
    );
}

#[test]
fn ranges() {
    assert_eq!(lines("10.0.0.0-10.0.1.255 a"), ["10.0.0.0/23 a"]);
    assert_eq!(lines("10.0.0.0 - 10.0.1.255\n"), ["10.0.0.0/23 "]);
    assert_eq!(
        lines("10.0.0.0-10.0.1.255,a\n10.1.0.0 - 10.1.0.1 , b # b\n2001:db8::-2001:db8::1\tc\n"),
        ["10.0.0.0/23 a", "10.1.0.0/31 b", "2001:db8::/127 c"]
    );
    assert_eq!(
        lines("8.8.8.* a\n10.1/16 b\n10.0.0.4-7 c\n10/8 d\n"),
        [
            "8.8.8.0/24 a",
            "10.0.0.0/8 d",
            "10.0.0.4/30 c",
            "10.1.0.0/16 b"
        ]
    );
    // The narrowest counts, in any order, prefixes too; /29 and /31 make up the wider one.
    for text in [
        "10.0.0.0-10.0.0.9 wide\n10.0.0.0-10.0.0.7 narrow\n",
        "10.0.0.0-10.0.0.7 narrow\n10.0.0.0-10.0.0.9 wide\n",
        "10.0.0.0-10.0.0.9 wide\n10.0.0.0/29 narrow\n",
        "10.0.0.0/29 narrow\n10.0.0.0-10.0.0.9 wide\n",
    ] {
        assert_eq!(lines(text), ["10.0.0.0/29 narrow", "10.0.0.8/31 wide"]);
    }
    assert_eq!(
        error("10.0.0.0-10.0.0.5 a\n\n10.0.0.4-10.0.0.9 b\n", &STRICT),
        "t:3: the range 10.0.0.4 to 10.0.0.9 overlaps 10.0.0.0 to 10.0.0.5 of line 1, and neither lies in the other"
    );
    // Of equal values, or none, each address has one answer.
    assert_eq!(
        lines("10.0.0.0-10.0.0.5 a\n10.0.0.4-10.0.0.7 a\n10.0.0.6-10.0.0.11 a\n"),
        [
            "10.0.0.0/30 a",
            "10.0.0.4/30 a",
            "10.0.0.4/31 a",
            "10.0.0.6/31 a",
            "10.0.0.8/30 a"
        ]
    );
    let list = "10.0.0.0-10.0.0.3\n10.0.0.2-10.0.0.5\n192.0.2.1\n";
    assert_eq!(
        lines(list),
        [
            "10.0.0.0/30 ",
            "10.0.0.2/31 ",
            "10.0.0.4/31 ",
            "192.0.2.1/32 "
        ]
    );
    let table = read("10.0.0.0-10.0.0.3 a\n10.0.0.0-10.0.0.3 b\n", &STRICT).unwrap();
    assert_eq!(routes(&table), ["10.0.0.0/30 b"]);
    assert_eq!(
        table.notes,
        ["1 range replaced by another with the same ends"]
    );
}

#[test]
fn leading_zeros_by_option() {
    let options = LoadOptions {
        leading_zeros: true,
        ..STRICT.clone()
    };
    let text = "097.110.168.122\n10.20.030.40/32\n001.002.003.000 - 001.002.003.255\n1.1.1.1\n";
    let table = read(text, &options).unwrap();
    assert_eq!(
        routes(&table),
        [
            "1.1.1.1/32 ",
            "1.2.3.0/24 ",
            "10.20.30.40/32 ",
            "97.110.168.122/32 "
        ]
    );
    assert_eq!(
        error("010.1.1.1/8 a\n", &options),
        "t:1: \"010.1.1.1/8\": host bits are set beyond the prefix length; `mask` clears them"
    );
}

#[test]
fn comments_and_empty_lines() {
    let text = "# a comment\n; another\n\n \t\n10.0.0.0/8 a # behind a route\n  # indented\n\
                11.0.0.0/8 b; behind\n12.0.0.0/8 c;\n13.0.0.0/8 d ;; x y z , \u{1b}\n# caf\u{e9}\n";
    assert_eq!(
        lines(text),
        [
            "10.0.0.0/8 a",
            "11.0.0.0/8 b",
            "12.0.0.0/8 c",
            "13.0.0.0/8 d"
        ]
    );
    // Inside of a name the signs are part of it, and between columns where blanks are not on both sides.
    for (line, name) in [
        ("10.0.0.0/8 C#", "C#"),
        ("10.0.0.0/8 a;b ;c", "a;b"),
        ("10.0.0.0/8 a#b#;c; d", "a#b#;c"),
        ("10.0.0.0/8,a;", "a;"),
        ("10.0.0.0/8,#1", "#1"),
        ("10.0.0.0/8\ta#b # c", "a#b"),
    ] {
        assert_eq!(lines(line), [format!("10.0.0.0/8 {name}")]);
    }
    for (line, name) in [
        ("10.0.0.0/8,C#,c", "C#"),
        ("10.0.0.0/8,a;b,c", "a;b"),
        ("10.0.0.0/8,a #b,c", "a #b"),
        ("10.0.0.0/8\tteam #1", "team #1"),
    ] {
        let line = format!("{line}\n");
        assert_eq!(read_as("csv", &line), [format!("10.0.0.0/8 {name}")]);
    }
    // A comment's bytes are nobody's business, Latin-1 for instance.
    let table = read(b"10.0.0.0/8 a # caf\xe9\n#\x00\xff\n", &STRICT).unwrap();
    assert_eq!(routes(&table), ["10.0.0.0/8 a"]);
}

#[test]
fn any_token_is_a_next_hop() {
    for name in [
        "1",
        "AS64496",
        "192.0.2.1",
        "2001:db8::1",
        "eth0.5",
        "Zürich",
        "\"q\"",
        "-",
        "a/b",
        "🦀",
    ] {
        assert_eq!(
            lines(&format!("10.0.0.0/8 {name}")),
            [format!("10.0.0.0/8 {name}")]
        );
    }
}

#[test]
fn as_sets_have_commas() {
    for set in ["{64500,64501}", "64500,64501", "64500_64501,64502"] {
        let wanted = [format!("10.0.0.0/8 {set}")];
        assert_eq!(lines(&format!("10.0.0.0/8 {set}")), wanted);
        assert_eq!(lines(&format!(" 10.0.0.0/8\t{set} # c, d\r\n")), wanted);
    }
    assert_eq!(lines("10.0.0.0/8,{64500}"), ["10.0.0.0/8 {64500}"]);
}

#[test]
fn a_prefix_without_length_is_a_host() {
    assert_eq!(
        lines("10.0.0.1 a\n2001:db8::1,b"),
        ["10.0.0.1/32 a", "2001:db8::1/128 b"]
    );
}

#[test]
fn both_families_and_every_spelling_of_ipv6() {
    let text = "0.0.0.0/0 d\n::/0 d\n255.255.255.255/32 e\n\
                2001:0db8:0000:0000:0000:0000:0000:0000/32 a\n\
                2001:DB8:1::/48 b\n2001:db8:2:0:0::/48 c\n2001:db8::0.0.0.1 f\n::1 g\n\
                2001:db8:0:0:0:0:0:0/33 h\n1:2:3:4:5:6:7:8/128 i\n";
    assert_eq!(
        lines(text),
        [
            "0.0.0.0/0 d",
            "255.255.255.255/32 e",
            "::/0 d",
            "::1/128 g",
            "1:2:3:4:5:6:7:8/128 i",
            "2001:db8::/32 a",
            "2001:db8::/33 h",
            "2001:db8::1/128 f",
            "2001:db8:1::/48 b",
            "2001:db8:2::/48 c",
        ]
    );
}

#[test]
fn v4_mapped_stays_ipv6() {
    let table = read(
        "::ffff:10.0.0.0/104 a\n10.0.0.0/8 b\n::ffff:0:0/96 c",
        &STRICT,
    )
    .unwrap();
    assert_eq!((table.ribs.ipv4.len(), table.ribs.ipv6.len()), (1, 2));
    assert_eq!(
        routes(&table),
        [
            "10.0.0.0/8 b",
            "::ffff:0.0.0.0/96 c",
            "::ffff:10.0.0.0/104 a"
        ]
    );
}

#[test]
fn line_ends_and_byte_order_mark() {
    for text in [
        "10.0.0.0/8 a\n11.0.0.0/8 b\n",
        "10.0.0.0/8 a\r\n11.0.0.0/8 b\r\n",
        "10.0.0.0/8 a\r\n11.0.0.0/8 b\r",
        "10.0.0.0/8 a\n11.0.0.0/8 b",
        "\u{feff}10.0.0.0/8 a\n11.0.0.0/8 b",
        "\u{feff}\r\n10.0.0.0/8 a\r\n\r\n11.0.0.0/8 b",
    ] {
        assert_eq!(lines(text), ["10.0.0.0/8 a", "11.0.0.0/8 b"], "{text:?}");
    }
}

#[test]
fn the_last_line_for_a_prefix_wins_and_is_counted() {
    let text = "10.0.0.0/8 a\n10.0.0.0/9 a\n10.0.0.0/8 b\n::/0 x\n10.0.0.0/8 c\n::/0 x\n";
    let table = read(text, &STRICT).unwrap();
    assert_eq!(routes(&table), ["10.0.0.0/8 c", "10.0.0.0/9 a", "::/0 x"]);
    assert_eq!((table.replaced, table.skipped), (3, 0));
    assert_eq!(table.name, "t");
}

#[test]
fn next_hops_are_shared_by_the_families() {
    let table = read("10.0.0.0/8 a\n::/0 b\n2000::/3 a\n11.0.0.0/8 b\n", &STRICT).unwrap();
    assert_eq!(table.records.len(), 2);
    assert_eq!(
        table.ribs.ipv4.lookup(10 << 24),
        table.ribs.ipv6.lookup(0x2000 << 112)
    );
}

#[test]
fn host_bits() {
    let text = "10.0.0.1/8 a\n2001:db8::1/32 b\n10.0.0.0/8 c\n";
    assert_eq!(
        error(text, &STRICT),
        "t:1: \"10.0.0.1/8\": host bits are set beyond the prefix length; `mask` clears them"
    );
    let skipped = read(text, &SKIP).unwrap();
    assert_eq!(routes(&skipped), ["10.0.0.0/8 c"]);
    assert_eq!((skipped.replaced, skipped.skipped), (0, 2));
    let masked = read(text, &MASK).unwrap();
    assert_eq!(routes(&masked), ["10.0.0.0/8 c", "2001:db8::/32 b"]);
    assert_eq!((masked.replaced, masked.skipped), (1, 0));
    let both = LoadOptions {
        skip_invalid: true,
        ..crate::common::MASK.clone()
    };
    let table = read(format!("{text}10.0.0.0/33 x\n"), &both).unwrap();
    assert_eq!((table.replaced, table.skipped), (1, 1));
}

/// Every way in which a line can be wrong, and what is said about it.
#[test]
fn invalid_lines() {
    let cases: &[(&[u8], &str)] = &[
        (b"hello world", "\"hello\": not an address"),
        (b"10.0.0.0/8", "no next hop after \"10.0.0.0/8\""),
        (b"10.0.0.0/8 ", "no next hop after \"10.0.0.0/8\""),
        (
            b"10.0.0.0/8,,a",
            "more than a prefix and a next hop, which may have blanks in CSV (`format` csv): \",a\"",
        ),
        (b"::/0 # none", "no next hop after \"::/0\""),
        (
            b"10.0.0.0/33 a",
            "\"10.0.0.0/33\": the prefix length is more than 32",
        ),
        (
            b"10.0.0.0/99999999999 a",
            "\"10.0.0.0/99999999999\": the prefix length is more than 32",
        ),
        (
            b"::/129 a",
            "\"::/129\": the prefix length is more than 128",
        ),
        (
            b"10.0.0.0/ a",
            "\"10.0.0.0/\": the prefix length is not a number",
        ),
        (
            b"10.0.0.0/-8 a",
            "\"10.0.0.0/-8\": the prefix length is not a number",
        ),
        (
            b"10.0.0.0/+8 a",
            "\"10.0.0.0/+8\": the prefix length is not a number",
        ),
        (
            b"10.0.0.0/8/9 a",
            "\"10.0.0.0/8/9\": the prefix length is not a number",
        ),
        (
            b"10.0.0.0/255.0.255.0 a",
            "\"10.0.0.0/255.0.255.0\": the ones of the network mask are not contiguous; \
             a longest match is defined for prefixes only",
        ),
        (
            b"10.0.0.0 255.0.255.0",
            "\"10.0.0.0/255.0.255.0\": the ones of the network mask are not contiguous; \
             a longest match is defined for prefixes only",
        ),
        (
            b"10.0.0.0 255.255.0.0 a",
            "a network mask belongs after a slash: \"10.0.0.0/255.255.0.0\"",
        ),
        (
            b"0.0.0.0,0.0.0.0",
            "a network mask belongs after a slash: \"0.0.0.0/0.0.0.0\"",
        ),
        (
            b"10.0.0.0 0.0.0.255",
            "\"10.0.0.0 0.0.0.255\": a wildcard mask is no next hop; a prefix has its length after a slash",
        ),
        (
            b"10.0.0.0\t10.0.0.255",
            "\"10.0.0.0 10.0.0.255\": a range, or a host and its next hop? A host has its length \
             (10.0.0.0/32), a range a dash between its ends",
        ),
        (
            b"10.0.0.0/8,\"a\"",
            "a quote before a next hop is part of it, except in CSV (`format` csv): \"\"a\"\"",
        ),
        (
            b"10.0.0.0/8\t\"a b",
            "a quote before a next hop is part of it, except in CSV (`format` csv): \"\"a b\"",
        ),
        (
            b"10.0.0.0/8;a",
            "a semicolon right after a prefix separates columns in CSV (`format` csv), and a comment has a \
             blank before it: \";a\"",
        ),
        (
            b"10.0.0.0/8\tNew York",
            "more than a prefix and a next hop, which may have blanks in CSV (`format` csv): \"York\"",
        ),
        (b"10.0.0/25 a", "\"10.0.0/25\": not an address"),
        (b"10.1 a", "\"10.1\": not an address"),
        (
            b"010.0.0.0/8 a",
            "\"010.0.0.0/8\": leading zeros, which some programs take for octal; `leading_zeros` reads decimal numbers",
        ),
        (
            b"10.0.0.0/8-24 64500",
            "\"10.0.0.0/8-24\": a prefix and a maximum length, as VRPs have it, which `popfib rov --vrps` reads",
        ),
        (
            b"10.0.0.9-10.0.0.1 a",
            "\"10.0.0.9-10.0.0.1\": the first address of the range is after the last",
        ),
        (
            b"10.0.0.9-::1 a",
            "\"10.0.0.9-::1\": the ends of the range are of two families",
        ),
        (
            b"10.0.0.1-10.0.0.9",
            "no next hop after \"10.0.0.1-10.0.0.9\"",
        ),
        (
            b"10.0.0.1-10.0.0.9 a b",
            "more than a prefix and a next hop: \"b\"",
        ),
        (b"256.0.0.0/8 a", "\"256.0.0.0/8\": not an address"),
        (b"10.0.0.0.0/8 a", "\"10.0.0.0.0/8\": not an address"),
        (b"/8 a", "\"/8\": not an address"),
        (b",10.0.0.0/8 a", "\"\": not an address"),
        (b"2001:db8:::/32 a", "\"2001:db8:::/32\": not an address"),
        (b"fe80::1%eth0 a", "\"fe80::1%eth0\": not an address"),
        (
            b"10.0.0.0/8 a b",
            "more than a prefix and a next hop: \"b\"",
        ),
        (
            b"10.0.0.0/8 a,b # c",
            "more than a prefix and a next hop: \",b # c\"",
        ),
        (
            b"10.0.0.0/8,1,2",
            "more than a prefix and a next hop, which may have blanks in CSV (`format` csv): \",2\"",
        ),
        (
            b"10.0.0.0/8 1,2 3",
            "more than a prefix and a next hop: \",2 3\"",
        ),
        (
            b"10.0.0.0/8 {1,}",
            "more than a prefix and a next hop: \",}\"",
        ),
        (b"10.0.0.0/8 a\xff", NO_UTF8),
        (b"\xff\xfe1\x000\x00", NO_UTF8),
        (b"10.0.0.0/8\xff a", NO_UTF8),
        (b"10.0.0.0/8 a b\xff", NO_UTF8),
        (
            b"10.0.0.0/8 a\0",
            "this is not text: control character U+0000",
        ),
        (
            b"10.0.0.0/8 \x1b[31m",
            "this is not text: control character U+001B",
        ),
        (
            b"10.0.0.0/8 a\rb",
            "this is not text: control character U+000D",
        ),
        (
            b"10.0.0.0/8 a\x7f",
            "this is not text: control character U+007F",
        ),
        (
            "10.0.0.0/8 a\u{85}".as_bytes(),
            "this is not text: control character U+0085",
        ),
        (
            b"\x7fELF\x02\x01",
            "this is not text: control character U+007F",
        ),
        (b"\x1f", "this is not text: control character U+001F"),
    ];
    for (line, reason) in cases {
        for end in [&b"\n"[..], b"\r\n", b""] {
            let after: &[u8] = if end.is_empty() { b"" } else { b"12.0.0.0/8 z" };
            let data = [b"11.0.0.0/8 y\n", *line, end, after].concat();
            assert_eq!(error(data.clone(), &STRICT), format!("t:2: {reason}"));
            let table = read(data, &SKIP).unwrap();
            assert_eq!(table.skipped, 1, "{reason}");
            assert_eq!(
                table.ribs.ipv4.len(),
                if end.is_empty() { 1 } else { 2 },
                "{reason}"
            );
        }
    }
}

#[test]
fn quoted_text_is_short() {
    let message = error("x".repeat(60_000), &STRICT);
    assert_eq!(
        message,
        format!("t:1: \"{}...\": not an address", "x".repeat(60))
    );
}

#[test]
fn tables_without_a_route() {
    for text in ["", "\n", "\u{feff}", "\u{feff}\r\n"] {
        assert_eq!(
            error(text, &STRICT),
            "t: there is no route in it",
            "{text:?}"
        );
    }
    // What says that there is none is a list of none; JSON only where a list is called after prefixes.
    for text in [
        "# nothing\n\n",
        "prefix,name\n",
        "[]",
        " [\n]\n",
        r#"{"syncToken":"1","prefixes":[]}"#,
        "table inet t {\n\tset s {\n\t\ttype ipv4_addr\n\t}\n}\n",
        "create s hash:net family inet hashsize 1024 maxelem 65536\n",
    ] {
        let table = read(text, &STRICT).expect(text);
        assert_eq!(table.routes().count(), 0);
        assert_eq!(
            table.notes,
            ["an empty list: there is no route in it"],
            "{text}"
        );
    }
    for text in ["{}", "<html>\n", r#"{"error":"x","details":[]}"#] {
        assert!(read(text, &STRICT).is_err(), "{text}");
    }
    assert_eq!(
        error("a\nb\n# c\n", &SKIP),
        "t: there is no valid route in it (2 invalid lines skipped)"
    );
}

#[test]
fn a_source_goes_on_behind_an_invalid_line() {
    let mut source = open_routes(
        input("10.0.0.0/8 a\nx\n11.0.0.0/8 b\n"),
        &LoadOptions::new(),
    )
    .unwrap();
    let route = source.next_route().unwrap().unwrap();
    assert_eq!(source.values().get(route.value.unwrap()), Some("a"));
    let error = source.next_route().unwrap_err();
    assert!(error.is_invalid_line());
    assert_eq!(error.line(), Some(2));
    let route = source.next_route().unwrap().unwrap();
    assert_eq!(route.prefix.to_string(), "11.0.0.0/8");
    assert_eq!(source.values().get(route.value.unwrap()), Some("b"));
    assert!(source.next_route().unwrap().is_none());
    assert!(source.next_route().unwrap().is_none());
}
