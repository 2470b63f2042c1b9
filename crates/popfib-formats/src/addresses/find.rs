//! Addresses anywhere in a line of text, in the spellings that logs have: a line in, addresses and their places out.
//!
//! Every address has a `.` or a `:`, so these are searched for, and what stands around one is
//! read as an address or passed over as a whole. What may stand at either side is what keeps
//! version numbers, times and longer words out: see [`find_address`].
//!
//! ```text
//! Jan 10 10:20:30 h sshd[7]: from 192.0.2.1 port 22      10:20:30 is a time, 192.0.2.1 is found
//! GET /lib-1.2.3.4.js fwd=[2001:db8::1]:443              1.2.3.4 is a version, 2001:db8::1 is found
//! ```
//! Rejected: one regular expression for all spellings, which is several times as slow and says less clearly what is refused.

use std::net::IpAddr;
use std::ops::Range;

use memchr::{memchr2, memrchr2};

use super::{ipv4_line, ipv6};

mod border;

use border::{
    after_escape, is_label, is_no_version, is_port, is_port_of_flow, is_port_or_service, is_word,
    may_be_of_escape, may_begin_escape,
};

/// An address and the bytes of the line that it takes, its zone included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundAddress {
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
/// - next to a letter, a digit or `_`, and before `.` and one of these (`v1.2.3.4`, `1.2.3.4.example`). An escape is
///   no letter (`%20`, `\t`, `\u003c`, `#011`, a colour code of a terminal), nor is a port after a dot
///   (`10.1.1.1.443`, `10.2.2.2.domain > `): one number, up to 65535, as six or more are no address;
/// - after a name and `-` or `/`, as versions stand (`Chrome/120.0.0.0`, `lib-1.2.3.4`). No version has a port
///   (`outside/10.1.1.1(443)`), and none stands after `/` and a word in capitals (`HIER_DIRECT/10.1.1.1`) or the name of a
///   host (`a.example/10.1.1.1`);
/// - with octets over 255 or with leading zeros;
/// - in eight groups of two digits each, which is a hardware address (times and other
///   hardware addresses have too few groups);
/// - in two groups without any digit, as names in programs are (`Add::Bad`), unless it is in brackets or all there is.
///
/// Before an IPv6 address a name and a colon may stand (`src:2001:db8::1`, `[IPv6:2001:db8::1]`, `eth0:2001:db8::1`), and after it
/// a port where that can be no group (`2001:db8::1:58340`, `1:2:3:4:5:6:7:8:443`, `::ffff:192.0.2.1:80`, `2001:db8::1.443`).
///
/// Takes time by the length of the line.
#[inline]
pub fn find_address(line: &[u8], from: usize) -> Option<FoundAddress> {
    let mut finder = AddressSearch { line, floor: from };
    let mut at = from;
    loop {
        at += memchr2(b'.', b':', line.get(at..)?)?;
        let step = if line[at] == b'.' {
            finder.dot(at)
        } else {
            finder.colon(at)
        };
        match step {
            SearchStep::Found(found) => return Some(found),
            SearchStep::On(next) => at = next,
        }
    }
}

/// More than the longest address takes: 39 bytes, or 45 with four octets at its end, and a port.
const LONGEST: usize = 52;

/// What a look around one dot or colon gives.
enum SearchStep {
    Found(FoundAddress),
    /// Nothing here; the search goes on at this place.
    On(usize),
}

/// The search in one line.
struct AddressSearch<'l> {
    line: &'l [u8],
    /// What is before this place belongs to something else.
    floor: usize,
}

impl AddressSearch<'_> {
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
    fn dot(&mut self, at: usize) -> SearchStep {
        let before = self.before(at);
        if !before.is_ascii_digit() || at == self.floor {
            return match self.is_bracketed(at) {
                true => self.bracketed(at),
                false => SearchStep::On(at + 1),
            };
        }
        let start = self.start(at, |byte| byte.is_ascii_digit());
        if !may_begin_escape(self.before(start))
            && let Some(found) = self.ipv4_from(start)
        {
            return SearchStep::Found(found);
        }
        if self.may_follow_escape(start)
            && let Some(found) = self.ipv4_after_escape(start, at)
        {
            return SearchStep::Found(found);
        }
        // No part of a longer run of numbers is an address.
        let end = self.end(at, |byte| byte.is_ascii_digit() || byte == b'.');
        if self.is_bracketed(end + 1) {
            return self.bracketed(end + 1);
        }
        SearchStep::On(end)
    }

    /// The IPv4 address that begins at `start`, if one may.
    #[inline(always)]
    fn ipv4_from(&self, start: usize) -> Option<FoundAddress> {
        let (bits, len) = self.ipv4(start)?;
        let range = start..start + len;
        let is_apart = self.ipv4_may_begin(start, range.end) && self.ipv4_may_end(start, range.end);
        is_apart.then_some(FoundAddress {
            range,
            address: IpAddr::V4(bits.into()),
        })
    }

    /// The same of the digits from `start` to `end`, if an escape is before them or takes some of them.
    #[cold]
    fn ipv4_after_escape(&self, start: usize, end: usize) -> Option<FoundAddress> {
        let Some(start) = after_escape(self.line, start, end) else {
            return self.ipv4_from(start);
        };
        let (bits, len) = self.ipv4(start)?;
        self.ipv4_may_end(start, start + len)
            .then_some(FoundAddress {
                range: start..start + len,
                address: IpAddr::V4(bits.into()),
            })
    }

    /// Four octets from `start` on, and how long they are. Near the end of the line they are copied, as the reader takes a
    /// window of fixed size.
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
    fn colon(&mut self, at: usize) -> SearchStep {
        let next = self.byte(at + 1);
        if self.is_bracketed(at) {
            return self.bracketed(at);
        }
        if !(next == b':' || next.is_ascii_hexdigit()) {
            return SearchStep::On(at + 1);
        }
        let mut start = self.start(at, |byte| byte.is_ascii_hexdigit());
        let is_apart = self.may_begin(start) && !may_begin_escape(self.before(start));
        if at - start > 4 || !(is_apart || start == self.floor) {
            match self.odd_start(start, at) {
                Ok(found) => start = found,
                Err(next) => return SearchStep::On(next),
            }
        }
        let run = self.end(at, |byte| {
            byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')
        });
        if run - start > LONGEST {
            return SearchStep::On(run);
        }
        let mut end = run;
        while self.before(end) == b'.' || self.before(end) == b':' && self.before(end - 1) != b':' {
            end -= 1;
        }
        let text = &self.line[start..end];
        let is_right = (end < run || self.may_end(run)) && self.looks_like_ipv6(start..end);
        if is_right && let Some(bits) = ipv6::address(text) {
            return SearchStep::Found(FoundAddress {
                range: start..self.zone(end),
                address: IpAddr::V6(bits.into()),
            });
        }
        let dot = self.line[at..run].iter().position(|&byte| byte == b'.');
        let dot = dot.map(|dot| at + dot);
        // Neither times nor hardware addresses are looked at again, whose first and last groups have two digits.
        let is_colon = |at: usize| self.byte(at) == b':';
        let is_long = end - start > 8 && !(is_colon(end - 3) && is_colon(start + 2));
        if (is_long || dot.is_some() || text == b"::")
            && let Some(step) = self.odd_ipv6(start..end, dot.is_some())
        {
            return step;
        }
        // An IPv4 address may end it: `12:30:01:1.2.3.4`.
        SearchStep::On(dot.unwrap_or(run))
    }

    /// What is in `range`, which is no address as a whole: one with a port, or a part of one with separators in brackets.
    #[inline(never)]
    fn odd_ipv6(&mut self, range: Range<usize>, has_dot: bool) -> Option<SearchStep> {
        let Range { start, end } = range;
        if &self.line[range] == b"::" {
            let is_gap = start > 0 && self.is_bracketed_gap(start - 1);
            return is_gap.then(|| self.bracketed(start));
        }
        // Nine groups are longer than a year and a time, and five digits do not end in two after a colon.
        let is_long = has_dot || end - start > 14 || self.byte(end - 3) != b':';
        let found = is_long.then(|| self.ipv6_with_port(start, end));
        found.flatten().map(SearchStep::Found)
    }

    /// The IPv6 address whose port ends at `end`. It is asked of what is no address as a whole, so that the port is no group.
    #[cold]
    #[inline(never)]
    fn ipv6_with_port(&self, start: usize, end: usize) -> Option<FoundAddress> {
        let text = &self.line[start..end];
        let colons = text.iter().filter(|&&byte| byte == b':').count();
        if colons < 6 && !text.windows(2).any(|pair| pair == b"::") {
            return None;
        }
        let mark = start + memrchr2(b':', b'.', text)?;
        let is_right = is_port_or_service(self.line, mark + 1) && self.looks_like_ipv6(start..mark);
        let bits = ipv6::address(&self.line[start..mark]).filter(|_| is_right)?;
        Some(FoundAddress {
            range: start..mark,
            address: IpAddr::V6(bits.into()),
        })
    }

    /// Where the first group of an IPv6 address begins, the colon at `at` being the first and the digits before it, from
    /// `start` on, no group as they stand: after an escape. Or else where the search goes on.
    #[inline(never)]
    fn odd_start(&mut self, start: usize, at: usize) -> Result<usize, usize> {
        let rest = &self.line[at..self.line.len().min(at + LONGEST)];
        let (mut len, mut digits, mut colons, mut has_gap) = (0, 0, 0, false);
        for &byte in rest {
            if byte == b':' {
                has_gap |= digits == 0 && colons > 0;
                colons += 1;
                digits = 0;
            } else if byte.is_ascii_hexdigit() && digits < 4 {
                digits += 1;
            } else {
                break;
            }
            len += 1;
        }
        // Of times, hashes and the like nothing is left, whatever is before.
        let is_too_long = digits == 4
            && self.byte(at + len).is_ascii_hexdigit()
            && !is_port(self.line, at + len - digits);
        if len < LONGEST && (!has_gap && colons < 6 || is_too_long) {
            return Err(at + len);
        }
        if self.may_follow_escape(start)
            // Nothing has to be left before two colons.
            && let Some(start) =
                after_escape(self.line, start, at + usize::from(self.byte(at + 1) == b':'))
            && at - start <= 4
        {
            return Ok(start);
        }
        if at - start <= 4 && self.may_begin(start) {
            return Ok(start);
        }
        // What follows may be an address with its name before it: `src:2001:db8::1`.
        let belongs = |byte| is_word(byte) || matches!(byte, b'.' | b'-');
        if is_label(&self.line[self.start(at, belongs)..at]) {
            self.floor = at + 1;
        }
        Err(at + 1)
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
        let has_groups = || text.iter().filter(|&&byte| byte == b':').count() > 2;
        // Only in short lines, so that the time stays that of the line.
        let is_alone = || {
            let is_short = self.line.len() <= 2 * LONGEST;
            let is_in_brackets = self.before(range.start) == b'[';
            is_in_brackets && !self.is_bracketed_gap(range.start - 1)
                || is_short && self.line.trim_ascii() == text
        };
        !is_hardware && (has_digit() || has_groups() || is_alone())
    }

    /// The end of the zone that may follow an address.
    #[inline(always)]
    fn zone(&self, end: usize) -> usize {
        if self.byte(end) != b'%' {
            return end;
        }
        // An escape of a URL is none: `%2C` is a comma.
        if matches!(
            (self.byte(end + 1), self.byte(end + 2).to_ascii_lowercase()),
            (b'2', b'0'..=b'9' | b'a'..=b'f') | (b'3' | b'5', b'a'..=b'f') | (b'7', b'b'..=b'e')
        ) {
            return end;
        }
        let zone = self.end(end + 1, |byte| is_word(byte) || matches!(byte, b'.' | b'-'));
        if zone > end + 1 { zone } else { end }
    }

    /// Whether the digits from `start` on may follow an escape, or be part of one.
    #[inline(always)]
    fn may_follow_escape(&self, start: usize) -> bool {
        let before = self.before(start);
        let is_letter_of_one = || {
            let is_escaped = matches!(before, b'n' | b'r' | b't' | b'u' | b'x');
            !is_escaped || self.before(start - 1) == b'\\'
        };
        start != self.floor && may_be_of_escape(before) && is_letter_of_one()
    }

    /// Whether an address may begin at `start`, by what is before.
    #[inline(always)]
    fn may_begin(&self, start: usize) -> bool {
        let byte = self.before(start);
        !is_word(byte) && !matches!(byte, b'.' | b':')
    }

    /// Whether an IPv4 address from `start` to `end` may begin there, by what is before.
    #[inline(always)]
    fn ipv4_may_begin(&self, start: usize, end: usize) -> bool {
        match self.before(start) {
            b'-' | b'/' if start < 2 => true,
            b'-' | b'/' => {
                let before = self.line[start - 2];
                let is_name = before.is_ascii_alphabetic() || before == b'\\';
                !is_name || is_no_version(self.line, start, end)
            }
            b'.' => false,
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

    /// The same of an IPv4 address from `start` on.
    #[inline(always)]
    fn ipv4_may_end(&self, start: usize, end: usize) -> bool {
        self.may_end(end)
            || self.byte(end) == b'.'
                && (is_port(self.line, end + 1) || is_port_of_flow(self.line, start, end))
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

    /// Whether two colons in brackets from `at` on belong to an address (`2001[:]db8[::]1`).
    #[cold]
    fn is_bracketed_gap(&self, at: usize) -> bool {
        let is_gap = [b"[::]", b"(::)", b"{::}"];
        let is_part = |byte: u8| byte.is_ascii_hexdigit() || byte == b']';
        is_gap.iter().any(|gap| self.line[at..].starts_with(*gap))
            && (is_part(self.before(at)) || self.byte(at + 4).is_ascii_hexdigit())
    }

    /// An address with separators in brackets, one of which is at or near `at`.
    #[cold]
    fn bracketed(&mut self, at: usize) -> SearchStep {
        let belongs = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':');
        let is_inside = self.is_bracketed(at) || at > self.floor && self.is_bracketed_gap(at - 1);
        let start = self.start(at - usize::from(is_inside), belongs);
        let escape = match self.may_follow_escape(start) {
            true => after_escape(self.line, start, at),
            false => None,
        };
        let start = escape.unwrap_or(start);
        let mut text = Vec::with_capacity(LONGEST);
        let mut end = start;
        // Where a port may begin.
        let mut port: Option<(usize, usize, usize)> = None;
        while text.len() <= LONGEST {
            let (byte, taken) = match self.is_bracketed(end + 1) {
                true => (self.line[end + 1], 3),
                false if self.is_bracketed_gap(end) => {
                    text.push(b':');
                    (b':', 4)
                }
                false => (self.byte(end), 1),
            };
            let next = self.byte(end + taken);
            let ends_sentence = byte == b':' && !belongs(next) && !self.is_bracketed(end + 2);
            if !belongs(byte) || taken == 1 && ends_sentence {
                break;
            }
            let is_first = port.is_none_or(|(len, ..)| !text[..len].contains(&b'.'));
            if byte == b':' && is_first {
                port = Some((text.len(), end, end + taken));
            }
            text.push(byte);
            end += taken;
        }
        let is_end = !is_word(self.byte(end));
        let whole = super::parse_address(text.strip_suffix(b".").unwrap_or(&text));
        let found = match (whole.filter(|_| is_end), port) {
            (Some(address), _) => Some((address, end)),
            (None, Some((len, end, port))) => {
                let address = super::parse_address(&text[..len]);
                let is_port = |address: &IpAddr| address.is_ipv4() || is_port(self.line, port);
                address.filter(is_port).map(|address| (address, end))
            }
            (None, None) => None,
        };
        let may_begin = |found: &(IpAddr, usize)| match found.0 {
            _ if escape.is_some() => true,
            IpAddr::V4(_) => self.ipv4_may_begin(start, found.1),
            IpAddr::V6(_) => self.may_begin(start),
        };
        match found.filter(may_begin) {
            Some((address, end)) => SearchStep::Found(FoundAddress {
                range: start..end,
                address,
            }),
            None => SearchStep::On(end.max(at + 1)),
        }
    }
}

#[cfg(test)]
mod tests;
