//! The files that every program reads, whatever its language: a folder a family.
//!
//! * `table`: 24 bytes a route, ordered by address, then length: the address
//!   in 16 bytes, network order, IPv4 in the first four; then length and next
//!   hop, 32 bits each.
//! * `NAME.addresses`: a stream; IPv4 32 bits each, IPv6 16 bytes each in
//!   network order.
//! * `NAME.answers`: for each address of the stream the next hop of its
//!   longest match, 32 bits, 0 for none.
//!
//! Numbers are as the machine has them; the files never leave it. Each program
//! brings addresses into the form that its lookups take before it measures.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use bytemuck::Pod;
use popfib::{NextHop, Prefix, Rib};
use popfib_eval::{Buffer, TrafficAddress};

/// Why a program gave up.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// The traffic that is measured, by its name in `popfib-lab bench`.
pub(crate) const STREAMS: [&str; 3] = ["random", "routes", "zipf"];

/// A family as the files have it.
pub(crate) trait Family: TrafficAddress {
    /// The name of its folder.
    const FOLDER: &'static str;

    /// An address of a stream, as it stands in the file.
    type Stored: Pod;
    fn store(self) -> Self::Stored;
    fn restore(stored: Self::Stored) -> Self;
}

impl Family for u32 {
    const FOLDER: &'static str = "ipv4";
    type Stored = u32;

    fn store(self) -> u32 {
        self
    }

    fn restore(stored: u32) -> Self {
        stored
    }
}

impl Family for u128 {
    const FOLDER: &'static str = "ipv6";
    type Stored = [u8; 16];

    fn store(self) -> [u8; 16] {
        self.to_be_bytes()
    }

    fn restore(stored: [u8; 16]) -> Self {
        Self::from_be_bytes(stored)
    }
}

/// A route as it stands in the file.
type StoredRoute = [u8; 24];

fn store_route<A: Family>(prefix: Prefix<A>, next_hop: NextHop) -> StoredRoute {
    let mut stored = [0; 24];
    let address = prefix.address().to_be_bytes();
    stored[..size_of::<A>()].copy_from_slice(address.as_ref());
    stored[16..20].copy_from_slice(&u32::from(prefix.len()).to_ne_bytes());
    stored[20..].copy_from_slice(&next_hop.get().to_ne_bytes());
    stored
}

fn restore_route<A: Family>(stored: &StoredRoute) -> Option<(Prefix<A>, NextHop)> {
    let bits = u128::from_be_bytes(*stored.first_chunk()?);
    let address = A::truncate(bits >> (128 - A::WIDTH));
    let len = u32::from_ne_bytes(*stored[16..].first_chunk()?);
    let next_hop = u32::from_ne_bytes(*stored[20..].first_chunk()?);
    let prefix = Prefix::new(address, u8::try_from(len).ok()?).ok()?;
    Some((prefix, NextHop::new(next_hop)?))
}

/// A stream and what its lookups have to answer.
pub(crate) struct Stream<A> {
    pub(crate) name: &'static str,
    pub(crate) addresses: Buffer<A>,
    pub(crate) answers: Vec<u32>,
}

pub(crate) fn write_table<A: Family>(folder: &Path, rib: &Rib<A>) -> io::Result<()> {
    let routes = rib
        .iter()
        .map(|(prefix, next_hop)| store_route(prefix, next_hop));
    write(&folder.join("table"), routes)
}

pub(crate) fn write_stream<A: Family>(
    folder: &Path,
    name: &str,
    addresses: &[A],
    rib: &Rib<A>,
) -> io::Result<()> {
    let stored = addresses.iter().map(|address| address.store());
    write(&folder.join(format!("{name}.addresses")), stored)?;
    let answers = addresses
        .iter()
        .map(|&address| rib.lookup(address).map_or(0, NextHop::get));
    write(&folder.join(format!("{name}.answers")), answers)
}

/// The routes in the order of the file.
pub(crate) fn read_table<A: Family>(folder: &Path) -> io::Result<Vec<(Prefix<A>, NextHop)>> {
    let path = folder.join("table");
    read::<StoredRoute>(&path)?
        .iter()
        .map(restore_route)
        .collect::<Option<_>>()
        .ok_or_else(|| invalid(&path, "not a table"))
}

/// The streams of [`STREAMS`].
pub(crate) fn read_streams<A: Family>(folder: &Path) -> io::Result<Vec<Stream<A>>> {
    let read_one = |name: &'static str| {
        let stored: Vec<A::Stored> = read(&folder.join(format!("{name}.addresses")))?;
        let addresses: Vec<A> = stored.into_iter().map(A::restore).collect();
        let path = folder.join(format!("{name}.answers"));
        let answers = read(&path)?;
        if addresses.len() != answers.len() {
            return Err(invalid(&path, "not one answer for each address"));
        }
        Ok(Stream {
            name,
            addresses: Buffer::copy_of(&addresses)?,
            answers,
        })
    };
    STREAMS.into_iter().map(read_one).collect()
}

fn write<T: Pod>(path: &Path, items: impl Iterator<Item = T>) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, fs::File::create(path)?);
    for item in items {
        file.write_all(bytemuck::bytes_of(&item))?;
    }
    file.flush()
}

fn read<T: Pod>(path: &Path) -> io::Result<Vec<T>> {
    let bytes = fs::read(path).map_err(|error| invalid(path, error))?;
    if bytes.is_empty() || bytes.len() % size_of::<T>() != 0 {
        return Err(invalid(path, "not a whole number of items"));
    }
    Ok(bytemuck::pod_collect_to_vec(&bytes))
}

fn invalid(path: &Path, reason: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {reason}", path.display()))
}
