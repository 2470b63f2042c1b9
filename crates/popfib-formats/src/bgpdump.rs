//! The lines of `bgpdump -m`, one route or change each: lines in, best paths of prefixes, all paths or updates out.
//!
//! ```text
//! TABLE_DUMP2|TIME|B|PEER|PEER_AS|PREFIX|AS_PATH|ORIGIN|NEXT_HOP|...
//! BGP4MP|TIME|A|PEER|PEER_AS|PREFIX|AS_PATH|ORIGIN|NEXT_HOP|...
//! BGP4MP|TIME|W|PEER|PEER_AS|PREFIX
//! BGP4MP|TIME|STATE|PEER|PEER_AS|OLD|NEW
//! ```
//! Where the routers send several paths for a prefix (RFC 7911), the first field
//! ends in `_AP` and the path's identifier follows the prefix.
//!
//! Tables are lines of either kind: announcements are routes, too, and withdrawals
//! are left out of tables. Updates are lines of BGP4MP.

mod line;
mod updates;

use std::fmt::Write;
use std::net::IpAddr;

use popfib::IpPrefix;

use crate::as_path;
use crate::best_path::{CandidatePaths, NO_NEXT_HOP, PathCandidate, best_paths};
use crate::bgp_path::{BgpPath, PathSource, PrefixFilter};
use crate::error::ReadError;
use crate::input::Input;
use crate::lines::Lines;
use crate::name_rule::checked;
use crate::names::note_left_out;
use crate::path_rank::PathRank;
use crate::path_record::PathValue;
use crate::peers::{Peer, PeerFilter, PeerList, RouteValue};
use crate::registry::Capability::{ManyValues, Origins, Peers};
use crate::table_format::{LoadOptions, TableEntry};
use crate::values::ColumnSelection;
use line::{BgpdumpFields, BgpdumpLine, BgpdumpType, fill, is_bgpdump, next_hop, no_path, parse};

pub(crate) use line::path_length;
pub(crate) use updates::UPDATE_FORMAT;

pub(crate) const FORMAT: TableEntry = TableEntry {
    name: "bgpdump",
    description: "text of bgpdump -m: the best path of each prefix, or a peer's",
    can: &[Peers, Origins, ManyValues],
    detect: is_bgpdump,
    open: |input, options| best_paths(BgpdumpTable::new(input, options), options),
};

/// The routes and announcements among the lines, of the peers that are wanted.
struct BgpdumpRoutes {
    lines: Lines,
    mask: bool,
    filter: Option<PeerFilter>,
    peers: PeerList,
    /// How many lines were withdrawals, which no table has.
    withdrawals: u64,
}

impl BgpdumpRoutes {
    fn new(input: Input, options: &LoadOptions) -> Self {
        Self {
            lines: Lines::new(input),
            mask: options.mask,
            filter: options.peer,
            peers: PeerList::default(),
            withdrawals: 0,
        }
    }

    /// What `take` makes of the next line that it takes: of what it says, and the index of its peer; `None` at the end.
    fn next<T>(
        &mut self,
        mut take: impl FnMut(BgpdumpLine<'_>, usize) -> Result<Option<T>, String>,
    ) -> Result<Option<T>, ReadError> {
        while self.lines.advance()? {
            let text = self.lines.line();
            if text.is_empty() {
                continue;
            }
            let line = match parse(text, self.mask) {
                Ok(Some(line)) => line,
                Ok(None) => continue,
                Err(reason) => return Err(self.lines.not_text_or(reason)),
            };
            if line.route.is_none() {
                self.withdrawals += 1;
                continue;
            }
            let peer = self.peers.admit(line.peer, self.filter);
            let (peer, is_wanted) = peer.map_err(|reason| self.lines.invalid(reason))?;
            self.peers
                .count(peer, matches!(line.prefix, IpPrefix::V4(_)));
            if !is_wanted {
                continue;
            }
            match take(line, peer) {
                Ok(None) => {}
                Ok(taken) => return Ok(taken),
                Err(reason) => return Err(self.lines.not_text_or(reason)),
            }
        }
        Ok(None)
    }
}

/// The best paths of the lines.
struct BgpdumpTable {
    routes: BgpdumpRoutes,
    /// The one value that is read, unless columns are.
    value: Option<RouteValue>,
}

impl BgpdumpTable {
    fn new(input: Input, options: &LoadOptions) -> Self {
        Self {
            routes: BgpdumpRoutes::new(input, options),
            value: (options.columns == ColumnSelection::Value).then_some(options.value),
        }
    }
}

/// The error of the current line, if it lacks the next hop that is asked for.
pub(crate) fn flaw(rank: PathRank, wanted: RouteValue, lines: &Lines) -> Option<ReadError> {
    (rank.lacks_next_hop() && wanted == RouteValue::NextHop).then(|| lines.invalid(NO_NEXT_HOP))
}

/// Writes what stands for a route with this AS path, next hop and peer to `value`: nothing for a next hop that it
/// lacks.
pub(crate) fn write_value(
    wanted: RouteValue,
    as_path: &str,
    hop: &str,
    (address, asn): (IpAddr, u32),
    value: &mut String,
) -> Result<(), String> {
    value.clear();
    // Writing to a String cannot fail.
    let _ = match wanted {
        RouteValue::NextHop if hop.is_empty() => return Ok(()),
        RouteValue::NextHop => value.write_str(next_hop(hop)?),
        RouteValue::OriginAs | RouteValue::OriginOrValue => {
            as_path::write_origin_of(as_path, asn, value).map_err(|_| no_path(as_path))?;
            Ok(())
        }
        RouteValue::Peer => write!(value, "{address}"),
    };
    checked(value).map(|_| ())
}

impl CandidatePaths for BgpdumpTable {
    fn next_path(&mut self, value: &mut PathValue) -> Result<Option<PathCandidate>, ReadError> {
        let next = self.routes.next(|line, peer| {
            let fields = line.route.unwrap_or_default();
            let BgpdumpFields {
                as_path, next_hop, ..
            } = fields;
            let PathValue { text, path } = &mut *value;
            match self.value {
                Some(value) => write_value(value, as_path, next_hop, line.peer, text)?,
                None => {
                    (path.peer, path.peer_as) = line.peer;
                    fill(path, fields)?;
                }
            }
            // Of updates, the last announcement counts, whatever its path: equal ranks leave the later one.
            let (path_length, peer) = match line.kind {
                BgpdumpType::Table => (path_length(as_path)?, peer),
                BgpdumpType::Update => (0, 0),
            };
            let rank = PathRank::of_dump(next_hop.is_empty(), path_length);
            Ok(Some((line.prefix, (rank, peer))))
        })?;
        Ok(next.map(|(prefix, rank)| PathCandidate {
            prefix,
            rank,
            flaw: (self.value).and_then(|value| flaw(rank.0, value, &self.routes.lines)),
        }))
    }

    fn notes(&self) -> Vec<String> {
        note_left_out(self.routes.withdrawals, "withdrawal", "")
    }

    fn peers(&self) -> &[Peer] {
        self.routes.peers.all()
    }
}

/// A [`PathSource`] of the lines.
pub(crate) struct BgpdumpPaths {
    routes: BgpdumpRoutes,
    wanted: PrefixFilter,
}

impl BgpdumpPaths {
    pub(crate) fn new(input: Input, options: &LoadOptions, wanted: PrefixFilter) -> Self {
        Self {
            routes: BgpdumpRoutes::new(input, options),
            wanted,
        }
    }
}

impl PathSource for BgpdumpPaths {
    fn next_path(&mut self, path: &mut BgpPath) -> Result<bool, ReadError> {
        let next = self.routes.next(|line, _| {
            if !(self.wanted)(line.prefix) {
                return Ok(None);
            }
            (path.prefix, path.seconds) = (line.prefix, line.time / 1_000_000);
            (path.peer, path.peer_as) = line.peer;
            (path.id, path.is_table_dump) = (line.path_id, line.is_table_dump);
            fill(path, line.route.unwrap_or_default()).map(Some)
        });
        Ok(next?.is_some())
    }

    fn peers(&self) -> &[Peer] {
        self.routes.peers.all()
    }
}
