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
use popfib_table::CellKind;

use crate::error::ReadError;
use crate::input::{Input, InputKind};
use crate::registry::Capability::{ManyValues, Origins};
use crate::route::{Route, RouteSource};
use crate::table_format::TableEntry;
use crate::values::{ColumnSelection, ValueBook};

/// The name of [`Input::built_in`], with the day of its AS numbers.
pub const DEFAULT_TABLE_NAME: &str = "tier1-origin-20260617";

static PACKED: &[u8] = include_bytes!("../data/default-table.bin");
static NAMES: &[u8] = include_bytes!("../data/default-names.bin");

/// Not one of the list: no file has it.
pub(crate) const FORMAT: TableEntry = TableEntry {
    name: "built-in",
    description: "the built-in table",
    can: &[ManyValues, Origins],
    detect: |_| false,
    open: |_, options| {
        let mut values = ValueBook::new(&options.columns);
        let routes = unpack::UnpackedColumns::unpack(PACKED);
        let numbers = routes.numbers();
        Ok(Box::new(DefaultRoutes {
            asn: match options.columns {
                ColumnSelection::Value => Some(0),
                _ => values.column("asn"),
            },
            names: values.column("as_name").map(|at| (at, AsNames::unpack())),
            known: vec![None; numbers.len()],
            values,
            routes,
            numbers,
        }))
    },
};

impl Input {
    /// The built-in table, called [`DEFAULT_TABLE_NAME`]: 901,899 IPv4 and 160,147 IPv6 prefixes of a
    /// tier-1 router. Its columns are `asn`, an integer, which is its value: the origin AS, 0 where it is unknown; and `as_name`, the
    /// name of the organisation, absent where it is unknown. It is unpacked when it is read, in some 100 ms, mostly for the Ribs.
    pub fn built_in() -> Self {
        let source = Source {
        name: DEFAULT_TABLE_NAME.to_owned(),
        description: "prefixes of a tier-1 router (bart 0.30.0) with their origin AS (RouteViews, DB-IP, NRO)"
            .to_owned(),
        licence: "MIT (bart), CC BY 4.0 (ip-location-db)".to_owned(),
        date: "2026-06-17".to_owned(),
    };
        Self::embedded(source, b"", InputKind::BuiltIn)
    }
}

/// The routes, in prefix order.
struct DefaultRoutes {
    routes: unpack::UnpackedColumns,
    /// The column of the number, if it is wanted.
    asn: Option<usize>,
    /// That of the name, with the names.
    names: Option<(usize, AsNames)>,
    numbers: Vec<u32>,
    values: ValueBook,
    /// The values of the AS that came so far, by their places.
    known: Vec<Option<Option<NextHop>>>,
}

impl DefaultRoutes {
    /// The value of the AS at this place.
    fn value(&mut self, place: usize) -> Option<NextHop> {
        let asn = self.numbers[place];
        self.values.begin();
        if let Some(column) = self.asn {
            let number = asn.to_string();
            self.values.put(column, CellKind::Integer, &number);
        }
        if let Some((column, names)) = &self.names
            && let Some(name) = names.of(asn)
        {
            self.values.put(*column, CellKind::Text, name);
        }
        let value = self.values.number();
        self.known[place] = Some(value);
        value
    }
}

impl RouteSource for DefaultRoutes {
    fn next_route(&mut self) -> Result<Option<Route>, ReadError> {
        let Some((prefix, place)) = self.routes.next() else {
            return Ok(None);
        };
        let value = match self.known[place] {
            Some(value) => value,
            None => self.value(place),
        };
        Ok(Some(Route { prefix, value }))
    }

    fn values(&mut self) -> &mut ValueBook {
        &mut self.values
    }

    fn has_values(&self) -> bool {
        true
    }
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
