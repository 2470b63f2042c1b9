//! [`Tables`]: transactions and the events of connections in, the best path of each prefix of each table out, for readers.
//!
//! A *feed* is a router or program that connects; its name stays the same over reconnections. Each of its streams is a *source*
//! of one table. A table keeps the paths of all of its sources, and shows readers the best path of each prefix.
//!
//! Every call does a bounded piece of work, so that threads which share the tables under a lock wait for a short time only.

mod connections;
pub(crate) mod publication;
pub(crate) mod queries;
pub(crate) mod snapshot;
mod sources;
pub(crate) mod sweep;
mod walks;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use popfib::Prefix;
use popfib::family::{ByFamily, Family, PerFamily};

use crate::family_paths::{PathsByFamily, StoredPath};
use crate::feed_slots::FeedSlots;
use crate::feeds::{ConnectionId, Feed, FeedWalk};
use crate::freshness::{Freshness, PathStatus};
use crate::memory_budget::MemoryBudget;
use crate::table_info::{DroppedPaths, Limits, Totals};
use crate::table_view::{PublishedCounts, TableView};
use crate::transaction::{PathChange, Stream, StreamEvent, StreamId, Transaction, TransactionPart};

/// The number of changes and events that are applied at a time, and of sources, feeds and tables that are visited.
const PIECE: usize = 256;

/// A change that makes a source, and perhaps its table, takes as long as some others.
const OPENED: usize = 4;

/// About the heap bytes that a change takes until it is published, and in the lookup structures after that.
const WAITING: usize = 128;

/// The maximum number of paths of one prefix from one source; no router sends more.
const MAX_PREFIX_PATHS: usize = 1 << 16;

/// All tables with all of their paths. One thread at a time changes them; [`TableView`]s are read without waiting.
#[derive(Default)]
pub struct Tables {
    limits: Limits,
    feeds: FeedSlots<Feed>,
    feed_names: BTreeMap<String, usize>,
    /// Feeds without connections, by the number of their last one; and feeds whose events have not reached all of their sources.
    away: BTreeSet<(u64, usize)>,
    walking: BTreeSet<usize>,
    sources: FeedSlots<FeedSource>,
    /// How many sources there have been so far.
    serial: u64,
    tables: FeedSlots<FeedTable>,
    table_names: BTreeMap<String, usize>,
    /// The names of tables that a followed feed has.
    followed: BTreeSet<String>,
    totals: Totals,
    sums: FreshnessSums,
    /// Connections whose first routes, or those of a peer that is up, are still to come; and since when.
    silent: Vec<(ConnectionId, Instant)>,
    /// The last version that a table was given: no two are equal.
    version: u64,
    /// The time since which changes wait to be published, their number, and the tables that have some.
    waiting: Option<Instant>,
    waiting_count: usize,
    changed: VecDeque<usize>,
    published: Arc<PublishedCounts>,
    budget: Arc<MemoryBudget>,
    round: SweepRound,
    /// Tables that had no source at some time since the last sweep; and removed tables, which are dropped later without the lock.
    unused: VecDeque<usize>,
    old: Vec<FeedTable>,
    dropped: Vec<DroppedPaths>,
}

/// A stream of a feed, as a table knows it.
pub(crate) struct FeedSource {
    /// No two sources have the same.
    serial: u64,
    feed: usize,
    /// The number of the connection whose changes apply, and whether it has sent any: until then another one that does takes over.
    owner: u64,
    is_claimed: bool,
    table: usize,
    name: Arc<Stream>,
    /// How many connections have it as a stream.
    streams: usize,
    /// Whether its table counts it among those whose feeds are followed.
    is_followed: bool,
    /// Whether it has announced more paths than allowed.
    is_dropped: bool,
    freshness: ByFamily<FreshnessByFamily>,
}

/// Makes [`ByFamily`] what a source knows of its paths in each family.
enum FreshnessByFamily {}

impl PerFamily for FreshnessByFamily {
    type Of<A: Family> = Freshness;
}

/// A table: the paths of all of its sources, and what readers see of them.
pub(crate) struct FeedTable {
    families: ByFamily<PathsByFamily>,
    view: Arc<TableView>,
    /// The number of its sources, and of those whose feeds are followed.
    sources: usize,
    followed: usize,
    /// Whether it is in the list of those that have changed.
    is_changed: bool,
}

/// What the sweep has reached: the last source whose wait was checked, and the table and family that the round is in.
#[derive(Default)]
struct SweepRound {
    source: usize,
    table: usize,
    is_ipv6: bool,
}

/// Sums over all sources.
#[derive(Clone, Copy, Default)]
struct FreshnessSums {
    paths: usize,
    older: usize,
    gone: usize,
    /// Streams and families that are sending their routes, for the first time or again.
    sending: usize,
    loading: usize,
    /// Streams and families that are not fresh.
    unfresh: usize,
}

impl FreshnessSums {
    fn of(freshness: &Freshness) -> Self {
        let paths = freshness.paths();
        let older = paths - freshness.count(PathStatus::Fresh);
        Self {
            paths,
            older,
            gone: freshness.count(PathStatus::Gone),
            sending: usize::from(freshness.is_sending()),
            loading: usize::from(freshness.is_sending() && older == 0),
            unfresh: usize::from(!freshness.is_fresh()),
        }
    }

    /// Replaces the part of one source in the sums.
    fn replace(&mut self, before: Self, after: Self) {
        self.paths = self.paths + after.paths - before.paths;
        self.older = self.older + after.older - before.older;
        self.gone = self.gone + after.gone - before.gone;
        self.sending = self.sending + after.sending - before.sending;
        self.loading = self.loading + after.loading - before.loading;
        self.unfresh = self.unfresh + after.unfresh - before.unfresh;
    }
}

impl Tables {
    /// Makes an empty list of tables.
    pub fn new(limits: Limits) -> Self {
        let mut tables = Self::default();
        tables.set_limits(limits);
        tables
    }

    /// Changes the limits. Existing paths stay.
    pub fn set_limits(&mut self, limits: Limits) {
        self.budget.limit(limits.max_bytes, limits.max_peer_paths);
        self.limits = limits;
    }

    /// What the limits leave, for decoders that keep something for their routes.
    pub fn memory_budget(&self) -> &Arc<MemoryBudget> {
        &self.budget
    }

    /// Takes the next changes and events out of a transaction of the feed, which refers to these streams, and applies them; returns whether
    /// there are more. If the connection is not [current](Self::is_current), it takes none. First it does what earlier events of the feed have left to do. Readers see the changes after the next
    /// [`hand_over`](Self::hand_over). Many changes take less time if they are published together.
    pub fn take(
        &mut self,
        id: ConnectionId,
        streams: &[Stream],
        transaction: &mut Transaction,
        now: Instant,
    ) -> bool {
        if !self.hear(id, streams, now) {
            return false;
        }
        self.waiting.get_or_insert(now);
        if transaction.begin() {
            self.totals.transactions += transaction.count();
            if transaction.has_objects() {
                // Tables with routes of the connection have another version, since next-hop objects have changed.
                let connection = id.connection;
                let next = 0;
                self.leave(id.feed, FeedWalk::Change { connection, next });
            }
        }
        if self.walk(id.feed, now) {
            return true;
        }
        let mut left = PIECE;
        while left > 0 {
            let sources = self.serial;
            match transaction.take() {
                None => return false,
                Some(TransactionPart::Event(event)) => self.stream_event(id, streams, event, now),
                Some(TransactionPart::Silent(is_silent)) => self.await_routes(id, is_silent, now),
                Some(TransactionPart::Lost(stream)) => {
                    let source = self.feeds.at(id.feed).sources.get(&stream).copied();
                    if let Some(number) = source.filter(|&number| self.may_change(id, number)) {
                        self.lose(number);
                    }
                }
                Some(TransactionPart::Change(change)) => {
                    popfib::by_family!(change.prefix, |prefix| self
                        .change(id, streams, prefix, change, now))
                }
            }
            let cost = if self.serial == sources { 1 } else { OPENED };
            left = left.saturating_sub(cost);
        }
        true
    }

    fn change<A: Family>(
        &mut self,
        id: ConnectionId,
        streams: &[Stream],
        prefix: Prefix<A>,
        change: PathChange,
        now: Instant,
    ) {
        let source = match change.target {
            None if change.stream == StreamId::PEERS => {
                return self.withdraw_peers(id, streams, prefix, &change, now);
            }
            None => Ok(self.find(id, streams, change.stream)),
            Some(_) => self.open(id, streams, change.stream, now),
        };
        self.totals.refused += u64::from(source.is_err());
        let Ok(Some(number)) = source else { return };
        self.change_of(id, number, prefix, change, now);
    }

    /// Withdraws the paths of this prefix and identifier of all peers of a connection, of whose streams the first one tells the table.
    fn withdraw_peers<A: Family>(
        &mut self,
        id: ConnectionId,
        streams: &[Stream],
        prefix: Prefix<A>,
        change: &PathChange,
        now: Instant,
    ) {
        let table = streams.first().map(|stream| &*stream.table);
        let Some(&table) = table.and_then(|name| self.table_names.get(name)) else {
            return;
        };
        let paths = A::of(&self.tables.at(table).families).paths.paths(prefix);
        let of_feed = paths.filter(|path| {
            let source = self.sources.at(path.source.into());
            let is_peer = source.feed == id.feed && !source.name.peer.is_empty();
            is_peer && path.id == change.path && self.may_change(id, path.source)
        });
        let numbers: Vec<u16> = of_feed.map(|path| path.source).collect();
        for number in numbers {
            self.change_of(id, number, prefix, change.clone(), now);
        }
    }

    /// Applies a change of a path of a source.
    fn change_of<A: Family>(
        &mut self,
        id: ConnectionId,
        number: u16,
        prefix: Prefix<A>,
        change: PathChange,
        now: Instant,
    ) {
        let source = self.sources.at_mut(number.into());
        let is_peer_full = source.valid_paths() >= self.limits.max_peer_paths;
        let table = self.tables.at_mut(source.table);
        let key = (number, change.path);
        let family = A::of_mut(&mut table.families);
        // What grows does so in parts: a route of any of them may need the next part, which is counted before.
        let grown = (family.paths.bytes() + table.view.bytes()) / 5;
        let next = grown + self.waiting_count * WAITING;
        let is_full = self.totals.paths >= self.limits.max_paths || self.budget.is_full(next);
        let old = match A::of(&source.freshness) {
            // All are fresh: whether one is replaced is seen below, without a search.
            freshness if freshness.paths() == freshness.count(PathStatus::Fresh) => None,
            _ => family.generation(prefix, &key),
        };
        let generation = A::of(&source.freshness)
            .current()
            .filter(|_| !source.is_dropped);
        let (bytes, waiting) = (family.paths.bytes(), family.waiting.len());
        let was_stale =
            old.is_some_and(|old| A::of(&source.freshness).status(old) == PathStatus::Stale);
        let before = FreshnessSums::of(A::of(&source.freshness));
        match change.target {
            None => {
                self.totals.withdrawn += 1;
                if let Some(generation) = family.withdraw(prefix, key) {
                    A::of_mut(&mut source.freshness).removed(generation);
                }
            }
            Some(target) => {
                let is_new = || match family.generation(prefix, &key) {
                    None => true,
                    Some(known) => A::of(&source.freshness).status(known) == PathStatus::Gone,
                };
                let is_crowded = || {
                    let (low, high) = ((number, 0), (number, u32::MAX));
                    // Without path identifiers there is only one.
                    change.path != 0
                        && family.paths.count_keys(prefix, &low, &high) >= MAX_PREFIX_PATHS
                };
                let is_refused = (is_full || is_peer_full || is_crowded()) && is_new();
                let Some(generation) = generation.filter(|_| !is_refused) else {
                    self.totals.refused += 1;
                    if is_peer_full && !source.is_dropped {
                        self.drop_peer(number);
                    }
                    return;
                };
                self.totals.announced += 1;
                if self.limits.max_bytes < usize::MAX {
                    // Without memory for that, there may be some for one.
                    family.paths.lengthen();
                }
                let paths = family.paths.path_count();
                let path = StoredPath {
                    target,
                    source: number,
                    generation,
                    id: change.path,
                };
                family.announce(prefix, path);
                let is_replaced = family.paths.path_count() == paths;
                let old = old.or_else(|| is_replaced.then_some(generation));
                A::of_mut(&mut source.freshness).announced(old);
            }
        }
        let freshness = A::of_mut(&mut source.freshness);
        if was_stale {
            self.feeds.at_mut(id.feed).confirmed = now;
        } else if freshness.count(PathStatus::Stale) == 0 {
            freshness.grew(now);
        }
        let after = FreshnessSums::of(freshness);
        family.gone = family.gone + after.gone - before.gone;
        let new_bytes = family.paths.bytes();
        let more = family.waiting.len() - waiting;
        if bytes != new_bytes {
            self.budget.change(bytes, new_bytes);
        }
        self.waiting_count += more;
        if more > 0 && !table.is_changed {
            table.is_changed = true;
            self.changed.push_back(source.table);
        }
        self.count(before, after);
    }

    /// Changes the state of a source in one family, and the sums.
    fn edit<A: Family>(&mut self, number: u16, edit: impl FnOnce(&mut Freshness)) {
        let source = self.sources.at_mut(number.into());
        let before = FreshnessSums::of(A::of(&source.freshness));
        edit(A::of_mut(&mut source.freshness));
        let after = FreshnessSums::of(A::of(&source.freshness));
        let family = A::of_mut(&mut self.tables.at_mut(source.table).families);
        family.gone = family.gone + after.gone - before.gone;
        self.count(before, after);
    }

    fn edit_both(&mut self, number: u16, edit: impl Fn(&mut Freshness)) {
        self.edit::<u32>(number, &edit);
        self.edit::<u128>(number, &edit);
    }

    fn count(&mut self, before: FreshnessSums, after: FreshnessSums) {
        self.sums.replace(before, after);
        self.totals.paths = self.sums.paths;
        self.totals.older = self.sums.older;
    }

    /// All paths of the source are gone.
    fn lose(&mut self, number: u16) {
        self.edit_both(number, Freshness::lost);
    }

    /// Drops a source that has announced more paths than allowed.
    fn drop_peer(&mut self, number: u16) {
        self.lose(number);
        self.totals.dropped += 1;
        let source = self.sources.at_mut(number.into());
        source.is_dropped = true;
        self.dropped.push(DroppedPaths::Peer {
            feed: self.feeds.at(source.feed).name.clone(),
            peer: source.name.peer.clone(),
            table: source.name.table.clone(),
        });
    }

    /// Returns what was dropped since the last call.
    pub fn take_dropped(&mut self) -> Vec<DroppedPaths> {
        std::mem::take(&mut self.dropped)
    }

    fn stream_event(
        &mut self,
        id: ConnectionId,
        streams: &[Stream],
        event: StreamEvent,
        now: Instant,
    ) {
        let (StreamEvent::Up(stream)
        | StreamEvent::Down(stream)
        | StreamEvent::EndOfRib { stream, .. }) = event;
        let source = match event {
            StreamEvent::Down(_) => Ok(self.find(id, streams, stream)),
            // A table without routes may be complete, too.
            _ => self.open(id, streams, stream, now),
        };
        let Ok(Some(number)) = source else { return };
        match event {
            StreamEvent::Up(_) => self.sources.at_mut(number.into()).is_dropped = false,
            StreamEvent::Down(_) => self.lose(number),
            StreamEvent::EndOfRib { is_ipv6: false, .. } => {
                self.edit::<u32>(number, Freshness::all_sent)
            }
            StreamEvent::EndOfRib { is_ipv6: true, .. } => {
                self.edit::<u128>(number, Freshness::all_sent)
            }
        }
    }

    /// The number of changes that wait to be published.
    pub fn waiting(&self) -> usize {
        self.waiting_count
    }
}
