//! What to read of a file of addresses: which columns, parts of lines and packets count, and which addresses of each.
//!
//! Each format takes the options that are about it and ignores the others, but for those that [`AddressFile`](super::AddressFile)
//! refuses: an option that does nothing would hide a mistake.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use popfib::family::ByFamily;
use popfib_table::Ribs;

use super::link::PacketSide;

/// A column of a table, as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnId {
    /// By its place, from 1.
    Number(usize),
    /// By its name in the first row.
    Name(String),
}

impl Default for ColumnId {
    fn default() -> Self {
        Self::Number(1)
    }
}

/// A part of a line of text in which addresses are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinePart {
    /// All of it.
    Line,
    /// A field, counted from 1: between delimiters, or between blanks and tabs, however many, if `None`.
    Field(usize, Option<u8>),
    /// What a path leads to in a JSON object: keys with dots between them, which may have dots of their own; in arrays, to
    /// each element, or to the one of a number.
    Path(String),
}

/// The part of lines that is chosen where nobody says which; threads share it.
pub(super) type ChosenPart = Arc<OnceLock<LinePart>>;

/// Which of the addresses in a part of a line are meant: of `10.0.0.1 -> 192.0.2.9` the first, the second, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressPick {
    /// The nth, from 1.
    Nth(usize),
    /// The last.
    Last,
    /// All of them.
    All,
}

/// What to read of a file, beside its format.
#[derive(Clone, Debug, Default)]
pub struct AddressOptions {
    /// The columns of a CSV or TSV file, or the one of a Parquet file. If there are none, that of the first address in CSV
    /// and TSV, the first column of Parquet.
    pub columns: Vec<ColumnId>,
    /// What separates the cells of a table, if that is not to be found in its first line.
    pub delimiter: Option<u8>,
    /// Take text for a table if its first line has a delimiter, whatever its name.
    pub is_table: bool,
    /// Where in a line of text addresses are looked for; in all of it if this is empty.
    pub parts: Vec<LinePart>,
    /// Where nobody says so, choose a member or field of all lines by its name, and note what is taken where there is more.
    pub chooses: bool,
    /// Which of those that are there.
    pub pick: AddressPick,
    /// Addresses in one of these prefixes are passed over in text, as if they were not there. Ribs, and no set that changes with its
    /// Fib: the command needs that nowhere else.
    pub not_in: Option<Arc<ByFamily<Ribs>>>,
    /// Look for no address in lines that begin with `#`.
    pub comments: bool,
    /// Take IPv4-mapped IPv6 addresses as the IPv4 addresses that they stand for.
    pub unmap: bool,
    /// Which addresses of a packet.
    pub side: PacketSide,
    /// Packets from these addresses are left out.
    pub exclude_sources: Vec<IpAddr>,
}

impl Default for AddressPick {
    fn default() -> Self {
        Self::Nth(1)
    }
}
