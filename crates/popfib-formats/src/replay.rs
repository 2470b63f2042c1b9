//! The table of a dump as it was later: its routes and the updates after it in, the best route of each prefix out.
//!
//! Every path of every peer is kept, as a peer that withdraws its own leaves those of the others, and each prefix has
//! the best one in the end, by the [rules](crate::path_rank) for dumps. A path is its value and
//! what the rules ask for, 28 bytes. A session that ends takes no walk over the paths of its peer: they belong to an earlier
//! generation then, and do not count.

mod peers;

use std::cmp::Ordering;
use std::vec;

use popfib::family::Family;
use popfib::image::Source;
use popfib::{IpPrefix, NextHop};
use popfib_table::multi_rib::{MultiRib, Path};

use crate::bgp_path::{BgpPath, PathSource};
use crate::date::rfc3339;
use crate::error::ReadError;
use crate::format::{open_routes, open_with};
use crate::input::Input;
use crate::mrt::unpack_path;
use crate::name_rule::MAX_NAMES;
use crate::names::counted;
use crate::path_rank::PathRank;
use crate::path_record::{PathValue, PathValues};
use crate::paths::{has_paths, paths_of};
use crate::peers::{Peer, RouteValue};
use crate::registry::Capability;
use crate::route::{Route, RouteSource};
use crate::table_format::{LoadOptions, UpdateFiles};
use crate::update::{Change, Message, Update, UpdateOptions};
use crate::updates_in_order::UpdatesInOrder;
use crate::values::ValueBook;
use peers::PeerNumbers;

/// Opens the routes of `input` with the updates after it.
///
/// # Errors
/// Those of [`open_routes`], and of the updates: a file that cannot be read, or cannot be put in order with others.
pub(crate) fn open(
    input: Input,
    options: &LoadOptions,
    files: &UpdateFiles,
) -> Result<Box<dyn RouteSource>, ReadError> {
    let name = input.name().to_owned();
    // A table without peers has nothing to choose from; there the option chooses from the updates.
    let all_peers = LoadOptions {
        peer: None,
        ..options.clone()
    };
    let table = open_with(input, &all_peers, |input, format| {
        if has_paths(format) {
            let all = Box::new(|_| true);
            return Ok(ReplayedDump::Paths(paths_of(input, format, options, all)));
        }
        let reason = |reason: &str| {
            let reason = format!("{} {reason}", format.name());
            Err(ReadError::file(input.name(), reason))
        };
        if format.0.can(Capability::Peers) {
            return reason(
                "has the paths of several peers, of which updates need each: mrt and bgpdump have",
            );
        }
        if options.columns.are_records() {
            return reason("has columns that updates do not have; `columns` chooses one");
        }
        let of_format = LoadOptions {
            format: Some(format),
            ..all_peers.clone()
        };
        open_routes(input, &of_format).map(ReplayedDump::Routes)
    })?;
    let of_updates = UpdateOptions {
        mask: options.mask,
        ..UpdateOptions::default()
    };
    let is_paths = matches!(table, ReplayedDump::Paths(_));
    Ok(Box::new(Replay {
        skip_invalid: options.skip_invalid,
        until: files.until,
        table,
        is_table_read: false,
        updates: UpdatesInOrder::new(files, of_updates, options.skip_invalid)?,
        state: ReplayState {
            name,
            value: options.value,
            path: PathValue::default(),
            values: PathValues::new(options),
            peers: match is_paths {
                true => PeerNumbers::of_dump(options.peer),
                false => PeerNumbers::one(options.peer),
            },
            ipv4: MultiRib::new(),
            ipv6: MultiRib::new(),
            announced: 0,
        },
        begin: None,
        counts: ReplayCounts::default(),
        notes: Vec::new(),
        routes: None,
    }))
}

/// A time in microseconds, for the user.
fn date(time: u64) -> String {
    rfc3339(time / 1_000_000).unwrap_or_else(|| "1970".to_owned())
}

/// What the updates come after.
enum ReplayedDump {
    /// The paths of several peers, each of which may be withdrawn.
    Paths(Box<dyn PathSource>),
    /// Of one peer, which is not named.
    Routes(Box<dyn RouteSource>),
}

/// A [`RouteSource`] that reads everything when the first route is asked for.
struct Replay {
    skip_invalid: bool,
    until: Option<u64>,
    table: ReplayedDump,
    is_table_read: bool,
    updates: UpdatesInOrder,
    state: ReplayState,
    /// The time of the dump, where it has one.
    begin: Option<u64>,
    counts: ReplayCounts,
    notes: Vec<String>,
    /// What is left of the routes, once all is read.
    routes: Option<vec::IntoIter<Route>>,
}

/// What became of the updates, for the notes.
#[derive(Default)]
struct ReplayCounts {
    applied: u64,
    resets: u64,
    /// Those before the dump, and those without a valid path.
    before: u64,
    invalid: u64,
    /// The times of the first and the last one that was applied.
    times: Option<(u64, u64)>,
}

impl RouteSource for Replay {
    fn next_route(&mut self) -> Result<Option<Route>, ReadError> {
        while self.routes.is_none() {
            match self.read() {
                Ok(true) => {}
                Ok(false) if !self.is_table_read => self.end_table()?,
                Ok(false) => self.routes = Some(self.collect()),
                Err(e) if self.skip_invalid && e.is_cut() => {
                    self.notes
                        .push(format!("truncated, read up to the end: {e}"));
                    if !self.is_table_read {
                        self.end_table()?;
                    }
                }
                Err(e) => return Err(e),
            }
        }
        Ok(self.routes.as_mut().and_then(Iterator::next))
    }

    fn values(&mut self) -> &mut ValueBook {
        &mut self.state.values.book
    }

    fn has_values(&self) -> bool {
        self.state.values.book.reads_columns()
    }

    fn applied(&self) -> Option<String> {
        let ReplayCounts { applied, times, .. } = self.counts;
        let times = times.map(|(first, last)| format!(" of {} to {}", date(first), date(last)));
        let times = times.unwrap_or_default();
        Some(format!("{} applied{times}", counted(applied, "update")))
    }

    fn notes(&self) -> Vec<String> {
        let ReplayCounts {
            resets,
            before,
            invalid,
            ..
        } = self.counts;
        let mut notes = match &self.table {
            ReplayedDump::Paths(_) => Vec::new(),
            ReplayedDump::Routes(routes) => routes.notes(),
        };
        notes.extend_from_slice(&self.notes);
        let begin = self.begin.map(date).unwrap_or_default();
        for (count, noun, what) in [
            (
                before,
                "update",
                format!("before the table of {begin} left out"),
            ),
            (
                resets,
                "session",
                "ended or began, whose peer has no earlier routes then".to_owned(),
            ),
            (
                self.updates.out_of_order(),
                "update",
                "older than one before in the same file, applied in its place".to_owned(),
            ),
            (
                invalid,
                "update",
                "with invalid attributes, which count as a withdrawal".to_owned(),
            ),
        ] {
            if count > 0 {
                notes.push(format!("{} {what}", counted(count, noun)));
            }
        }
        notes.extend_from_slice(self.updates.notes());
        notes
    }

    fn sources(&self) -> Vec<Source> {
        match &self.table {
            ReplayedDump::Paths(_) => Vec::new(),
            ReplayedDump::Routes(routes) => routes.sources(),
        }
    }

    fn peers(&self) -> &[Peer] {
        match &self.table {
            ReplayedDump::Paths(paths) => paths.peers(),
            ReplayedDump::Routes(_) => &[],
        }
    }
}

impl Replay {
    /// Reads a route of the table or, when that is read, a message; false at the end of either.
    fn read(&mut self) -> Result<bool, ReadError> {
        if self.is_table_read {
            return self.read_message();
        }
        let state = &mut self.state;
        match &mut self.table {
            ReplayedDump::Paths(paths) => {
                let path = &mut state.path.path;
                if !paths.next_path(path)? {
                    return Ok(false);
                }
                let time = path.seconds * 1_000_000;
                self.begin = Some(self.begin.map_or(time, |begin| begin.min(time)));
                let BgpPath {
                    prefix,
                    id,
                    peer,
                    peer_as,
                    ..
                } = *path;
                let peer = state.peers.of_table((peer, peer_as), paths.peers());
                let held = state.held(peer, id)?;
                state.announce(prefix, held);
            }
            ReplayedDump::Routes(routes) => {
                let Some(Route { prefix, value }) = routes.next_route()? else {
                    return Ok(false);
                };
                let held = PeerPath::anonymous(value.unwrap_or_else(|| routes.values().absent()));
                state.announce(prefix, held);
            }
        }
        Ok(true)
    }

    /// Ends the dump: its peers are known now, and so is its time.
    fn end_table(&mut self) -> Result<(), ReadError> {
        self.is_table_read = true;
        match &mut self.table {
            ReplayedDump::Paths(paths) => self.state.peers.know(paths.peers()),
            // Updates go on with the numbers of the table.
            ReplayedDump::Routes(routes) => {
                self.state.values.book = std::mem::take(routes.values());
            }
        }
        match (self.begin, self.until) {
            (Some(begin), Some(until)) if until < begin => {
                let date = rfc3339(begin / 1_000_000).unwrap_or_default();
                let reason = format!("the table is of {date}, after the time of `until`");
                Err(ReadError::file(&self.state.name, reason))
            }
            _ => Ok(()),
        }
    }

    /// Applies the next message, if its time and its peer are wanted; false at the end.
    fn read_message(&mut self) -> Result<bool, ReadError> {
        let Some(message) = self.updates.next()? else {
            return Ok(false);
        };
        let time = message.time();
        if time.is_some_and(|time| self.until.is_some_and(|until| until < time)) {
            return Ok(true);
        }
        if time.is_some_and(|time| self.begin.is_some_and(|begin| time < begin)) {
            self.counts.before += 1;
            return Ok(true);
        }
        let state = &mut self.state;
        let peer = match &message {
            Message::Update(update) => update.peer,
            Message::Session(session) => Some(session.peer),
            Message::End { .. } => return Ok(true),
        };
        let peer = state.peers.of_message(peer);
        let Some(peer) = peer.map_err(|reason| ReadError::file(&state.name, reason))? else {
            return Ok(true);
        };
        match message {
            Message::Session(session) if session.is_reset() => {
                state.peers.generations[peer as usize] += 1;
                self.counts.resets += 1;
            }
            Message::Session(_) | Message::End { .. } => {}
            Message::Update(update) => {
                self.counts.applied += 1;
                if let Some(time) = time {
                    let (first, last) = self.counts.times.unwrap_or((time, time));
                    self.counts.times = Some((first.min(time), last.max(time)));
                }
                let is_valid = state.apply(&update, peer)?;
                self.counts.invalid += u64::from(!is_valid);
            }
        }
        Ok(true)
    }

    /// The best route of each prefix, in prefix order, IPv4 first.
    fn collect(&mut self) -> vec::IntoIter<Route> {
        let ReplayState {
            ipv4, ipv6, peers, ..
        } = &mut self.state;
        let mut routes = Vec::with_capacity(ipv4.len() + ipv6.len());
        best_of(&std::mem::take(ipv4), peers, &mut routes);
        best_of(&std::mem::take(ipv6), peers, &mut routes);
        // Those of the other paths are not among the values of the table.
        let kept = routes.iter_mut().map(|route| &mut route.value);
        self.state.values.book.keep(kept);
        routes.into_iter()
    }
}

/// Adds the best path of each prefix among those whose session has not ended since.
fn best_of<A: Family>(paths: &MultiRib<A, PeerPath>, peers: &PeerNumbers, to: &mut Vec<Route>) {
    let mut last = None;
    for (prefix, held) in paths.iter() {
        if last != Some(prefix) && peers.generations[held.peer as usize] == held.generation {
            last = Some(prefix);
            to.push(Route {
                prefix: A::ip_prefix(prefix),
                value: Some(held.value),
            });
        }
    }
}

/// The paths, and what is needed to make values of them.
struct ReplayState {
    /// The file of the table.
    name: String,
    value: RouteValue,
    path: PathValue,
    values: PathValues,
    peers: PeerNumbers,
    ipv4: MultiRib<u32, PeerPath>,
    ipv6: MultiRib<u128, PeerPath>,
    /// How many paths have been announced.
    announced: u32,
}

impl ReplayState {
    /// What is kept of the path at hand.
    fn held(&mut self, peer: u32, id: Option<u32>) -> Result<PeerPath, ReadError> {
        let PathValue { path, text } = &mut self.path;
        if !self.values.book.reads_columns() {
            path.write_value(self.value, text);
        }
        let value = self.values.number(&self.path);
        let value = value.unwrap_or_else(|| self.values.book.absent());
        if self.values.book.text_len() > MAX_NAMES {
            let reason = "its next hops take more than 1 GiB";
            return Err(ReadError::file(&self.name, reason));
        }
        let mut held = PeerPath::anonymous(value);
        (held.peer, held.id) = (peer, id.unwrap_or_default());
        held.length = self.path.path.path_length().min(PeerPath::LACKS - 1);
        if self.path.path.next_hop.is_none() {
            held.length |= PeerPath::LACKS;
        }
        Ok(held)
    }

    /// Keeps a path in place of the one that its peer had for the prefix under this identifier.
    fn announce(&mut self, prefix: IpPrefix, mut held: PeerPath) {
        held.generation = self.peers.generations[held.peer as usize];
        held.announced = self.announced;
        self.announced = self.announced.saturating_add(1);
        // What changes by it does not matter: the best one is looked for in the end.
        let _ = match prefix {
            IpPrefix::V4(prefix) => self.ipv4.announce(prefix, held),
            IpPrefix::V6(prefix) => self.ipv6.announce(prefix, held),
        };
    }

    /// Applies an update; false if its attributes are invalid: then it withdraws the path (RFC 7606, section 2).
    fn apply(&mut self, update: &Update<'_>, peer: u32) -> Result<bool, ReadError> {
        let held = match (update.change, update.attributes) {
            (Change::Withdraw, _) => None,
            (Change::Announce(_), Some(packed)) => {
                let path = &mut self.path.path;
                let is_valid = unpack_path(packed, path).is_ok();
                if let Some((address, asn)) = update.peer {
                    (path.peer, path.peer_as) = (address, asn);
                }
                match is_valid {
                    true => Some(self.held(peer, update.path_id)?),
                    false => None,
                }
            }
            (Change::Announce(next_hop), None) => {
                if self.values.book.are_records() || self.value != RouteValue::NextHop {
                    let reason = "the updates after it have next hops alone; origins and columns need those of mrt and bgpdump";
                    return Err(ReadError::file(&self.name, reason));
                }
                let mut held = PeerPath::anonymous(
                    self.values
                        .book
                        .text(next_hop)
                        .unwrap_or_else(|| self.values.book.absent()),
                );
                held.peer = peer;
                Some(held)
            }
        };
        let is_invalid = held.is_none() && update.change != Change::Withdraw;
        match held {
            Some(held) => self.announce(update.prefix, held),
            None => {
                let key = (peer, update.path_id.unwrap_or_default());
                match update.prefix {
                    IpPrefix::V4(prefix) => drop(self.ipv4.withdraw(prefix, &key)),
                    IpPrefix::V6(prefix) => drop(self.ipv6.withdraw(prefix, &key)),
                }
            }
        }
        Ok(!is_invalid)
    }
}

/// A path of a peer: all that is kept of it. There may be tens of millions, so its attributes are not among it.
#[derive(Clone, Copy)]
struct PeerPath {
    peer: u32,
    id: u32,
    /// The length of its AS path, and whether it lacks a next hop.
    length: u32,
    /// How many paths were announced before, as of equal ones the last counts.
    announced: u32,
    /// That of its peer's session: the path counts only while they are equal.
    generation: u32,
    value: NextHop,
}

impl PeerPath {
    /// The bit of `length` that says that there is no next hop.
    const LACKS: u32 = 1 << 31;

    /// A path of the first peer, without attributes.
    fn anonymous(value: NextHop) -> Self {
        Self {
            peer: 0,
            id: 0,
            length: 0,
            announced: 0,
            generation: 0,
            value,
        }
    }

    /// What decides against other paths of the prefix.
    fn rank(&self) -> (PathRank, u32) {
        let (lacks_next_hop, length) = (self.length & Self::LACKS != 0, self.length & !Self::LACKS);
        (PathRank::of_dump(lacks_next_hop, length), self.peer)
    }
}

impl Path for PeerPath {
    type Key = (u32, u32);

    fn key(&self) -> Self::Key {
        (self.peer, self.id)
    }

    fn next_hop(&self) -> NextHop {
        self.value
    }

    fn preference(&self, other: &Self) -> Ordering {
        let is_better = other.rank().cmp(&self.rank());
        is_better.then(self.announced.cmp(&other.announced))
    }
}
