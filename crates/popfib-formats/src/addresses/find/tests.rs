//! Spellings that are found, what looks like an address and is none, and the time that it takes.

use super::*;
use proptest::prelude::*;

fn all(line: &[u8]) -> Vec<String> {
    let mut seen = Vec::new();
    let mut at = 0;
    while let Some(found) = find_address(line, at) {
        assert!(at <= found.range.start && found.range.start < found.range.end);
        at = found.range.end;
        seen.push(found.address.to_string());
    }
    seen
}

#[test]
fn spellings_that_are_found() {
    for (line, expected) in [
        ("1.2.3.4", &["1.2.3.4"][..]),
        ("255.255.255.255", &["255.255.255.255"]),
        ("1.2.3.4:443", &["1.2.3.4"]),
        ("1.2.3.4#53 (query)", &["1.2.3.4"]),
        ("from 1.2.3.4, port 22", &["1.2.3.4"]),
        ("It was 1.2.3.4.", &["1.2.3.4"]),
        ("10.0.0.0/8", &["10.0.0.0"]),
        ("1.2.3.4-1.2.3.9", &["1.2.3.4", "1.2.3.9"]),
        ("1.2.3.4>5.6.7.8", &["1.2.3.4", "5.6.7.8"]),
        ("SRC=1.2.3.4 DST=5.6.7.8", &["1.2.3.4", "5.6.7.8"]),
        (
            "outside:1.2.3.4/443 to inside:10.0.0.1/80",
            &["1.2.3.4", "10.0.0.1"],
        ),
        ("{\"ip\":\"1.2.3.4\"}", &["1.2.3.4"]),
        ("['1.2.3.4']", &["1.2.3.4"]),
        ("http://1.2.3.4/index.html", &["1.2.3.4"]),
        ("http://[2001:db8::1]:8080/", &["2001:db8::1"]),
        ("[2001:DB8::1]:443", &["2001:db8::1"]),
        ("2001:db8::1", &["2001:db8::1"]),
        ("at 2001:db8::1: refused", &["2001:db8::1"]),
        ("src:2001:db8::1", &["2001:db8::1"]),
        ("ip6:2001:db8::1 v6:fe80::1", &["2001:db8::1", "fe80::1"]),
        (
            "eth0.100:2001:db8::1 host-1.example:fe80::1",
            &["2001:db8::1", "fe80::1"],
        ),
        ("fdab:cdef::a", &["fdab:cdef::a"]),
        ("x fdab:cdef::a x", &["fdab:cdef::a"]),
        ("pkg/2001:db8::1 x-fe80::1", &["2001:db8::1", "fe80::1"]),
        (
            "DIRECT/1.2.3.4 b.a.example/1.2.3.5 localhost/1.2.3.6",
            &["1.2.3.4", "1.2.3.5", "1.2.3.6"],
        ),
        (
            "inside/1.2.3.4(80) client/1.2.3.5:1194",
            &["1.2.3.4", "1.2.3.5"],
        ),
        ("1.2.3.4.80 > 1.2.3.5.domain: 1+", &["1.2.3.4", "1.2.3.5"]),
        ("fe80::1.80 > fe80::2.53: 1+", &["fe80::1", "fe80::2"]),
        ("ip=2001:db8:0:0:1:2:3:4.", &["2001:db8::1:2:3:4"]),
        ("2001:db8::/32", &["2001:db8::"]),
        ("fe80::1%eth0", &["fe80::1"]),
        ("fe80::1%eth0.100 fe80::2%3", &["fe80::1", "fe80::2"]),
        ("::1", &["::1"]),
        ("::", &["::"]),
        ("[::]:80", &["::"]),
        ("[dead:beef::]", &["dead:beef::"]),
        ("::ffff:1.2.3.4", &["::ffff:1.2.3.4"]),
        ("64:ff9b::1.2.3.4 x", &["64:ff9b::102:304"]),
        ("12:30:01:1.2.3.4", &["1.2.3.4"]),
        ("12:30:01 1.2.3.4 up 3:14", &["1.2.3.4"]),
        ("1[.]2[.]3[.]4", &["1.2.3.4"]),
        ("1[.]2.3.4", &["1.2.3.4"]),
        ("1.2.3[.]4", &["1.2.3.4"]),
        ("hxxp://1(.)2(.)3(.)4/x", &["1.2.3.4"]),
        ("1{.}2{.}3{.}4:80", &["1.2.3.4"]),
        ("2001:db8[:][:]1", &["2001:db8::1"]),
        ("2001[:]db8::1", &["2001:db8::1"]),
        ("\u{201c}1.2.3.4\u{201d}", &["1.2.3.4"]),
        ("\u{feff}1.2.3.4", &["1.2.3.4"]),
        ("1.2.3.4\r", &["1.2.3.4"]),
        (
            "1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /a.b HTTP/1.0\" 200 5.6.7.8",
            &["1.2.3.4", "5.6.7.8"],
        ),
        (
            "<34>1 2003-10-11T22:14:15.003Z host su - - from 2001:db8::9",
            &["2001:db8::9"],
        ),
    ] {
        assert_eq!(all(line.as_bytes()), expected, "{line}");
    }
}

#[test]
fn what_looks_like_an_address_and_is_none() {
    for line in [
        "",
        ".",
        ":",
        "..",
        "::.",
        "[.]",
        "a.b",
        "1.2.3",
        "1.2.3.",
        "1.2.3.4.5.6",
        "1.2.3.4.5.6.7.8",
        ".1.2.3.4.5",
        "1.2.3.4.05",
        "1.2.3.4.65536",
        "1.2.3.4.5a",
        "1.2.3.4.5.a",
        "v1.2.3.4.5 lib-1.2.3.4.5 pkg/1.2.3.4.5",
        "1.2.3.256",
        "1.2.3.1000",
        "01.2.3.4",
        "1.2.3.04",
        "1..2.3.4",
        "v1.2.3.4",
        "1.2.3.4a",
        "x_1.2.3.4",
        "1.2.3.4_x",
        "lib-1.2.3.4.so",
        "pkg/1.2.3.4",
        "Chrome/120.0.0.0 Safari/537.36",
        "Edg/120.0.2210.91",
        "OPR/106.0.0.0",
        "Whale/3.24.223.18",
        "https://a.example/1.2.3.4/setup.exe",
        "pkg/1.2.3.4(x) pkg/1.2.3.4:x",
        "4.3.2.1.in-addr.arpa",
        "1.2.3.4.example.com",
        "12:34:56",
        "2024-05-06T12:34:56.789",
        "12:34",
        "a:b",
        "host:80",
        "10:00:00:00",
        "00:11:22:33:44:55",
        "00:11:22:33:44:55:66:77",
        "aa:bb:cc:dd:ee:ff:00:11:22:33",
        "std::vector",
        "Foo::1a",
        "Add::Bad x",
        "x dead::beef",
        "a :: b",
        "1:2",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:a",
        "1:2:3:4:5:6:7:8:09",
        "1:2:3:4:5:6:7:8:65536",
        "1:2:3:4:5:6:7:8:9:10",
        "2001:db8::1:65536",
        "2001:db8::1:012345",
        "2001:db8::1.2.3",
        "10:11:12:13:14:15:16:17:18",
        "Add::Bad:12345 x",
        "2001[:]db8[::]x",
        "2001[:]4860[:]4860[::]88888",
        "12345::1",
        "2001:db8::1x",
        "g2001:db8::1",
        ":::",
        "1::2::3",
        "sha256:0123456789abcdef0123456789abcdef",
        "1[.]2[.]3",
        "1[.]2[.]3[.]4[.]5",
        "1[.}2[.]3[.]4",
    ] {
        assert_eq!(all(line.as_bytes()), Vec::<String>::new(), "{line}");
    }
}

/// What stands for bytes that are no part of an address.
const ESCAPES: [&str; 17] = [
    "%20",
    "%2C",
    "%3d",
    "\\t",
    "\\n",
    "\\r",
    "\\b",
    "\\f",
    "\\\\t",
    "\\u000a",
    "\\u003c",
    "\\x22",
    "#011",
    "\x1b[31m",
    "\x1b[01;31m\x1b[K",
    "\\u001b[0m",
    "#033[1;32m",
];

#[test]
fn escapes_are_no_part_of_an_address() {
    for escape in ESCAPES {
        for ip in [
            "10.1.1.1",
            "1.2.3.4",
            "fe80::1",
            "2001:db8::1",
            "fdab:cdef::a",
        ] {
            for line in [
                format!("{escape}{ip}"),
                format!("a{escape}{ip}{escape}b"),
                format!("1{escape}{ip}{escape}1"),
                format!("\"{escape}{ip}\""),
            ] {
                assert_eq!(all(line.as_bytes()), [ip], "{line}");
            }
        }
        let two = format!("10.1.1.1{escape}10.2.2.2{escape}fe80::1{escape}fe80::2");
        assert_eq!(
            all(two.as_bytes()),
            ["10.1.1.1", "10.2.2.2", "fe80::1", "fe80::2"],
            "{two}"
        );
    }
    for (line, expected) in [
        ("\"\\fe80::1\"", "e80::1"),
        ("\\\\fe80::1\\x", "fe80::1"),
        ("%205.6.7.8", "5.6.7.8"),
        ("#05.6.7.8", ""),
        ("%10.0.0.1", "10.0.0.1"),
        ("\\q10.0.0.1", ""),
        ("\\x2g10.0.0.1", ""),
        ("x[31m10.0.0.1", ""),
        ("\x1b[31x10.0.0.1", ""),
        ("Chrome\\/120.0.0.0", ""),
        ("outside\\/10.0.0.1(443)", "10.0.0.1"),
    ] {
        assert_eq!(all(line.as_bytes()).join(" "), expected, "{line}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn every_address_is_found(bits: u32, more: u128, before in "[ =\"'(\\[,;>@|]", after in "[ \"')\\],;<:/#%|]?") {
        let ipv4 = IpAddr::V4(bits.into());
        let ipv6 = IpAddr::V6((more | 1 << 124).into());
        prop_assume!(!after.contains(':') || !ipv6.to_string().ends_with(':'));
        let line = format!("{before}{ipv4}{after} {before}{ipv6}{after}");
        prop_assert_eq!(all(line.as_bytes()), [ipv4.to_string(), ipv6.to_string()], "{}", line);
    }

    #[test]
    fn what_is_found_stands_there(line in "[0-9a-f.:\\[\\](){}%/ _x-]{0,60}") {
        let mut at = 0;
        while let Some(found) = find_address(line.as_bytes(), at) {
            at = found.range.end;
            let text: String = line[found.range].chars().filter(|c| !"[](){}".contains(*c)).collect();
            let text = text.split('%').next().unwrap().trim_end_matches('.');
            prop_assert_eq!(text.parse::<IpAddr>(), Ok(found.address), "{}", line);
        }
    }

    #[test]
    fn any_bytes_pass(line in proptest::collection::vec(any::<u8>(), 0..200)) {
        all(&line);
    }
}

/// Lines of a megabyte of what makes the search look back and ahead.
#[test]
fn the_time_is_that_of_the_line() {
    for piece in [
        "1:1.1:",
        "a:",
        "1.",
        "a::b ",
        "[.]",
        "f",
        ":",
        ".",
        "1[.]",
        "::1%",
        " ",
        "1:2:3:4:5:6:7:8:9:",
    ] {
        let line = piece.repeat((1 << 20) / piece.len());
        let start = std::time::Instant::now();
        all(line.as_bytes());
        all(format!("{line}:{line}").as_bytes());
        assert!(start.elapsed().as_secs() < 20, "{piece}");
    }
}
