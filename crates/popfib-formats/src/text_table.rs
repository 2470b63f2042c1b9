//! The text format of tables: one route a line, `PREFIX NEXTHOP`; lines in, routes out.
//!
//! ```text
//! # a table                      # a list
//! 10.0.0.0/8      192.0.2.1      10.0.0.0/8
//! 2001:db8::/32   eth0           192.0.2.7
//! ```
//! Prefix and next hop are separated by blanks, tabs or one comma. A prefix without length is one host; a length may be a network
//! mask. Where the first route has no next hop, none has: that is a list of prefixes, whose next hop is the empty name. Else the
//! next hop is any token: text without blanks and commas; after a blank also AS numbers joined by commas, as an AS set is
//! written, and with braces around them also after a comma. In a table with next hops, a line that ends after a comma or a tab
//! has one that is absent.
//!
//! What would be read as CSV in another way is refused: a quote after a comma or a tab, a semicolon right after the prefix. So is
//! an address after one without a length that may be its mask or the end of a range ([`masks`](crate::masks)).
//! A range or a short form may stand for the prefix ([`ranges`](crate::ranges)); of ranges with next hops the narrowest
//! counts ([`overlap`](crate::delimited::overlap)).
//!
//! `#` and `;` begin a comment at the beginning of a line, right after a prefix (`#`) and after a blank, but inside of a next hop
//! they are part of it; where a comma or a tab separates it from the prefix, a comment has blanks on both sides. Empty lines are
//! nothing. IPv4 is dotted, IPv6 in any legal spelling; v4-mapped IPv6 stays IPv6. Lines end in LF or CR LF, the last one also
//! without; a byte order mark is ignored. Comments may hold any bytes, the rest is UTF-8 without control characters.
//!
//! Most lines are plain: a loop over bytes reads them and allocates nothing. Any other line is read again by cold functions, which
//! find out what the line is, or what is wrong with it.

use std::net::IpAddr;
use std::ops::Range;
use std::str;

use popfib::{IpPrefix, Prefix, PrefixError};

use crate::delimited::is_country;
use crate::delimited::overlap::RangeRoutes;
use crate::error::{ReadError, quote};
use crate::hosts::LOCALHOST;
use crate::input::Input;
use crate::ipv4;
use crate::lines::{Lines, begins_comment};
use crate::masks::second_word;
use crate::name_rule::{MAX_NEXT_HOP_LENGTH, checked};
use crate::origins::is_as_list;
use crate::ranges::{AddressSpan, NoSpan, Notation, no_prefix};
use crate::route::{Route, RouteSource};
use crate::table_format::{LoadOptions, TableEntry};
use crate::values::ValueBook;
use crate::words::{looks_like_prefix, one_element};

pub(crate) const FORMAT: TableEntry = TableEntry {
    name: "text",
    description: "text, one route a line: PREFIX NEXTHOP",
    can: &[],
    detect: begins_with_route,
    open: |input, options| Ok(Box::new(TextTable::of(input, options))),
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
            // A hosts file begins with a line of this host, `127.0.0.1 localhost`. The first rows of a geofeed may end after the
            // country.
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
pub(crate) struct TextTable {
    lines: Lines,
    notation: Notation,
    values: ValueBook,
    /// The ranges, until all are there.
    ranges: RangeRoutes,
    /// Whether its first route has no next hop, so that none has.
    is_list: Option<bool>,
    /// The same where no range came before: routes of this kind need no further look.
    plain: Option<bool>,
    /// Whether a second prefix of a line may be one more element of a list.
    is_unclear: bool,
}

impl TextTable {
    /// Reads routes from `input` by the options that are about lines of text. Takes 256 KiB, and what its ranges need.
    pub(crate) fn of(input: Input, options: &LoadOptions) -> Self {
        Self {
            lines: Lines::new(input),
            notation: options.notation(),
            values: ValueBook::ignored(options.prefixes_only),
            ranges: RangeRoutes::new(options.all),
            is_list: None,
            plain: None,
            is_unclear: options.is_unclear(),
        }
    }

    /// Whether a route may have a next hop, or have none, as those before it. After a comma or a tab an empty one may be absent, in a
    /// table and in a list.
    fn check(&mut self, span: AddressSpan, next_hop: &Range<usize>) -> Result<(), LineFlaw> {
        let line = self.lines.line();
        let is_empty = next_hop.is_empty();
        if self.is_unclear {
            let text = str::from_utf8(&line[..next_hop.end]).map_err(|_| LineFlaw::NotText)?;
            one_element(text, next_hop.start).map_err(LineFlaw::Reason)?;
        }
        if is_empty && is_delimited(&line[next_hop.end..skip_separator(line, next_hop.end)]) {
            return Ok(());
        }
        match *self.is_list.get_or_insert(is_empty) {
            is_list if is_list == is_empty => Ok(()),
            true => Err(LineFlaw::Reason(format!(
                "a next hop in a list of prefixes, the first of which has none: {}",
                quote(&line[next_hop.clone()])
            ))),
            false => Err(LineFlaw::Reason(format!("no next hop after \"{span}\""))),
        }
    }

    /// Whether a route needs no further look: one of the kind before it, whose next hop is no second prefix of a list, which may
    /// stand after a comma or a host.
    #[inline(always)]
    fn is_plain(&self, prefix: IpPrefix, next_hop: &Range<usize>) -> bool {
        let before = || self.lines.line()[..next_hop.start].trim_ascii_end();
        let may_be_two = || is_host(prefix) || before().ends_with(b",");
        self.plain == Some(next_hop.is_empty())
            && (!self.is_unclear || next_hop.is_empty() || !may_be_two())
    }

    /// Reads the current line again, which has this flaw: it may begin with a range or a short form. What is no prefix waits
    /// for the others of its kind.
    #[cold]
    fn other(&mut self, flaw: LineFlaw) -> Result<Option<(IpPrefix, Range<usize>)>, LineFlaw> {
        let line = self.lines.line();
        let text = match &flaw {
            LineFlaw::ThirdField(..) => spaced_range(line),
            LineFlaw::Prefix(text, e) if *e != PrefixError::HostBits => {
                spaced_range(line).or(Some(text.clone()))
            }
            _ => None,
        };
        let Some((range, text)) =
            text.and_then(|range| Some((range.clone(), str::from_utf8(&line[range]).ok()?)))
        else {
            return Err(flaw);
        };
        let span = AddressSpan::parse(text, self.notation);
        let span = span.map_err(|no| LineFlaw::NoSpan(no.into()))?;
        let next_hop = next_hop(line, range, false)?;
        self.check(span, &next_hop)?;
        if let AddressSpan::Prefix(prefix) = span {
            return Ok(Some((prefix, next_hop)));
        }
        self.wait(span, next_hop).map(|()| None)
    }

    /// The error of the current line, which has this flaw.
    #[cold]
    fn explained(&self, flaw: LineFlaw) -> ReadError {
        let is_no_prefix = match &flaw {
            LineFlaw::Prefix(_, e) => *e == PrefixError::Address,
            LineFlaw::NoSpan(no) => no.source == PrefixError::Address,
            _ => false,
        };
        let error = explain(&self.lines, flaw);
        match is_no_prefix && self.is_list.is_none() {
            true => error.of_no_table(),
            false => error,
        }
    }

    /// Keeps what the current line has until all lines are read.
    fn wait(&mut self, span: AddressSpan, next_hop: Range<usize>) -> Result<(), LineFlaw> {
        self.plain = None;
        // Those of ranges are compared where these overlap.
        self.values.is_ignored = false;
        let value = self.values.text(name(&self.lines, next_hop)?);
        self.ranges.add(span, self.lines.number(), value);
        Ok(())
    }

    /// The route that was read in the current line, unless it does not count or waits.
    #[inline(never)]
    fn checked(
        &mut self,
        read: Result<(IpPrefix, Range<usize>), LineFlaw>,
    ) -> Result<Option<(IpPrefix, Range<usize>)>, LineFlaw> {
        let (prefix, next_hop) = match read {
            Ok(found) => {
                self.check(found.0.into(), &found.1)?;
                found
            }
            Err(flaw) => match self.other(flaw)? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        if self.ranges.is_any() {
            return self
                .wait(AddressSpan::Prefix(prefix), next_hop)
                .map(|()| None);
        }
        self.plain = self.is_list;
        Ok(Some((prefix, next_hop)))
    }
}

impl RouteSource for TextTable {
    #[inline]
    fn next_route(&mut self) -> Result<Option<Route>, ReadError> {
        let (prefix, next_hop) = loop {
            if !self.lines.advance()? {
                let invalid = |(line, reason)| self.lines.invalid_at(line, reason);
                return self.ranges.next().transpose().map_err(invalid);
            }
            let read = match parse(self.lines.line(), self.notation.mask) {
                Ok(None) => continue,
                Ok(Some(found)) if self.is_plain(found.0, &found.1) => break found,
                Ok(Some(found)) => Ok(found),
                Err(flaw) => Err(flaw),
            };
            match self.checked(read) {
                Ok(Some(found)) => break found,
                Ok(None) => {}
                Err(flaw) => return Err(self.explained(flaw)),
            }
        };
        let next_hop = name(&self.lines, next_hop).map_err(|flaw| explain(&self.lines, flaw))?;
        let value = self.values.text(next_hop);
        Ok(Some(Route { prefix, value }))
    }

    fn is_at_ranges(&mut self) -> bool {
        self.ranges.is_at_begin()
    }

    fn begin_ranges(&mut self, before: Vec<Route>) {
        self.ranges.begin(before);
    }

    fn values(&mut self) -> &mut ValueBook {
        &mut self.values
    }

    fn notes(&self) -> Vec<String> {
        self.ranges.note().into_iter().collect()
    }
}

/// The next hop that is there in the current line, as text.
#[inline(always)]
fn name(lines: &Lines, next_hop: Range<usize>) -> Result<&str, LineFlaw> {
    let Ok(next_hop) = str::from_utf8(&lines.line()[next_hop]) else {
        return Err(LineFlaw::NotText);
    };
    // What else a name may not be, no field of ASCII is.
    if next_hop.len() > MAX_NEXT_HOP_LENGTH || !next_hop.is_ascii() {
        checked(next_hop).map_err(LineFlaw::Reason)?;
    }
    Ok(next_hop)
}

/// Where a range is that begins a line and has blanks around its dash.
fn spaced_range(line: &[u8]) -> Option<Range<usize>> {
    let start = skip_blanks(line, 0);
    let first = field(line, start).ok()?;
    let dash = skip_blanks(line, first.end);
    let last = field(line, skip_blanks(line, dash + 1)).ok()?;
    let is_address = |range| {
        str::from_utf8(&line[range])
            .is_ok_and(|text| looks_like_prefix(text) && !text.contains('/'))
    };
    let is_alone = first.end < dash && line.get(dash) == Some(&b'-') && dash + 1 < last.start;
    (is_alone && is_address(first) && is_address(last.clone())).then_some(start..last.end)
}

/// What is wrong with a line, and where.
enum LineFlaw {
    NotText,
    Prefix(Range<usize>, PrefixError),
    /// What stands for a prefix in another form, and is wrong.
    NoSpan(Box<NoSpan>),
    /// This.
    Reason(String),
    /// From here on, a field in quotes.
    Quoted(usize),
    /// A semicolon after the prefix, and no comment.
    Semicolon(usize),
    /// From here on, more fields; whether a comma or a tab is among what separates them.
    ThirdField(usize, bool),
}

/// The prefix of a line and where its next hop is; `None` if there is no route on it.
#[inline]
fn parse(line: &[u8], mask: bool) -> Result<Option<(IpPrefix, Range<usize>)>, LineFlaw> {
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
    let prefix = prefix.map_err(|e| LineFlaw::Prefix(start..end, e))?;
    let next_hop = next_hop(line, start..end, is_host(prefix))?;
    Ok(Some((prefix, next_hop)))
}

/// Where the next hop of a line is after its prefix; empty if there is none. After a host without a length, what may be its mask
/// or the end of a range is refused.
#[inline(always)]
fn next_hop(line: &[u8], prefix: Range<usize>, is_host: bool) -> Result<Range<usize>, LineFlaw> {
    let Range { start, end } = prefix;
    let next_hop = field(line, skip_separator(line, end))?;
    if next_hop.is_empty() {
        if line.get(next_hop.end) == Some(&b',') {
            return Err(LineFlaw::ThirdField(next_hop.end, true));
        }
        // A value after a comma.
        if line[end..next_hop.end].contains(&b',') && !begins_comment(line, next_hop.end) {
            return with_more(line, end..next_hop.end, next_hop.end);
        }
        if line.get(end) == Some(&b';') && class(line, end + 1) & FIELD_END == 0 {
            return Err(LineFlaw::Semicolon(end));
        }
        return Ok(end..end);
    }
    match line[next_hop.start] {
        b'"' if is_delimited(&line[end..next_hop.start]) => {
            return Err(LineFlaw::Quoted(next_hop.start));
        }
        b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' | b':' if is_host => {
            no_mask(&line[start..end], &line[next_hop.clone()])?;
        }
        _ => {}
    }
    match skip_blanks(line, next_hop.end) == line.len() {
        true => Ok(next_hop),
        false => with_more(line, end..next_hop.start, next_hop.end),
    }
}

/// The next hop after the separator `between` whose first field ends at `end`, and not its line: with the comment signs inside of
/// it, as a comment has a blank before it, and between columns blanks around it; or several AS numbers.
#[cold]
fn with_more(line: &[u8], between: Range<usize>, mut end: usize) -> Result<Range<usize>, LineFlaw> {
    let (start, is_delimited) = (between.end, is_delimited(&line[between.clone()]));
    let is_apart = |sign| !is_delimited || matches!(line.get(sign + 1), None | Some(b' ' | b'\t'));
    while end < line.len() && is_end(line, end) && (is_delimited || !begins_comment(line, end)) {
        end = field(line, end + 1)?.end;
    }
    let rest = skip_blanks(line, end);
    if rest == line.len() || is_end(line, rest) && is_apart(rest) {
        return Ok(start..end);
    }
    as_set(line, between).ok_or(LineFlaw::ThirdField(rest, is_delimited))
}

/// Whether a prefix is that of one address.
#[inline(always)]
fn is_host(prefix: IpPrefix) -> bool {
    popfib::by_family!(prefix, |prefix: Prefix<A>| prefix.len() == A::WIDTH)
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
    let len = line[start..].iter().position(is_over);
    let end = len.map_or(line.len(), |len| start + len);
    let text = str::from_utf8(&line[start..end]).ok()?;
    (is_as_list(text) && is_end(line, skip_blanks(line, end))).then_some(start..end)
}

/// Nothing is wrong with a next hop that follows a host, if that has a length or the next hop is no mask and no length.
#[cold]
fn no_mask(host: &[u8], next_hop: &[u8]) -> Result<(), LineFlaw> {
    let text = |bytes| str::from_utf8(bytes).unwrap_or_default();
    let host: Option<IpAddr> = text(host).parse().ok();
    let reason = host.and_then(|host| second_word(host, text(next_hop)));
    reason.map_or(Ok(()), |reason| Err(LineFlaw::Reason(reason)))
}

/// The prefix at `start` by the library's own parser, and where it ends.
#[inline(never)]
fn any_prefix(
    line: &[u8],
    start: usize,
    mask: bool,
) -> Result<(Result<IpPrefix, PrefixError>, usize), LineFlaw> {
    let range = field(line, start)?;
    let text = str::from_utf8(&line[range.clone()]).map_err(|_| LineFlaw::NotText)?;
    let prefix = if mask {
        IpPrefix::parse_masked(text)
    } else {
        text.parse()
    };
    Ok((prefix, range.end))
}

/// What a byte is to a field: its end, or what is no text there. One look at a table in place of comparisons.
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

/// Where blanks and tabs from `at` on end.
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
fn field(line: &[u8], start: usize) -> Result<Range<usize>, LineFlaw> {
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
        return Err(LineFlaw::NotText);
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
fn explain(lines: &Lines, flaw: LineFlaw) -> ReadError {
    let line = lines.line();
    if let Some(error) = lines.not_text() {
        return error;
    }
    match flaw {
        LineFlaw::NotText => lines.invalid("this is not text"),
        LineFlaw::Prefix(range, e) => lines
            .invalid(no_prefix(&line[range], e))
            .with_source(e),
        LineFlaw::NoSpan(no) => lines.invalid(no.reason).with_source(no.source),
        LineFlaw::Reason(reason) => lines.invalid(reason),
        LineFlaw::Quoted(at) => lines.invalid(format!(
            "a quote before a next hop is part of it, except in CSV (`format` csv): {}",
            quote(&line[at..])
        )),
        LineFlaw::Semicolon(at) => lines.invalid(format!(
            "a semicolon right after a prefix separates columns in CSV (`format` csv), and a comment has a \
             blank before it: {}",
            quote(&line[at..])
        )),
        LineFlaw::ThirdField(at, is_delimited) => lines.invalid(format!(
            "more than a prefix and a next hop{}: {}",
            if is_delimited {
                ", which may have blanks in CSV (`format` csv)"
            } else {
                ""
            },
            quote(&line[at..])
        )),
    }
}
