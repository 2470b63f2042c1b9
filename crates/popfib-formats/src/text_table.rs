//! The text format of tables: one route a line, `PREFIX NEXTHOP`.
//!
//! Prefix and next hop are separated by blanks, tabs or one comma. A prefix
//! without length is one host; a length may be a network mask. Where the first route has no next
//! hop, none has: that is a list of prefixes, whose next hop is the empty name. Else the next hop is any token: text without blanks,
//! commas and comment signs; after a blank also AS numbers joined by commas, as an
//! AS set is written, and with braces around them also after a comma. In a table with next hops, a line that ends
//! after a comma or a tab is of one that is not known: left out and counted. What would be read as CSV in another
//! way is refused: a quote after those, a semicolon right after the prefix. So is an address after one
//! without a length that may be its mask or the end of a range ([`masks`](crate::masks)).
//! `#` and `;` begin a comment wherever else they stand;
//! empty lines are nothing. IPv4 is dotted, IPv6 in any legal spelling;
//! v4-mapped IPv6 stays IPv6. Lines end in LF or CR LF, the last one also
//! without; a byte order mark is ignored. Comments may hold any bytes, the rest
//! is UTF-8 without control characters.

use std::net::IpAddr;
use std::ops::Range;
use std::str;

use popfib::{IpPrefix, Prefix, PrefixError};

use crate::delimited::is_country;
use crate::error::{ReadError, quote};
use crate::hosts::LOCALHOST;
use crate::input::Input;
use crate::ipv4;
use crate::lines::Lines;
use crate::masks::second_address;
use crate::name_rule::{MAX_NAME, checked};
use crate::names::left_out;
use crate::origins::is_as_list;
use crate::registry::Capabilities;
use crate::route::{Route, RouteSource};
use crate::table_format::Entry;

pub(crate) const FORMAT: Entry = Entry {
    name: "text",
    description: "text, one route a line: PREFIX NEXTHOP",
    can: Capabilities::NONE,
    detect: begins_with_route,
    open: |input, options| Ok(Box::new(TextTable::new(input).mask(options.mask))),
};

/// Whether the first line that isn't a comment is there as a whole and is a route.
fn begins_with_route(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    for line in head.split_inclusive(|&byte| byte == b'\n') {
        let Some(line) = line.strip_suffix(b"\n") else {
            return false;
        };
        match parse(line.strip_suffix(b"\r").unwrap_or(line), true) {
            Ok(None) => {}
            // A hosts file begins with the own one. The first rows of a geofeed may end after the country.
            Ok(Some((_, next_hop))) => {
                let is_geofeed = is_country(&line[next_hop.clone()]) && line.contains(&b',');
                let next_hop = &line[next_hop];
                return !next_hop.is_empty() && next_hop != LOCALHOST.as_bytes() && !is_geofeed;
            }
            Err(_) => return false,
        }
    }
    false
}

/// A [`RouteSource`] of the text format: one route a line, `PREFIX NEXTHOP`.
#[derive(Debug)]
pub struct TextTable {
    lines: Lines,
    mask: bool,
    /// Whether its first route has no next hop, so that none has.
    is_list: Option<bool>,
    /// Lines that end before a next hop.
    without: u64,
}

impl TextTable {
    /// Reads routes from `input`. Takes 256 KiB.
    pub fn new(input: Input) -> Self {
        Self {
            lines: Lines::new(input),
            mask: false,
            is_list: None,
            without: 0,
        }
    }

    /// Whether host bits of a prefix are cleared; without it, they are an error.
    pub fn mask(mut self, mask: bool) -> Self {
        self.mask = mask;
        self
    }
}

impl RouteSource for TextTable {
    #[inline]
    fn next_route(&mut self) -> Result<Option<Route<'_>>, ReadError> {
        let (prefix, next_hop) = loop {
            if !self.lines.advance()? {
                return Ok(None);
            }
            match parse(self.lines.line(), self.mask) {
                Ok(Some((prefix, next_hop))) => {
                    let line = self.lines.line();
                    if next_hop.is_empty()
                        && self.is_list == Some(false)
                        && is_delimited(&line[next_hop.end..skip_separator(line, next_hop.end)])
                    {
                        self.without += 1;
                        continue;
                    }
                    let is_list = *self.is_list.get_or_insert(next_hop.is_empty());
                    if is_list != next_hop.is_empty() {
                        let flaw = if is_list {
                            Flaw::InList(next_hop)
                        } else {
                            Flaw::NoNextHop(prefix)
                        };
                        return Err(explain(&self.lines, flaw));
                    }
                    break (prefix, next_hop);
                }
                Ok(None) => {}
                Err(flaw) => return Err(explain(&self.lines, flaw)),
            }
        };
        let Ok(next_hop) = str::from_utf8(&self.lines.line()[next_hop]) else {
            return Err(explain(&self.lines, Flaw::NotText));
        };
        // What else a name may not be, no field of ASCII is.
        if (next_hop.len() > MAX_NAME || !next_hop.is_ascii())
            && let Err(reason) = checked(next_hop)
        {
            return Err(self.lines.invalid(reason));
        }
        Ok(Some(Route { prefix, next_hop }))
    }

    fn notes(&self) -> Vec<String> {
        left_out(self.without, "line", None)
    }
}

/// What is wrong with a line, and where.
enum Flaw {
    NotText,
    Prefix(Range<usize>, PrefixError),
    NoNextHop(IpPrefix),
    /// A next hop in a list of prefixes.
    InList(Range<usize>),
    /// An address after one without a length: this is wrong with it.
    SecondAddress(String),
    /// From here on, a field in quotes.
    Quoted(usize),
    /// A semicolon after the prefix, and no comment.
    Semicolon(usize),
    /// From here on, more fields; whether a comma or a tab is among what separates them.
    ThirdField(usize, bool),
}

/// The prefix of a line and where its next hop is; `None` if there is no route on it.
#[inline]
fn parse(line: &[u8], mask: bool) -> Result<Option<(IpPrefix, Range<usize>)>, Flaw> {
    let start = skip_blanks(line, 0);
    if is_end(line, start) {
        return Ok(None);
    }
    let (prefix, end) = match ipv4::prefix(&line[start..]) {
        Some((bits, len, read)) if class(line, start + read) & FIELD_END != 0 => {
            let prefix = if mask {
                Prefix::new_masked(bits, len)
            } else {
                Prefix::new(bits, len)
            };
            (prefix.map(IpPrefix::V4), start + read)
        }
        _ => any_prefix(line, start, mask)?,
    };
    let prefix = prefix.map_err(|e| Flaw::Prefix(start..end, e))?;

    let next_hop = field(line, skip_separator(line, end))?;
    if next_hop.is_empty() {
        if line.get(next_hop.end) == Some(&b',') {
            return Err(Flaw::ThirdField(next_hop.end, true));
        }
        if line.get(end) == Some(&b';') && class(line, end + 1) & FIELD_END == 0 {
            return Err(Flaw::Semicolon(end));
        }
        return Ok(Some((prefix, end..end)));
    }
    match line[next_hop.start] {
        b'"' if is_delimited(&line[end..next_hop.start]) => {
            return Err(Flaw::Quoted(next_hop.start));
        }
        b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' | b':' if is_host(prefix) => {
            no_second_address(&line[start..end], &line[next_hop.clone()])?;
        }
        _ => {}
    }
    let rest = skip_blanks(line, next_hop.end);
    if !is_end(line, rest) {
        let between = end..next_hop.start;
        let is_delimited = is_delimited(&line[between.clone()]);
        let set = as_set(line, between).ok_or(Flaw::ThirdField(rest, is_delimited))?;
        return Ok(Some((prefix, set)));
    }
    Ok(Some((prefix, next_hop)))
}

/// Whether a prefix is that of one address.
#[inline(always)]
fn is_host(prefix: IpPrefix) -> bool {
    match prefix {
        IpPrefix::V4(prefix) => prefix.len() == 32,
        IpPrefix::V6(prefix) => prefix.len() == 128,
    }
}

/// Whether columns are separated here, rather than words.
fn is_delimited(between: &[u8]) -> bool {
    between.contains(&b',') || between.contains(&b'\t')
}

/// A next hop with commas, after the separator `between`: AS numbers and nothing else. Where a comma
/// separates and there are no braces, it would be one column of several.
#[cold]
fn as_set(line: &[u8], between: Range<usize>) -> Option<Range<usize>> {
    let start = between.end;
    if line[between].contains(&b',') && line[start] != b'{' {
        return None;
    }
    let is_over = |byte: &u8| matches!(byte, b' ' | b'\t' | b'#' | b';');
    let end = match line[start..].iter().position(is_over) {
        Some(len) => start + len,
        None => line.len(),
    };
    let text = str::from_utf8(&line[start..end]).ok()?;
    (is_as_list(text) && is_end(line, skip_blanks(line, end))).then_some(start..end)
}

/// Nothing is wrong with a next hop that follows a host, if that has a length or the next hop is no address.
#[cold]
fn no_second_address(host: &[u8], next_hop: &[u8]) -> Result<(), Flaw> {
    let address = |text| str::from_utf8(text).ok()?.parse::<IpAddr>().ok();
    let (Some(host), Some(next_hop)) = (address(host), address(next_hop)) else {
        return Ok(());
    };
    second_address(host, next_hop).map_or(Ok(()), |reason| Err(Flaw::SecondAddress(reason)))
}

/// The prefix at `start` by the library's own parser, and where it ends.
#[inline(never)]
fn any_prefix(
    line: &[u8],
    start: usize,
    mask: bool,
) -> Result<(Result<IpPrefix, PrefixError>, usize), Flaw> {
    let range = field(line, start)?;
    let text = str::from_utf8(&line[range.clone()]).map_err(|_| Flaw::NotText)?;
    let prefix = if mask {
        IpPrefix::parse_masked(text)
    } else {
        text.parse()
    };
    Ok((prefix, range.end))
}

/// What ends a field, and what is no text.
const FIELD_END: u8 = 1;
const CONTROL: u8 = 2;
const NOT_ASCII: u8 = 4;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b',' | b'#' | b';' => FIELD_END,
            0..0x20 | 0x7f => CONTROL,
            0x80.. => NOT_ASCII,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// The class of the byte at `at`; after the line, the end of a field.
#[inline(always)]
fn class(line: &[u8], at: usize) -> u8 {
    line.get(at)
        .map_or(FIELD_END, |&byte| CLASSES[usize::from(byte)])
}

#[inline(always)]
fn skip_blanks(line: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t') = line.get(at) {
        at += 1;
    }
    at
}

/// Where what separates a prefix from its next hop ends: blanks and one comma.
#[inline(always)]
fn skip_separator(line: &[u8], end: usize) -> usize {
    let at = skip_blanks(line, end);
    match line.get(at) {
        Some(b',') => skip_blanks(line, at + 1),
        _ => at,
    }
}

/// Whether the line ends at `at`, or a comment begins there.
#[inline(always)]
fn is_end(line: &[u8], at: usize) -> bool {
    matches!(line.get(at), None | Some(b'#' | b';'))
}

/// The field that begins at `start`, possibly empty. UTF-8 is not verified yet.
#[inline(always)]
fn field(line: &[u8], start: usize) -> Result<Range<usize>, Flaw> {
    let mut at = start;
    let mut seen = 0;
    loop {
        let class = class(line, at);
        if class & FIELD_END != 0 {
            break;
        }
        seen |= class;
        at += 1;
    }
    if seen != 0 && has_control(&line[start..at]) {
        return Err(Flaw::NotText);
    }
    Ok(start..at)
}

/// Whether there is a control character; also those of Unicode's second block.
#[cold]
fn has_control(field: &[u8]) -> bool {
    field
        .utf8_chunks()
        .any(|chunk| chunk.valid().contains(char::is_control))
}

/// The error of a line with a flaw.
#[cold]
fn explain(lines: &Lines, flaw: Flaw) -> ReadError {
    let line = lines.line();
    if let Some(error) = lines.not_text() {
        return error;
    }
    match flaw {
        Flaw::NotText => lines.invalid("this is not text"),
        Flaw::Prefix(range, e) => lines
            .invalid(format!("{}: {e}", quote(&line[range])))
            .with_source(e),
        Flaw::NoNextHop(prefix) => lines.invalid(format!("no next hop after \"{prefix}\"")),
        Flaw::InList(range) => lines.invalid(format!(
            "a next hop in a list of prefixes, the first of which has none: {}",
            quote(&line[range])
        )),
        Flaw::SecondAddress(reason) => lines.invalid(reason),
        Flaw::Quoted(at) => lines.invalid(format!(
            "a quote before a next hop is part of it, except in CSV (--format csv): {}",
            quote(&line[at..])
        )),
        Flaw::Semicolon(at) => lines.invalid(format!(
            "a semicolon right after a prefix separates columns in CSV (--format csv), and a comment has a \
             blank before it: {}",
            quote(&line[at..])
        )),
        Flaw::ThirdField(at, is_delimited) => lines.invalid(format!(
            "more than a prefix and a next hop{}: {}",
            if is_delimited {
                ", which may have blanks in CSV (--format csv)"
            } else {
                ""
            },
            quote(&line[at..])
        )),
    }
}
