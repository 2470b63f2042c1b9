//! CSV and TSV: a prefix or a range of addresses, and a value. Lines in, routes out; those of ranges once all lines are read.
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
//! is a prefix, an address and its mask, or the ends of a range first, then the value. An empty value is absent.
//!
//! Fields are separated by what the first line declares (`sep=;`), or by commas, tabs or semicolons: tabs if the first line has any,
//! else commas. Ends of ranges may be numbers, of IPv6 from the first on that is none
//! of IPv4; numbers that could be either are an error after that. A range becomes the fewest prefixes that cover it, once all are
//! there, because a narrower one may still come ([`overlap`](super::overlap)).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use popfib::IpPrefix;
use popfib_table::CellKind;

use super::fields::CsvFields;
use super::geofeed;
use super::layout::{AddressColumns, CsvLayout, is_host};
use super::overlap::RangeRoutes;
use crate::delimiter::{declared, delimiter};
use crate::error::{ReadError, parsed, quote};
use crate::input::{Input, head_lines};
use crate::lines::{Lines, text};
use crate::names::note_left_out;
use crate::ranges::{AddressSpan, IpRangePrefixes, Notation, is_prefix};
use crate::registry::Capability::{ManyValues, PrefixColumn};
use crate::route::{Route, RouteSource};
use crate::table_format::{LoadOptions, TableEntry};
use crate::values::{ColumnSelection, ValueBook};
use crate::words::two_elements;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "csv",
    description: "CSV or TSV with a prefix or the ends of a range, and an AS number, country or other value (iptoasn, GeoLite2, IP2Location, DB-IP)",
    can: &[ManyValues, PrefixColumn],
    detect,
    open: |input, options| Ok(Box::new(Delimited::new(input, options))),
};

/// Whether the first rows are those of a table with a column of prefixes or ranges, and not of a geofeed or of the text table,
/// which also have a comma or a tab after a prefix.
fn detect(head: &[u8]) -> bool {
    let (declared, head) = declared_first(head);
    let Some(first) = head_lines(head).find(|line| !is_skipped(line)) else {
        return false;
    };
    let Ok(first) = text(first) else {
        return false;
    };
    let mut fields = CsvFields::new(separator(declared, first));
    if geofeed::detect(head) || fields.split(first).is_err() {
        return false;
    }
    // Names that say nothing may head a column that holds prefixes.
    let Some(layout) = CsvLayout::of(&fields) else {
        return second_row(head).is_some_and(|row| by_content(declared, first, &row).is_ok());
    };
    if declared.is_some() || layout.heading.is_some() || is_more_than_text(first, &fields) {
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

/// The delimiter that the first line declares, if it does, and what follows that line.
fn declared_first(head: &[u8]) -> (Option<u8>, &[u8]) {
    let plain = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let (first, rest) =
        plain.split_at(memchr::memchr(b'\n', plain).map_or(plain.len(), |at| at + 1));
    match declared(first.strip_suffix(b"\n").unwrap_or(first)) {
        Some(delimiter) => (Some(delimiter), rest),
        None => (None, head),
    }
}

/// The second of the lines that are not skipped.
fn second_row(head: &[u8]) -> Option<String> {
    let row = head_lines(head).filter(|line| !is_skipped(line)).nth(1)?;
    text(row).map(str::to_owned).ok()
}

/// The layout of a file that begins with these lines, by its first row.
fn by_content(declared: Option<u8>, heading: &str, row: &str) -> Result<CsvLayout, String> {
    let separator = separator(declared, heading);
    let (mut names, mut cells) = (CsvFields::new(separator), CsvFields::new(separator));
    names.split(heading)?;
    cells.split(row)?;
    CsvLayout::by_content(&names, &cells)
}

/// Whether the text table would read this line of a prefix and other fields as something else: what has
/// quotes, blanks in its value after a tab, or semicolons, before which a comment has a blank.
fn is_more_than_text(line: &str, fields: &CsvFields) -> bool {
    let (separator, value) = (separator(None, line), fields.get(1));
    let (first, rest) = line.split_once(char::from(separator)).unwrap_or_default();
    let is_quoted = rest.trim_start().starts_with('"');
    // An AS set in braces is one value of the text table.
    let is_set = separator != b';' && !is_quoted && value.contains([',', '{']);
    let is_comment = separator == b';' && (value.is_empty() || first.ends_with([' ', '\t']));
    let has_comment = [" # ", " ; "].iter().any(|sign| value.contains(sign)) && !is_quoted;
    if is_comment || is_set || has_comment {
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

/// What separates the fields of a file that begins with this line, if none is declared.
fn separator(declared: Option<u8>, first: &str) -> u8 {
    if let Some(declared) = declared {
        return declared;
    }
    // Right after a prefix it is a semicolon, however many commas the values have.
    match first.split_once(';') {
        Some((prefix, _)) if prefix.trim_matches('"').parse::<IpPrefix>().is_ok() => b';',
        _ => delimiter(first.as_bytes()).unwrap_or(b','),
    }
}

/// Refuses the first part of a set of ASes that was cut at its commas.
fn whole_set(value: &str) -> Result<(), String> {
    // A name may begin with a brace, too: what follows it in a set is a number, up to the comma.
    let number = value.strip_prefix('{').unwrap_or_default();
    if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
        let value = quote(value);
        return Err(format!("{value}: a set with commas needs quotes around it"));
    }
    Ok(())
}

/// A [`RouteSource`] of CSV and TSV.
pub(crate) struct Delimited {
    lines: Lines,
    /// The delimiter, if the first line declares it.
    declared: Option<u8>,
    /// The second row, which may say what the first does not.
    second: Option<String>,
    /// The columns of the prefix and its length, if the user says so.
    prefix: Option<String>,
    length: Option<String>,
    notation: Notation,
    columns: ColumnSelection,
    values: ValueBook,
    /// The indices of the columns of values in it; where one value is read, the first that is there counts.
    indices: Vec<usize>,
    fields: Option<(CsvFields, CsvLayout)>,
    /// Whether numbers are addresses of IPv6.
    numbers_are_ipv6: bool,
    /// The ranges until all are there.
    ranges: RangeRoutes,
    /// Rows of what belongs to nobody.
    unrouted: u64,
    /// The columns of other prefixes, and how many there were in them that differ.
    others: Vec<usize>,
    lost: u64,
    /// Whether the user says what a row is, and whether only its prefix counts.
    is_clear: bool,
    prefixes_only: bool,
    at_end: bool,
}

impl Delimited {
    /// Reads routes from `input`.
    pub(crate) fn new(mut input: Input, options: &LoadOptions) -> Self {
        // Whole ones: a part of a row could look like another.
        let are_two = |head: &[u8]| {
            let end = head.iter().rposition(|&byte| byte == b'\n');
            end.is_some_and(|end| second_row(declared_first(&head[..end]).1).is_some())
        };
        let (declared, head) = declared_first(input.peek(are_two));
        let second = second_row(head);
        Self {
            lines: Lines::new(input),
            declared,
            second,
            prefix: options.prefix_column.clone(),
            length: options.length_column.clone(),
            notation: options.notation(),
            columns: options.columns.clone(),
            values: ValueBook::ignored(options.prefixes_only),
            indices: Vec::new(),
            fields: None,
            numbers_are_ipv6: false,
            // Of equal ranges the caller chooses, if any.
            ranges: RangeRoutes::new(options.all),
            unrouted: 0,
            others: Vec::new(),
            lost: 0,
            is_clear: options.format.is_some() || options.prefix_column.is_some(),
            prefixes_only: options.prefixes_only,
            at_end: false,
        }
    }

    /// The route that the current line holds; `None` if it has none, or a range, which waits for the others.
    fn row(&mut self) -> Result<Option<Route>, String> {
        let line = text(self.lines.line())?;
        let Some((fields, layout)) = &mut self.fields else {
            return Ok(None);
        };
        fields.split(line)?;
        let cell = |n| match fields.get(n).trim() {
            "" => Err(format!("field {} is missing", n + 1)),
            cell => Ok(cell),
        };
        if let Some(columns) = layout.heading {
            if (columns..fields.len()).any(|n| !fields.get(n).is_empty()) {
                return Err("more fields than the heading has names".to_owned());
            }
            if fields.len() < columns {
                return Err("fewer fields than the heading has names".to_owned());
            }
        }
        if !self.is_clear && layout.may_be_list(fields, self.prefixes_only) {
            return Err(two_elements(line));
        }
        self.values.begin();
        for (&column, &n) in self.indices.iter().zip(&layout.values) {
            let value = fields.get(n);
            if !value.trim().is_empty() {
                whole_set(value)?;
                self.values.put(column, CellKind::Written, value);
            }
        }
        let span = match layout.source {
            AddressColumns::Prefix(n, length) => {
                let text = cell(n)?;
                let joined;
                let text = match length {
                    None => {
                        if !text.contains('/')
                            && let Ok(address) = text.parse()
                        {
                            is_host(address, fields, layout)?;
                        }
                        text
                    }
                    Some((n, length)) => {
                        joined = length.join(text, fields.get(n))?;
                        &joined
                    }
                };
                AddressSpan::parse(text, self.notation).map_err(|e| e.to_string())?
            }
            AddressColumns::Range(first, last) => {
                let (first, last) = (cell(first)?, cell(last)?);
                let ends = ends(first, last, &mut self.numbers_are_ipv6)?;
                IpRangePrefixes::new(ends.0, ends.1)
                    .map_err(|e| format!("{} to {}: {e}", quote(first), quote(last)))?;
                // iptoasn lists what belongs to nobody, too.
                if self.values.at_hand() == "0"
                    && (0..fields.len()).any(|n| fields.get(n) == "Not routed")
                {
                    self.unrouted += 1;
                    return Ok(None);
                }
                AddressSpan::Range(ends.0, ends.1)
            }
        };
        if !self.others.is_empty() {
            self.lost += lost(&self.others, fields, &span, self.notation);
        }
        let first = layout.values.iter().min();
        if let Some(n) = first.filter(|&&n| n >= fields.len() && self.values.is_blank()) {
            return Err(format!("field {} is missing", n + 1));
        }
        // Those of ranges are compared where these overlap.
        self.values.is_ignored &= matches!(span, AddressSpan::Prefix(_));
        let value = self.values.finish()?;
        Ok(match span {
            AddressSpan::Prefix(prefix) if !self.ranges.is_any() => Some(Route { prefix, value }),
            span => {
                self.ranges.add(span, self.lines.number(), value);
                None
            }
        })
    }

    /// Learns the layout from the first line; whether that is a heading.
    fn learn(&mut self) -> Result<bool, ReadError> {
        let first = text(self.lines.line()).map_err(|reason| self.lines.invalid(reason))?;
        let mut fields = CsvFields::new(separator(self.declared, first));
        fields
            .split(first)
            .map_err(|reason| self.lines.invalid(reason))?;
        let layout = match (&self.prefix, &self.length, CsvLayout::of(&fields)) {
            (None, None, Some(layout)) => Ok(layout),
            (None, None, None) => by_content(
                self.declared,
                first,
                self.second.as_deref().unwrap_or_default(),
            ),
            (prefix, length, _) => CsvLayout::chosen(&fields, prefix.as_deref(), length.as_deref()),
        };
        let mut layout = layout.map_err(|reason| {
            self.at_end = true;
            self.lines.stopped(reason)
        })?;
        self.indices = vec![0; layout.values.len()];
        if self.columns != ColumnSelection::Value {
            let chosen = layout.choose(&self.columns, &fields).map_err(|reason| {
                self.at_end = true;
                self.lines.stopped(reason)
            });
            (self.values, self.indices) = chosen?;
        } else {
            self.values.unread = layout.unread(&fields);
        }
        let is_heading = layout.heading.is_some();
        if self.prefix.is_none() {
            self.others = layout.other_prefixes(&fields);
        }
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
    let address = |text: &str| parsed(text, "an address");
    Ok((address(first)?, address(last)?))
}

/// In how many of the columns `others` a prefix stands that is not this one. Apart, as it made rows without them slower.
#[cold]
#[inline(never)]
fn lost(others: &[usize], fields: &CsvFields, span: &AddressSpan, notation: Notation) -> u64 {
    let is_lost = |text: &str| {
        let other = AddressSpan::parse(text, notation);
        is_prefix(text) && other.is_ok_and(|other| other.ends() != span.ends())
    };
    let texts = others.iter().map(|&n| fields.get(n).trim());
    texts.filter(|text| is_lost(text)).count() as u64
}

impl RouteSource for Delimited {
    fn next_route(&mut self) -> Result<Option<Route>, ReadError> {
        loop {
            if self.at_end {
                let invalid = |(line, reason)| self.lines.invalid_at(line, reason);
                return self.ranges.next().transpose().map_err(invalid);
            }
            if !self.lines.advance()? {
                self.at_end = true;
                continue;
            }
            let is_declaration = self.declared.is_some() && self.lines.number() == 1;
            if is_declaration
                || is_skipped(self.lines.line())
                || self.fields.is_none() && self.learn()?
            {
                continue;
            }
            match self.row() {
                Ok(None) => {}
                Ok(route) => return Ok(route),
                Err(reason) => return Err(self.lines.invalid(reason)),
            }
        }
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

    fn has_values(&self) -> bool {
        let layout = self.fields.as_ref().map(|(_, layout)| layout);
        layout.is_some_and(|layout| !layout.values.is_empty())
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = note_left_out(self.unrouted, "row", " of addresses that are not routed");
        let other = " in another column (`prefix_column` takes it)";
        notes.extend(note_left_out(self.lost, "prefix", other));
        notes.extend(self.ranges.note());
        notes
    }
}
