//! Geofeeds (RFC 8805): where the users of prefixes are.
//!
//! ```text
//! # prefix,country,region,city,postal code
//! 192.0.2.0/24,US,US-AL,Alabaster,
//! ```
//! The value is the country; a path chooses another column. Entries without it are left out
//! and counted: an empty one asks for its prefix not to be placed.

use super::fields::Fields;
use crate::LoadOptions;
use crate::error::quote;
use crate::grammar::{Grammar, lines};
use crate::input::head_lines;
use crate::names::left_out;
use crate::registry::Capabilities;
use crate::rows::Rows;
use crate::table_format::Entry;

pub(crate) static FORMAT: Entry = Entry {
    name: "geofeed",
    description: "geofeeds (RFC 8805): prefix, country, region, city; countries",
    can: Capabilities::MANY_VALUES,
    detect,
    open: |input, options| Ok(lines(Geofeed::new(options), input, options)),
};

/// The columns after the prefix.
const COLUMNS: [&str; 4] = ["country", "region", "city", "postal"];

pub(super) fn detect(head: &[u8]) -> bool {
    let first = head_lines(head)
        .map(|line| line.trim_ascii())
        .find(|line| !line.is_empty() && !line.starts_with(b"#"));
    let Some(first) = first.and_then(|line| std::str::from_utf8(line).ok()) else {
        return false;
    };
    let mut fields = Fields::new(b',');
    if fields.split(first).is_err() || !(3..=5).contains(&fields.len()) {
        return false;
    }
    let [prefix, country, region] = [0, 1, 2].map(|n| fields.get(n).trim());
    let is_country = |text: &str| text.len() == 2 && text.bytes().all(|b| b.is_ascii_alphabetic());
    // ISO 3166-2: the country, and what is left of the region's code.
    let is_region = |text: &str| match text.split_once('-') {
        Some((of, code)) => of.eq_ignore_ascii_case(country) && (1..=3).contains(&code.len()),
        None => text.is_empty(),
    };
    prefix.parse::<popfib::IpPrefix>().is_ok()
        && (country.is_empty() || is_country(country))
        && is_region(region)
}

struct Geofeed {
    fields: Fields,
    /// What the caller has chosen, and the column that this is.
    path: Option<String>,
    column: Option<usize>,
    without: u64,
}

impl Geofeed {
    fn new(options: &LoadOptions) -> Self {
        let path = options.value_path.clone();
        let chosen = path.as_deref().unwrap_or(COLUMNS[0]);
        let named = COLUMNS.iter().position(|&name| name == chosen);
        let numbered = chosen.parse().ok().filter(|n| (2..=5).contains(n));
        Self {
            fields: Fields::new(b','),
            column: named.map(|n| n + 1).or(numbered.map(|n: usize| n - 1)),
            path,
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
        let Some(column) = self.column else {
            let path = quote(self.path.as_deref().unwrap_or_default().as_bytes());
            return Err(format!("no column {path} in {}", COLUMNS.join(", ")));
        };
        self.fields.split(line)?;
        let prefix = rows.prefix(self.fields.get(0).trim())?;
        match self.fields.get(column).trim() {
            "" => self.without += 1,
            value => rows.element(prefix, value)?,
        }
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        let path = self.path.as_deref().unwrap_or(COLUMNS[0]);
        left_out(self.without, "prefix", path)
    }
}
