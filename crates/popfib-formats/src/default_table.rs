//! The embedded default table: a real router's prefixes with their origin AS, and the names of these.
//!
//! Part of the program, so that it answers without any file. What the data is
//! and where it comes from is documented in `data/README.md`, and its format in [`unpack`]. The names are a file of their own,
//! which is unpacked if somebody asks for them.
//!
//! Rejected: an adaptive range coder over the radix tree. It made the table a
//! fifth smaller, but took three times as long to unpack. Among compressors of
//! columns, zstd and xz save 5 and 8 %; DEFLATE is unpacked faster than by their
//! pure-Rust decoders, and is here anyway. Names in their own order are a sixth smaller, but then each AS
//! needs the place of its name, which takes as much.

#[cfg(test)]
mod pack;
#[cfg(test)]
mod tests;
mod unpack;

use popfib::NextHop;
use popfib::image::Source;

use crate::error::{ReadError, no_name};
use crate::load::{RouteTable, Routes};
use crate::values::{CellKind, ColumnSelection, ValueBook};

/// The name of the [`default_table`], with the day of its AS numbers.
pub const DEFAULT_TABLE_NAME: &str = "tier1-origin-20260617";

/// The columns of the table: the number of the origin AS, an integer, and the name of the organisation that has it.
const ASN: &str = "asn";
const AS_NAME: &str = "as_name";

static PACKED: &[u8] = include_bytes!("../data/default-table.bin");
static NAMES: &[u8] = include_bytes!("../data/default-names.bin");

/// The embedded table: 901,899 IPv4 and 160,147 IPv6 prefixes of a tier-1
/// router, each with its origin AS as the next hop (`0` where it is unknown).
///
/// Unpacks and inserts every route, which takes about 100 ms, mostly in the Ribs. The next hops are numbered as
/// they would be by
/// loading the same table from a file. There are more than 65,535 of them.
pub fn default_table() -> RouteTable {
    table_of(&ColumnSelection::Value, &[ASN.to_owned()])
}

/// The same with these columns of `asn`, an integer, and `as_name`, the name of the organisation, as [`load`](crate::load()) reads
/// them. Where an AS is unknown it has no name.
///
/// # Errors
/// A column that is none of these.
pub fn default_table_of(columns: &ColumnSelection) -> Result<RouteTable, ReadError> {
    let wanted = match columns {
        ColumnSelection::Value => return Ok(default_table()),
        ColumnSelection::All => vec![ASN.to_owned(), AS_NAME.to_owned()],
        ColumnSelection::Named(names) => names.clone(),
    };
    let is_there = |name: &&String| [ASN, AS_NAME].contains(&name.as_str());
    if let Some(missing) = wanted.iter().find(|name| !is_there(name)) {
        let reason = no_name(missing, [ASN, AS_NAME].into_iter());
        return Err(ReadError::file(DEFAULT_TABLE_NAME, reason));
    }
    Ok(table_of(&ColumnSelection::Named(wanted.clone()), &wanted))
}

/// The table with the columns `wanted`, as records or as one value of each route.
fn table_of(columns: &ColumnSelection, wanted: &[String]) -> RouteTable {
    let has_names = wanted.iter().any(|name| name == AS_NAME);
    let names = has_names.then(AsNames::unpack);
    let mut values = ValueBook::new(columns);
    let mut absent = None;
    let mut table = routes(|asn| {
        values.begin();
        for (column, name) in wanted.iter().enumerate() {
            if name == ASN {
                values.put(column, CellKind::Integer, &asn.to_string());
            } else if let Some(name) = names.as_ref().and_then(|names| names.of(asn)) {
                values.put(column, CellKind::Text, name);
            }
        }
        let number = values.number();
        number.unwrap_or_else(|| *absent.get_or_insert_with(|| values.absent()))
    });
    table.set_values(values, true, absent, false);
    table
}

/// The routes, whose next hops are what `number` makes of an AS when it comes first.
fn routes(mut number: impl FnMut(u32) -> NextHop) -> RouteTable {
    let source = Source {
        name: DEFAULT_TABLE_NAME.to_owned(),
        description: "prefixes of a tier-1 router (bart 0.30.0) with their origin AS (RouteViews, DB-IP, NRO)"
            .to_owned(),
        licence: "MIT (bart), CC BY 4.0 (ip-location-db)".to_owned(),
        date: "2026-06-17".to_owned(),
    };
    let name = DEFAULT_TABLE_NAME.to_owned();
    let mut table = RouteTable::new(name, vec![source], Routes::default());
    let mut columns = unpack::UnpackedColumns::unpack(PACKED);
    let numbers = columns.numbers();
    let mut known = vec![None; numbers.len()];
    let mut next_hop = |place: usize| {
        let known: &mut Option<NextHop> = &mut known[place];
        *known.get_or_insert_with(|| number(numbers[place]))
    };
    columns.family(|prefix, place| {
        table.ribs.ipv4.insert(prefix, next_hop(place));
    });
    columns.family(|prefix, place| {
        table.ribs.ipv6.insert(prefix, next_hop(place));
    });
    table
}

/// The names of AS, as text between line ends, and where each stands.
struct AsNames {
    text: String,
    /// In ascending order, each with the place of its name.
    numbers: Vec<(u32, std::ops::Range<usize>)>,
}

impl AsNames {
    fn unpack() -> Self {
        let mut numbers = unpack::UnpackedColumns::unpack(PACKED).numbers();
        numbers.sort_unstable();
        let text = String::from_utf8(unpack::inflate(NAMES)).expect("UTF-8");
        let mut start = 0;
        let places = text.split('\n').map(|name| {
            let place = start..start + name.len();
            start = place.end + 1;
            place
        });
        Self {
            numbers: numbers.into_iter().zip(places).collect(),
            text,
        }
    }

    /// That of this AS, if it is known.
    fn of(&self, asn: u32) -> Option<&str> {
        let at = self.numbers.binary_search_by_key(&asn, |(asn, _)| *asn);
        let name = &self.text[self.numbers[at.ok()?].1.clone()];
        (!name.is_empty()).then_some(name)
    }
}
