//! `delegated-*`: which addresses the regional Internet registries gave to whom, the statistics exchange format.
//!
//! ```text
//! 2|ripencc|20240101|3|19830101|20231231|+0000
//! ripencc|*|ipv4|*|2|summary
//! ripencc|DE|ipv4|193.18.0.0|73728|19920922|assigned|x
//! ripencc|FR|ipv6|2001:678::|29|19990101|allocated|z
//! ```
//! Of IPv4 the fifth field is the number of addresses, which need not be that of one prefix; of IPv6 the length. The value is
//! the country; what is free or reserved has none. AS numbers are passed over.

use std::net::{IpAddr, Ipv4Addr};

use super::fixed::FixedColumns;
use super::is_country;
use crate::error::{not, parsed};
use crate::grammar::{Grammar, TableEntry, head_text, lines};
use crate::ranges::AddressSpan;
use crate::registry::Capability::ManyValues;
use crate::rows::{RouteRows, RowValue};
use crate::values::ValueBook;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "rir",
    description: "delegated-* statistics of the regional Internet registries; countries",
    can: &[ManyValues],
    detect,
    open: |input, options| {
        let columns = FixedColumns::new(options, &COLUMNS);
        Ok(lines(Delegations { columns }, input, options))
    },
};

/// The columns, and their fields.
const COLUMNS: [(&str, usize); 5] = [
    ("country", 1),
    ("registry", 0),
    ("date", 5),
    ("status", 6),
    ("opaque_id", 7),
];

/// Who writes such files: the five registries, IANA, and the NRO for all of them.
const REGISTRIES: [&str; 7] = [
    "afrinic", "apnic", "arin", "iana", "lacnic", "nro", "ripencc",
];

/// Whether the first line is the heading of such a file or one of its records, with the name of a registry.
fn detect(head: &[u8]) -> bool {
    let mut lines = head_text(head).map(str::trim_ascii_start);
    let Some(line) = lines.find(|line| !line.is_empty() && !line.starts_with('#')) else {
        return false;
    };
    let fields: Vec<_> = line.split('|').collect();
    match fields[..] {
        [version, registry, _, _, _, _, _] if is_version(version) => REGISTRIES.contains(&registry),
        [registry, _, "asn" | "ipv4" | "ipv6", _, _, ..] => REGISTRIES.contains(&registry),
        _ => false,
    }
}

/// Whether this is the version of the format, which only the first line has.
fn is_version(field: &str) -> bool {
    field.starts_with('2') && field.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// The grammar of the lines.
struct Delegations {
    columns: FixedColumns,
}

impl Grammar for Delegations {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return rows.free_text();
        }
        let fields: Vec<_> = line.split('|').collect();
        let span = match fields[..] {
            [version, _, _, _, _, _, _] if is_version(version) => return rows.detail(),
            // AS numbers are no prefixes.
            [_, _, _, _, _, "summary", ..] | [_, _, "asn", ..] => return rows.detail(),
            [_, _, "ipv4", first, count, _, _, ..] => range(first, count)?,
            [_, _, "ipv6", first, len, _, _, ..] => rows.span(&format!("{first}/{len}"))?,
            _ => return Err(not(line, "a line of delegated statistics")),
        };
        if !(fields[1].is_empty() || is_country(fields[1].as_bytes())) {
            return Err(not(fields[1], "a country"));
        }
        let field = |n| fields.get(n).copied().unwrap_or_default();
        rows.absent();
        self.columns.fill(field, &mut rows.values)?;
        rows.elements_of(span, RowValue::Record)
    }

    fn values(&mut self) -> ValueBook {
        self.columns.values()
    }
}

/// The range of so many addresses of IPv4 from `first` on.
fn range(first: &str, count: &str) -> Result<AddressSpan, String> {
    let start: Ipv4Addr = parsed(first, "an address")?;
    let last = count
        .parse::<u32>()
        .ok()
        .and_then(|count| count.checked_sub(1));
    let last = last.and_then(|more| start.to_bits().checked_add(more));
    let last = last.ok_or_else(|| not(format!("{first}|{count}"), "a number of addresses"))?;
    Ok(AddressSpan::Range(
        IpAddr::V4(start),
        IpAddr::V4(Ipv4Addr::from_bits(last)),
    ))
}
