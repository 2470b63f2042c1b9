//! Addresses to look up, from whatever file holds them, in batches.
//!
//! One source per format ([`AddressFormat`]) behind one trait,
//! [`AddressSource`]: it fills an [`AddressBatch`] with what lies ready and
//! never waits for more once there is something to answer, so that a slow pipe
//! gets each answer at once and a file is read in big pieces. A batch keeps the
//! families apart, because that is how lookups are done many at a time, and
//! notes their order as runs.

mod batch;
mod csv;
mod format;
mod ipv4_line;
mod ipv6;
mod link;
mod pcap;
mod raw;
mod show;
mod text;
mod window;

use std::net::IpAddr;

use crate::{Input, ReadError};

pub use batch::{AddressBatch, Run};
pub use csv::{Column, CsvAddresses};
pub use format::AddressFormat;
pub use link::Side;
pub use pcap::PcapAddresses;
pub use raw::RawAddresses;
pub use show::{IPV4_TEXT, IPV6_TEXT, write_ipv4, write_ipv6};
pub use text::TextAddresses;

/// A stream of addresses, in the order of its file.
pub trait AddressSource {
    /// Replaces what is in `batch` by the next addresses, at most
    /// [`AddressBatch::FULL`] of them; false at the end.
    ///
    /// Waits for the first of them if it has to. A batch that is not full is
    /// all that could be had without waiting for the input again.
    ///
    /// # Errors
    /// A [`ReadError`] that names the place, once all addresses before it are
    /// handed out. After one that [concerns a single line or
    /// record](ReadError::is_invalid_line), the next call goes on behind it;
    /// any other ends the source.
    fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError>;
}

/// The address of either family that the whole of `text` is, as `IpAddr` would
/// parse it.
#[inline]
pub fn parse_address(text: &[u8]) -> Option<IpAddr> {
    // To copy it costs less than branches for each digit.
    let mut window = [0; ipv4_line::WINDOW];
    if let Some(start) = window.get_mut(..text.len()) {
        start.copy_from_slice(text);
        if let Some(bits) = ipv4_line::whole_address(&window, text.len()) {
            return Some(IpAddr::V4(bits.into()));
        }
    }
    ipv6::address(text).map(|bits| IpAddr::V6(bits.into()))
}

/// The dotted IPv4 address that the `len` bytes from `start` on are, read where they lie, without the
/// copy that [`parse_address`] makes; what lies behind them does not matter.
///
/// `None` for anything else, and where fewer than 20 bytes are left, so that this says nothing about them.
#[inline]
pub fn ipv4_in(bytes: &[u8], start: usize, len: usize) -> Option<u32> {
    ipv4_line::whole_address(bytes.get(start..)?.first_chunk()?, len)
}

/// The error of a cell or line that is no address.
#[cold]
fn not_an_address(text: &[u8]) -> String {
    format!("{}: not an address", crate::error::quote(text))
}

/// What to read of a file, beside its format.
#[derive(Clone, Debug, Default)]
pub struct AddressOptions {
    /// The column of a CSV or TSV file; the first if `None`.
    pub column: Option<Column>,
    /// Which address of a packet.
    pub side: Side,
    /// Packets from these addresses are left out.
    pub exclude_sources: Vec<IpAddr>,
}

/// An [`AddressSource`] of any format but Parquet, which needs a crate of its own.
#[derive(Debug)]
pub enum AddressFile {
    /// One address a line.
    Text(TextAddresses),
    /// A column of a table with comma, semicolon or tab.
    Csv(Box<CsvAddresses>),
    /// Packets.
    Pcap(PcapAddresses),
    /// Records of 4 or 16 bytes.
    Raw(RawAddresses),
}

impl AddressFile {
    /// Opens `input` as `format`, or as what its first bytes say.
    ///
    /// # Errors
    /// If it cannot be read, has no such column, is Parquet, or holds no packets
    /// where sources are to be left out.
    pub fn open(
        mut input: Input,
        format: Option<AddressFormat>,
        options: &AddressOptions,
    ) -> Result<Self, ReadError> {
        let format = match format {
            Some(format) => format,
            None if options.column.is_some() => AddressFormat::detect_table(&mut input),
            None => AddressFormat::detect(&mut input),
        };
        if format != AddressFormat::Pcap && !options.exclude_sources.is_empty() {
            return Err(ReadError::file(
                input.name(),
                "sources can be left out of a capture of packets only",
            ));
        }
        Ok(match format {
            AddressFormat::Text => Self::Text(TextAddresses::new(input)),
            AddressFormat::Csv | AddressFormat::Tsv => {
                let delimiter = format.delimiter(&mut input);
                let column = options.column.clone().unwrap_or_default();
                Self::Csv(Box::new(CsvAddresses::new(input, delimiter, &column)?))
            }
            AddressFormat::Pcap => {
                let packets = PcapAddresses::new(input, options.side)?;
                Self::Pcap(packets.excluding(options.exclude_sources.clone()))
            }
            AddressFormat::RawIpv4 => Self::Raw(RawAddresses::ipv4(input)),
            AddressFormat::RawIpv6 => Self::Raw(RawAddresses::ipv6(input)),
            AddressFormat::Parquet => {
                return Err(ReadError::file(
                    input.name(),
                    "Parquet is read from files only, uncompressed as a whole",
                ));
            }
        })
    }
}

impl AddressFile {
    /// Packets left out so far because of where they come from.
    pub fn excluded(&self) -> u64 {
        match self {
            Self::Pcap(source) => source.excluded(),
            _ => 0,
        }
    }

    /// The format that it is read as.
    pub fn format(&self) -> AddressFormat {
        match self {
            Self::Text(_) => AddressFormat::Text,
            Self::Csv(source) if source.delimiter() == b'\t' => AddressFormat::Tsv,
            Self::Csv(_) => AddressFormat::Csv,
            Self::Pcap(_) => AddressFormat::Pcap,
            Self::Raw(source) => source.format(),
        }
    }
}

impl AddressSource for AddressFile {
    fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        match self {
            Self::Text(source) => source.next_batch(batch),
            Self::Csv(source) => source.next_batch(batch),
            Self::Pcap(source) => source.next_batch(batch),
            Self::Raw(source) => source.next_batch(batch),
        }
    }
}
