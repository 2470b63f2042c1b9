//! The lines of `bgpdump -m`: fields between bars, one route or change a line.
//!
//! ```text
//! TABLE_DUMP2|TIME|B|PEER|PEER_AS|PREFIX|AS_PATH|ORIGIN|NEXT_HOP|...
//! BGP4MP|TIME|A|PEER|PEER_AS|PREFIX|AS_PATH|ORIGIN|NEXT_HOP|...
//! BGP4MP|TIME|W|PEER|PEER_AS|PREFIX
//! ```
//!
//! Where the routers send several paths for a prefix (RFC 7911), the first field
//! ends in `_AP` and the path's identifier follows the prefix.
//!
//! Tables are lines of either; announcements are routes, too, and withdrawals
//! are left out of tables. Updates are lines of BGP4MP.

use std::fmt::Write;
use std::net::IpAddr;
use std::str;

use popfib::IpPrefix;

use crate::best_path::{BestPaths, Paths, Rank};
use crate::bgp_path::{BgpPath, PathSource, Wanted};
use crate::error::{ReadError, quote};
use crate::input::{Input, head_lines};
use crate::lines::Lines;
use crate::name_rule::checked;
use crate::origins::is_as_list;
use crate::peers::{Peer, PeerFilter, PeerList, RouteValue};
use crate::registry::Capabilities;
use crate::table_format::{Entry, LoadOptions};
use crate::update::{Change, Gate, Update, UpdateEntry, UpdateOptions, UpdateSource};
use crate::update_text::{parse_prefix, parse_time};

pub(crate) const FORMAT: Entry = Entry {
    name: "bgpdump",
    description: "text of bgpdump -m: the best path of each prefix, or a peer's",
    can: Capabilities::PEERS,
    detect: is_bgpdump,
    open: |input, options| Ok(Box::new(BestPaths::new(BgpdumpTable::new(input, options)))),
};

pub(crate) const UPDATE_FORMAT: UpdateEntry = UpdateEntry {
    name: "bgpdump",
    description: "text of bgpdump -m",
    can: Capabilities::PEERS,
    detect: is_bgpdump,
    open: |input, options| Ok(Box::new(BgpdumpUpdates::new(input, options))),
};

fn is_bgpdump(head: &[u8]) -> bool {
    let first = head_lines(head).find(|line| !line.is_empty());
    first.and_then(kind).is_some()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Table,
    Update,
}

/// The kind of a line, and whether a path identifier stands after the prefix.
fn kind(line: &[u8]) -> Option<(Kind, bool)> {
    let end = line.iter().position(|&byte| byte == b'|')?;
    let (name, has_path_id) = match line[..end].strip_suffix(b"_AP") {
        Some(name) => (name, true),
        None => (&line[..end], false),
    };
    // Messages that the collector itself sent.
    let kind = match name.strip_suffix(b"_LOCAL").unwrap_or(name) {
        b"TABLE_DUMP" | b"TABLE_DUMP2" | b"TABLE_DUMP_V2" => Kind::Table,
        b"BGP4MP" | b"BGP4MP_ET" => Kind::Update,
        _ => return None,
    };
    Some((kind, has_path_id))
}

/// The address of a next hop, as it is written.
fn next_hop(text: &str) -> Result<&str, String> {
    match text.parse::<IpAddr>() {
        Ok(_) => Ok(text),
        Err(_) if text.is_empty() => Err("a route without a next hop".to_owned()),
        Err(_) => Err(format!("{}: not an address", quote(text.as_bytes()))),
    }
}

/// One line.
struct Line<'a> {
    kind: Kind,
    time: u64,
    peer: (IpAddr, u32),
    prefix: IpPrefix,
    /// AS path and next hop, of routes and announcements.
    route: Option<(&'a str, &'a str)>,
}

/// Reads a line; `None` if it is no route and no change of one (a peer's state).
fn parse(line: &[u8], mask: bool) -> Result<Option<Line<'_>>, String> {
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
    let time = parse_time(text).ok_or_else(|| not(text, "a time"))?;
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
    if has_path_id {
        field("path identifier")?;
    }
    let route = if change == "W" {
        None
    } else {
        let as_path = field("AS path")?;
        field("origin")?;
        Some((as_path, field("next hop")?))
    };
    Ok(Some(Line {
        kind,
        time,
        peer: (address, asn),
        prefix,
        route,
    }))
}

/// How long an AS path is: a set counts as one, a confederation not at all.
pub(crate) fn path_length(as_path: &str) -> u32 {
    let segments = as_path.split_ascii_whitespace();
    segments.filter(|s| !s.starts_with(['(', '['])).count() as u32
}

/// The last AS of a path, or several in a set; a set of one is that one.
fn origin(last: &str) -> &str {
    let set = last.strip_prefix('{').and_then(|l| l.strip_suffix('}'));
    set.filter(|set| !set.contains(',')).unwrap_or(last)
}

/// The error of a line, for a reason; that it isn't even text says more.
fn invalid(lines: &Lines, reason: String) -> ReadError {
    lines.not_text().unwrap_or_else(|| lines.invalid(reason))
}

/// The routes and announcements among the lines, of the peers that are wanted.
#[derive(Debug)]
struct Routes {
    lines: Lines,
    mask: bool,
    filter: Option<PeerFilter>,
    peers: PeerList,
    withdrawals: u64,
}

impl Routes {
    fn new(input: Input, options: &LoadOptions) -> Self {
        Self {
            lines: Lines::new(input),
            mask: options.mask,
            filter: options.peer,
            peers: PeerList::default(),
            withdrawals: 0,
        }
    }

    /// What `take` makes of the next line that it takes: of its text, what that says, and the index of its
    /// peer; `None` at the end.
    fn next<T>(
        &mut self,
        mut take: impl FnMut(&[u8], Line<'_>, usize) -> Result<Option<T>, String>,
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
            match take(text, line, peer) {
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
    routes: Routes,
    value: RouteValue,
}

impl BgpdumpTable {
    fn new(input: Input, options: &LoadOptions) -> Self {
        Self {
            routes: Routes::new(input, options),
            value: options.value,
        }
    }
}

/// Writes what stands for a route with this AS path, next hop and peer to `value`.
pub(crate) fn write_value(
    wanted: RouteValue,
    as_path: &str,
    hop: &str,
    (address, asn): (IpAddr, u32),
    value: &mut String,
) -> Result<(), String> {
    value.clear();
    // Writing to a String cannot fail.
    let _ = match (wanted, as_path.split_ascii_whitespace().next_back()) {
        // Here and not for each line: a peer may have routes without one.
        (RouteValue::NextHop, _) => value.write_str(next_hop(hop)?),
        (RouteValue::OriginAs, Some(last)) if !is_as_list(origin(last)) => {
            return Err(format!("{}: not an AS number", quote(last.as_bytes())));
        }
        (RouteValue::OriginAs, Some(last)) => value.write_str(origin(last)),
        (RouteValue::OriginAs, None) => write!(value, "{asn}"),
        (RouteValue::Peer, _) => write!(value, "{address}"),
    };
    checked(value).map(|_| ())
}

impl Paths for BgpdumpTable {
    fn next_path(&mut self, value: &mut String) -> Result<Option<(IpPrefix, Rank)>, ReadError> {
        self.routes.next(|_, line, peer| {
            let (as_path, hop) = line.route.unwrap_or_default();
            write_value(self.value, as_path, hop, line.peer, value)?;
            let rank = match line.kind {
                Kind::Table => Rank {
                    path_length: path_length(as_path),
                    peer,
                },
                // The last announcement counts.
                Kind::Update => Rank::default(),
            };
            Ok(Some((line.prefix, rank)))
        })
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
}

/// A [`PathSource`] of the lines.
pub(crate) struct BgpdumpPaths {
    routes: Routes,
    wanted: Wanted,
}

impl BgpdumpPaths {
    pub(crate) fn new(input: Input, options: &LoadOptions, wanted: Wanted) -> Self {
        Self {
            routes: Routes::new(input, options),
            wanted,
        }
    }
}

impl PathSource for BgpdumpPaths {
    fn next_path(&mut self, path: &mut BgpPath) -> Result<bool, ReadError> {
        let next = self.routes.next(|text, line, _| {
            if !(self.wanted)(line.prefix) {
                return Ok(None);
            }
            (path.prefix, path.seconds) = (line.prefix, line.time / 1_000_000);
            (path.peer, path.peer_as) = line.peer;
            fill(path, text).map(Some)
        });
        Ok(next?.is_some())
    }
}

/// Sets what the rest of a line says, which [`parse`] found right so far.
fn fill(path: &mut BgpPath, line: &[u8]) -> Result<(), String> {
    let text = str::from_utf8(line).map_err(|_| String::new())?;
    let mut fields = text.split('|').skip(6);
    let mut field = || fields.next().unwrap_or_default();
    let not = |text: &str, what: &str| format!("{}: not {what}", quote(text.as_bytes()));
    let number = |text: &str| {
        let number = (!text.is_empty()).then(|| text.parse());
        number.transpose().map_err(|_| not(text, "a number"))
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
    path.id = match kind(line) {
        Some((_, true)) => number(field())?,
        _ => None,
    };
    copy(field(), &mut path.as_path)?;
    copy(field(), &mut path.origin)?;
    let next_hop = field();
    path.next_hop = match next_hop {
        "" => None,
        text => Some(text.parse().map_err(|_| not(text, "an address"))?),
    };
    path.local_preference = number(field())?;
    path.med = number(field())?;
    copy(field(), &mut path.communities)?;
    path.is_atomic = field() == "AG";
    copy(field(), &mut path.aggregator)
}

/// An [`UpdateSource`] of the lines.
#[derive(Debug)]
struct BgpdumpUpdates {
    lines: Lines,
    mask: bool,
    gate: Gate,
    next_hop: String,
    table_lines: u64,
}

impl BgpdumpUpdates {
    fn new(input: Input, options: &UpdateOptions) -> Self {
        Self {
            lines: Lines::new(input),
            mask: options.mask,
            gate: Gate::new(options.peer),
            next_hop: String::new(),
            table_lines: 0,
        }
    }
}

impl UpdateSource for BgpdumpUpdates {
    fn next_update(&mut self) -> Result<Option<Update<'_>>, ReadError> {
        while self.lines.advance()? {
            let line = self.lines.line();
            if line.is_empty() {
                continue;
            }
            let line = match parse(line, self.mask) {
                Ok(Some(line)) => line,
                Ok(None) => continue,
                Err(reason) => return Err(invalid(&self.lines, reason)),
            };
            if line.kind == Kind::Table {
                self.table_lines += 1;
                continue;
            }
            let (address, asn) = line.peer;
            let index = match self.gate.peer(address, asn) {
                Some((index, true)) => index,
                Some((_, false)) => continue,
                None => return Err(self.lines.invalid("too many peers")),
            };
            let Line {
                time, peer, prefix, ..
            } = line;
            self.next_hop.clear();
            let change = match line.route {
                None => Change::Withdraw,
                Some((_, text)) => {
                    let next_hop = next_hop(text).map_err(|reason| invalid(&self.lines, reason))?;
                    self.next_hop.push_str(next_hop);
                    Change::Announce(&self.next_hop)
                }
            };
            self.gate.count(Some(time), Some(index), prefix);
            return Ok(Some(Update {
                time: Some(time),
                peer: Some(peer),
                prefix,
                change,
            }));
        }
        Ok(None)
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
