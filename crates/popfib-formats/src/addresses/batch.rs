//! A batch of addresses: what the sources of this folder fill and what lookups take, with the text that the addresses stand in.

use std::ops::{Deref, DerefMut};

use popfib_table::{AddressColumn, write_ip};

use super::find::find_address;
use super::span::{masked, prefix_of};
use crate::anonymizer::Anonymizer;

/// Addresses of one file, a column of them, with the lines or rows that they stand in.
#[derive(Clone, Debug, Default)]
pub struct AddressBatch {
    column: AddressColumn,
    /// The text that the rows stand in, and where each begins and ends; in 32 bits, as no source puts 4 GiB into a batch.
    text: BatchText,
    rows: Vec<(u32, u32)>,
    /// How many addresses each cell has, where rows have several cells or cells several addresses.
    cells: Vec<u32>,
    /// How long each packet was.
    packet_lengths: Vec<u32>,
    /// Whether more lies ready in the input.
    is_full: bool,
}

/// Text in a buffer that is not filled with zeros again for each block.
#[derive(Clone, Debug, Default)]
pub(super) struct BatchText {
    buffer: Vec<u8>,
    len: usize,
}

impl BatchText {
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    #[inline]
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// The next `len` bytes, to be filled; [`BatchText::set_len`] says how many were.
    #[inline]
    pub(super) fn room(&mut self, len: usize) -> &mut [u8] {
        let end = self.len + len;
        if self.buffer.len() < end {
            self.buffer.resize(end, 0);
        }
        &mut self.buffer[self.len..end]
    }

    /// The text is as long as this, of what was there and what was put into [`BatchText::room`].
    pub(super) fn set_len(&mut self, len: usize) {
        debug_assert!(len <= self.buffer.len());
        self.len = len;
    }
}

impl Deref for AddressBatch {
    type Target = AddressColumn;

    #[inline]
    fn deref(&self) -> &AddressColumn {
        &self.column
    }
}

impl DerefMut for AddressBatch {
    #[inline]
    fn deref_mut(&mut self) -> &mut AddressColumn {
        &mut self.column
    }
}

impl AddressBatch {
    /// The most addresses that a source puts into a batch: enough to make the
    /// cost per batch disappear, few enough to stay in the L2 cache.
    pub const FULL: usize = 16 << 10;

    /// No addresses.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all addresses; memory is kept.
    pub fn clear(&mut self) {
        self.column.clear();
        self.text.set_len(0);
        self.rows.clear();
        self.cells.clear();
        self.packet_lengths.clear();
        self.is_full = false;
    }

    /// Whether more may lie ready in the input, so that answers need not be handed on at once.
    pub fn is_full(&self) -> bool {
        self.is_full || self.len() >= Self::FULL
    }

    /// The lines or rows of a text file as they stand in it, without `\n`, of a Parquet file the text of a column that was asked for; else
    /// empty.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let rows = self.rows.iter();
        rows.map(|&(start, end)| &self.text.bytes()[start as usize..end as usize])
    }

    /// What the rows stand in, line ends and all; nothing is said of what else is in it.
    pub fn text_of_rows(&self) -> &[u8] {
        self.text.bytes()
    }

    /// How many addresses each cell has, row by row, where several were asked for, or both ends of
    /// packets; else empty, and each row has one address or none.
    pub fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// The bytes of each packet on the wire, with what stands before its IP header; empty for other formats.
    pub fn packet_lengths(&self) -> &[u32] {
        &self.packet_lengths
    }

    /// The batch as it may be handed on, into `to`, whose memory is used again: its addresses, and in its rows whatever
    /// [`find_address`] finds, as `by` has them. Prefixes stay such: their host bits are cleared. Zones (`%eth0`) are left out.
    ///
    /// False, and a part of the rows, if they grow beyond 4 GiB, as one of 300 MB can.
    pub fn anonymized(&self, by: &Anonymizer, to: &mut Self) -> bool {
        to.clear();
        to.is_full = self.is_full;
        for found in self.iter() {
            to.push(found.map(|(address, _)| by.ip(address)));
        }
        to.cells.clone_from(&self.cells);
        to.packet_lengths.clone_from(&self.packet_lengths);
        for row in self.rows() {
            let start = to.text.len;
            let mut at = 0;
            while let Some(found) = find_address(row, at) {
                let mut address = by.ip(found.address);
                // A prefix stays one.
                if let Some((prefix, _)) = prefix_of(row, &found)
                    && prefix.address() == found.address
                    && let Some(prefix) = masked(address, prefix.len())
                {
                    address = prefix.address();
                }
                let mut text = [0; _];
                let len = write_ip(address, &mut text);
                to.text.push(&row[at..found.range.start]);
                // A colon after it may be read as a part of it, as the new one may be shorter.
                let is_open = address.is_ipv6() && row[found.range.end..].starts_with(b":");
                to.text.push(if is_open { b"[" } else { b"" });
                to.text.push(&text[..len]);
                to.text.push(if is_open { b"]" } else { b"" });
                at = found.range.end;
            }
            to.text.push(&row[at..]);
            if u32::try_from(to.text.len).is_err() {
                return false;
            }
            to.push_row_at(start, to.text.len);
        }
        true
    }

    /// Adds the row of the addresses added last.
    #[inline]
    pub fn push_row(&mut self, row: &[u8]) {
        let start = self.text.len;
        self.text.push(row);
        self.push_row_at(start, self.text.len);
    }

    /// Adds a row that stands in [`AddressBatch::text`] already.
    #[inline]
    pub(super) fn push_row_at(&mut self, start: usize, end: usize) {
        debug_assert!(u32::try_from(end).is_ok());
        self.rows.push((start as u32, end as u32));
    }

    /// Adds a cell of the next `count` addresses; of a row without an address if there
    /// are none.
    #[inline]
    pub fn push_cell(&mut self, count: u32) {
        self.cells.push(count);
    }

    /// Adds the length of a packet.
    #[inline]
    pub(super) fn push_packet_length(&mut self, length: u32) {
        self.packet_lengths.push(length);
    }

    /// The text that rows stand in.
    pub(super) fn text(&mut self) -> &mut BatchText {
        &mut self.text
    }

    /// Notes whether more lies ready.
    pub(super) fn set_full(&mut self, is_full: bool) {
        self.is_full = is_full;
    }
}
