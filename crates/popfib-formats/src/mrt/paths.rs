//! A table of an MRT file in, every path of it out as a [`BgpPath`], for `popfib paths`.
//!
//! Paths are handed out one by one, while a record holds all of its prefix. So the rest of a record is copied
//! ([`RibEntries`]): the records' buffer is needed for the next one, and to keep borrowing it would tie
//! the caller's hands. Prefixes that nobody asks for are passed over before anything of their paths is parsed.

use std::mem;

use popfib::IpPrefix;

use super::bytes::{Afi, WireBytes, WireFlaw};
use super::entries::{RibEntry, TableDump};
use super::fill::fill;
use super::kinds::{PEER_INDEX_TABLE, TABLE_DUMP, TABLE_DUMP_V2, rib_subtype};
use super::records::{MrtRecord, MrtRecords};
use super::table::MrtTableReader;
use crate::bgp_path::{BgpPath, PathSource, PrefixFilter};
use crate::error::ReadError;
use crate::input::Input;
use crate::peers::Peer;
use crate::table_format::LoadOptions;

/// The paths of MRT tables.
pub(crate) struct MrtPaths {
    records: MrtRecords,
    reader: MrtTableReader,
    wanted: PrefixFilter,
    /// The record whose paths are being handed out.
    rib: RibEntries,
}

/// What is left of a record of one prefix.
#[derive(Default)]
struct RibEntries {
    /// Where in the file the record begins, for errors.
    offset: u64,
    /// Its prefix, the prefix's family, and its time in seconds since 1970.
    head: Option<(IpPrefix, Afi, u64)>,
    has_ids: bool,
    /// How many paths are left, which begin at `at` of `body`.
    left: u16,
    body: Vec<u8>,
    at: usize,
}

impl MrtPaths {
    pub(crate) fn new(input: Input, options: &LoadOptions, wanted: PrefixFilter) -> Self {
        Self {
            records: MrtRecords::new(input),
            reader: MrtTableReader::new(options),
            wanted,
            rib: RibEntries::default(),
        }
    }
}

impl PathSource for MrtPaths {
    fn next_path(&mut self, path: &mut BgpPath) -> Result<bool, ReadError> {
        loop {
            while self.rib.left > 0 {
                match self.rib.next(&self.reader, path) {
                    Ok(true) => return Ok(true),
                    Ok(false) => {}
                    Err(flaw) => return Err(self.records.invalid(self.rib.offset, flaw)),
                }
            }
            let Some(record) = self.records.next()? else {
                return Ok(false);
            };
            let offset = record.offset;
            let read = read(&record, &mut self.reader, &mut self.rib, &self.wanted, path);
            self.records.again(mem::take(&mut self.reader.rest));
            match read {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(flaw) => return Err(self.records.invalid(offset, flaw)),
            }
        }
    }

    fn peers(&self) -> &[Peer] {
        self.reader.peers.all()
    }
}

/// Takes a record up: true if it was one path, in `path` now; the paths of a prefix are left to `rib`.
fn read(
    record: &MrtRecord<'_>,
    reader: &mut MrtTableReader,
    rib: &mut RibEntries,
    wanted: &PrefixFilter,
    path: &mut BgpPath,
) -> Result<bool, WireFlaw> {
    let mut body = WireBytes(record.body);
    let (family, has_ids) = match (record.kind, record.subtype) {
        // The subtype is the family.
        (TABLE_DUMP, afi) if let Some(family) = Afi::from_afi(afi) => {
            return table_dump(record, family, reader, wanted, path);
        }
        (TABLE_DUMP_V2, PEER_INDEX_TABLE) => return reader.peer_table(&mut body).map(|()| false),
        (TABLE_DUMP_V2, subtype) if let Some(rib) = rib_subtype(subtype) => rib,
        _ => return Ok(false),
    };
    body.u32()?; // the sequence number
    let prefix = body.prefix(family)?;
    let count = body.u16()?;
    // Nothing is left of the last record when this is called.
    if wanted(prefix) {
        rib.offset = record.offset;
        rib.head = Some((prefix, family, record.seconds.into()));
        rib.has_ids = has_ids;
        rib.left = count;
        rib.body.clear();
        rib.body.extend_from_slice(body.0);
        rib.at = 0;
    }
    Ok(false)
}

impl RibEntries {
    /// The next path in `path`; false if it is one of a peer that is not asked for.
    fn next(&mut self, reader: &MrtTableReader, path: &mut BgpPath) -> Result<bool, WireFlaw> {
        // No more after an error here: where the next path begins is not known then.
        let left = mem::take(&mut self.left);
        let mut bytes = WireBytes(&self.body[self.at..]);
        let entry = RibEntry::read(&mut bytes, self.has_ids)?;
        self.at = self.body.len() - bytes.0.len();
        self.left = left - 1;
        let (peer, is_wanted) = reader.peer(entry.peer)?;
        let Some((prefix, family, seconds)) = self.head.filter(|_| is_wanted) else {
            return Ok(false);
        };
        let peer = &reader.peers.all()[peer];
        (path.prefix, path.seconds, path.id) = (prefix, seconds, entry.id);
        (path.peer, path.peer_as, path.is_table_dump) = (peer.address, peer.asn, false);
        fill(path, entry.attributes, 4, family)?;
        Ok(true)
    }
}

/// A record of TABLE_DUMP: one path of one peer.
fn table_dump(
    record: &MrtRecord<'_>,
    family: Afi,
    reader: &mut MrtTableReader,
    wanted: &PrefixFilter,
    path: &mut BgpPath,
) -> Result<bool, WireFlaw> {
    let TableDump {
        prefix,
        peer_address,
        peer_as,
        attributes,
        rest,
    } = TableDump::read(record.body, family)?;
    reader.rest = rest;
    let (_, is_wanted) = reader.peers.admit((peer_address, peer_as), reader.filter)?;
    if !wanted(prefix) || !is_wanted {
        return Ok(false);
    }
    (path.prefix, path.seconds, path.id) = (prefix, record.seconds.into(), None);
    (path.peer, path.peer_as, path.is_table_dump) = (peer_address, peer_as, true);
    fill(path, attributes, 2, family)?;
    Ok(true)
}
