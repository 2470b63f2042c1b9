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

use std::fmt::Write;
use std::net::IpAddr;
use std::str;

use popfib::IpPrefix;

use crate::as_path;
use crate::best_path::{BestPaths, CandidatePaths, NO_NEXT_HOP, PathCandidate, PathRank};
use crate::bgp_path::{BgpPath, PathSource, PrefixFilter};
use crate::date::parse_seconds;
use crate::error::{ReadError, quote};
use crate::input::{Input, head_lines};
use crate::lines::Lines;
use crate::mrt::pack_path;
use crate::name_rule::checked;
use crate::path_record::PathRecord;
use crate::peers::{Peer, PeerFilter, PeerList, RouteValue};
use crate::record::RecordText;
use crate::registry::FormatCapabilities;
use crate::table_format::{LoadOptions, TableEntry};
use crate::update::{
    Message, PeerGate, Session, UpdateEntry, UpdateHead, UpdateOptions, UpdateSource,
};
use crate::update_text::parse_prefix;

pub(crate) const FORMAT: TableEntry = TableEntry {
    name: "bgpdump",
    description: "text of bgpdump -m: the best path of each prefix, or a peer's",
    can: FormatCapabilities::DUMP_OF_COLUMNS,
    detect: is_bgpdump,
    open: |input, options| Ok(Box::new(BestPaths::new(BgpdumpTable::new(input, options)))),
};

pub(crate) const UPDATE_FORMAT: UpdateEntry = UpdateEntry {
    name: "bgpdump",
    description: "text of bgpdump -m",
    can: FormatCapabilities::PEERS,
    detect: is_bgpdump,
    open: |input, options| Ok(Box::new(BgpdumpUpdates::new(input, options))),
};

fn is_bgpdump(head: &[u8]) -> bool {
    let first = head_lines(head).find(|line| !line.is_empty());
    first.and_then(kind).is_some()
}

/// What the first field of a line says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BgpdumpType {
    /// `TABLE_DUMP2`: an entry of a table.
    Table,
    /// `BGP4MP`: a change, or the state of a peer.
    Update,
}

/// The kind of a line, and whether a path identifier stands after the prefix.
fn kind(line: &[u8]) -> Option<(BgpdumpType, bool)> {
    let end = line.iter().position(|&byte| byte == b'|')?;
    let (name, has_path_id) = match line[..end].strip_suffix(b"_AP") {
        Some(name) => (name, true),
        None => (&line[..end], false),
    };
    // Messages that the collector itself sent.
    let kind = match name.strip_suffix(b"_LOCAL").unwrap_or(name) {
        b"TABLE_DUMP" | b"TABLE_DUMP2" | b"TABLE_DUMP_V2" => BgpdumpType::Table,
        b"BGP4MP" | b"BGP4MP_ET" => BgpdumpType::Update,
        _ => return None,
    };
    Some((kind, has_path_id))
}

/// The address of a next hop, as it is written.
fn next_hop(text: &str) -> Result<&str, String> {
    match text.parse::<IpAddr>() {
        Ok(_) => Ok(text),
        Err(_) if text.is_empty() => Err(NO_NEXT_HOP.to_owned()),
        Err(_) => Err(format!("{}: not an address", quote(text.as_bytes()))),
    }
}

/// One line.
struct BgpdumpLine<'a> {
    kind: BgpdumpType,
    time: u64,
    peer: (IpAddr, u32),
    prefix: IpPrefix,
    path_id: Option<u32>,
    /// The fields of routes and announcements.
    route: Option<BgpdumpFields<'a>>,
}

/// What a line says of a path.
#[derive(Clone, Copy, Default)]
struct BgpdumpFields<'a> {
    as_path: &'a str,
    origin: &'a str,
    next_hop: &'a str,
    /// Local preference, MED, communities, `AG` or `NAG`, aggregator.
    rest: [&'a str; 5],
}

/// Reads a line; `None` if it is no route and no change of one (a peer's state).
fn parse(line: &[u8], mask: bool) -> Result<Option<BgpdumpLine<'_>>, String> {
    let (kind, has_path_id) = kind(line).ok_or("not a line of bgpdump -m")?;
    let line = str::from_utf8(line).map_err(|_| String::new())?;
    let mut fields = line.split('|').skip(1);
    let mut field = |what: &str| {
        fields
            .next()
            .ok_or_else(|| format!("no {what} in this line"))
    };
    let not = |text: &str, what: &str| format!("{}: not {what}", quote(text.as_bytes()));

    let text = field("time")?;
    let time = parse_seconds(text).ok_or_else(|| not(text, "a time"))?;
    let change = field("type")?;
    if change == "STATE" {
        return Ok(None);
    }
    if !matches!(change, "A" | "B" | "W") {
        return Err(not(change, "a type of line"));
    }
    let text = field("peer")?;
    let address = text.parse().map_err(|_| not(text, "an address"))?;
    let text = field("peer's AS")?;
    let asn = text.parse().map_err(|_| not(text, "an AS number"))?;
    let prefix = parse_prefix(field("prefix")?, mask)?;
    let path_id = match has_path_id {
        true => {
            let text = field("path identifier")?;
            Some(text.parse().map_err(|_| not(text, "a path identifier"))?)
        }
        false => None,
    };
    let route = if change == "W" {
        None
    } else {
        Some(BgpdumpFields {
            as_path: field("AS path")?,
            origin: field("origin")?,
            next_hop: field("next hop")?,
            rest: std::array::from_fn(|_| fields.next().unwrap_or_default()),
        })
    };
    Ok(Some(BgpdumpLine {
        kind,
        time,
        peer: (address, asn),
        prefix,
        path_id,
        route,
    }))
}

/// Reads the line of a peer's state.
fn session(line: &[u8]) -> Result<Session, String> {
    let line = str::from_utf8(line).map_err(|_| String::new())?;
    let fields: Vec<_> = line.split('|').collect();
    let session = match fields[..] {
        [_, time, _, peer, asn, old, new, ..] => (|| {
            Some(Session {
                time: parse_seconds(time)?,
                peer: (peer.parse().ok()?, asn.parse().ok()?),
                old: old.parse().ok()?,
                new: new.parse().ok()?,
            })
        })(),
        _ => None,
    };
    session.ok_or_else(|| "not a change of a state: TIME|STATE|PEER|PEER_AS|OLD|NEW".to_owned())
}

/// The length of an AS path, or why it is none.
pub(crate) fn path_length(as_path: &str) -> Result<u32, String> {
    as_path::length(as_path).map_err(|_| no_path(as_path))
}

fn no_path(as_path: &str) -> String {
    format!("{}: not an AS path", quote(as_path.as_bytes()))
}

/// The error of a line, for a reason; that it isn't even text says more.
fn invalid(lines: &Lines, reason: String) -> ReadError {
    lines.not_text().unwrap_or_else(|| lines.invalid(reason))
}

/// The routes and announcements among the lines, of the peers that are wanted.
#[derive(Debug)]
struct BgpdumpRoutes {
    lines: Lines,
    mask: bool,
    filter: Option<PeerFilter>,
    peers: PeerList,
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
                Err(reason) => return Err(invalid(&self.lines, reason)),
            };
            if line.route.is_none() {
                self.withdrawals += 1;
                continue;
            }
            let (address, asn) = line.peer;
            let Some(peer) = self.peers.index(address, asn) else {
                return Err(self.lines.invalid("too many peers"));
            };
            self.peers
                .count(peer, matches!(line.prefix, IpPrefix::V4(_)));
            if self.filter.is_some_and(|f| !f.admits(peer, address, asn)) {
                continue;
            }
            match take(line, peer) {
                Ok(None) => {}
                Ok(taken) => return Ok(taken),
                Err(reason) => return Err(invalid(&self.lines, reason)),
            }
        }
        Ok(None)
    }
}

/// The best paths of the lines.
#[derive(Debug)]
struct BgpdumpTable {
    routes: BgpdumpRoutes,
    value: RouteValue,
    /// The columns of records, unless one value is read.
    record: Option<PathRecord>,
}

impl BgpdumpTable {
    fn new(input: Input, options: &LoadOptions) -> Self {
        Self {
            routes: BgpdumpRoutes::new(input, options),
            value: options.value,
            record: PathRecord::of(options),
        }
    }
}

/// The error of the current line, if it lacks the next hop that is asked for.
pub(crate) fn flaw(rank: PathRank, wanted: RouteValue, lines: &Lines) -> Option<ReadError> {
    (rank.lacks_next_hop && wanted == RouteValue::NextHop).then(|| lines.invalid(NO_NEXT_HOP))
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
    fn next_path(&mut self, value: &mut String) -> Result<Option<PathCandidate>, ReadError> {
        let next = self.routes.next(|line, peer| {
            let fields = line.route.unwrap_or_default();
            let BgpdumpFields {
                as_path, next_hop, ..
            } = fields;
            match &mut self.record {
                None => write_value(self.value, as_path, next_hop, line.peer, value)?,
                Some(record) => {
                    (record.path.peer, record.path.peer_as) = line.peer;
                    fill(&mut record.path, fields)?;
                    record.write(value);
                }
            }
            // Of updates, the last announcement counts.
            let (path_length, peer) = match line.kind {
                BgpdumpType::Table => (path_length(as_path)?, peer),
                BgpdumpType::Update => (0, 0),
            };
            let rank = PathRank {
                lacks_next_hop: next_hop.is_empty(),
                path_length,
                peer,
            };
            Ok(Some((line.prefix, rank)))
        })?;
        Ok(next.map(|(prefix, rank)| PathCandidate {
            prefix,
            rank,
            flaw: (flaw(rank, self.value, &self.routes.lines)).filter(|_| self.record.is_none()),
        }))
    }

    fn notes(&self) -> Vec<String> {
        match self.routes.withdrawals {
            0 => vec![],
            1 => vec!["1 withdrawal left out".to_owned()],
            n => vec![format!("{n} withdrawals left out")],
        }
    }

    fn peers(&self) -> &[Peer] {
        self.routes.peers.all()
    }

    fn record(&self) -> Option<&RecordText> {
        Some(&self.record.as_ref()?.text)
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
            path.id = line.path_id;
            fill(path, line.route.unwrap_or_default()).map(Some)
        });
        Ok(next?.is_some())
    }

    fn peers(&self) -> &[Peer] {
        self.routes.peers.all()
    }
}

/// Sets in `path` what the fields of a line say; what they do not say is unset.
fn fill(path: &mut BgpPath, fields: BgpdumpFields<'_>) -> Result<(), String> {
    let not = |text: &str, what: &str| format!("{}: not {what}", quote(text.as_bytes()));
    // A path without the attribute has 0, too.
    let number = |text: &str| match text {
        "" | "0" => Ok(None),
        text => text.parse().map(Some).map_err(|_| not(text, "a number")),
    };
    let copy = |text: &str, to: &mut String| {
        to.clear();
        to.push_str(text);
        if to.is_empty() {
            Ok(())
        } else {
            checked(to).map(|_| ())
        }
    };
    let [local_preference, med, communities, atomic, aggregator] = fields.rest;
    path_length(fields.as_path)?;
    copy(fields.as_path, &mut path.as_path)?;
    copy(fields.origin, &mut path.origin)?;
    path.next_hop = match fields.next_hop {
        "" => None,
        text => Some(text.parse().map_err(|_| not(text, "an address"))?),
    };
    path.local_preference = number(local_preference)?;
    path.med = number(med)?;
    copy(communities, &mut path.communities)?;
    path.is_atomic = atomic == "AG";
    copy(aggregator, &mut path.aggregator)
}

/// An [`UpdateSource`] of the lines.
#[derive(Debug)]
struct BgpdumpUpdates {
    lines: Lines,
    mask: bool,
    gate: PeerGate,
    head: UpdateHead,
    /// What the line is in place of an update: the state of a peer.
    session: Option<Session>,
    path: BgpPath,
    next_hop: String,
    attributes: Vec<u8>,
    table_lines: u64,
}

impl BgpdumpUpdates {
    fn new(input: Input, options: &UpdateOptions) -> Self {
        Self {
            lines: Lines::new(input),
            mask: options.mask,
            gate: PeerGate::new(options.peer),
            head: UpdateHead::default(),
            session: None,
            path: BgpPath::default(),
            next_hop: String::new(),
            attributes: Vec::new(),
            table_lines: 0,
        }
    }
}

impl UpdateSource for BgpdumpUpdates {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.session = None;
        while self.lines.advance()? {
            let text = self.lines.line();
            if text.is_empty() {
                continue;
            }
            let line = match parse(text, self.mask) {
                Ok(Some(line)) => line,
                Ok(None) => {
                    let session = session(text).map_err(|reason| invalid(&self.lines, reason))?;
                    match self.gate.peer(session.peer.0, session.peer.1) {
                        Some((_, true)) => {}
                        Some((_, false)) => continue,
                        None => return Err(self.lines.invalid("too many peers")),
                    }
                    self.session = Some(session);
                    return Ok(true);
                }
                Err(reason) => return Err(invalid(&self.lines, reason)),
            };
            if line.kind == BgpdumpType::Table {
                self.table_lines += 1;
                continue;
            }
            let (address, asn) = line.peer;
            let index = match self.gate.peer(address, asn) {
                Some((index, true)) => index,
                Some((_, false)) => continue,
                None => return Err(self.lines.invalid("too many peers")),
            };
            let BgpdumpLine {
                time,
                peer,
                prefix,
                path_id,
                route,
                ..
            } = line;
            let announced = match route {
                None => Ok(()),
                Some(fields) => next_hop(fields.next_hop).and_then(|text| {
                    self.next_hop.clear();
                    self.next_hop.push_str(text);
                    fill(&mut self.path, fields)?;
                    pack_path(&self.path, &mut self.attributes).map_err(str::to_owned)
                }),
            };
            announced.map_err(|reason| invalid(&self.lines, reason))?;
            self.gate.count(Some(time), Some(index), prefix);
            self.head = UpdateHead {
                time: Some(time),
                peer: Some(peer),
                prefix,
                path_id,
                is_announced: route.is_some(),
            };
            return Ok(true);
        }
        Ok(false)
    }

    fn message(&self) -> Message<'_> {
        match self.session {
            Some(session) => Message::Session(session),
            None => self.head.message(&self.next_hop, Some(&self.attributes)),
        }
    }

    fn out_of_order(&self) -> u64 {
        self.gate.out_of_order()
    }

    fn notes(&self) -> Vec<String> {
        match self.table_lines {
            0 => vec![],
            1 => vec!["1 line of a table left out".to_owned()],
            n => vec![format!("{n} lines of a table left out")],
        }
    }

    fn peers(&self) -> &[Peer] {
        self.gate.peers()
    }
}
