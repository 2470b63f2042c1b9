//! Every path in the tables of MRT files, with the attributes that people look at.

use std::mem;

use popfib::IpPrefix;

use super::bytes::{Bytes, Family, Flaw};
use super::fill::fill;
use super::kinds::{TABLE_DUMP, TABLE_DUMP_V2};
use super::records::{Record, Records};
use super::table::Reader;
use crate::bgp_path::{BgpPath, PathSource, PrefixFilter};
use crate::error::ReadError;
use crate::input::Input;
use crate::peers::Peer;
use crate::table_format::LoadOptions;

/// The paths of MRT tables.
pub(crate) struct MrtPaths {
    records: Records,
    reader: Reader,
    wanted: PrefixFilter,
    /// The record whose paths are being handed out.
    rib: Rib,
}

/// What is left of a record of one prefix.
#[derive(Default)]
struct Rib {
    offset: u64,
    head: Option<(IpPrefix, Family, u64)>,
    has_ids: bool,
    left: u16,
    body: Vec<u8>,
    at: usize,
}

impl MrtPaths {
    pub(crate) fn new(input: Input, options: &LoadOptions, wanted: PrefixFilter) -> Self {
        Self {
            records: Records::new(input),
            reader: Reader::new(options),
            wanted,
            rib: Rib::default(),
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
            match read(&record, &mut self.reader, &mut self.rib, &self.wanted, path) {
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
    record: &Record<'_>,
    reader: &mut Reader,
    rib: &mut Rib,
    wanted: &PrefixFilter,
    path: &mut BgpPath,
) -> Result<bool, Flaw> {
    let mut body = Bytes(record.body);
    let (family, has_ids) = match (record.kind, record.subtype) {
        (TABLE_DUMP, 1) => return table_dump(record, Family::Ipv4, reader, wanted, path),
        (TABLE_DUMP, 2) => return table_dump(record, Family::Ipv6, reader, wanted, path),
        (TABLE_DUMP_V2, 1) => return reader.peer_table(&mut body).map(|()| false),
        (TABLE_DUMP_V2, 2) => (Family::Ipv4, false),
        (TABLE_DUMP_V2, 4) => (Family::Ipv6, false),
        (TABLE_DUMP_V2, 8) => (Family::Ipv4, true),
        (TABLE_DUMP_V2, 10) => (Family::Ipv6, true),
        _ => return Ok(false),
    };
    body.u32()?; // the sequence number
    let prefix = body.prefix(family)?;
    let count = body.u16()?;
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

impl Rib {
    /// The next path in `path`; false if it is one of a peer that is not asked for.
    fn next(&mut self, reader: &Reader, path: &mut BgpPath) -> Result<bool, Flaw> {
        // None, should it not be found where the next path begins.
        let left = mem::take(&mut self.left);
        let mut bytes = Bytes(&self.body[self.at..]);
        let index = usize::from(bytes.u16()?);
        bytes.u32()?; // when it was received
        let id = if self.has_ids {
            Some(bytes.u32()?)
        } else {
            None
        };
        let length = bytes.u16()?;
        let attributes = Bytes(bytes.take(usize::from(length))?);
        self.at = self.body.len() - bytes.0.len();
        self.left = left - 1;
        let (peer, is_wanted) = reader.peer(index)?;
        let Some((prefix, family, seconds)) = self.head.filter(|_| is_wanted) else {
            return Ok(false);
        };
        let peer = &reader.peers.all()[peer];
        (path.prefix, path.seconds, path.id) = (prefix, seconds, id);
        (path.peer, path.peer_as) = (peer.address, peer.asn);
        fill(path, attributes, 4, family)?;
        Ok(true)
    }
}

/// A record of TABLE_DUMP: one path of one peer.
fn table_dump(
    record: &Record<'_>,
    family: Family,
    reader: &mut Reader,
    wanted: &PrefixFilter,
    path: &mut BgpPath,
) -> Result<bool, Flaw> {
    let mut body = Bytes(record.body);
    body.u32()?; // view and sequence number
    let prefix = body.address_prefix(family)?;
    body.take(5)?; // status, and when it was received
    let address = body.address(family)?;
    let asn = body.asn(2)?;
    let length = body.u16()?;
    let attributes = Bytes(body.take(usize::from(length))?);
    let peer = reader.peers.index(address, asn).ok_or("too many peers")?;
    if !wanted(prefix) || !reader.is_wanted(peer, address, asn) {
        return Ok(false);
    }
    (path.prefix, path.seconds, path.id) = (prefix, record.seconds.into(), None);
    (path.peer, path.peer_as) = (address, asn);
    fill(path, attributes, 2, family)?;
    Ok(true)
}
