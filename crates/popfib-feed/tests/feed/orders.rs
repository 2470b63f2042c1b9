//! Any order of events, beside a model that knows which routes must answer.
//!
//! Events are read from bytes, so that the fuzz target `orders` finds orders that nobody thought of; tests here try random ones,
//! and all short ones. The model has no generations, places or sweeps: each path is fresh, stale or gone. After every event, the
//! tables must have the paths of the model, and lookups one of the best when all is done.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use popfib::IpPrefix;
use popfib_feed::snapshot::Snapshot;
use popfib_feed::{
    ConnectionId, Limits, PathChange, Stream, StreamEvent, StreamId, Tables, Target, Transaction,
};

use crate::at_once::AtOnce as _;

/// Feeds; the first has one connection at a time, others may have several.
const FEEDS: [&str; 3] = ["zebra", "router 1", "router 2"];
const TABLES: [&str; 2] = ["main", "pre-policy"];
const PEERS: [&str; 2] = ["", "192.0.2.1"];
const PREFIXES: [&str; 4] = ["0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "2001:db8::/32"];

const IDLE: Duration = Duration::from_secs(60);
const SETTLED: Duration = Duration::from_secs(5);

/// The most connections of a feed: as many as listeners take from one address.
const MOST_CONNECTIONS: usize = 64;

/// The number of kinds of events.
pub(crate) const KINDS: u8 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Away,
    Sending(Instant),
    Complete,
}

/// The paths of a stream in one family: by prefix and path identifier the value, and whether it is stale.
#[derive(Clone)]
struct Side {
    phase: Phase,
    paths: BTreeMap<(usize, u32), (String, bool)>,
}

struct Source {
    owner: usize,
    is_claimed: bool,
    is_dropped: bool,
    sides: [Side; 2],
}

impl Source {
    fn begin(&mut self, owner: usize, now: Instant) {
        self.owner = owner;
        (self.is_claimed, self.is_dropped) = (false, false);
        for side in &mut self.sides {
            side.phase = Phase::Sending(now);
            side.paths.values_mut().for_each(|(_, stale)| *stale = true);
        }
    }

    fn lose(&mut self) {
        for side in &mut self.sides {
            side.paths.clear();
            side.phase = Phase::Complete;
        }
    }

    fn count(&self) -> usize {
        self.sides.iter().map(|side| side.paths.len()).sum()
    }
}

impl Side {
    /// Paths that were not confirmed are gone.
    fn end(&mut self) {
        self.paths.retain(|_, (_, stale)| !*stale);
        self.phase = Phase::Complete;
    }

    fn has_stale(&self) -> bool {
        self.paths.values().any(|(_, stale)| *stale)
    }
}

/// A stream of a feed: the numbers of its feed, table and peer.
type Name = (usize, usize, usize);

struct Connection {
    number: usize,
    feed: usize,
    id: ConnectionId,
    began: Instant,
    heard: Instant,
    streams: Vec<Stream>,
    /// Streams that it has filled.
    filled: BTreeSet<Name>,
}

/// The tables and what they should have.
pub(crate) struct World {
    tables: Tables,
    now: Instant,
    max_peer_paths: usize,
    /// Live ones, the oldest first; and those that have ended, whose events must do nothing.
    connections: Vec<Connection>,
    ended: Vec<Connection>,
    begun: usize,
    confirmed: [Instant; 3],
    sources: BTreeMap<Name, Source>,
}

/// Bytes that events are read from; zeros at the end.
pub(crate) struct Bytes<'b>(pub(crate) &'b [u8]);

impl Bytes<'_> {
    fn below(&mut self, most: usize) -> usize {
        match self.0.split_first() {
            None => 0,
            Some((&byte, rest)) => {
                self.0 = rest;
                usize::from(byte) % most
            }
        }
    }
}

/// Plays all events of these bytes.
pub(crate) fn play(bytes: &[u8]) {
    let mut world = World::new();
    let mut bytes = Bytes(bytes);
    while !bytes.0.is_empty() {
        let kind = bytes.below(KINDS.into()) as u8;
        world.event(kind, &mut bytes);
        world.check();
    }
    world.settle();
}

impl World {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self {
            tables: Tables::new(limits(usize::MAX)),
            now,
            max_peer_paths: usize::MAX,
            connections: Vec::new(),
            ended: Vec::new(),
            begun: 0,
            confirmed: [now; 3],
            sources: BTreeMap::new(),
        }
    }

    pub(crate) fn event(&mut self, kind: u8, bytes: &mut Bytes<'_>) {
        match kind {
            0 | 1 => self.connect(bytes.below(FEEDS.len())),
            2..=5 => self.change(true, bytes),
            6 => self.change(false, bytes),
            7 => self.stream_event(bytes, StreamEvent::Up),
            8 => self.stream_event(bytes, StreamEvent::Down),
            9 => {
                let is_ipv6 = bytes.below(2) == 1;
                self.stream_event(bytes, |stream| StreamEvent::EndOfRib { stream, is_ipv6 });
            }
            10 => self.close(bytes),
            11 => {
                // The clock moves, and the sweep does a part of its work.
                self.now += Duration::from_secs([1, 6, 31, 61][bytes.below(4)]);
                self.tick(1 + bytes.below(3));
            }
            12 => while self.tick(1 + bytes.below(4)) {},
            13 => self.retain(bytes.below(FEEDS.len())),
            14 => self.restart(),
            _ => {
                self.max_peer_paths = [2, usize::MAX][bytes.below(2)];
                self.tables.set_limits(limits(self.max_peer_paths));
            }
        }
    }

    fn connect(&mut self, feed: usize) {
        // The end of more, all at once, takes several sweeps, which the model does not have: see `tables/walks.rs`.
        let live = self.connections.iter().filter(|c| c.feed == feed);
        if live.count() == MOST_CONNECTIONS {
            return;
        }
        let name = FEEDS[feed];
        let id = match feed {
            0 => {
                let old = self.connections.extract_if(.., |c| c.feed == 0);
                self.ended.extend(old);
                self.tables.connected(name, self.now)
            }
            _ => self.tables.joined(name, self.now),
        };
        self.begun += 1;
        self.confirmed[feed] = self.now;
        self.connections.push(Connection {
            number: self.begun,
            feed,
            id,
            began: self.now,
            heard: self.now,
            streams: Vec::new(),
            filled: BTreeSet::new(),
        });
        for (name, source) in &mut self.sources {
            let is_its = |c: &Connection| c.number == source.owner && c.number != self.begun;
            if name.0 == feed && !self.connections.iter().any(is_its) {
                source.begin(self.begun, self.now);
            }
        }
    }

    /// Chooses a connection, live or not, and one of its streams. Returns the place of a live connection.
    fn choose(
        &mut self,
        bytes: &mut Bytes<'_>,
    ) -> Option<(Option<usize>, ConnectionId, Name, StreamId)> {
        let count = self.connections.len() + self.ended.len();
        let at = bytes.below(count.max(1));
        let (table, peer) = (bytes.below(2), bytes.below(2));
        let is_live = at < self.connections.len();
        let connection = match is_live {
            true => &mut self.connections[at],
            false => self.ended.get_mut(at - self.connections.len())?,
        };
        let stream = Stream {
            table: TABLES[table].to_owned(),
            peer: PEERS[peer].to_owned(),
        };
        let known = connection.streams.iter().position(|known| *known == stream);
        let number = known.unwrap_or_else(|| {
            connection.streams.push(stream);
            connection.streams.len() - 1
        });
        if is_live {
            connection.heard = self.now;
        }
        let name = (connection.feed, table, peer);
        let stream = StreamId(number as u32);
        Some((is_live.then_some(at), connection.id, name, stream))
    }

    /// Passes a transaction on, in pieces.
    fn send(&mut self, id: ConnectionId, transaction: &mut Transaction) {
        let all = self.connections.iter().chain(&self.ended);
        let streams = all.filter(|c| c.id == id).map(|c| &c.streams).next();
        let streams = streams.expect("it was chosen").clone();
        while self.tables.take(id, &streams, transaction, self.now) {}
    }

    /// Whether another connection lives that sends this.
    fn is_anothers(&self, name: Name, number: usize) -> bool {
        let is_other = |source: &Source| source.owner != number && source.is_claimed;
        let source = self.sources.get(&name).filter(|source| is_other(source));
        source.is_some_and(|source| self.connections.iter().any(|c| c.number == source.owner))
    }

    /// The source that a connection fills; `None` if it is another's.
    fn open(&mut self, at: usize, name: Name) -> Option<&mut Source> {
        let number = self.connections[at].number;
        let is_first = self.connections[at].filled.insert(name);
        let is_anothers = self.is_anothers(name, number);
        let now = self.now;
        let source = self.sources.entry(name).or_insert_with(|| {
            let side = Side {
                phase: Phase::Sending(now),
                paths: BTreeMap::new(),
            };
            Source {
                owner: number,
                is_claimed: true,
                is_dropped: false,
                sides: [side.clone(), side],
            }
        });
        if is_first && source.owner != number && (!is_anothers || source.owner < number) {
            source.begin(number, now);
        } else if is_anothers {
            return None;
        }
        (source.owner, source.is_claimed) = (number, true);
        Some(source)
    }

    fn change(&mut self, is_new: bool, bytes: &mut Bytes<'_>) {
        let Some((at, id, name, stream)) = self.choose(bytes) else {
            return;
        };
        let (prefix, path) = (bytes.below(PREFIXES.len()), bytes.below(2) as u32);
        let value = format!("v{}", bytes.below(3));
        let mut transaction = Transaction::default();
        transaction.change(PathChange {
            stream,
            prefix: PREFIXES[prefix].parse().expect("a prefix"),
            path,
            target: is_new.then(|| Target::name(&value)),
        });
        self.send(id, &mut transaction);
        let Some(at) = at else { return };
        let (now, most) = (self.now, self.max_peer_paths);
        let number = self.connections[at].number;
        let key = (prefix, path);
        let source = match is_new {
            true => self.open(at, name),
            false if self.is_anothers(name, number) => None,
            false => self.sources.get_mut(&name),
        };
        let Some(source) = source else { return };
        let count = source.count();
        let side = &mut source.sides[usize::from(PREFIXES[prefix].contains(':'))];
        let old = side.paths.get(&key).map(|(_, stale)| *stale);
        if is_new {
            if source.is_dropped {
                return;
            }
            if count >= most && old.is_none() {
                source.is_dropped = true;
                source.lose();
                return;
            }
            side.paths.insert(key, (value, false));
        } else {
            side.paths.remove(&key);
        }
        if old == Some(true) {
            self.confirmed[name.0] = now;
        } else if !side.has_stale()
            && let Phase::Sending(last) = &mut side.phase
        {
            *last = now.max(*last);
        }
    }

    fn stream_event(&mut self, bytes: &mut Bytes<'_>, event: impl Fn(StreamId) -> StreamEvent) {
        let Some((at, id, name, stream)) = self.choose(bytes) else {
            return;
        };
        let event = event(stream);
        let mut transaction = Transaction::default();
        transaction.event(event);
        self.send(id, &mut transaction);
        let Some(at) = at else { return };
        let number = self.connections[at].number;
        let source = match event {
            StreamEvent::Down(_) if self.is_anothers(name, number) => None,
            StreamEvent::Down(_) => self.sources.get_mut(&name),
            _ => self.open(at, name),
        };
        let Some(source) = source else { return };
        match event {
            StreamEvent::Up(_) => source.is_dropped = false,
            StreamEvent::Down(_) => source.lose(),
            StreamEvent::EndOfRib { is_ipv6, .. } => {
                let side = &mut source.sides[usize::from(is_ipv6)];
                if matches!(side.phase, Phase::Sending(_)) {
                    side.end();
                }
            }
        }
    }

    fn close(&mut self, bytes: &mut Bytes<'_>) {
        if self.connections.is_empty() {
            return;
        }
        let at = bytes.below(self.connections.len());
        let ended = self.connections.remove(at);
        self.tables.disconnected(ended.id, self.now);
        // A later connection that began after this one was last heard comes in its place.
        let mut later = self.connections[at..].iter();
        let next = later.find(|c| c.feed == ended.feed && c.began >= ended.heard);
        for (name, source) in &mut self.sources {
            if name.0 == ended.feed && source.owner == ended.number {
                match next {
                    Some(next) => source.begin(next.number, self.now),
                    None => source.sides.iter_mut().for_each(|s| s.phase = Phase::Away),
                }
            }
        }
        self.ended.push(ended);
    }

    /// A part of the sweep's work; returns whether there is more.
    fn tick(&mut self, count: usize) -> bool {
        for (name, source) in &mut self.sources {
            for side in &mut source.sides {
                let has_stale = side.has_stale();
                let Phase::Sending(last) = &mut side.phase else {
                    continue;
                };
                let idle = match has_stale {
                    false => SETTLED,
                    true => {
                        *last = self.confirmed[name.0].max(*last);
                        IDLE
                    }
                };
                if self.now.duration_since(*last) >= idle {
                    side.end();
                }
            }
        }
        self.tables.tick(self.now, count)
    }

    /// The feed is no longer in the settings.
    fn retain(&mut self, feed: usize) {
        let keep = |name: &str| name != FEEDS[feed];
        assert_eq!(self.tables.retain_feeds(0, self.now, keep), None);
        let gone = self.connections.extract_if(.., |c| c.feed == feed);
        self.ended.extend(gone);
        for (name, source) in &mut self.sources {
            if name.0 == feed {
                source.lose();
                source.sides.iter_mut().for_each(|s| s.phase = Phase::Away);
            }
        }
    }

    fn restart(&mut self) {
        let mut file = Vec::new();
        let mut snapshot = Snapshot::new();
        while snapshot.take(&mut self.tables, 2) {
            snapshot.write(&mut file).expect("to memory");
        }
        snapshot.finish(&mut file).expect("to memory");
        let limits = limits(self.max_peer_paths);
        let restored = Tables::restore(limits, &mut &file[..], &|_| true, self.now);
        self.tables = restored.expect("it was just written");
        self.connections.clear();
        self.ended.clear();
        self.confirmed = [self.now; 3];
        for source in self.sources.values_mut() {
            source.begin(0, self.now);
            source.sides.iter_mut().for_each(|s| s.phase = Phase::Away);
        }
    }

    /// The tables have exactly the paths of the model; none is missing, and none that is gone answers a query.
    pub(crate) fn check(&self) {
        for (table, table_name) in TABLES.iter().enumerate() {
            for (prefix, text) in PREFIXES.iter().enumerate() {
                let prefix_of: IpPrefix = text.parse().expect("a prefix");
                let paths = self.tables.paths(table_name, prefix_of).into_iter();
                let path = |path: popfib_feed::info::PathInfo| {
                    let value = path.target.to_string();
                    (path.feed, path.peer, path.id, value, path.is_older)
                };
                let mut paths: Vec<_> = paths.map(path).collect();
                paths.sort();
                assert_eq!(paths, self.expected(table, prefix), "{table_name} {text}");
            }
        }
        let connected: BTreeSet<usize> = self.connections.iter().map(|c| c.feed).collect();
        assert_eq!(self.tables.totals().connected, connected.len());
    }

    fn expected(&self, table: usize, prefix: usize) -> Vec<(String, String, u32, String, bool)> {
        let mut expected = Vec::new();
        for ((feed, its_table, peer), source) in &self.sources {
            let paths = source.sides.iter().flat_map(|side| &side.paths);
            for ((its_prefix, id), (value, stale)) in paths {
                if (*its_table, *its_prefix) == (table, prefix) {
                    let (feed, peer) = (FEEDS[*feed].to_owned(), PEERS[*peer].to_owned());
                    expected.push((feed, peer, *id, value.clone(), *stale));
                }
            }
        }
        expected.sort();
        expected
    }

    /// All that is gone is removed, and lookups find what is left.
    pub(crate) fn settle(&mut self) {
        while self.tick(2) {}
        self.tables.publish(self.now, false);
        self.check();
        let mut count = 0;
        for (table, name) in TABLES.iter().enumerate() {
            let (ipv4, ipv6) = self.tables.routes(name);
            let ipv4 = ipv4.into_iter().map(|(p, t)| (p.to_string(), t));
            let ipv6 = ipv6.into_iter().map(|(p, t)| (p.to_string(), t));
            let routes: BTreeMap<String, Target> = ipv4.chain(ipv6).collect();
            for (prefix, text) in PREFIXES.iter().enumerate() {
                let expected = self.expected(table, prefix);
                count += expected.len();
                match routes.get(*text) {
                    None => assert!(expected.is_empty(), "{name} {text}"),
                    Some(target) => {
                        let value = target.to_string();
                        let mut values = expected.iter().map(|(_, _, _, value, _)| value);
                        assert!(values.any(|other| *other == value), "{name} {text} {value}");
                    }
                }
            }
        }
        let stale = self.sources.values().flat_map(|source| &source.sides);
        let stale = stale.flat_map(|side| side.paths.values());
        let stale = stale.filter(|(_, stale)| *stale).count();
        let totals = self.tables.totals();
        assert_eq!((totals.paths, totals.older), (count, stale));
        // Nothing is left of a feed that is away and has no paths.
        if count == 0 && self.connections.is_empty() {
            self.tables.tick(self.now, 1);
            assert_eq!(self.tables.tables_after(None).count(), 0);
            self.tables.publish(self.now, false);
            assert_eq!(self.tables.bytes(), 0);
        }
    }
}

fn limits(max_peer_paths: usize) -> Limits {
    Limits {
        idle: IDLE,
        max_peer_paths,
        ..Limits::default()
    }
}
