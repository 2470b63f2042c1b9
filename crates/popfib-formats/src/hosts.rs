//! Hosts files: an address and the names that it has; lines in, routes to hosts out.
//!
//! ```text
//! 127.0.0.1 localhost localhost.localdomain
//! ::1       localhost ip6-localhost   # comment
//! ```
//! A table of addresses, whose values are the first names. Of several lines for one address
//! the last answers: of a list that leads names to `0.0.0.0` one route is left.

use std::iter;

use crate::error::{not, quote};
use crate::grammar::{Grammar, RouteRows, TableEntry, head_text, lines};
use crate::words::is_address;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "hosts",
    description: "hosts files: addresses; their first names",
    can: &[],
    detect,
    open: |input, options| Ok(lines(Hosts, input, options)),
};

/// Whether the first line is that of the own host, as in every such file.
fn detect(head: &[u8]) -> bool {
    head_text(head)
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .find(|line| !line.is_empty())
        .is_some_and(|line| {
            let mut words = line.split_ascii_whitespace();
            words.next().is_some_and(is_address) && words.any(|word| word == LOCALHOST)
        })
}

/// The name that the first address has.
pub(crate) const LOCALHOST: &str = "localhost";

/// The grammar of the lines.
struct Hosts;

impl Grammar for Hosts {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let text = line.split('#').next().unwrap_or_default();
        let mut words = text.split_ascii_whitespace();
        let Some(address) = words.next() else {
            return rows.free_text();
        };
        if !is_address(address) {
            return Err(not(address, "an address"));
        }
        let name = words.next();
        let name = name.ok_or_else(|| format!("no name after {}", quote(address)))?;
        // Other names follow, but no other address.
        if let Some(other) = iter::once(name).chain(words).find(|word| is_address(word)) {
            return Err(format!("{}: a second address", quote(other)));
        }
        // The zone of a link-local address is no part of it.
        let prefix = rows.prefix(address.split('%').next().unwrap_or_default())?;
        rows.element(prefix, name)
    }
}
