//! CSV and TSV: a prefix or a range of addresses, and a value.
//!
//! ```text
//! network,autonomous_system_number,autonomous_system_organization
//! 1.0.0.0/24,13335,"CLOUDFLARENET"
//!
//! 1.0.0.0    1.0.0.255    13335    US    CLOUDFLARENET
//! "16777216","16777471","US","United States of America"
//! ```
//! A heading names the columns ([`names`](crate::names)); of several that hold
//! values, the most telling one that is not empty counts. A length or a mask may stand in a column of its own
//! ([`masks`](crate::masks)). A heading of a prefix, an address or a range
//! alone is that of a list, which has no values. Without a heading it
//! is a prefix, an address and its mask, or the ends of a range first, then the value. Rows with an empty value
//! are left out and counted. Fields are
//! separated by commas, tabs or semicolons: tabs if the first line has any, else
//! commas. Ends of ranges may be numbers, of IPv6 from the first on that is none
//! of IPv4; numbers that could be either are an error after that. A range becomes the fewest prefixes that cover it, once all are there.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use popfib::{IpPrefix, NextHop};
use popfib_table::Dictionary;

use super::fields::Fields;
use super::geofeed;
use super::overlap::{Range, Ranges, Row, Sorted};
use crate::delimiter::delimiter;
use crate::error::{ReadError, quote};
use crate::input::{Input, head_lines};
use crate::lines::{Lines, text};
use crate::masks::{self, Length};
use crate::name_rule::checked;
use crate::names::{ADDRESS, FIRST, LAST, PREFIX, VALUE, left_out, rank};
use crate::ranges::RangePrefixes;
use crate::registry::Capabilities;
use crate::route::{Route, RouteSource};
use crate::table_format::{Entry, LoadOptions};

pub(crate) static FORMAT: Entry = Entry {
    name: "csv",
    description: "CSV or TSV with a prefix or the ends of a range, and an AS number, country or other value (iptoasn, GeoLite2, IP2Location, DB-IP)",
    can: Capabilities::MANY_VALUES,
    detect,
    open: |input, options| Ok(Box::new(Delimited::new(input, options))),
};

fn detect(head: &[u8]) -> bool {
    let Some(first) = head_lines(head).find(|line| !is_skipped(line)) else {
        return false;
    };
    let Ok(first) = text(first) else {
        return false;
    };
    let mut fields = Fields::new(separator(first));
    if geofeed::detect(head) || fields.split(first).is_err() {
        return false;
    }
    let Some(layout) = Layout::of(&fields) else {
        return false;
    };
    if layout.heading.is_some() || is_more_than_text(first, &fields) {
        return true;
    }
    // To the text table a list, unless a later row has a value.
    fields.len() == 2
        && fields.get(1).is_empty()
        && head_lines(head)
            .filter(|line| !is_skipped(line))
            .filter_map(|line| text(line).ok())
            .find(|row| fields.split(row).is_err() || !fields.get(1).is_empty())
            .is_some_and(|_| fields.len() == 2)
}

/// Whether the text table would read this line of a prefix and other fields as something else: what has
/// quotes, blanks in its value after a tab, or semicolons, before which a comment has a blank.
fn is_more_than_text(line: &str, fields: &Fields) -> bool {
    let (separator, value) = (separator(line), fields.get(1));
    let (first, rest) = line.split_once(char::from(separator)).unwrap_or_default();
    // An AS set in braces is one value of the text table.
    let signs: &[char] = match separator {
        b';' => &['#'],
        _ => &[',', '#', ';', '{'],
    };
    let is_quoted = rest.trim_start().starts_with('"');
    let is_comment = separator == b';' && (value.is_empty() || first.ends_with([' ', '\t']));
    if is_comment || value.contains(signs) && !is_quoted {
        return false;
    }
    fields.len() > 2
        || separator == b';'
        || line.contains('"')
        || separator == b'\t' && value.contains(char::is_whitespace)
}

/// Whether a line is empty or a comment.
fn is_skipped(line: &[u8]) -> bool {
    matches!(line.trim_ascii(), [] | [b'#', ..])
}

fn separator(first: &str) -> u8 {
    // Right after a prefix it is a semicolon, however many commas the values have.
    match first.split_once(';') {
        Some((prefix, _)) if prefix.trim_matches('"').parse::<IpPrefix>().is_ok() => b';',
        _ => delimiter(first.as_bytes()).unwrap_or(b','),
    }
}

/// Where the columns are.
struct Layout {
    source: Source,
    /// The columns of values, the most telling first; none in a list.
    values: Vec<usize>,
    /// How many columns the heading names, if there is one.
    heading: Option<usize>,
}

#[derive(Clone, Copy)]
enum Source {
    /// A prefix, or an address and, in another column, its length.
    Prefix(usize, Option<(usize, Length)>),
    Range(usize, usize),
}

impl Layout {
    /// The layout that the first line shows.
    fn of(fields: &Fields) -> Option<Self> {
        let columns = || 0..fields.len();
        let best = |names: &[&str]| {
            let ranked = columns().filter_map(|n| Some((rank(fields.get(n), names)?, n)));
            ranked.min().map(|(_, n)| n)
        };
        let lengths = columns().filter_map(|n| Some((Length::named(fields.get(n))?, n)));
        let lengths = lengths.min();
        let length = lengths.map(|((_, kind), n)| (n, kind));
        let range = best(FIRST).zip(best(LAST));
        // Beside other columns than a mask an address is mostly a log's.
        let has_mask = lengths.is_some_and(|((rank, _), _)| Length::is_clear(rank));
        let address = || best(ADDRESS).filter(|_| fields.len() == 1 || has_mask);
        let source = match (best(PREFIX), range) {
            (Some(prefix), _) => Source::Prefix(prefix, length),
            (None, Some((first, last))) => Source::Range(first, last),
            (None, None) => match address() {
                Some(address) => Source::Prefix(address, length),
                None => return Self::without_heading(fields),
            },
        };
        let mut named: Vec<_> = columns()
            .filter_map(|n| Some((rank(fields.get(n), VALUE)?, n)))
            .collect();
        named.sort_unstable();
        let mut values: Vec<_> = named.into_iter().map(|(_, n)| n).collect();
        if values.is_empty() {
            values.extend(columns().find(|&n| !is_place(fields.get(n))));
        }
        Some(Self {
            source,
            values,
            heading: Some(fields.len()),
        })
    }

    /// The column called `name` in the heading, or with this number, from 1.
    fn find(&self, name: &str, fields: &Fields) -> Result<usize, String> {
        let mut columns = 0..fields.len();
        let named = columns.find(|&n| self.heading.is_some() && fields.get(n).trim() == name);
        let numbered = || name.parse().ok().and_then(|n: usize| n.checked_sub(1));
        let found = named.or_else(|| numbered().filter(|&n| n < fields.len()));
        found.ok_or_else(|| {
            let names: Vec<_> = (0..fields.len().min(20))
                .map(|n| quote(fields.get(n).as_bytes()).to_string())
                .collect();
            let what = if self.heading.is_some() {
                ""
            } else {
                "no heading, and "
            };
            let name = quote(name.as_bytes());
            format!("{what}no column {name} in {}", names.join(", "))
        })
    }

    fn without_heading(fields: &Fields) -> Option<Self> {
        let [first, second] = [fields.get(0), fields.get(1)];
        // Two fields are as of the text table, which has hosts without a length.
        let is_whole = fields.len() == 2 || fields.len() > 2 && first.contains('/');
        let (source, value) = if is_whole && first.parse::<IpPrefix>().is_ok() {
            (Source::Prefix(0, None), 1)
        } else if fields.len() > 2 && are_address_and_mask(first, second) {
            (Source::Prefix(0, Some((1, Length::Plain))), 2)
        } else if fields.len() > 2 && are_ends(first, second) {
            (Source::Range(0, 1), 2)
        } else {
            return None;
        };
        Some(Self {
            source,
            values: vec![value],
            heading: None,
        })
    }
}

/// Whether a column of this name says which addresses a row is about.
fn is_place(name: &str) -> bool {
    let names = [PREFIX, ADDRESS, FIRST, LAST];
    names.iter().any(|names| rank(name, names).is_some()) || Length::named(name).is_some()
}

/// Whether two fields are an address and its network mask, which as the end of a range would make a wide one.
fn are_address_and_mask(first: &str, second: &str) -> bool {
    match (first.parse(), second.parse()) {
        (Ok(first), Ok(second)) => masks::is_mask(first, second),
        _ => false,
    }
}

/// Nothing says that `address`, which has no length in its row, is more than a host: no mask in any field, and without
/// a heading no address as the value that may be one or end a range.
fn is_host(address: IpAddr, value: &str, fields: &Fields, layout: &Layout) -> Result<(), String> {
    let second = value.parse().ok().filter(|_| layout.heading.is_none());
    if let Some(reason) = second.and_then(|second| masks::second_address(address, second)) {
        return Err(reason);
    }
    let is_mask = |n: &usize| {
        let mask = fields.get(*n).parse();
        mask.is_ok_and(|mask| masks::is_mask(address, mask))
    };
    match (0..fields.len()).find(is_mask) {
        None => Ok(()),
        Some(n) => Err(format!(
            "an address and its mask, in column {}, which the heading does not call netmask: \"{address}/{}\"",
            n + 1,
            fields.get(n)
        )),
    }
}

/// Whether two fields may be the ends of a range: two addresses or two numbers.
fn are_ends(first: &str, last: &str) -> bool {
    let ends = [first, last];
    ends.iter().all(|end| end.parse::<IpAddr>().is_ok())
        || ends.iter().all(|end| end.parse::<u128>().is_ok())
}

/// A [`RouteSource`] of CSV and TSV.
pub(crate) struct Delimited {
    lines: Lines,
    mask: bool,
    /// The column of the values, if the caller has chosen it.
    column: Option<String>,
    fields: Option<(Fields, Layout)>,
    /// Whether numbers are addresses of IPv6.
    numbers_are_ipv6: bool,
    /// The ranges, until all are there, and then.
    ranges: Ranges,
    sorted: Sorted,
    names: Dictionary,
    /// What is left of the range that is handed out.
    range: Option<RangePrefixes>,
    value: NextHop,
    /// Rows whose value is empty.
    without: u64,
    at_end: bool,
}

/// What a row holds.
enum Found {
    Prefix(IpPrefix),
    Range(Range),
    Nothing,
}

impl Delimited {
    /// Reads routes from `input`.
    pub(crate) fn new(input: Input, options: &LoadOptions) -> Self {
        Self {
            lines: Lines::new(input),
            mask: options.mask,
            column: options.value_path.clone(),
            fields: None,
            numbers_are_ipv6: false,
            // Of equal ranges the caller chooses, if any.
            ranges: Ranges::new(options.all || !options.next_hops.is_empty()),
            sorted: Sorted::default(),
            names: Dictionary::new(),
            range: None,
            value: NextHop::MIN,
            without: 0,
            at_end: false,
        }
    }

    /// What the current line holds.
    fn row(&mut self) -> Result<Found, String> {
        let line = text(self.lines.line())?;
        let Some((fields, layout)) = &mut self.fields else {
            return Ok(Found::Nothing);
        };
        fields.split(line)?;
        let cell = |n| match fields.get(n).trim() {
            "" => Err(format!("field {} is missing", n + 1)),
            cell => Ok(cell),
        };
        if let Some(columns) = layout.heading
            && (columns..fields.len()).any(|n| !fields.get(n).is_empty())
        {
            return Err("more fields than the heading has names".to_owned());
        }
        let value = layout.values.iter().map(|&n| fields.get(n));
        let value = match value.clone().find(|value| !value.trim().is_empty()) {
            Some(value) => checked(value)?,
            None => "",
        };
        if value.starts_with('{') && !value.ends_with('}') {
            return Err(format!(
                "{}: a set with commas needs quotes around it",
                quote(value.as_bytes())
            ));
        }
        let found = match layout.source {
            Source::Prefix(n, length) => {
                let text = cell(n)?;
                let joined;
                let text = match length {
                    None => {
                        if let Ok(address) = text.parse() {
                            is_host(address, value, fields, layout)?;
                        }
                        text
                    }
                    Some((n, length)) => {
                        joined = length.join(text, fields.get(n))?;
                        &joined
                    }
                };
                let prefix = if self.mask {
                    IpPrefix::parse_masked(text)
                } else {
                    text.parse()
                };
                let prefix = prefix.map_err(|e| format!("{}: {e}", quote(text.as_bytes())))?;
                self.value = self.names.intern(value);
                Found::Prefix(prefix)
            }
            Source::Range(first, last) => {
                let (first, last) = (cell(first)?, cell(last)?);
                let ends = ends(first, last, &mut self.numbers_are_ipv6)?;
                RangePrefixes::new(ends.0, ends.1).map_err(|e| {
                    format!(
                        "{} to {}: {e}",
                        quote(first.as_bytes()),
                        quote(last.as_bytes())
                    )
                })?;
                // iptoasn lists what belongs to nobody, too.
                if value == "0" && (0..fields.len()).any(|n| fields.get(n) == "Not routed") {
                    return Ok(Found::Nothing);
                }
                Found::Range(Range {
                    first: ends.0,
                    last: ends.1,
                    row: Row {
                        line: self.lines.number(),
                        value: self.names.intern(value),
                    },
                })
            }
        };
        match layout.values.iter().min() {
            Some(&n) if value.is_empty() && n >= fields.len() => {
                Err(format!("field {} is missing", n + 1))
            }
            Some(_) if value.is_empty() => {
                self.without += 1;
                Ok(Found::Nothing)
            }
            _ => Ok(found),
        }
    }

    /// Learns the layout from the first line; whether that is a heading.
    fn learn(&mut self) -> Result<bool, ReadError> {
        let first = text(self.lines.line()).map_err(|reason| self.lines.invalid(reason))?;
        let mut fields = Fields::new(separator(first));
        fields
            .split(first)
            .map_err(|reason| self.lines.invalid(reason))?;
        let Some(mut layout) = Layout::of(&fields) else {
            self.at_end = true;
            let reason = format!(
                "no column for a prefix (such as prefix, network, cidr) or a range (start_ip, end_ip), and a value, in {}",
                quote(first.as_bytes())
            );
            return Err(self.lines.stopped(reason));
        };
        if let Some(column) = &self.column {
            layout.values = vec![layout.find(column, &fields).map_err(|reason| {
                self.at_end = true;
                self.lines.stopped(reason)
            })?];
        }
        let is_heading = layout.heading.is_some();
        self.fields = Some((fields, layout));
        Ok(is_heading)
    }
}

/// The ends of a range, as addresses or as numbers.
fn ends(first: &str, last: &str, numbers_are_ipv6: &mut bool) -> Result<(IpAddr, IpAddr), String> {
    let number = |text: &str| text.parse::<u128>().ok().filter(|_| !text.starts_with('+'));
    if let (Some(first), Some(last)) = (number(first), number(last)) {
        let is_ipv6 = first.max(last) > u32::MAX.into();
        if *numbers_are_ipv6 && !is_ipv6 {
            // Of files of both families, one after the other, or of addresses that nobody has.
            return Err(format!(
                "{first} to {last}: numbers of IPv4 after those of IPv6, which may be either"
            ));
        }
        *numbers_are_ipv6 = is_ipv6;
        let address = |number: u128| match u32::try_from(number) {
            Ok(number) if !is_ipv6 => IpAddr::V4(Ipv4Addr::from(number)),
            _ => IpAddr::V6(Ipv6Addr::from(number)),
        };
        return Ok((address(first), address(last)));
    }
    let address = |text: &str| {
        text.parse::<IpAddr>()
            .map_err(|_| format!("{}: not an address", quote(text.as_bytes())))
    };
    Ok((address(first)?, address(last)?))
}

impl RouteSource for Delimited {
    fn next_route(&mut self) -> Result<Option<Route<'_>>, ReadError> {
        let prefix = loop {
            if let Some(prefix) = self.range.as_mut().and_then(Iterator::next) {
                break prefix;
            }
            self.range = None;
            if self.at_end {
                match self.sorted.next() {
                    None => return Ok(None),
                    Some(Ok(range)) => {
                        self.value = range.row.value;
                        self.range = RangePrefixes::new(range.first, range.last).ok();
                    }
                    Some(Err([around, range])) => {
                        let reason = format!(
                            "the range {} to {} overlaps {} to {} of line {}, and neither lies in the other",
                            range.first, range.last, around.first, around.last, around.row.line
                        );
                        return Err(self.lines.invalid_at(range.row.line, reason));
                    }
                }
                continue;
            }
            if !self.lines.advance()? {
                self.at_end = true;
                self.sorted = self.ranges.sorted();
                continue;
            }
            if is_skipped(self.lines.line()) || self.fields.is_none() && self.learn()? {
                continue;
            }
            match self.row() {
                Ok(Found::Prefix(prefix)) => break prefix,
                Ok(Found::Range(range)) => self.ranges.add(range),
                Ok(Found::Nothing) => {}
                Err(reason) => return Err(self.lines.invalid(reason)),
            }
        };
        Ok(Some(Route {
            prefix,
            next_hop: self.names.get(self.value).unwrap_or_default(),
        }))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = left_out(self.without, "row", self.column.as_deref());
        match self.ranges.replaced() {
            0 => {}
            1 => notes.push("1 range replaced by another with the same ends".to_owned()),
            n => notes.push(format!("{n} ranges replaced by others with the same ends")),
        }
        notes
    }
}

impl fmt::Debug for Delimited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delimited")
            .field("lines", &self.lines)
            .finish_non_exhaustive()
    }
}
