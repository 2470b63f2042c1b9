//! Readers and writers of routing tables: files and streams in, routes and
//! addresses out, and tables back to files.
//!
//! The flow: an [`Input`] opens a file or standard input and decompresses it by
//! its content; [`open_routes`] finds its [`Format`] and gives the
//! [`RouteSource`] that turns it into [`Route`]s, one at a time; [`load`] puts them into the two Ribs of a
//! [`RouteTable`], with the next hops numbered by a [`Dictionary`](popfib_table::Dictionary). Addresses
//! to look up come from an [`AddressFile`], VRPs of the RPKI from [`load_vrps`]. The other way, [`write_table`]
//! writes a table in a [`WriteFormat`], to an [`OutputFile`] or anything else.
//!
//! Everything is streamed: besides the table itself, memory is constant for files of any size. An error in a
//! file is a [`ReadError`], one line with file, line and reason.

#![forbid(unsafe_code)]

mod addresses;
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
mod image;
mod input;
mod ip_route;
mod ipv4;
mod items;
mod joins;
mod json;
mod leaves;
mod lines;
mod load;
mod lookups;
mod masks;
mod mmdb;
mod mrt;
mod name_rule;
mod names;
mod origins;
mod path_record;
mod paths;
mod peers;
mod prompt;
mod ranges;
mod record;
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
mod update;
mod update_text;
mod updates;
mod updates_in_order;
mod value_regex;
mod vrps;
mod words;
mod write;

pub use addresses::{
    AddressBatch, AddressFile, AddressFinder, AddressFormat, AddressOptions, AddressSource, Column,
    CsvAddresses, CsvRecord, Found, FoundSpan, LineAddresses, Part, PcapAddresses, Pick,
    RawAddresses, Run, Side, TableForm, find_address, find_span, ipv4_in, parse_address,
    parse_ipv6, part_of,
};
pub use anonymizer::{ANONYMIZER_KEY, Anonymizer, anonymizer_key};
pub use bgp_path::{BgpPath, PathSource, Wanted};
pub use cell_json::CellJson;
pub use date::{parse_time, rfc3339};
pub use default_table::{DEFAULT_TABLE_NAME, default_table, default_table_of};
pub use error::{Escaped, ReadError, quote};
pub use format::open_routes;
pub use image::{is_image, no_column, select_columns, table_of_image};
pub use input::{Input, Progress};
pub use ipv4::address as ipv4_address;
pub use joins::JoinFiles;
pub use load::{PrefixList, RouteTable, image_table, load, load_from, load_prefixes, load_text};
pub use lookups::{LookupTable, load_for_lookups};
pub use mrt::{BgpChange, BgpForm, BgpUpdate, pack_path, unpack_path};
pub use name_rule::MAX_NAME;
pub use origins::{Origin, is_token, origins};
pub use paths::open_paths;
pub use peers::{Peer, PeerFilter, RouteValue};
pub use ranges::{RangeError, RangePrefixes, prefixes_of_text};
pub use route::{RecordColumns, Route, RouteSource};
pub use special::{SPECIAL_TABLE_NAME, special_table};
pub use table_format::{Columns, Format, LoadOptions, UpdateFiles};
pub use text_table::TextTable;
pub use update::{Change, Message, Session, Update, UpdateFormat, UpdateOptions, UpdateSource};
pub use updates::open_updates;
pub use value_regex::ValueRegex;
pub use vrps::{VrpTable, load_vrps};
pub use write::{
    OutputFile, Template, WriteError, WriteFormat, WriteOptions, csv_field, write_table,
    write_template,
};

#[cfg(test)]
#[path = "../../popfib/tests/common/rounds.rs"]
mod rounds;

// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
