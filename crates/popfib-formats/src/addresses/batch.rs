//! A batch of addresses: what the sources of this folder fill and what lookups take.
//!
//! The families are apart, each in a plain array, as batch lookups want them. Their order in the file is kept as runs
//! ([`AddressRun`]). For the lines `10.0.0.1`, `10.0.0.2`, `no address` and `::1` the batch has:
//!
//! ```text
//! ipv4   [10.0.0.1, 10.0.0.2]
//! ipv6   [::1]
//! runs   Ipv4(2) Missing(1) Ipv6(1)
//! rows   the four lines
//! ```
//! Rejected: an array of `IpAddr`. Lookups would have to part and copy it first.

use std::mem::take;
use std::net::{IpAddr, Ipv6Addr};

use popfib_table::write_ip;

use super::find::find_address;
use super::span::{masked, prefix_of};
use crate::anonymizer::Anonymizer;

/// Addresses of one file, in order, with the rows that they stand in.
#[derive(Clone, Debug, Default)]
pub struct AddressBatch {
    ipv4: Vec<u32>,
    ipv6: Vec<u128>,
    runs: Vec<AddressRun>,
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

/// So many neighbours of one kind: of one family, or without an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressRun {
    /// The next of [`AddressBatch::ipv4`].
    Ipv4(usize),
    /// The next of [`AddressBatch::ipv6`].
    Ipv6(usize),
    /// Rows or cells without an address.
    Missing(usize),
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
        self.ipv4.clear();
        self.ipv6.clear();
        self.runs.clear();
        self.text.set_len(0);
        self.rows.clear();
        self.cells.clear();
        self.packet_lengths.clear();
        self.is_full = false;
    }

    /// The IPv4 addresses.
    pub fn ipv4(&self) -> &[u32] {
        &self.ipv4
    }

    /// The IPv6 addresses.
    pub fn ipv6(&self) -> &[u128] {
        &self.ipv6
    }

    /// The order of the addresses.
    pub fn runs(&self) -> &[AddressRun] {
        &self.runs
    }

    /// How many addresses and rows without one there are. Takes time by the runs.
    pub fn len(&self) -> usize {
        let missing = self.runs.iter().map(|run| match *run {
            AddressRun::Missing(count) => count,
            AddressRun::Ipv4(_) | AddressRun::Ipv6(_) => 0,
        });
        self.ipv4.len() + self.ipv6.len() + missing.sum::<usize>()
    }

    /// Whether there is nothing in the batch.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether more may lie ready in the input, so that answers need not be handed on at once.
    pub fn is_full(&self) -> bool {
        self.is_full || self.len() >= Self::FULL
    }

    /// The lines or rows of a text file as they stand in it, without `\n`; empty for other formats.
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
        to.runs.clone_from(&self.runs);
        to.cells.clone_from(&self.cells);
        to.packet_lengths.clone_from(&self.packet_lengths);
        to.ipv4
            .extend(self.ipv4.iter().map(|&address| by.ipv4(address)));
        to.ipv6
            .extend(self.ipv6.iter().map(|&address| by.ipv6(address)));
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

    /// Puts the IPv4 addresses in place of IPv4-mapped ones, of sources whose addresses do not stand in text.
    pub fn unmap(&mut self) {
        let (ipv4, ipv6) = (take(&mut self.ipv4), take(&mut self.ipv6));
        let (mut ipv4, mut ipv6) = (ipv4.into_iter(), ipv6.into_iter());
        for run in take(&mut self.runs) {
            match run {
                AddressRun::Ipv4(count) => self.extend_ipv4(ipv4.by_ref().take(count)),
                AddressRun::Ipv6(count) => {
                    let addresses = ipv6.by_ref().take(count).map(Ipv6Addr::from);
                    addresses.for_each(|address| self.push(address.to_canonical()));
                }
                AddressRun::Missing(count) => (0..count).for_each(|_| self.push_missing()),
            }
        }
    }

    /// Adds an address.
    #[inline]
    pub fn push(&mut self, address: IpAddr) {
        match address {
            IpAddr::V4(address) => self.extend_ipv4([address.into()]),
            IpAddr::V6(address) => self.push_ipv6(address.into()),
        }
    }

    /// Adds IPv4 addresses.
    #[inline]
    pub fn extend_ipv4(&mut self, addresses: impl IntoIterator<Item = u32>) {
        let before = self.ipv4.len();
        self.ipv4.extend(addresses);
        match (self.ipv4.len() - before, self.runs.last_mut()) {
            // No run of nothing.
            (0, _) => {}
            (more, Some(AddressRun::Ipv4(count))) => *count += more,
            (more, _) => self.runs.push(AddressRun::Ipv4(more)),
        }
    }

    /// Adds an IPv6 address.
    #[inline]
    pub fn push_ipv6(&mut self, address: u128) {
        self.ipv6.push(address);
        match self.runs.last_mut() {
            Some(AddressRun::Ipv6(count)) => *count += 1,
            _ => self.runs.push(AddressRun::Ipv6(1)),
        }
    }

    /// Adds a row without an address.
    #[inline]
    pub fn push_missing(&mut self) {
        match self.runs.last_mut() {
            Some(AddressRun::Missing(count)) => *count += 1,
            _ => self.runs.push(AddressRun::Missing(1)),
        }
    }

    /// Adds the row of the address added last.
    #[inline]
    pub(crate) fn push_row(&mut self, row: &[u8]) {
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

    /// Adds a cell of the next `count` addresses; of what was added by [`AddressBatch::push_missing`]
    /// if there are none.
    #[inline]
    pub(super) fn push_cell(&mut self, count: u32) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_a_kind_are_one_run() {
        let mut batch = AddressBatch::new();
        batch.extend_ipv4([]);
        assert!(batch.is_empty());
        batch.extend_ipv4([1, 2]);
        batch.push("0.0.0.3".parse().unwrap());
        batch.push_missing();
        batch.push_missing();
        batch.push("::4".parse().unwrap());
        batch.push_ipv6(5);
        batch.push("0.0.0.6".parse().unwrap());
        assert_eq!(batch.ipv4(), [1, 2, 3, 6]);
        assert_eq!(batch.ipv6(), [4, 5]);
        let runs = [
            AddressRun::Ipv4(3),
            AddressRun::Missing(2),
            AddressRun::Ipv6(2),
            AddressRun::Ipv4(1),
        ];
        assert_eq!(batch.runs(), runs);
        assert_eq!(batch.len(), 8);
        batch.clear();
        assert!(batch.is_empty() && batch.ipv4().is_empty());
        assert_eq!(batch.len(), 0);
    }
}
