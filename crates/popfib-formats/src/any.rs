//! Every prefix anywhere in a text: configurations of firewalls and routers, of web and mail servers, pages. Lines in, a route for
//! each prefix out.
//!
//! ```text
//! set subnet 10.0.0.0 255.0.0.0
//! access-list 10 permit 192.0.2.0 0.0.0.255
//! cidr_blocks = ["10.0.0.0/8", "2001:db8::/32"]
//! v=spf1 ip4:192.0.2.0/24 -all
//! ```
//! Addresses are found as in logs ([`addresses`](crate::addresses)). What comes after one says whether it is a prefix: a
//! length, a network mask or a wildcard mask, or the end of a range; else it is a host. A mask by itself is nothing. Where Apache
//! has lists of addresses, their first bytes are enough. Lines that are comments are left out, and what would have been found in
//! them is counted. Values are what a regular expression of the user finds around them ([`value_regex`](crate::value_regex));
//! without one there are none.
//!
//! Never recognised by its content: it is what the user asks for. Any text has something in it that looks like an address, and
//! lists, routes and logs are read better by formats of their own.

use std::iter::Peekable;
use std::net::IpAddr;
use std::ops::Range;

use crate::addresses::{FoundAddress, after_slash, find_address};
use crate::grammar::{Grammar, RouteRows, lines};
use crate::masks;
use crate::names::note_left_out;
use crate::ranges::AddressSpan;
use crate::registry::Capability::ValueRegex;
use crate::table_format::{LoadOptions, TableEntry};
use crate::value_regex::RegexValues;
use crate::words::{begins, is_one_of, word_at};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "any",
    description: "every prefix anywhere in a text, such as configurations of firewalls and routers; only if it is asked for",
    can: &[ValueRegex],
    detect: |_| false,
    open: |input, options| Ok(lines(AnyPrefixes::new(options), input, options)),
};

/// The grammar of the lines.
struct AnyPrefixes {
    /// The address that begins a range over lines, what the word before its end has to end with, and its value.
    start: Option<(IpAddr, &'static [u8], String)>,
    /// How many there are in comments.
    in_comments: u64,
    /// What has the values, and how many prefixes are without one.
    values: Option<RegexValues>,
    without: u64,
}

impl AnyPrefixes {
    fn new(options: &LoadOptions) -> Self {
        Self {
            start: None,
            in_comments: 0,
            values: options.value_regex.clone().map(RegexValues::of),
            without: 0,
        }
    }
}

impl Grammar for AnyPrefixes {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let is_comment = begins!(line.trim_start(), "#" "!" ";" "//");
        let mut flaw = None;
        if let Some(values) = &mut self.values {
            values.advance(line)?;
        }
        let (mut at, mut unseen) = (0, unseen(line).into_iter().peekable());
        while let Some((written, begin)) = next(line, &mut at, &mut unseen) {
            let value = match &self.values {
                Some(values) => values.at(begin).map(str::to_owned),
                None => Some(String::new()),
            };
            match value {
                _ if is_comment => self.in_comments += 1,
                None => self.without += 1,
                Some(value) => {
                    let before = word_before(line, begin);
                    if let Err(reason) = self.found(&written, before, value, rows) {
                        // What else is in the line counts all the same.
                        flaw.get_or_insert(reason);
                    }
                }
            }
        }
        // What is no prefix is other text.
        flaw.map_or_else(|| rows.free_text(), Err)
    }

    fn end(&mut self, rows: &mut RouteRows) {
        if let Some((start, _, value)) = self.start.take()
            && let Err(reason) = rows.elements(&start.to_string(), &*value)
        {
            rows.complain(rows.line(), reason);
        }
    }

    /// Any text is read, so it may be another one.
    fn says_none(&self) -> bool {
        false
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = note_left_out(self.without, "prefix", " without a value by `value_regex`");
        let places = match self.in_comments {
            1 => " in a comment",
            _ => " in comments",
        };
        notes.extend(note_left_out(self.in_comments, "prefix", places));
        notes
    }
}

impl AnyPrefixes {
    /// Hands out what was found after the word `before`; an address that begins a range over lines waits for its end.
    fn found(
        &mut self,
        written: &WrittenPrefix,
        before: &[u8],
        value: String,
        rows: &mut RouteRows,
    ) -> Result<(), String> {
        let address = match written {
            WrittenPrefix::Range(first, last) => {
                return rows.elements_of(AddressSpan::Range(*first, *last), &*value);
            }
            WrittenPrefix::Text(text) => return rows.elements(text, &*value),
            WrittenPrefix::Host(address) => address,
        };
        if let Some((start, end, value)) = self.start.take() {
            let is_end = before.ends_with(end) && start.is_ipv4() == address.is_ipv4();
            if is_end && start <= *address {
                return rows.elements_of(AddressSpan::Range(start, *address), &*value);
            }
            rows.elements(&start.to_string(), &*value)?;
        }
        // FortiOS; Junos, which has no more than braces and `to` between the two.
        let ends: [(&[u8], &'static [u8]); 2] = [(b"start-ip", b"end-ip"), (b"range-address", b"")];
        let end = ends.iter().find(|(start, _)| before.ends_with(start));
        if let Some((_, end)) = end {
            self.start = Some((*address, end, value));
            return Ok(());
        }
        rows.elements(&address.to_string(), &*value)
    }
}

/// What stands somewhere in a line.
enum WrittenPrefix {
    /// An address by itself.
    Host(IpAddr),
    /// A prefix in words of its own.
    Text(String),
    Range(IpAddr, IpAddr),
}

/// What [`find_address`] does not see, since there is no whole address in it (`::/0`, `10.1`): where it begins and ends in
/// `line`, and its prefix.
fn unseen(line: &str) -> Vec<(Range<usize>, String)> {
    const DEFAULT: &str = "::/0";
    let is_apart = |place: &Range<usize>| {
        is_border(line, place.start.checked_sub(1)) && is_border(line, Some(place.end))
    };
    let defaults = line.match_indices(DEFAULT);
    let defaults = defaults
        .map(|(at, _)| at..at + DEFAULT.len())
        .filter(is_apart);
    let mut unseen: Vec<_> = defaults.map(|place| (place, DEFAULT.to_owned())).collect();
    if let Some(mut at) = list_of_apache(line) {
        while let Some((begin, word)) = word_at(line, at) {
            at = begin + word.len();
            unseen.extend(first_bytes(word).map(|prefix| (begin..at, prefix)));
        }
        unseen.sort_by_key(|(place, _)| place.start);
    }
    unseen
}

/// Where the words begin after which Apache has addresses, of which the first bytes are enough: `Require ip 10.1`.
fn list_of_apache(line: &str) -> Option<usize> {
    let (mut at, mut words) = (0, 0);
    while let Some((begin, word)) = word_at(line, at).filter(|_| words < 3) {
        at = begin + word.len();
        let is = |names: &[&str]| names.iter().any(|name| word.eq_ignore_ascii_case(name));
        match words {
            0 if is(&["require", "allow", "deny"]) => {}
            1 | 2 if is(&["ip", "from"]) => return Some(at),
            1 if is(&["not"]) => {}
            _ => return None,
        }
        words += 1;
    }
    None
}

/// The prefix of an address of one to three bytes: `10.1`, `192.0.2.`.
fn first_bytes(word: &str) -> Option<String> {
    let bytes = word.strip_suffix('.').unwrap_or(word);
    let is_byte = |part: &str| {
        part.parse::<u8>()
            .is_ok_and(|byte| byte.to_string() == part)
    };
    let count = bytes.split('.').count();
    let is_part = count < 4 && bytes.split('.').all(is_byte);
    is_part.then(|| format!("{bytes}{}/{}", ".0".repeat(4 - count), 8 * count))
}

/// The next prefix or host of `line` from `at` on, and where it begins; `at` goes to its end.
fn next(
    line: &str,
    at: &mut usize,
    unseen: &mut Peekable<impl Iterator<Item = (Range<usize>, String)>>,
) -> Option<(WrittenPrefix, usize)> {
    loop {
        let found = find_address(line.as_bytes(), *at);
        let is_before = |(place, _): &(Range<usize>, String)| {
            let start = found.as_ref().map(|found| found.range.start);
            start.is_none_or(|start| place.start < start)
        };
        if let Some((place, prefix)) = unseen.next_if(is_before) {
            *at = place.end;
            return Some((WrittenPrefix::Text(prefix), place.start));
        }
        let found = found?;
        match of(line, &found) {
            Some((written, end)) => {
                *at = end;
                return Some((written, found.range.start));
            }
            // A mask by itself.
            None => *at = found.range.end,
        }
    }
}

/// What an address in a line is, together with what comes after it; `None` if that is a mask without an address.
fn of(line: &str, found: &FoundAddress) -> Option<(WrittenPrefix, usize)> {
    let (first, begin, end) = (found.address, found.range.start, found.range.end);
    let host = Some((WrittenPrefix::Host(first), end));
    let before = &line[..begin];
    if before.ends_with("://") || before.ends_with(r":\/\/") {
        return host;
    }
    let after = &line[end..];
    // Postfix has `[::1]/128`.
    let closed = after.strip_prefix(']').unwrap_or(after);
    let slash = after_slash(closed.as_bytes());
    if let Some(len) = slash.map(|rest| &closed[closed.len() - rest.len()..]) {
        let digits = len.bytes().take_while(u8::is_ascii_digit).count();
        let len_at = line.len() - len.len();
        if let Some(mask) = address_at(line, len_at)
            && let Some(text) = masks::after_slash(first, mask.address)
        {
            return Some((WrittenPrefix::Text(text), mask.range.end));
        }
        // One that is too long for a network of IPv4 is an error; of a host it is a port.
        let is_host = matches!(first, IpAddr::V4(first) if first.octets()[3] > 0);
        let most = if is_host { 32 } else { 128 };
        let is_len = len[..digits].parse().is_ok_and(|len: u8| len <= most);
        if is_len && is_border(line, Some(len_at + digits)) {
            let text = format!("{first}/{}", &len[..digits]);
            return Some((WrittenPrefix::Text(text), len_at + digits));
        }
    }
    // A mask whose address is elsewhere, or the number of an OSPF area.
    if masks::is_no_host(first) {
        return None;
    }
    if slash.is_some() {
        return host;
    }
    if let Some(range) = short_range(line, found) {
        return Some(range);
    }
    let Some(second) = find_address(line.as_bytes(), end) else {
        return host;
    };
    let between = line[end..second.range.start].trim_matches(['"', '\'', ',', ' ', '\t']);
    let are_ends = first <= second.address && first.is_ipv4() == second.address.is_ipv4();
    // Two addresses alone may be a route and its gateway; a word with `range` in it before them says more.
    let is_range = || {
        word_before(line, begin)
            .windows(5)
            .any(|part| part == b"range")
    };
    if are_ends && (between == "-" || matches!(between, "" | "to") && is_range()) {
        return Some((
            WrittenPrefix::Range(first, second.address),
            second.range.end,
        ));
    }
    // What may stand between an address and its mask.
    const MASK: &str = "mask netmask subnet-mask wildcard wildcard-mask";
    match masks::pair(first, second.address) {
        Some(text) if between.is_empty() || is_one_of(MASK, between) => {
            Some((WrittenPrefix::Text(text), second.range.end))
        }
        _ => host,
    }
}

/// A range whose end is the last byte: `10.0.0.1-20`.
fn short_range(line: &str, found: &FoundAddress) -> Option<(WrittenPrefix, usize)> {
    let rest = line[found.range.end..].strip_prefix('-')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let end = found.range.end + 1 + digits;
    let IpAddr::V4(first) = found.address else {
        return None;
    };
    let last: u8 = rest[..digits].parse().ok()?;
    let [a, b, c, d] = first.octets();
    let is_range = d <= last && is_border(line, Some(end));
    is_range.then_some((
        WrittenPrefix::Range(first.into(), IpAddr::from([a, b, c, last])),
        end,
    ))
}

/// The address that begins at `at` itself.
fn address_at(line: &str, at: usize) -> Option<FoundAddress> {
    // The finder looks at what is before, which is the slash.
    find_address(line.as_bytes(), at).filter(|found| found.range.start == at)
}

/// The word before what begins at `begin`, or the end of a long one.
fn word_before(line: &str, begin: usize) -> &[u8] {
    const LONGEST: usize = 40;
    let is_sign = |byte: u8| matches!(byte, b'"' | b'\'' | b'=' | b' ' | b'\t');
    let before = &line.as_bytes()[begin.saturating_sub(LONGEST)..begin];
    let end = before
        .iter()
        .rposition(|&byte| !is_sign(byte))
        .map_or(0, |last| last + 1);
    let start = before[..end]
        .iter()
        .rposition(|&byte| is_sign(byte))
        .map_or(0, |sign| sign + 1);
    &before[start..end]
}

/// Whether a prefix may end before the byte at `at`, or begin after it.
fn is_border(line: &str, at: Option<usize>) -> bool {
    let Some(&byte) = at.and_then(|at| line.as_bytes().get(at)) else {
        return true;
    };
    let next = at.and_then(|at| line.as_bytes().get(at + 1));
    match byte {
        b'.' => !next.is_some_and(u8::is_ascii_digit),
        b':' | b'/' | b'_' => false,
        byte => !byte.is_ascii_alphanumeric(),
    }
}
