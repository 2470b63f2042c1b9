//! The embedded default table: a real router's prefixes with their origin AS.
//!
//! Part of the program, so that it answers without any file. What the data is
//! and where it comes from is documented in `data/README.md`, and its format in [`unpack`].
//!
//! Rejected: an adaptive range coder over the radix tree. It made the table a
//! fifth smaller, but took three times as long to unpack. Among compressors of
//! columns, zstd and xz save 5 and 8 %; DEFLATE is unpacked faster than by their
//! pure-Rust decoders, and is here anyway.

#[cfg(test)]
mod pack;
#[cfg(test)]
mod tests;
mod unpack;

use popfib::NextHop;
use popfib_table::Dictionary;
use unpack::Columns;

use crate::load::RouteTable;

/// The name of the [`default_table`], with the day of its AS numbers.
pub const DEFAULT_TABLE_NAME: &str = "tier1-origin-20260617";

/// What the [`default_table`] is, in one line.
pub const DEFAULT_TABLE_DESCRIPTION: &str = "prefixes of a tier-1 router (bart 0.30.0) with \
    origin AS of 2026-06-17 (RouteViews, DB-IP, NRO; CC BY 4.0)";

static PACKED: &[u8] = include_bytes!("../data/default-table.bin");

/// The embedded table: 901,899 IPv4 and 160,147 IPv6 prefixes of a tier-1
/// router, each with its origin AS as the next hop (`0` where it is unknown).
///
/// Unpacks and inserts every route, which takes about 100 ms, mostly in the Ribs. The next hops are numbered as
/// they would be by
/// loading the same table from a file. There are more than 65,535 of them.
pub fn default_table() -> RouteTable {
    let mut table = RouteTable {
        name: DEFAULT_TABLE_NAME.to_owned(),
        ..RouteTable::default()
    };
    let mut columns = Columns::unpack(PACKED);
    let numbers = columns.numbers();
    let mut next_hops = NextHops {
        names: &mut table.next_hops,
        known: vec![None; numbers.len()],
        numbers,
    };
    columns.family(|prefix, place| {
        table.ribs.ipv4.insert(prefix, next_hops.get(place));
    });
    columns.family(|prefix, place| {
        table.ribs.ipv6.insert(prefix, next_hops.get(place));
    });
    table
}

/// The next hop of each AS. An AS is spelled and interned once, not once per route.
struct NextHops<'a> {
    names: &'a mut Dictionary,
    numbers: Vec<u32>,
    known: Vec<Option<NextHop>>,
}

impl NextHops<'_> {
    #[inline]
    fn get(&mut self, place: usize) -> NextHop {
        match self.known[place] {
            Some(next_hop) => next_hop,
            None => self.intern(place),
        }
    }

    #[cold]
    fn intern(&mut self, place: usize) -> NextHop {
        let next_hop = self.names.intern(&self.numbers[place].to_string());
        self.known[place] = Some(next_hop);
        next_hop
    }
}
