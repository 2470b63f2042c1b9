//! Addresses anywhere in a line of text, in the spellings that logs have.
//!
//! Every address has a `.` or a `:`, so these are searched for, and what stands around one is
//! read as an address or passed over as a whole. What may stand at either side is what keeps
//! version numbers, times and longer words out: see [`find_address`]. Rejected: one regular
//! expression for all spellings, which is several times as slow and says less clearly what is refused.

use std::net::IpAddr;
use std::ops::Range;

use memchr::memchr2;

use super::{ipv4_line, ipv6};

/// An address and the bytes of the line that it takes, its zone included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it stands.
    pub range: Range<usize>,
    /// What it says.
    pub address: IpAddr,
}

/// The first address of `line` that begins at `from` or later.
///
/// Ports, brackets, quotes, prefix lengths and zones may follow or surround it (`1.2.3.4:443`,
/// `[2001:db8::1]:443`, `10.0.0.0/8`, `fe80::1%eth0`, `src=1.2.3.4`), and separators may be in brackets
/// (`1[.]2[.]3[.]4`). It is not found
/// - next to a letter, a digit or `_`, and before `.` and one of these (`v1.2.3.4`, `1.2.3.4.example`);
/// - after a letter and `-` or `/`, as versions stand (`Chrome/120.0.0.0`, `lib-1.2.3.4`);
/// - with octets over 255 or with leading zeros;
/// - in eight groups of two digits each, which is a hardware address (times and other
///   hardware addresses have too few groups);
/// - without any digit, as names in programs are (`Add::Bad`), unless it is in brackets or all there is.
///
/// Takes time by the length of the line.
#[inline]
pub fn find_address(line: &[u8], from: usize) -> Option<Found> {
    let mut finder = Finder { line, floor: from };
    let mut at = from;
    loop {
        at += memchr2(b'.', b':', line.get(at..)?)?;
        let step = if line[at] == b'.' {
            finder.dot(at)
        } else {
            finder.colon(at)
        };
        match step {
            Step::Found(found) => return Some(found),
            Step::On(next) => at = next,
        }
    }
}

/// More than the longest address takes: 39 bytes, or 45 with four octets at its end, and a mark.
const LONGEST: usize = 48;

enum Step {
    Found(Found),
    /// Nothing here; the search goes on at this place.
    On(usize),
}

struct Finder<'l> {
    line: &'l [u8],
    /// What is before this place belongs to something else.
    floor: usize,
}

impl Finder<'_> {
    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        self.line.get(at).copied().unwrap_or(b' ')
    }

    /// The byte before `at`; a blank at the start.
    #[inline(always)]
    fn before(&self, at: usize) -> u8 {
        if at == 0 { b' ' } else { self.line[at - 1] }
    }

    /// Where the bytes before `at` begin that `belong`, the floor at the least.
    #[inline(always)]
    fn start(&self, at: usize, belong: impl Fn(u8) -> bool) -> usize {
        let taken = self.line[self.floor..at].iter().rev();
        at - taken.take_while(|&&byte| belong(byte)).count()
    }

    /// Where the bytes from `at` on end that `belong`.
    #[inline(always)]
    fn end(&self, at: usize, belong: impl Fn(u8) -> bool) -> usize {
        let rest = self.line[at..].iter();
        at + rest.take_while(|&&byte| belong(byte)).count()
    }

    /// The dot at `at`: the first of an IPv4 address, or none.
    #[inline(always)]
    fn dot(&mut self, at: usize) -> Step {
        let before = self.before(at);
        if !before.is_ascii_digit() || at == self.floor {
            return match self.is_bracketed(at) {
                true => self.bracketed(at),
                false => Step::On(at + 1),
            };
        }
        let start = self.start(at, |byte| byte.is_ascii_digit());
        if let Some((bits, len)) = self.ipv4(start)
            && (self.may_begin(start) || self.before(start) == b':')
            && self.may_end(start + len)
        {
            return Step::Found(Found {
                range: start..start + len,
                address: IpAddr::V4(bits.into()),
            });
        }
        // No part of a longer run of numbers is an address.
        let end = self.end(at, |byte| byte.is_ascii_digit() || byte == b'.');
        if self.is_bracketed(end + 1) {
            return self.bracketed(end + 1);
        }
        Step::On(end)
    }

    /// Four octets from `start` on, and how long they are.
    #[inline(always)]
    fn ipv4(&self, start: usize) -> Option<(u32, usize)> {
        let rest = &self.line[start..];
        match rest.first_chunk() {
            Some(window) => ipv4_line::leading(window),
            None => {
                let mut window = [0; ipv4_line::WINDOW];
                window[..rest.len()].copy_from_slice(rest);
                ipv4_line::leading(&window)
            }
        }
    }

    /// The colon at `at`: the first of an IPv6 address, or none.
    #[inline(always)]
    fn colon(&mut self, at: usize) -> Step {
        let next = self.byte(at + 1);
        let start = self.start(at, |byte| byte.is_ascii_hexdigit());
        if self.is_bracketed(at) {
            return self.bracketed(at);
        }
        if at - start > 4
            || !(next == b':' || next.is_ascii_hexdigit())
            || !(self.may_begin(start) || start == self.floor)
        {
            // What follows may be an address with its name before it: `src:2001:db8::1`.
            let name = &self.line[self.start(at, is_word)..at];
            if !name.is_empty() && !name.iter().any(u8::is_ascii_digit) {
                self.floor = at + 1;
            }
            return Step::On(at + 1);
        }
        let run = self.end(at, |byte| {
            byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')
        });
        if run - start > LONGEST {
            return Step::On(run);
        }
        let mut end = run;
        while self.before(end) == b'.' || self.before(end) == b':' && self.before(end - 1) != b':' {
            end -= 1;
        }
        let text = &self.line[start..end];
        let is_right = (end < run || self.may_end(run)) && self.looks_like_ipv6(start..end);
        if is_right && let Some(bits) = ipv6::address(text) {
            return Step::Found(Found {
                range: start..self.zone(end),
                address: IpAddr::V6(bits.into()),
            });
        }
        // An IPv4 address may end it: `12:30:01:1.2.3.4`.
        let dot = self.line[at..run].iter().position(|&byte| byte == b'.');
        Step::On(dot.map_or(run, |dot| at + dot))
    }

    /// Whether these groups are not those of something else.
    #[inline(always)]
    fn looks_like_ipv6(&self, range: Range<usize>) -> bool {
        let text = &self.line[range.clone()];
        let is_hardware = text.len() == 23
            && text
                .iter()
                .enumerate()
                .all(|(at, &byte)| (byte == b':') == (at % 3 == 2));
        let has_digit = || text.iter().any(u8::is_ascii_digit);
        // Only in short lines, so that the time stays that of the line.
        let is_alone = || {
            let is_short = self.line.len() <= 2 * LONGEST;
            self.before(range.start) == b'[' || is_short && self.line.trim_ascii() == text
        };
        !is_hardware && (has_digit() || is_alone())
    }

    /// The end of the zone that may follow an address.
    #[inline(always)]
    fn zone(&self, end: usize) -> usize {
        if self.byte(end) != b'%' {
            return end;
        }
        let zone = self.end(end + 1, |byte| is_word(byte) || matches!(byte, b'.' | b'-'));
        if zone > end + 1 { zone } else { end }
    }

    /// Whether an address may begin at `start`, by what is before.
    #[inline(always)]
    fn may_begin(&self, start: usize) -> bool {
        match self.before(start) {
            b'-' | b'/' => start < 2 || !self.line[start - 2].is_ascii_alphabetic(),
            b'.' | b':' => false,
            byte => !is_word(byte),
        }
    }

    /// Whether an address may end at `end`, by what follows.
    #[inline(always)]
    fn may_end(&self, end: usize) -> bool {
        match self.byte(end) {
            b'.' => !is_word(self.byte(end + 1)),
            byte => !is_word(byte) && !self.is_bracketed(end + 1),
        }
    }

    /// Whether the separator at `at` is in brackets.
    #[inline(always)]
    fn is_bracketed(&self, at: usize) -> bool {
        matches!(self.byte(at), b'.' | b':')
            && at > 0
            && matches!(
                (self.line[at - 1], self.byte(at + 1)),
                (b'[', b']') | (b'(', b')') | (b'{', b'}')
            )
    }

    /// An address with separators in brackets, one of which is at or near `at`.
    #[cold]
    fn bracketed(&mut self, at: usize) -> Step {
        let belongs = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':');
        let start = match self.is_bracketed(at) {
            true => self.start(at - 1, belongs),
            false => self.start(at, belongs),
        };
        let mut text = Vec::with_capacity(LONGEST);
        let mut end = start;
        // Where a port may begin.
        let mut port = None;
        while text.len() <= LONGEST {
            let (byte, taken) = match self.is_bracketed(end + 1) {
                true => (self.line[end + 1], 3),
                false => (self.byte(end), 1),
            };
            if !belongs(byte) {
                break;
            }
            if byte == b':' && text.contains(&b'.') && port.is_none() {
                port = Some((text.len(), end));
            }
            text.push(byte);
            end += taken;
        }
        let is_end = !is_word(self.byte(end));
        let whole = super::parse_address(text.strip_suffix(b".").unwrap_or(&text));
        let found = match (whole.filter(|_| is_end), port) {
            (Some(address), _) => Some((address, end)),
            (None, Some((len, end))) => {
                super::parse_address(&text[..len]).map(|address| (address, end))
            }
            (None, None) => None,
        };
        match found {
            Some((address, end)) if self.may_begin(start) => Step::Found(Found {
                range: start..end,
                address,
            }),
            _ => Step::On(end.max(at + 1)),
        }
    }
}

/// Whether a byte belongs to a word, so that an address beside it is a part of that.
#[inline(always)]
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
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
            "1.2.3.4.5",
            "1.2.3.4.5.6.7.8",
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
            "1:2:3:4:5:6:7:8:9",
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
}
