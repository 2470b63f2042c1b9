//! The tables in MRT files: records in, of each prefix the best path out, or that of one peer.
//!
//! A table of TABLE_DUMP_V2 begins with its peers. A record for each prefix follows, with the paths of all peers, of which the
//! best is chosen here, and only its attributes become text. In the older TABLE_DUMP each path is a record of its own,
//! and those of a prefix follow each other: [`best_paths`] chooses there, as for all other dumps.

use std::fmt::Write;
use std::mem;

use popfib::IpPrefix;

use super::attributes::Attributes;
use super::bytes::{Afi, WireBytes, WireFlaw};
use super::entries::{RibEntry, TableDump};
use super::fill::fill;
use super::kinds::{
    BGP4MP, BGP4MP_ET, PEER_INDEX_TABLE, TABLE_DUMP, TABLE_DUMP_V2, UnreadRecords, first_kind,
    is_old, rib_subtype,
};
use super::records::{MrtRecord, MrtRecords};
use crate::best_path::{CandidatePaths, DumpRank, NO_NEXT_HOP, PathCandidate, best_paths};
use crate::error::ReadError;
use crate::input::Input;
use crate::names::counted;
use crate::path_rank::PathRank;
use crate::path_record::PathValue;
use crate::peers::{Peer, PeerFilter, PeerList, RouteValue};
use crate::registry::Capability::{ManyValues, Origins, Peers};
use crate::table_format::{LoadOptions, TableEntry};
use crate::values::ColumnSelection;

pub(crate) const FORMAT: TableEntry = TableEntry {
    name: "mrt",
    description: "MRT tables of route collectors (TABLE_DUMP_V2, TABLE_DUMP): the best path of \
        each prefix, or a peer's",
    can: &[Peers, Origins, ManyValues],
    detect: |head| first_kind(head).is_some() || is_old(head),
    open: |input, options| best_paths(MrtTable::new(input, options), options),
};

/// The routes of MRT tables: of each record the best one that is wanted.
#[derive(Debug)]
struct MrtTable {
    records: MrtRecords,
    reader: MrtTableReader,
}

/// What is known while records are read; also for [all paths](super::paths).
#[derive(Debug)]
pub(super) struct MrtTableReader {
    pub(super) filter: Option<PeerFilter>,
    /// The one value that is read, unless columns are.
    value: Option<RouteValue>,
    pub(super) peers: PeerList,
    /// The peers of the file's table, by their index there: their place among
    /// `peers`, and whether their routes are wanted.
    table: Vec<(usize, bool)>,
    /// Whether a table of peers, which may be empty, has come.
    has_table: bool,
    /// How many bytes of a record of TABLE_DUMP are left, with more paths.
    pub(super) rest: usize,
    /// Records that are left out: of updates, and of all other types.
    updates: u64,
    others: UnreadRecords,
}

impl MrtTable {
    fn new(input: Input, options: &LoadOptions) -> Self {
        Self {
            records: MrtRecords::new(input),
            reader: MrtTableReader::new(options),
        }
    }
}

impl CandidatePaths for MrtTable {
    fn next_path(&mut self, value: &mut PathValue) -> Result<Option<PathCandidate>, ReadError> {
        while let Some(record) = self.records.next()? {
            let offset = record.offset;
            let read = self.reader.read(&record, value);
            self.records.again(mem::take(&mut self.reader.rest));
            match read {
                Ok(None) => {}
                Ok(Some((prefix, rank))) => {
                    // Only an error if no better path of the prefix comes: `BestPaths` decides.
                    let is_flaw =
                        rank.0.lacks_next_hop() && self.reader.value == Some(RouteValue::NextHop);
                    return Ok(Some(PathCandidate {
                        prefix,
                        rank,
                        flaw: is_flaw.then(|| self.records.invalid(offset, NO_NEXT_HOP)),
                    }));
                }
                Err(flaw) => return Err(self.records.invalid(offset, flaw)),
            }
        }
        Ok(None)
    }

    fn notes(&self) -> Vec<String> {
        let MrtTableReader {
            updates, others, ..
        } = &self.reader;
        let mut notes = Vec::new();
        if *updates > 0 {
            let records = counted(*updates, "record");
            notes.push(format!(
                "{records} of updates left out (`popfibd --updates` makes a table of them)"
            ));
        }
        notes.extend(others.notes("unicast routes"));
        notes
    }

    fn peers(&self) -> &[Peer] {
        self.reader.peers.all()
    }
}

impl MrtTableReader {
    pub(super) fn new(options: &LoadOptions) -> Self {
        Self {
            filter: options.peer,
            value: (options.columns == ColumnSelection::Value).then_some(options.value),
            peers: PeerList::default(),
            table: Vec::new(),
            has_table: false,
            rest: 0,
            updates: 0,
            others: UnreadRecords::default(),
        }
    }

    /// The place among the peers of the one with this index in the file's table, and whether its
    /// routes are wanted.
    pub(super) fn peer(&self, index: usize) -> Result<(usize, bool), WireFlaw> {
        self.table.get(index).copied().ok_or(if self.has_table {
            "a route of a peer that is not in the table of peers"
        } else {
            "routes before the table of peers"
        })
    }

    /// The route of a record, its value in `to`; `None` if it has none that is wanted.
    #[inline]
    fn read(
        &mut self,
        record: &MrtRecord<'_>,
        to: &mut PathValue,
    ) -> Result<Option<(IpPrefix, DumpRank)>, WireFlaw> {
        let mut body = WireBytes(record.body);
        match (record.kind, record.subtype) {
            // The subtype is the family.
            (TABLE_DUMP, afi) if let Some(family) = Afi::from_afi(afi) => {
                self.table_dump(record.body, family, to)
            }
            (TABLE_DUMP_V2, PEER_INDEX_TABLE) => self.peer_table(&mut body).map(|()| None),
            (TABLE_DUMP_V2, subtype) if let Some((family, has_ids)) = rib_subtype(subtype) => {
                self.rib(&mut body, family, has_ids, to)
            }
            (BGP4MP | BGP4MP_ET, _) => {
                self.updates += 1;
                Ok(None)
            }
            _ => {
                self.others.add(record.kind);
                Ok(None)
            }
        }
    }

    /// Takes the peers of PEER_INDEX_TABLE (RFC 6396, section 4.3.1); a file of several tables has one for each.
    pub(super) fn peer_table(&mut self, body: &mut WireBytes<'_>) -> Result<(), WireFlaw> {
        body.u32()?; // the collector
        let name = body.u16()?;
        body.take(usize::from(name))?;
        let count = body.u16()?;
        self.table.clear();
        self.has_table = true;
        for index in 0..usize::from(count) {
            let kind = body.u8()?;
            body.u32()?; // the peer's BGP identifier
            let family = [Afi::Ipv4, Afi::Ipv6][usize::from(kind & 1)];
            let address = body.address(family)?;
            let asn = body.asn(if kind & 2 == 0 { 2 } else { 4 })?;
            let admits = |filter: PeerFilter| filter.admits(index, address, asn);
            let wanted = self.filter.is_none_or(admits);
            let peer = self
                .peers
                .add(index, address, asn)
                .ok_or("too many peers")?;
            self.table.push((peer, wanted));
        }
        Ok(())
    }

    /// The best path of RIB_IPV4_UNICAST and the like (RFC 6396, section 4.3.2). Of equal ones it is the last, as in all dumps.
    #[inline]
    fn rib(
        &mut self,
        body: &mut WireBytes<'_>,
        family: Afi,
        has_ids: bool,
        to: &mut PathValue,
    ) -> Result<Option<(IpPrefix, DumpRank)>, WireFlaw> {
        body.u32()?; // the sequence number
        let prefix = body.prefix(family)?;
        let count = body.u16()?;
        let mut best: Option<(DumpRank, WireBytes<'_>)> = None;
        for _ in 0..count {
            let entry = RibEntry::read(body, has_ids)?;
            let (peer, wanted) = self.peer(entry.peer)?;
            // Counted for `popfib peers`, whoever's routes are asked for.
            self.peers.count(peer, family == Afi::Ipv4);
            if !wanted {
                continue;
            }
            let attributes = Attributes::read(entry.attributes)?;
            let rank = (rank(&attributes, family, 4)?, entry.peer);
            // The text of the value is written once, of the best one: there may be hundreds.
            if best.is_none_or(|(least, _)| rank <= least) {
                best = Some((rank, entry.attributes));
            }
        }
        let Some((rank, bytes)) = best else {
            return Ok(None);
        };
        self.write_value(bytes, 4, prefix, self.table[rank.1].0, to)?;
        Ok(Some((prefix, rank)))
    }

    /// The path of a record of TABLE_DUMP.
    fn table_dump(
        &mut self,
        body: &[u8],
        family: Afi,
        to: &mut PathValue,
    ) -> Result<Option<(IpPrefix, DumpRank)>, WireFlaw> {
        let TableDump {
            prefix,
            peer_address,
            peer_as,
            attributes: bytes,
            rest,
        } = TableDump::read(body, family)?;
        self.rest = rest;
        let attributes = Attributes::read(bytes)?;
        let (peer, is_wanted) = self.peers.admit((peer_address, peer_as), self.filter)?;
        self.peers.count(peer, family == Afi::Ipv4);
        if !is_wanted {
            return Ok(None);
        }
        let rank = (rank(&attributes, family, 2)?, peer);
        self.write_value(bytes, 2, prefix, peer, to)?;
        Ok(Some((prefix, rank)))
    }

    /// Sets `to` to what stands for the next hop of a route with these attributes, to no text if it lacks that; or to its path.
    fn write_value(
        &mut self,
        bytes: WireBytes<'_>,
        as_width: usize,
        prefix: IpPrefix,
        peer: usize,
        to: &mut PathValue,
    ) -> Result<(), WireFlaw> {
        let family = match prefix {
            IpPrefix::V4(_) => Afi::Ipv4,
            IpPrefix::V6(_) => Afi::Ipv6,
        };
        let Peer { address, asn, .. } = self.peers.all()[peer];
        let PathValue { text, path } = to;
        let Some(value) = self.value else {
            (path.peer, path.peer_as) = (address, asn);
            return fill(path, bytes, as_width, family);
        };
        let attributes = Attributes::read(bytes)?;
        text.clear();
        // Writing to a String cannot fail.
        let _ = match value {
            RouteValue::NextHop => match attributes.rib_next_hop(family) {
                Some(next_hop) => write!(text, "{next_hop}"),
                None => Ok(()),
            },
            RouteValue::OriginAs | RouteValue::OriginOrValue => {
                attributes.write_origin(as_width, asn, text)?;
                Ok(())
            }
            RouteValue::Peer => write!(text, "{address}"),
        };
        Ok(())
    }
}

/// The rank of a path with these attributes.
#[inline]
fn rank(attributes: &Attributes<'_>, family: Afi, as_width: usize) -> Result<PathRank, WireFlaw> {
    let lacks_next_hop = attributes.rib_next_hop(family).is_none();
    let length = attributes.as_path(as_width).length()?;
    Ok(PathRank::of_dump(lacks_next_hop, length))
}
