//! Readers and writers of routing tables: files and streams in, routes and
//! addresses out, and tables back to files.
//!
//! The flow: an [`Input`] opens a file or standard input and decompresses it by its content; [`open_routes`] finds its
//! [`Format`] and gives the [`RouteSource`] that turns it into [`Route`]s, one at a time; [`load`](load()) puts them into the two
//! Ribs of a [`RouteTable`], or into what else is asked for. Values are numbered once, while they are read, by the source's [`ValueBook`]. The other way,
//! [`write_table`] writes a table in a [`WriteFormat`], to an [`OutputFile`] or anything else.
//!
//! Addresses to look up come from an [`AddressFile`], changes of routes from [`open_updates`], VRPs of the RPKI from
//! [`load`](load()), too, all paths of a collector's dump from [`bgp::open_paths`]. What few programs need is in the modules.
//!
//! Everything is streamed: besides the table itself, memory is constant for files of any size. An error in a
//! file is a [`ReadError`], one line with file, line and reason.

#![forbid(unsafe_code)]

mod account;
pub mod addresses;
mod anonymizer;
mod any;
mod as_path;
mod best_path;
mod bgp_path;
mod bgpdump;
mod bgpscanner;
mod cell_json;
mod date;
mod decompress;
mod default_table;
mod delimited;
mod delimiter;
mod error;
mod format;
mod grammar;
mod hosts;
pub mod image;
mod input;
mod ip_route;
mod ipv4;
mod items;
mod joins;
mod json;
mod leaves;
mod lines;
mod load;
mod loaded;
mod lookups;
mod masks;
mod mmdb;
mod mrt;
mod name_rule;
mod names;
mod origins;
mod path_rank;
mod path_record;
mod paths;
mod peers;
mod prompt;
pub mod ranges;
mod registry;
mod replay;
mod route;
mod rows;
mod rpsl;
mod sets;
mod show;
mod special;
mod table_format;
mod text_table;
pub mod threads;
mod update;
mod update_lines;
mod update_messages;
mod update_text;
pub mod updates;
mod updates_in_order;
mod value_regex;
mod values;
mod vrps;
mod words;
pub mod write;

pub use addresses::{AddressBatch, AddressFile, AddressFormat, AddressOptions, AddressSource};
pub use anonymizer::Anonymizer;
pub use default_table::DEFAULT_TABLE_NAME;
pub use error::{Escaped, ReadError, quote};
pub use format::open_routes;
pub use input::{Input, Progress, swap_line_ends};
pub use joins::{JoinFiles, folder_files};
pub use load::{FromFile, RouteTable, Routes, load, load_text, prefixes_of_text};
pub use loaded::Loaded;
pub use lookups::LookupTable;
pub use peers::{Peer, PeerFilter, RouteValue};
pub use route::{Route, RouteSource};
pub use special::SPECIAL_TABLE_NAME;
pub use table_format::{Format, LoadOptions, UpdateFiles};
pub use updates::{Change, Update, UpdateFormat, UpdateOptions, UpdateSource, open_updates};
pub use value_regex::ValueRegex;
pub use values::{ColumnSelection, ValueBook};
pub use vrps::VrpFormat;
pub use write::{OutputFile, WriteError, WriteFormat, WriteOptions, write_table};

/// What BGP says of a route beside its prefix: all paths of a collector's dump, the changes of an UPDATE message, the
/// attributes of a path in a few bytes, the origins in a value.
pub mod bgp {
    pub use crate::bgp_path::{BgpPath, PathSource, PrefixFilter};
    pub use crate::mrt::{BgpChange, BgpForm, BgpUpdate, pack_path, unpack_path};
    pub use crate::origins::{Origin, origins};
    pub use crate::path_rank::PathRank;
    pub use crate::paths::open_paths;
}

/// How values, times and what files say are written in lines, JSON, CSV and messages.
pub mod text {
    pub use crate::cell_json::CellJson;
    pub use crate::date::{parse_time, rfc3339};
    pub use crate::error::{Escaped, quote};
    pub use crate::image::no_column_message;
    pub use crate::name_rule::MAX_NEXT_HOP_LENGTH;
    pub use crate::names::counted;
    pub use crate::origins::is_token;
    pub use crate::write::csv_field;
}

#[cfg(test)]
#[path = "../../popfib/tests/common/rounds.rs"]
mod rounds;

// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
