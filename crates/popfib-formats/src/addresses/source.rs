//! What a format of addresses is ([`AddressFormat`]), and what all of its readers can do ([`AddressSource`]).
//!
//! A reader fills an [`AddressBatch`]. It may leave the finding of addresses in lines to its caller
//! ([`AddressSource::next_block`]), because that takes longer than the reading and can be done by several threads. It reports an error as it
//! comes: [`AddressFile`](super::AddressFile) hands out what is in the batch before it.

use super::batch::AddressBatch;
use super::finder::AddressFinder;
use super::options::{AddressOptions, LinePart};
use crate::error::ReadError;
use crate::registry::Capability::{FixedRecords, Packets, Rows};
use crate::registry::{self, format_type};

/// What the module of a format declares.
pub(crate) type AddressEntry = registry::FormatEntry<AddressOptions, dyn AddressSource>;

format_type! {
    /// A format of address files, known by its name.
    AddressFormat: AddressEntry
}

impl AddressFormat {
    /// What one address stands in, as error messages call it.
    pub fn unit(self) -> &'static str {
        match self.0.can {
            [Packets] => "packet",
            [Rows] => "row",
            [FixedRecords] => "record",
            _ => "line",
        }
    }
}

/// What a table looks like that addresses stand in, so that columns can be added to it in its own way.
#[derive(Clone, Copy, Debug)]
pub struct CsvDialect<'a> {
    /// What separates cells.
    pub delimiter: u8,
    /// Whether the first line ends in CR LF.
    pub is_crlf: bool,
    /// The first row as it stands in the file, without its line end; `None` if it is data.
    pub header: Option<&'a [u8]>,
    /// How much of it is a line before, which declares the delimiter (`sep=;`).
    pub(super) declaration: usize,
}

impl<'a> CsvDialect<'a> {
    /// The row of names; empty if there is none.
    pub fn names(&self) -> &'a [u8] {
        &self.header.unwrap_or_default()[self.declaration..]
    }
}

/// A stream of addresses, in the order of its file.
pub trait AddressSource: Send {
    /// Replaces what is in `batch` by the next addresses, about
    /// [`AddressBatch::FULL`] of them at the most; false at the end.
    ///
    /// Waits for the first of them if it has to. A batch that is not
    /// [full](AddressBatch::is_full) is all that could be had without waiting for the input again.
    ///
    /// # Errors
    /// A [`ReadError`] that names the place, once all addresses before it are
    /// handed out. After one that [concerns a single line or
    /// record](ReadError::is_invalid_line), the next call goes on after it;
    /// any other ends the source.
    fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError>;

    /// As [`AddressSource::next_batch`], but where there is a [finder](AddressSource::finder) the
    /// addresses are still to be found by it, which may be done elsewhere meanwhile.
    ///
    /// # Errors
    /// As [`AddressSource::next_batch`].
    fn next_block(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        self.next_batch(batch)
    }

    /// What finds the addresses of [blocks](AddressSource::next_block).
    fn finder(&self) -> Option<AddressFinder> {
        None
    }

    /// What the file looks like as a table, if it is one.
    fn table(&self) -> Option<CsvDialect<'_>> {
        None
    }

    /// What the line with the names of the fields begins with, in a file of lines that has such a line. No addresses are
    /// looked for in it, nor in lines that begin with `#`.
    fn heading(&self) -> Option<&[u8]> {
        None
    }

    /// The field of this name in a file with such a line.
    fn field(&self, _name: &str) -> Option<LinePart> {
        None
    }

    /// For each part or column that was asked for, in order, why no row so far had it; `None` for one that a row had, and
    /// if there were no rows.
    fn missing(&self) -> Vec<Option<String>> {
        Vec::new()
    }

    /// Packets left out so far because of where they come from.
    fn excluded(&self) -> u64 {
        0
    }

    /// What else was left out so far without being an error, for the user: one line each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}
