//! Addresses of a file: a list, a column, or the destinations of a capture.

use std::net::IpAddr;
use std::path::Path;

use popfib::family::{ByFamily, Family, PerFamily};
use popfib_formats::{AddressBatch, AddressFile, AddressOptions, AddressSource, Input, ReadError};

/// The addresses of a file, in its order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Those of each family.
    pub addresses: ByFamily<Lists>,
    /// Packets left out because of where they come from.
    pub excluded: u64,
}

/// Makes of [`ByFamily`] the addresses of both families.
#[derive(Clone, Debug)]
pub enum Lists {}

impl PerFamily for Lists {
    type Of<A: Family> = Vec<A>;
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
        let mut addresses = ByFamily::<Lists>::default();
        let most = most.unwrap_or(usize::MAX);
        while source.next_batch(&mut batch)? {
            extend(&mut addresses, batch.ipv4(), most);
            extend(&mut addresses, batch.ipv6(), most);
        }
        let excluded = source.excluded();
        Ok(Self {
            addresses,
            excluded,
        })
    }
}

fn extend<A: Family>(all: &mut ByFamily<Lists>, more: &[A], most: usize) {
    let all = A::of_mut(all);
    all.extend(more.iter().take(most - all.len()));
}
