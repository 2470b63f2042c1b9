//! CAIDA's pfx2as, made of RouteViews' tables each day: network, length and AS in a line, a route for each out.
//!
//! ```text
//! 1.0.0.0    24    13335
//! 2001:200::    32    2500_7660
//! ```
//! The AS field is the value as it stands: `_` joins several origins, `,` the
//! members of an AS set.

use popfib::IpPrefix;

use crate::error::not;
use crate::grammar::{Grammar, RouteRows, TableEntry, head_text, lines};
use crate::registry::Capability::Origins;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "pfx2as",
    description: "CAIDA's pfx2as: network, length, AS",
    can: &[Origins],
    detect,
    open: |input, options| Ok(lines(Pfx2As, input, options)),
};

/// Whether the first line is a network, its length and AS numbers, between blanks.
fn detect(head: &[u8]) -> bool {
    head_text(head)
        .find(|line| !line.trim().is_empty())
        .and_then(|line| row(line).ok())
        .is_some_and(|(network, len, asn)| {
            format!("{network}/{len}").parse::<IpPrefix>().is_ok()
                && asn
                    .bytes()
                    .all(|b| b.is_ascii_digit() || matches!(b, b'_' | b',' | b'.'))
        })
}

#[derive(Default)]
pub(crate) struct Pfx2As;

/// The three fields of a line.
fn row(line: &str) -> Result<(&str, &str, &str), String> {
    let mut words = line.split_ascii_whitespace();
    match (words.next(), words.next(), words.next(), words.next()) {
        // An address in its place is the end of a range, or a mask.
        (Some(network), Some(len), Some(asn), None) if len.parse::<u8>().is_ok() => {
            Ok((network, len, asn))
        }
        _ => Err(not(line, "a network, a length and an AS")),
    }
}

impl Grammar for Pfx2As {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let (network, len, asn) = row(line)?;
        let prefix = rows.prefix(&format!("{network}/{len}"))?;
        rows.element(prefix, asn)
    }
}
