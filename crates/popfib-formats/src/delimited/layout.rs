//! Where the columns of CSV are: the first line in, or the first two, and the numbers of the columns of addresses and values out.
//!
//! A heading is asked first, for the names that files give to prefixes, ranges and values; then the cells of the first row, for
//! what can only be a prefix; else the error says which columns there are. Later rows are not looked at: what they hold must not
//! change what the first ones mean.

use std::net::IpAddr;

use popfib::IpPrefix;

use super::fields::CsvFields;
use crate::error::{no_name, quote};
use crate::masks::{self, Length};
use crate::names::{ADDRESS, FIRST, LAST, PREFIX, VALUE, explicit, rank};
use crate::ranges::{is_prefix, is_range};
use crate::values::{ColumnSelection, ValueBook};
use crate::words::may_be_element;

/// Where the columns are.
pub(super) struct CsvLayout {
    pub(super) source: AddressColumns,
    /// The columns of values: the most telling one, or those that were asked for; none in a list.
    pub(super) values: Vec<usize>,
    /// How many columns the heading names, if there is one.
    pub(super) heading: Option<usize>,
}

/// Which columns say what addresses a row is about.
#[derive(Clone, Copy)]
pub(super) enum AddressColumns {
    /// A prefix, or an address and, in another column, its length.
    Prefix(usize, Option<(usize, Length)>),
    /// The first address of a range and the last.
    Range(usize, usize),
}

impl AddressColumns {
    /// Whether column `n` is part of it.
    fn uses(self, n: usize) -> bool {
        match self {
            Self::Prefix(prefix, length) => {
                n == prefix || length.is_some_and(|(length, _)| n == length)
            }
            Self::Range(first, last) => n == first || n == last,
        }
    }
}

impl CsvLayout {
    /// The layout that the first line shows.
    pub(super) fn of(fields: &CsvFields) -> Option<Self> {
        let columns = || 0..fields.len();
        let best = |names: &[&str]| {
            let ranked = columns().filter_map(|n| Some((rank(fields.get(n), names)?, n)));
            ranked.min().map(|(_, n)| n)
        };
        let lengths = columns().filter_map(|n| Some((Length::named(fields.get(n))?, n)));
        let lengths = lengths.min();
        let length = lengths.map(|((_, kind), n)| (n, kind));
        let range = best(FIRST).zip(best(LAST));
        // Beside other columns than a mask or a value an address is mostly a log's.
        let has_mask = lengths.is_some_and(|((rank, _), _)| Length::is_clear(rank));
        let has_more = || fields.len() == 1 || has_mask || best(VALUE).is_some();
        let address = || best(ADDRESS).filter(|_| has_more());
        let source = match (best(PREFIX), range) {
            (Some(prefix), _) => AddressColumns::Prefix(prefix, length),
            (None, Some((first, last))) => AddressColumns::Range(first, last),
            (None, None) => match address() {
                Some(address) => AddressColumns::Prefix(address, length),
                None => return Self::without_heading(fields),
            },
        };
        Some(Self::with_heading(source, fields))
    }

    /// Whether a row without a heading may be a list of prefixes: by what would be its value, or where values count by all fields.
    #[inline]
    pub(super) fn may_be_list(&self, fields: &CsvFields, prefixes_only: bool) -> bool {
        let is_one =
            self.heading.is_some() || matches!(self.source, AddressColumns::Prefix(_, Some(_)));
        let Some(&value) = self.values.first().filter(|_| !is_one) else {
            return false;
        };
        match prefixes_only {
            true => may_be_element(fields.get(value).trim()),
            // A next hop has no length.
            false => is_prefix(fields.get(value).trim()),
        }
    }

    /// By the heading, whose names say nothing, and the first row, in which one column has prefixes, or else addresses.
    pub(super) fn by_content(heading: &CsvFields, row: &CsvFields) -> Result<Self, String> {
        let columns = |is: &dyn Fn(&str) -> bool| -> Vec<usize> {
            (0..row.len()).filter(|&n| is(row.get(n).trim())).collect()
        };
        let is_address = |text: &str| text.parse::<IpAddr>().is_ok();
        let is_name = |n: usize| {
            let is_sign = |c: char| c.is_alphanumeric() || " _-./()".contains(c);
            heading.get(n).chars().all(is_sign)
                && heading.get(n).parse::<IpAddr>().is_err()
                && heading.get(n).parse::<u128>().is_err()
                && !is_prefix(heading.get(n).trim())
        };
        let mut found = columns(&is_prefix);
        if found.is_empty() {
            found = columns(&is_address);
        }
        let is_heading =
            heading.len() > 1 && row.len() <= heading.len() && (0..heading.len()).all(is_name);
        match found[..] {
            [n] if is_heading && !heading.get(n).trim().is_empty() => {
                Ok(Self::with_heading(AddressColumns::Prefix(n, None), heading))
            }
            [first, second, ..] if is_heading => {
                let [first, second] = [first, second].map(|n| quote(heading.get(n)).to_string());
                Err(format!(
                    "prefixes in the columns {first} and {second}; `prefix_column` chooses one"
                ))
            }
            _ => Err(format!(
                "no column for a prefix (such as prefix, network, cidr) or a range (start_ip, end_ip), and a value, in {}; \
                 `prefix_column` names it, also by its number, and `length_column` that of its length",
                names(heading)
            )),
        }
    }

    /// By what the user says of the columns, each by its name or number; `fields` are the first line, a heading or not.
    pub(super) fn chosen(
        fields: &CsvFields,
        prefix: Option<&str>,
        length: Option<&str>,
    ) -> Result<Self, String> {
        let Some(prefix) = prefix else {
            let mut layout =
                Self::of(fields).ok_or("no column for a prefix; `prefix_column` names it")?;
            let is_heading = layout.heading.is_some();
            if let (Some(length), AddressColumns::Prefix(n, _)) = (length, layout.source) {
                let length = (find(length, fields, is_heading)?, Length::Plain);
                layout.source = AddressColumns::Prefix(n, Some(length));
            }
            return Ok(layout);
        };
        let n = find(prefix, fields, true)?;
        // The name of a column is its heading; by its number, a cell that is no prefix is one.
        let cell = fields.get(n).trim();
        let is_heading = cell == prefix || !is_range(cell) && IpPrefix::parse_masked(cell).is_err();
        let length = length
            .map(|length| find(length, fields, is_heading))
            .transpose()?;
        let source = AddressColumns::Prefix(n, length.map(|n| (n, Length::Plain)));
        if is_heading {
            return Ok(Self::with_heading(source, fields));
        }
        Ok(Self {
            source,
            values: (0..fields.len())
                .find(|&n| !source.uses(n))
                .into_iter()
                .collect(),
            heading: None,
        })
    }

    /// With the values that a heading names.
    fn with_heading(source: AddressColumns, fields: &CsvFields) -> Self {
        let columns = || (0..fields.len()).filter(|&n| !source.uses(n));
        let named = columns().filter_map(|n| Some((rank(fields.get(n), VALUE)?, n)));
        // No known name: the first column that says nothing of the addresses.
        let other = || columns().find(|&n| !is_place(fields.get(n)));
        let value = named.min().map(|(_, n)| n).or_else(other);
        // MaxMind: where a network is, or where it is registered.
        let is = |n: usize, name: &str| rank(fields.get(n), &[name]).is_some();
        let registered = value
            .filter(|&n| is(n, "geonameid"))
            .and_then(|_| columns().find(|&n| is(n, "registeredcountrygeonameid")));
        Self {
            source,
            values: value.into_iter().chain(registered).collect(),
            heading: Some(fields.len()),
        }
    }

    /// The number and the name of each column that the addresses are not read from: as the heading has it, or its number, from 1.
    /// Those that say the same again have no more than these: `start_ip` and a netmask beside a prefix. What is called `ip`,
    /// `start` or `network` there may be an address in it, a date or a name.
    fn others(&self, fields: &CsvFields) -> impl Iterator<Item = (usize, String)> {
        let has_heading = self.heading.is_some();
        let is_again = move |n| {
            let name = fields.get(n);
            let ends = [FIRST, LAST].map(explicit);
            has_heading
                && (ends.iter().any(|names| rank(name, names).is_some())
                    || Length::named(name).is_some())
        };
        let others = (0..fields.len()).filter(move |&n| !self.source.uses(n) && !is_again(n));
        others.map(move |n| match fields.get(n).trim() {
            name if has_heading && !name.is_empty() => (n, name.to_owned()),
            _ => (n, (n + 1).to_string()),
        })
    }

    /// The columns of a heading that are called prefixes, beside the one that is read.
    pub(super) fn other_prefixes(&self, fields: &CsvFields) -> Vec<usize> {
        let is_other = |&n: &usize| !self.source.uses(n) && rank(fields.get(n), PREFIX).is_some();
        let columns = 0..self.heading.unwrap_or_default();
        columns.filter(is_other).collect()
    }

    /// That one column of several is read, where none is asked for.
    pub(super) fn unread(&self, fields: &CsvFields) -> Option<String> {
        let value = self.values.first()?;
        let name = |(_, name): (usize, String)| quote(name);
        let (read, unread): (Vec<_>, Vec<_>) = self.others(fields).partition(|(n, _)| n == value);
        let read = read
            .into_iter()
            .map(name)
            .next()
            .filter(|_| !unread.is_empty())?;
        let unread: Vec<_> = unread.into_iter().map(name).take(20).collect();
        let unread = unread.join(", ");
        Some(format!(
            "column {read} is read, not {unread}; `columns='*'` reads all"
        ))
    }

    /// Makes the columns that were asked for those of the values; gives the book of values for them, and their indices in it.
    pub(super) fn choose(
        &mut self,
        columns: &ColumnSelection,
        fields: &CsvFields,
    ) -> Result<(ValueBook, Vec<usize>), String> {
        let mut values = ValueBook::new(columns).ranked(|name| rank(name, VALUE));
        // The columns to read, each with the name that it has in the record: as asked for, or as the heading has it.
        let names: Vec<_> = match columns {
            ColumnSelection::Named(names) => {
                let find = |name: &String| {
                    Ok::<_, String>((find(name, fields, self.heading.is_some())?, name.clone()))
                };
                names.iter().map(find).collect::<Result<_, _>>()?
            }
            _ => self.others(fields).collect(),
        };
        let mut indices = Vec::new();
        for (_, name) in &names {
            let before = values.names().len();
            // Where there are too many, the book says so in the end.
            let Some(index) = values.column(name) else {
                break;
            };
            if *columns == ColumnSelection::All && values.names().len() == before {
                return Err(format!("two columns are called {}", quote(name)));
            }
            values.is_there(index);
            indices.push(index);
        }
        self.values = names.into_iter().map(|(n, _)| n).collect();
        Ok((values, indices))
    }

    /// The layout of a first row that is data: prefix and value, address, mask and value, or both ends and value.
    fn without_heading(fields: &CsvFields) -> Option<Self> {
        let [first, second] = [fields.get(0), fields.get(1)];
        // Two fields are as of the text table, which has hosts without a length.
        let is_whole = fields.len() == 2 || fields.len() > 2 && first.contains('/');
        let is_prefix = || is_whole && first.parse::<IpPrefix>().is_ok();
        let (source, value) = if is_prefix() || fields.len() >= 2 && is_range(first) {
            (AddressColumns::Prefix(0, None), 1)
        } else if fields.len() > 2 && are_address_and_mask(first, second) {
            (AddressColumns::Prefix(0, Some((1, Length::Plain))), 2)
        } else if fields.len() > 2 && are_ends(first, second) {
            (AddressColumns::Range(0, 1), 2)
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

/// The column called `name` in the heading, or with this number, from 1.
fn find(name: &str, fields: &CsvFields, has_heading: bool) -> Result<usize, String> {
    let mut columns = 0..fields.len();
    let named = columns.find(|&n| has_heading && fields.get(n).trim() == name);
    let numbered = || name.parse().ok().and_then(|n: usize| n.checked_sub(1));
    let found = named.or_else(|| numbered().filter(|&n| n < fields.len()));
    found.ok_or_else(|| {
        let what = if has_heading { "" } else { "no heading, and " };
        let names = (0..fields.len()).map(|n| fields.get(n));
        format!("{what}{}", no_name(name, names))
    })
}

/// The columns, for an error.
fn names(fields: &CsvFields) -> String {
    let names = (0..fields.len().min(20)).map(|n| quote(fields.get(n)).to_string());
    names.collect::<Vec<_>>().join(", ")
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
pub(super) fn is_host(
    address: IpAddr,
    fields: &CsvFields,
    layout: &CsvLayout,
) -> Result<(), String> {
    let value = layout.values.first().map(|&n| fields.get(n));
    let second = value.filter(|_| layout.heading.is_none());
    if let Some(reason) = second.and_then(|second| masks::second_word(address, second)) {
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
