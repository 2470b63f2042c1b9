//! Addresses of a file: a list, a column, or the destinations of a capture.

use std::net::IpAddr;
use std::path::Path;

use popfib_formats::{AddressBatch, AddressFile, AddressOptions, AddressSource, Input, ReadError};

/// The addresses of a file, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Those of IPv4.
    pub ipv4: Vec<u32>,
    /// Those of IPv6.
    pub ipv6: Vec<u128>,
    /// Packets left out because of where they come from.
    pub excluded: u64,
}

impl Trace {
    /// Reads the file at `path`, in whatever format [`AddressFile`] knows. Lines without an address are
    /// left out.
    ///
    /// Packets that come from one of `exclude` are left out: the paper leaves out an address that
    /// probes the whole Internet. Of each family at most `most` are kept, the first ones.
    ///
    /// # Errors
    /// If the file cannot be read; or if `exclude` is given and the
    /// file holds no packets, which alone tell a source.
    pub fn read(path: &Path, exclude: &[IpAddr], most: Option<usize>) -> Result<Self, ReadError> {
        let options = AddressOptions {
            exclude_sources: exclude.to_vec(),
            ..AddressOptions::default()
        };
        let mut source = AddressFile::open(Input::open(path)?, None, &options)?;
        let mut batch = AddressBatch::new();
        let mut trace = Self::default();
        let most = most.unwrap_or(usize::MAX);
        while source.next_batch(&mut batch)? {
            let room = |len: usize, more: usize| more.min(most - len);
            let (ipv4, ipv6) = (batch.ipv4(), batch.ipv6());
            let of_4 = room(trace.ipv4.len(), ipv4.len());
            let of_6 = room(trace.ipv6.len(), ipv6.len());
            trace.ipv4.extend_from_slice(&ipv4[..of_4]);
            trace.ipv6.extend_from_slice(&ipv6[..of_6]);
        }
        trace.excluded = source.excluded();
        Ok(trace)
    }
}
