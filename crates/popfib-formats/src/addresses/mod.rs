//! Addresses to look up, from whatever file holds them, in batches: an [`Input`](crate::Input) in, [`AddressBatch`]es out.
//!
//! [`AddressFile`] finds the format of a file ([`AddressFormat`]) and opens it. Below it is one source for each format, and
//! all of them are an [`AddressSource`]: it fills a batch with what lies ready, and never waits for more once there is something
//! to answer. So a slow pipe gets each answer at once, and a file is read in big pieces.
//!
//! A batch is a [column](popfib_table::AddressColumn), which keeps the families apart, because that is how lookups are done many at
//! a time. Beside the addresses it has the lines or rows that they stand in, so that answers can be written after them.
//!
//! [`find_address`] and [`find_span`] find addresses, prefixes and ranges in one line, without any file.

mod batch;
mod choice;
mod csv;
mod field_names;
mod find;
mod finder;
mod format;
mod head;
mod headed;
mod ipv4_line;
mod ipv6;
mod json;
mod json_path;
mod link;
mod options;
mod parquet;
mod parse;
mod pcap;
mod raw;
mod record;
mod source;
mod span;
mod tally;
mod text;
mod window;

pub use crate::ipv4::address as leading_ipv4;
pub use batch::AddressBatch;
pub use find::{FoundAddress, find_address};
pub use finder::{AddressFinder, line_part};
pub use format::AddressFile;
pub use link::PacketSide;
pub use options::{AddressOptions, AddressPick, ColumnId, LinePart};
pub use parse::{parse_address, parse_ipv4_at, parse_ipv6};
pub use record::CsvRecord;
pub use source::{AddressFormat, AddressSource, CsvDialect};
pub(crate) use span::after_slash;
pub use span::{FoundSpan, find_span};
