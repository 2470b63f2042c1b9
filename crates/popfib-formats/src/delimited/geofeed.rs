//! Geofeeds (RFC 8805): where the users of prefixes are.
//!
//! ```text
//! # prefix,country,region,city,postal code
//! 192.0.2.0/24,US,US-AL,Alabaster,
//! ```
//! The value is the country; other columns can be asked for. Entries without it are left out
//! and counted: an empty one asks for its prefix not to be placed. Rows may end early; fields after the fifth
//! are for later editions of the format, and ignored.

use super::fields::Fields;
use crate::error::no_name;
use crate::grammar::{Grammar, lines};
use crate::input::head_lines;
use crate::names::left_out;
use crate::record::{Kind, RecordText};
use crate::registry::Capabilities;
use crate::rows::Rows;
use crate::table_format::{Columns, Entry, LoadOptions};

pub(crate) static FORMAT: Entry = Entry {
    name: "geofeed",
    description: "geofeeds (RFC 8805): prefix, country, region, city; countries",
    can: Capabilities::MANY_VALUES,
    detect,
    open: |input, options| Ok(lines(Geofeed::new(options), input, options)),
};

/// The columns after the prefix.
const COLUMNS: [&str; 4] = ["country", "region", "city", "postal"];

/// Whether the file begins with rows of a geofeed, one of which shows that it is no table of prefixes and
/// countries: rows may end early, so that the first ones need not.
pub(super) fn detect(head: &[u8]) -> bool {
    let rows = head_lines(head).map(|line| line.trim_ascii());
    let mut fields = Fields::new(b',');
    for row in rows.filter(|line| !line.is_empty() && !line.starts_with(b"#")) {
        let row = std::str::from_utf8(row).ok();
        if !row.is_some_and(|row| fields.split(row).is_ok() && is_row(&fields)) {
            return false;
        }
        if fields.len() > 2 {
            return true;
        }
    }
    false
}

/// Whether these may be a prefix, its country and its region, and whatever follows.
fn is_row(fields: &Fields) -> bool {
    let [prefix, country, region] = [0, 1, 2].map(|n| fields.get(n).trim());
    // ISO 3166-2: the country, and what is left of the region's code.
    let is_region = match region.split_once('-') {
        Some((of, code)) => of.eq_ignore_ascii_case(country) && (1..=3).contains(&code.len()),
        None => region.is_empty(),
    };
    is_region
        && (country.is_empty() || is_country(country.as_bytes()))
        && prefix.parse::<popfib::IpPrefix>().is_ok()
}

/// Whether this may be the code of a country.
pub(crate) fn is_country(text: &[u8]) -> bool {
    text.len() == 2 && text.iter().all(u8::is_ascii_alphabetic)
}

struct Geofeed {
    fields: Fields,
    /// The columns of the record, and the indices that they have there.
    record: RecordText,
    columns: Result<Vec<(usize, usize)>, String>,
    /// The only column.
    only: Option<String>,
    without: u64,
}

impl Geofeed {
    fn new(options: &LoadOptions) -> Self {
        let names = match &options.columns {
            Columns::Value => vec![COLUMNS[0].to_owned()],
            Columns::Named(names) => names.clone(),
            Columns::All => COLUMNS.map(str::to_owned).to_vec(),
        };
        let number = |(index, name): (usize, &String)| {
            let named = COLUMNS.iter().position(|known| known == name);
            let numbered = || name.parse().ok().filter(|n| (2..=5).contains(n));
            let number = named
                .map(|n| n + 1)
                .or_else(|| numbered().map(|n: usize| n - 1));
            let number = number.ok_or_else(|| no_name(name, COLUMNS.into_iter()));
            number.map(|number| (number, index))
        };
        let columns = names.iter().enumerate().map(number).collect();
        let wanted = Columns::Named(names);
        let mut record = RecordText::new(&wanted);
        (0..record.names().len()).for_each(|column| record.is_there(column));
        Self {
            fields: Fields::new(b','),
            columns,
            record,
            only: wanted.name().map(str::to_owned),
            without: 0,
        }
    }
}

impl Grammar for Geofeed {
    fn read(&mut self, _: &str, line: &str, rows: &mut Rows) -> Result<(), String> {
        let line = match line.split_once('#') {
            Some((line, _)) => line.trim(),
            None => line.trim(),
        };
        if line.is_empty() {
            return Ok(());
        }
        let columns = self.columns.as_ref().map_err(String::clone)?;
        self.fields.split(line)?;
        let prefix = rows.prefix(self.fields.get(0).trim())?;
        for &(number, column) in columns {
            match self.fields.get(number).trim() {
                "" => {}
                value => self.record.put(column, Kind::Written, value),
            }
        }
        match self.record.finish() {
            "" => self.without += 1,
            record => rows.element(prefix, record)?,
        }
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        left_out(self.without, "prefix", self.only.as_deref())
    }

    fn record(&self) -> Option<&RecordText> {
        Some(&self.record)
    }
}
