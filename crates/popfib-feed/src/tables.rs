//! Tables that follow the routes of feeds.
//!
//! A *feed* is a router or program that connects; its name stays the same over reconnections. Each of its streams is a *source*
//! of one table. A table keeps the paths of all of its sources, and shows readers the best path of each prefix.

mod connections;
mod queries;
pub(crate) mod snapshot;

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use popfib::{Address, IpPrefix, Prefix};

use crate::feeds::{Feed, FeedId};
use crate::held::{Half, Held, Side};
use crate::info::{Dropped, Limits, Routes, Totals};
use crate::target::Target;
use crate::transaction::{Change, Mark, Stream, StreamId, Transaction};
use crate::view::View;

/// How long a stream without older routes has to be silent to be complete, if its protocol has no mark for that.
const SETTLED: Duration = Duration::from_secs(5);

/// The number of changes after which the tables' memory is measured again. That of targets, which may be much larger, is
/// counted.
const A_MEASURE: usize = 4096;

/// How long changes wait to be published, if they arrive faster than they can be published one by one.
const LATE: Duration = Duration::from_millis(500);

/// All tables with all of their paths. One thread changes them; other threads use [`Tables::reader`].
#[derive(Default)]
pub struct Tables {
    limits: Limits,
    feeds: Vec<Feed>,
    feed_names: HashMap<String, usize>,
    sources: Vec<Source>,
    source_names: HashMap<(usize, Stream), u16>,
    tables: Vec<Table>,
    table_names: BTreeMap<String, usize>,
    totals: Totals,
    version: u64,
    /// The time since which changes wait to be published.
    waiting: Option<Instant>,
    /// What the tables took at the last measurement, which was `unmeasured` changes ago.
    bytes_measured: usize,
    unmeasured: usize,
    dropped: Vec<Dropped>,
}

pub(crate) struct Source {
    feed: usize,
    /// The number of the connection whose changes apply.
    owner: u64,
    table: usize,
    peer: String,
    /// Whether it has announced more paths than allowed.
    is_dropped: bool,
    ipv4: Side<u32>,
    ipv6: Side<u128>,
}

impl Source {
    /// A connection has begun, which will announce its paths again.
    fn begin(&mut self, owner: u64, now: Instant) {
        self.owner = owner;
        self.is_dropped = false;
        self.ipv4.freshness.connected(now);
        self.ipv4.age();
        self.ipv6.freshness.connected(now);
        self.ipv6.age();
    }

    /// Marks all of its paths for removal.
    fn lose(&mut self) {
        self.ipv4.freshness.lost();
        self.ipv4.age();
        self.ipv6.freshness.lost();
        self.ipv6.age();
    }
}

#[derive(Default)]
pub(crate) struct Table {
    ipv4: Half<u32>,
    ipv6: Half<u128>,
    view: View,
}

/// The parts of a source and a table that belong to a family.
trait Family: Address {
    fn parts<'a>(source: &'a mut Source, table: &'a mut Table) -> Parts<'a, Self>;
}

type Parts<'a, A> = (&'a mut Side<A>, &'a mut Half<A>, &'a mut View);

impl Family for u32 {
    fn parts<'a>(source: &'a mut Source, table: &'a mut Table) -> Parts<'a, Self> {
        (&mut source.ipv4, &mut table.ipv4, &mut table.view)
    }
}

impl Family for u128 {
    fn parts<'a>(source: &'a mut Source, table: &'a mut Table) -> Parts<'a, Self> {
        (&mut source.ipv6, &mut table.ipv6, &mut table.view)
    }
}

impl Tables {
    /// Makes an empty list of tables.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Changes the limits. Existing paths stay.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Applies a transaction of the feed, which refers to these streams. Readers see its changes prefix by prefix.
    /// A transaction of a connection that is no longer [current](Self::is_current) is ignored.
    pub fn apply(
        &mut self,
        id: FeedId,
        streams: &[Stream],
        transaction: &Transaction,
        now: Instant,
    ) {
        self.take(id, streams, transaction, now);
        self.publish(now, false);
    }

    /// Like [`apply`](Self::apply), but readers see the changes only after the next [`publish`](Self::publish). Many
    /// changes take less time if they are published together.
    pub fn take(
        &mut self,
        id: FeedId,
        streams: &[Stream],
        transaction: &Transaction,
        now: Instant,
    ) {
        if !self.hear(id, streams, now) {
            return;
        }
        self.waiting.get_or_insert(now);
        self.unmeasured += transaction.changes().len();
        if self.unmeasured > A_MEASURE {
            self.measure();
        }
        self.totals.transactions += 1;
        self.version += 1;
        for change in transaction.changes() {
            let Some(source) = self.source_of(id, change.stream) else {
                self.totals.refused += u64::from(change.target.is_some());
                continue;
            };
            if !self.owns(id, source) {
                continue;
            }
            match change.prefix {
                IpPrefix::V4(prefix) => self.change(source, prefix, change, now),
                IpPrefix::V6(prefix) => self.change(source, prefix, change, now),
            }
        }
        for mark in transaction.marks() {
            self.mark(id, mark);
        }
    }

    /// The number of changes that wait to be published. O(tables).
    pub fn waiting(&self) -> usize {
        let of = |table: &Table| table.view.waiting();
        self.waiting.map_or(0, |_| self.tables.iter().map(of).sum())
    }

    /// Publishes all waiting changes to readers. If more changes have already arrived (`is_behind`), this does nothing until the
    /// first waiting change is half a second old. O(changes), or O(routes) if that is less.
    pub fn publish(&mut self, now: Instant, is_behind: bool) {
        let Some(since) = self.waiting else {
            return;
        };
        if is_behind && now.saturating_duration_since(since) < LATE {
            return;
        }
        self.tables
            .iter_mut()
            .for_each(|table| table.view.publish());
        self.waiting = None;
    }

    fn change<A: Family>(&mut self, source: u16, prefix: Prefix<A>, change: &Change, now: Instant)
    where
        IpPrefix: From<Prefix<A>>,
    {
        let is_full = self.is_full();
        let at = &mut self.sources[usize::from(source)];
        if at.is_dropped {
            self.totals.refused += u64::from(change.target.is_some());
            return;
        }
        let feed = at.feed;
        let is_peer_full = at.ipv4.paths + at.ipv6.paths >= self.limits.max_peer_paths;
        let table = &mut self.tables[at.table];
        let (side, half, view) = A::parts(at, table);
        let had = side.paths;
        let done = match &change.target {
            Some(target) => {
                let key = (source, change.path);
                if (is_full || is_peer_full) && half.paths.get(prefix, &key).is_none() {
                    self.totals.refused += 1;
                    if is_peer_full {
                        self.drop_peer(source);
                    }
                    return;
                }
                self.totals.announced += 1;
                let held = Held {
                    target: target.clone(),
                    source,
                    generation: side.freshness.generation(),
                    id: change.path,
                };
                half.announce(prefix, held, side, view)
            }
            None => {
                self.totals.withdrawn += 1;
                let key = (source, change.path);
                half.withdraw(prefix, key, side, view).unwrap_or_default()
            }
        };
        if done.was_older {
            self.feeds[feed].confirmed = now;
        } else if side.older == 0 {
            side.freshness.confirmed(now);
        }
        self.totals.paths = self.totals.paths + side.paths - had;
    }

    /// Drops a source that has announced more paths than allowed.
    fn drop_peer(&mut self, source: u16) {
        let source = &mut self.sources[usize::from(source)];
        source.is_dropped = true;
        source.lose();
        self.totals.dropped += 1;
        let mut names = self.table_names.iter();
        let table = names.find(|(_, number)| **number == source.table);
        self.dropped.push(Dropped {
            feed: self.feeds[source.feed].name.clone(),
            peer: source.peer.clone(),
            table: table.map(|(name, _)| name.clone()).unwrap_or_default(),
        });
    }

    /// Returns the peers that were dropped since the last call.
    pub fn take_dropped(&mut self) -> Vec<Dropped> {
        std::mem::take(&mut self.dropped)
    }

    fn measure(&mut self) {
        self.unmeasured = 0;
        if self.limits.max_bytes < usize::MAX {
            self.bytes_measured = self.bytes();
        }
    }

    /// Whether there is no room for another path.
    fn is_full(&self) -> bool {
        let bytes = self.bytes_measured.saturating_add(Target::all_bytes());
        bytes >= self.limits.max_bytes || self.totals.paths >= self.limits.max_paths
    }

    fn mark(&mut self, id: FeedId, mark: &Mark) {
        let (Mark::Up(stream) | Mark::Down(stream) | Mark::EndOfRib { stream, .. }) = *mark;
        let Some(source) = self.source_of(id, stream) else {
            return;
        };
        if !self.owns(id, source) {
            return;
        }
        let source = &mut self.sources[usize::from(source)];
        match *mark {
            Mark::Up(_) => source.is_dropped = false,
            Mark::Down(_) => source.lose(),
            Mark::EndOfRib { is_ipv6: false, .. } => source.ipv4.freshness.all_sent(),
            Mark::EndOfRib { is_ipv6: true, .. } => source.ipv6.freshness.all_sent(),
        }
    }

    /// The source of a stream of the connection; `None` if there were too many.
    fn source_of(&self, id: FeedId, stream: StreamId) -> Option<u16> {
        let connection = self.feeds[id.feed].connection(id.connection)?;
        connection.sources.get(stream.0 as usize).copied().flatten()
    }

    /// The source of a stream, which belongs to the connection `owner` if it is new; `None` if there are too many.
    fn source(&mut self, feed: usize, stream: &Stream, owner: u64, now: Instant) -> Option<u16> {
        let key = (feed, stream.clone());
        if let Some(&source) = self.source_names.get(&key) {
            return Some(source);
        }
        let number = u16::try_from(self.sources.len()).ok()?;
        let table = match self.table_names.get(&stream.table) {
            Some(&table) => table,
            None => {
                self.tables.push(Table::default());
                let table = self.tables.len() - 1;
                self.table_names.insert(stream.table.clone(), table);
                table
            }
        };
        let mut source = Source {
            feed,
            owner,
            table,
            peer: stream.peer.clone(),
            is_dropped: false,
            ipv4: Side::default(),
            ipv6: Side::default(),
        };
        source.ipv4.freshness.connected(now);
        source.ipv6.freshness.connected(now);
        self.sources.push(source);
        self.source_names.insert(key, number);
        Some(number)
    }

    /// Removes routes that were not announced again. It visits at most `count` prefixes of each family of each source that is
    /// being swept, and returns whether there is more to do at once. It has to be called regularly.
    pub fn tick(&mut self, now: Instant, count: usize) -> bool {
        let mut has_more = false;
        let mut older = 0;
        let swept = self.totals.swept;
        for number in 0..self.sources.len() {
            has_more |= self.sweep::<u32>(number, count, now);
            has_more |= self.sweep::<u128>(number, count, now);
            let source = &self.sources[number];
            older += source.ipv4.older + source.ipv6.older;
        }
        self.totals.older = older;
        let has_swept = self.totals.swept > swept;
        if has_swept {
            self.waiting.get_or_insert(now);
        }
        // The feeds' threads publish what they have received, unless they are late.
        self.publish(now, has_more || !has_swept);
        self.measure();
        has_more
    }

    fn sweep<A: Family>(&mut self, number: usize, count: usize, now: Instant) -> bool
    where
        IpPrefix: From<Prefix<A>>,
    {
        let source = &mut self.sources[number];
        let confirmed = self.feeds[source.feed].confirmed;
        let table = &mut self.tables[source.table];
        let (side, half, view) = A::parts(source, table);
        let idle = if side.older == 0 {
            self.limits.idle.min(SETTLED)
        } else {
            side.freshness.confirmed(confirmed);
            self.limits.idle
        };
        if !side.freshness.is_sweeping(now, idle) {
            return false;
        }
        let removed = half.sweep(number as u16, side, count, view);
        self.totals.swept += removed as u64;
        self.totals.paths -= removed;
        self.version += u64::from(removed > 0);
        side.freshness.is_sweeping(now, idle)
    }
}

fn best<A: Address>(half: &Half<A>) -> Routes<A> {
    let mut routes: Routes<A> = Vec::with_capacity(half.paths.len());
    for (prefix, path) in half.paths.iter() {
        if routes.last().is_none_or(|(last, _)| *last != prefix) {
            routes.push((prefix, path.target.clone()));
        }
    }
    routes
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables")
            .field("totals", &self.totals)
            .field("tables", &self.table_names.keys())
            .finish_non_exhaustive()
    }
}
