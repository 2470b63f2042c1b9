//! What a format of tables is ([`Format`]), and how a table is read ([`LoadOptions`]).
//!
//! A format is a module with a [`RouteSource`] and a [`TableEntry`]; `format.rs` lists them.

use std::path::PathBuf;

use crate::peers::{PeerFilter, RouteValue};
use crate::ranges::Notation;
use crate::registry::{self, format_type};
use crate::route::RouteSource;
use crate::value_regex::ValueRegex;
use crate::values::ColumnSelection;

/// What the module of a format declares.
pub(crate) type TableEntry = registry::FormatEntry<LoadOptions, dyn RouteSource>;

format_type! {
    /// A format of tables, known by its name.
    Format: TableEntry
}

/// Which updates are applied to a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateFiles {
    /// The files, in any order: their updates are applied in that of their times.
    pub files: Vec<PathBuf>,
    /// The time of the last updates, in microseconds since 1970 (UTC); all updates if `None`.
    pub until: Option<u64>,
    /// The limit of decompressed data of each file, in bytes.
    pub max_size: u64,
}

/// How a table is read, and what to do with invalid lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// The file's format; detected by its content if `None`.
    pub format: Option<Format>,
    /// Skip and count invalid lines instead of ending the load; read a truncated file as far as it goes.
    pub skip_invalid: bool,
    /// Clear host bits instead of treating the line as invalid.
    pub mask: bool,
    /// Read bytes of IPv4 with leading zeros (`010.0.0.1`) as decimal numbers; some programs take them for octal, so
    /// without it the line is invalid.
    pub leading_zeros: bool,
    /// Which routes to use from a file with several peers; if `None`, the best path of each prefix among all.
    /// An error for files of formats without peers.
    pub peer: Option<PeerFilter>,
    /// What is used as the next hop if a file has several candidates.
    pub value: RouteValue,
    /// Which columns, where the records of a file have several. An error for formats of one.
    pub columns: ColumnSelection,
    /// Where no columns are asked for: of an image that has several, all, in place of one value.
    pub image_columns: bool,
    /// The name of the table to read from a file with several (VRFs, routing tables of a kernel); if `None`, a
    /// second one is an error. An error for formats of one table.
    pub table: Option<String>,
    /// Read every table of a file with several, into a [`Table`](popfib_table::Table) that is a
    /// [set](popfib_table::Table::set) of them. An error for formats of one table.
    pub every_table: bool,
    /// For CSV with a column of numbers of places, as MaxMind's blocks: the file of these places, whose columns are added.
    pub locations: Option<PathBuf>,
    /// Where prefixes are, if not where the names of columns and members say: a column of CSV by its name or its number from 1, or
    /// the member of a JSON object that these keys lead to. An error for other formats.
    pub prefix_column: Option<String>,
    /// The same for the length or the network mask of prefixes, where it stands apart.
    pub length_column: Option<String>,
    /// What the values are of prefixes anywhere in a text, which have none without it. An error for formats other than
    /// `any`, which is read where none is given.
    pub value_regex: Option<ValueRegex>,
    /// Updates to apply to the routes, by which the table is as it was later; [`open_routes`](crate::open_routes) ignores them. An
    /// error for formats of several peers of which popfib does not read each path.
    pub updates: Option<UpdateFiles>,
    /// Give a route that lacks a value that of the next shorter prefix which has one.
    pub fill: bool,
    /// Give IPv4-mapped addresses (`::ffff:192.0.2.1`) the answers of IPv4: each of its routes is one of IPv6, too, unless the file has
    /// another for these addresses.
    pub mapped: bool,
    /// Keep the routes that a later one for the same prefix would replace, in
    /// [`Routes::others`](crate::Routes::others).
    pub all: bool,
    /// Only the prefixes count, as where [`load`](crate::load()) gives them alone, which sets it: a second prefix in a line may be
    /// one more of them, and is an error unless [`format`](Self::format) says what it is.
    pub prefixes_only: bool,
}

impl LoadOptions {
    /// The strict options: the format is detected, and nothing is skipped or changed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing says that what follows a prefix is its value, and not one more prefix.
    pub(crate) fn is_unclear(&self) -> bool {
        self.prefixes_only && self.format.is_none()
    }

    /// How addresses are written.
    pub(crate) fn notation(&self) -> Notation {
        Notation {
            mask: self.mask,
            leading_zeros: self.leading_zeros,
        }
    }
}
