//! Tables of IP prefixes as programs use them: routes of IPv4 and IPv6, each with a record.
//!
//! A [`Table`] has the routes of both families. Each route leads to a [record](Records): a row of values, one for each
//! [column](Column). In the simplest table there is one column, of texts, called `value`. Routes with equal records share one, and
//! records have numbers from 1 on. A lookup finds the longest prefix that contains the address and answers the number of its
//! record, 0 or `None` if there is none; [`Table::value`] and [`Records::cell`] turn the number into values.
//!
//! Collect routes with texts into a table, make one of routes and [`RecordsBuilder`] with [`Table::of_records`], or take one out of
//! an image with [`Table::of_image`]. It never changes after that, so threads may share it. One address is looked up by
//! [`Table::lookup`], many by [`FamilyTable::value_numbers`], which takes an array and fills an array; an [`AddressColumn`] makes
//! such arrays of addresses of both families. What lookups of many need is compiled when it is first asked for.
//!
//! The command, Python, SQL, C and JavaScript hold such a table and turn its answers into their own types. The crate
//! `popfib-formats` reads files into tables; a program with routes of its own does not need it.
//!
//! What several of these share, but no lookup needs, is here, too: several paths for a prefix ([`multi_rib`]), lists that are made
//! shorter ([`cover`](fn@cover)), VRPs and route origin validation ([`rpki`]), files that are written as a whole or not at all
//! ([`NewFile`]), and files that are read again when they have changed ([`Watcher`]).
//!
//! ```
//! use popfib_table::Table;
//!
//! let routes = [("192.0.2.0/24".parse()?, "office"), ("2001:db8::/32".parse()?, "lab")];
//! let table: Table = routes.into_iter().collect();
//!
//! let (prefix, number) = table.longest_match("192.0.2.7".parse()?)?.expect("it matches");
//! assert_eq!(prefix.to_string(), "192.0.2.0/24");
//! assert_eq!(table.value(number).as_deref(), Some("office"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod address_column;
mod address_text;
mod common_records;
mod cover;
mod dictionary;
mod error;
mod family;
mod join;
pub mod multi_rib;
mod new_file;
mod numbered_texts;
mod prefix_text;
mod records;
pub mod rpki;
mod table;
mod table_set;
mod watched_files;
mod watcher;

pub use address_column::{AddressColumn, AddressRun, FamilyAddresses, packed_ip};
pub use address_text::{IPV6_TEXT, write_ip};
pub use cover::{Cover, cover};
pub use dictionary::Dictionary;
pub use error::TableError;
pub use family::{FamilyTable, Ribs, RouteNumbers};
pub use join::{Join, Lists, NumberedPrefixes};
pub use new_file::{NewFile, save_image};
pub use prefix_text::PrefixText;
pub use records::{
    BuiltRecords, Cell, CellKind, Column, ColumnType, ListCell, MaxMindType, Records,
    RecordsBuilder, Scalar, check_records,
};
pub use table::Table;
pub use table_set::TableSet;
pub use watched_files::WatchedFiles;
pub use watcher::{WatchReader, Watcher};

#[cfg(test)]
#[path = "../../popfib/tests/common/rounds.rs"]
mod rounds;

// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
