//! Tables of IP prefixes as programs use them: both families, and a record for each route.
//!
//! A [`Table`] is made of routes ([`TableBuilder`]) or of an image, and does not change. It answers one address at a time, or
//! many, by whole columns; what a lookup needs is compiled when it is first asked for. The answer is the *number* of the
//! [record](Records) of the route that matches: mostly one text, or columns of any types. A caller turns each record into
//! its own type once, and a number into that by an index.
//!
//! The command, Python, SQL, C and JavaScript hold such a table and turn its answers into their own types. Files are read
//! into tables by the crate `popfib-formats`, which programs with routes of their own do not need.
//!
//! ```
//! use popfib_table::TableBuilder;
//!
//! let mut builder = TableBuilder::new();
//! builder.insert("192.0.2.0/24".parse()?, "office");
//! builder.insert("2001:db8::/32".parse()?, "lab");
//! let table = builder.build();
//!
//! let (prefix, number) = table.longest_match("192.0.2.7".parse()?)?.expect("it matches");
//! assert_eq!(prefix.to_string(), "192.0.2.0/24");
//! assert_eq!(table.value(number).as_deref(), Some("office"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod address_column;
mod address_text;
mod dictionary;
mod error;
mod family;
mod join;
mod numbered_texts;
mod prefix_text;
mod records;
mod table;
mod table_builder;

pub use address_column::{AddressColumn, AddressRows, AddressRowsByFamily};
pub use address_text::{IPV4_TEXT, IPV6_TEXT, write_ip, write_ipv4, write_ipv6};
pub use dictionary::Dictionary;
pub use error::TableError;
pub use family::{FamilyTable, Ribs, RouteNumbers};
pub use join::{Join, Lists};
pub use prefix_text::PrefixText;
pub use records::{
    BuiltRecords, Cell, Column, ColumnType, ListCell, MaxMindType, Records, RecordsBuilder, Scalar,
};
pub use table::Table;
pub use table_builder::TableBuilder;

#[cfg(test)]
#[path = "../../popfib/tests/common/rounds.rs"]
mod rounds;

// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
