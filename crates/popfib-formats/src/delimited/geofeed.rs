//! Geofeeds (RFC 8805), in which networks publish where the users of their prefixes are: lines in, prefixes with countries out.
//!
//! ```text
//! # prefix,country,region,city,postal code
//! 192.0.2.0/24,US,US-AL,Alabaster,
//! ```
//! The value is the country; other columns can be asked for. An empty one asks for its prefix not to be placed. Rows may end early; fields after the fifth
//! are for later editions of the format, and ignored.

use super::fields::CsvFields;
use super::fixed::FixedColumns;
use crate::error::not;
use crate::grammar::{Grammar, TableEntry, head_lines, lines};
use crate::registry::Capability::ManyValues;
use crate::rows::{RouteRows, RowValue};
use crate::values::ValueBook;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "geofeed",
    description: "geofeeds (RFC 8805): prefix, country, region, city; countries",
    can: &[ManyValues],
    detect,
    open: |input, options| {
        let geofeed = Geofeed {
            fields: CsvFields::new(b','),
            columns: FixedColumns::new(options, &COLUMNS),
        };
        Ok(lines(geofeed, input, options))
    },
};

/// The columns after the prefix.
const COLUMNS: [(&str, usize); 4] = [("country", 1), ("region", 2), ("city", 3), ("postal", 4)];

/// Whether the file begins with rows of a geofeed, one of which shows that it is no table of prefixes and
/// countries: rows may end early, so that the first ones need not.
pub(super) fn detect(head: &[u8]) -> bool {
    let rows = head_lines(head).map(|line| line.trim_ascii());
    let mut fields = CsvFields::new(b',');
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
fn is_row(fields: &CsvFields) -> bool {
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

/// The grammar of the lines.
struct Geofeed {
    fields: CsvFields,
    columns: FixedColumns,
}

impl Grammar for Geofeed {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let line = match line.split_once('#') {
            Some((line, _)) => line.trim(),
            None => line.trim(),
        };
        if line.is_empty() {
            return rows.detail();
        }
        self.fields.split(line)?;
        let prefix = rows.prefix(self.fields.get(0).trim())?;
        let country = self.fields.get(1).trim();
        if !country.is_empty() && !is_country(country.as_bytes()) {
            return Err(not(country, "a country"));
        }
        rows.absent();
        let field = |n| self.fields.get(n);
        self.columns.fill(field, &mut rows.values)?;
        rows.element(prefix, RowValue::Record)
    }

    fn values(&mut self) -> ValueBook {
        self.columns.values()
    }
}
