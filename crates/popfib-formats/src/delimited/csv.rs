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
//! values, the most telling one that is not empty counts. A heading of a prefix, an address or a range
//! alone is that of a list, which has no values. Without a heading it
//! is a prefix or the ends of a range first, then the value. Fields are
//! separated by commas, tabs or semicolons: tabs if the first line has any, else
//! commas. Ends of ranges may be numbers, of IPv6 from the first on that is none
//! of IPv4; numbers that could be either are an error after that. A range becomes the fewest prefixes that cover it, once all are there.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use popfib::{IpPrefix, NextHop};

use super::fields::Fields;
use super::geofeed;
use super::overlap::{Range, Ranges, Row, Sorted};
use super::ranges::RangePrefixes;
use crate::delimiter::delimiter;
use crate::error::quote;
use crate::input::head_lines;
use crate::lines::{Lines, text};
use crate::name_rule::checked;
use crate::names::{ADDRESS, FIRST, LAST, PREFIX, VALUE, rank};
use crate::registry::Capabilities;
use crate::table_format::Entry;
use crate::{Input, LoadOptions, NextHopNames, ReadError, Route, RouteSource};

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
    // A prefix and a value alone are the text table's, also with a lone comma
    // or a comment.
    let is_more = |fields: &Fields| fields.len() > 2 && !fields.get(1).contains([',', '#', ';']);
    !geofeed::detect(head)
        && fields.split(first).is_ok()
        && Layout::of(&fields).is_some_and(|layout| layout.is_heading || is_more(&fields))
}

/// Whether a line is empty or a comment.
fn is_skipped(line: &[u8]) -> bool {
    matches!(line.trim_ascii(), [] | [b'#', ..])
}

fn separator(first: &str) -> u8 {
    delimiter(first.as_bytes()).unwrap_or(b',')
}

/// Where the columns are.
struct Layout {
    source: Source,
    /// The columns of values, the most telling first; none in a list.
    values: Vec<usize>,
    is_heading: bool,
}

#[derive(Clone, Copy)]
enum Source {
    Prefix(usize),
    Range(usize, usize),
}

impl Layout {
    /// The layout that the first line shows.
    fn of(fields: &Fields) -> Option<Self> {
        let best = |names: &[&str]| {
            let ranked = (0..fields.len()).filter_map(|n| Some((rank(fields.get(n), names)?, n)));
            ranked.min().map(|(_, n)| n)
        };
        let range = best(FIRST).zip(best(LAST));
        let source = best(PREFIX)
            .map(Source::Prefix)
            .or(range.map(|(first, last)| Source::Range(first, last)))
            // Beside other columns an address is mostly a log's.
            .or_else(|| {
                best(ADDRESS)
                    .filter(|_| fields.len() == 1)
                    .map(Source::Prefix)
            });
        let Some(source) = source else {
            return Self::without_heading(fields);
        };
        let is_source = |n| match source {
            Source::Prefix(prefix) => n == prefix,
            Source::Range(first, last) => n == first || n == last,
        };
        let columns = || (0..fields.len()).filter(|&n| !is_source(n));
        let mut named: Vec<_> = columns()
            .filter_map(|n| Some((rank(fields.get(n), VALUE)?, n)))
            .collect();
        named.sort_unstable();
        let mut values: Vec<_> = named.into_iter().map(|(_, n)| n).collect();
        if values.is_empty() {
            values.extend(columns().take(1));
        }
        Some(Self {
            source,
            values,
            is_heading: true,
        })
    }

    /// The column called `name` in the heading, or with this number, from 1.
    fn find(&self, name: &str, fields: &Fields) -> Result<usize, String> {
        let mut columns = 0..fields.len();
        let named = columns.find(|&n| self.is_heading && fields.get(n).trim() == name);
        let numbered = || name.parse().ok().and_then(|n: usize| n.checked_sub(1));
        let found = named.or_else(|| numbered().filter(|&n| n < fields.len()));
        found.ok_or_else(|| {
            let names: Vec<_> = (0..fields.len().min(20))
                .map(|n| quote(fields.get(n).as_bytes()).to_string())
                .collect();
            let what = if self.is_heading {
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
        let source = if fields.len() > 1 && first.contains('/') && first.parse::<IpPrefix>().is_ok()
        {
            Source::Prefix(0)
        } else if fields.len() > 2 && are_ends(first, second) {
            Source::Range(0, 1)
        } else {
            return None;
        };
        Some(Self {
            values: vec![if matches!(source, Source::Prefix(_)) {
                1
            } else {
                2
            }],
            source,
            is_heading: false,
        })
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
    names: NextHopNames,
    /// What is left of the range that is handed out.
    range: Option<RangePrefixes>,
    value: NextHop,
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
            ranges: Ranges::default(),
            sorted: Sorted::default(),
            names: NextHopNames::new(),
            range: None,
            value: NextHop::MIN,
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
        let cell = |n| {
            let cell = fields.get(n);
            match cell {
                "" => Err(format!("field {} is missing", n + 1)),
                cell => Ok(cell),
            }
        };
        let value = if layout.values.is_empty() {
            let columns = match layout.source {
                Source::Prefix(_) => 1,
                Source::Range(..) => 2,
            };
            if fields.len() > columns {
                return Err("more fields than the heading has names".to_owned());
            }
            Some("")
        } else {
            let mut values = layout.values.iter().map(|&n| fields.get(n));
            let value = values.find(|value| !value.is_empty());
            value.map(checked).transpose()?
        };
        match layout.source {
            Source::Prefix(n) => {
                let text = cell(n)?;
                let prefix = if self.mask {
                    IpPrefix::parse_masked(text)
                } else {
                    text.parse()
                };
                let prefix = prefix.map_err(|e| format!("{}: {e}", quote(text.as_bytes())))?;
                let value = value.ok_or_else(|| format!("no value after \"{prefix}\""))?;
                self.value = self.names.intern(value);
                Ok(Found::Prefix(prefix))
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
                let value =
                    value.ok_or_else(|| format!("no value after {}", quote(last.as_bytes())))?;
                // iptoasn lists what belongs to nobody, too.
                if value == "0" && (0..fields.len()).any(|n| fields.get(n) == "Not routed") {
                    return Ok(Found::Nothing);
                }
                Ok(Found::Range(Range {
                    first: ends.0,
                    last: ends.1,
                    row: Row {
                        line: self.lines.number(),
                        value: self.names.intern(value),
                    },
                }))
            }
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
        let is_heading = layout.is_heading;
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
            next_hop: self.names.name(self.value).unwrap_or_default(),
        }))
    }

    fn notes(&self) -> Vec<String> {
        match self.ranges.replaced() {
            0 => vec![],
            1 => vec!["1 range replaced by another with the same ends".to_owned()],
            n => vec![format!("{n} ranges replaced by others with the same ends")],
        }
    }
}

impl fmt::Debug for Delimited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delimited")
            .field("lines", &self.lines)
            .finish_non_exhaustive()
    }
}
