//! The state that all threads share: the tables under a lock, and counts. Changes of feeds come in; out come views of tables,
//! paths, images and counts for clients, and notes about problems.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use popfib::IpPrefix;
use popfib_feed::info::{DroppedPaths, PathInfo, PathsQuery, TableInfo};
use popfib_feed::{MemoryBudget, TableView, Tables};
use popfib_program::note;
use tokio::sync::Semaphore;

use super::connection_lines::ConnectionLines;
use super::feed_counts::AllFeedCounts;
use super::files::ServedFiles;
use super::images::Images;
use super::lock::{FairLock, LockHold};

/// The feed of this machine's kernel.
pub(super) const KERNEL: &str = "kernel";

/// How many paths are swept, and how many tables are listed, each time that the lock is taken for it.
const SWEPT: usize = 512;
const LISTED: usize = 256;

/// The maximum number of answers by HTTP that are made as their clients read them: those that read slowly leave others alone.
const MAX_ANSWERS: usize = 64;

/// The state that threads share.
pub(super) struct FollowState {
    tables: FairLock<Tables>,
    /// The tables of files.
    pub(super) files: ServedFiles,
    feeds: Mutex<AllFeedCounts>,
    troubles: Mutex<Troubles>,
    pub(super) lines: ConnectionLines,
    /// Protocols of routers of which none has connected yet, for the idle time at most.
    awaited: Mutex<BTreeSet<&'static str>>,
    /// Whether all tables were complete once.
    was_whole: AtomicBool,
    /// The image that clients share.
    pub(super) images: Images,
    /// The memory of the values of clients that ask for packed addresses.
    pub(super) value_memory: Arc<MemoryBudget>,
    /// The tables of BPF programs.
    #[cfg(all(target_os = "linux", feature = "xdp"))]
    bpf: Mutex<super::bpf_counts::AllBpfCounts>,
    /// Addresses answered.
    pub(super) lookups: AtomicU64,
    /// Clients connected to the Unix socket, and by HTTP.
    pub(super) clients: AtomicUsize,
    pub(super) http_connections: AtomicUsize,
    /// Places for answers by HTTP that are made as their clients read them.
    pub(super) http_answers: Arc<Semaphore>,
    /// Tells this process from others in the tags of its tables.
    pub(super) number: u64,
    /// When the process began.
    pub(super) started: Instant,
}

/// Whether answers agree with the routes of routers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    /// There is no table, or a table is still being received for the first time since the process began.
    Loading,
    /// All tables are complete, but the current routes of some routers are not known, or not all of them.
    Stale,
    /// All routes are those of the routers, as far as is known.
    Ready,
}

impl Health {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Loading => "loading\n",
            Self::Stale => "stale\n",
            Self::Ready => "ready\n",
        }
    }
}

/// The last report of problems, and its time.
#[derive(Default)]
struct Troubles {
    said: Option<Instant>,
    known: [u64; 4],
}

impl FollowState {
    pub(super) fn new(tables: Tables) -> Self {
        Self {
            tables: FairLock::new(tables),
            files: ServedFiles::default(),
            feeds: Mutex::default(),
            troubles: Mutex::default(),
            lines: ConnectionLines::default(),
            awaited: Mutex::default(),
            was_whole: AtomicBool::new(false),
            images: Images::default(),
            value_memory: Arc::default(),
            #[cfg(all(target_os = "linux", feature = "xdp"))]
            bpf: Default::default(),
            lookups: AtomicU64::new(0),
            clients: AtomicUsize::new(0),
            http_connections: AtomicUsize::new(0),
            http_answers: Arc::new(Semaphore::new(MAX_ANSWERS)),
            number: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_millis() as u64),
            started: Instant::now(),
        }
    }

    /// Locks the tables. Keep the lock as short as possible, and never while reading or writing.
    pub(super) fn tables(&self) -> LockHold<'_, Tables> {
        self.tables.hold()
    }

    /// Publishes the changes so far to readers, without the lock: see [`Tables::hand_over`].
    pub(super) fn publish(&self, now: Instant, is_behind: bool) {
        let hand_over = || self.tables().hand_over(now, is_behind);
        while hand_over().run() {}
    }

    /// Removes some of the routes that are gone; returns whether there is more to do at once.
    pub(super) fn tick(&self, now: Instant) -> bool {
        let swept = self.tables().sweep(now, SWEPT);
        self.publish(now, swept.is_behind);
        swept.has_more && !swept.is_round
    }

    /// What readers see of a table; `None` is the default table.
    pub(super) fn view(&self, table: Option<&str>) -> Option<Arc<TableView>> {
        let tables = self.tables();
        tables.view(table.or_else(|| tables.default_table())?)
    }

    /// Passes all tables to `each`, ordered by name, and those of files after the others: a few at a time, without the lock, so that it may write to a client.
    pub(super) fn each_table(
        &self,
        mut each: impl FnMut(&TableInfo) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut last = None;
        loop {
            let tables = self.tables();
            let some = tables.tables_after(last.as_deref()).take(LISTED);
            let some: Vec<TableInfo> = some.collect();
            drop(tables);
            some.iter().try_for_each(&mut each)?;
            if some.len() < LISTED {
                break;
            }
            last = some.into_iter().next_back().map(|info| info.name);
        }
        self.files.list().iter().try_for_each(|served| {
            let table = &served.current().table;
            let prefixes = [table.ipv4().route_count(), table.ipv6().route_count()];
            let name = served.name.clone();
            each(&TableInfo {
                name,
                prefixes,
                paths: [0, 0],
            })
        })
    }

    /// Passes the paths of exactly this prefix in a table to `each`, the best first, as [`each_table`](Self::each_table) does.
    pub(super) fn each_path(
        &self,
        table: &str,
        prefix: IpPrefix,
        mut each: impl FnMut(&PathInfo) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut query = PathsQuery::new(table, prefix);
        let mut some = Vec::new();
        let mut has_more = true;
        while has_more {
            some.clear();
            has_more = query.next(&self.tables(), &mut some);
            some.iter().try_for_each(&mut each)?;
        }
        Ok(())
    }

    /// The longest time for which a thread has held the tables, as CPU time of that thread.
    pub(super) fn longest_hold(&self) -> Duration {
        self.tables.longest_hold()
    }

    /// Whether answers agree with the routes of routers. Once all tables were complete, later ones do not make it `Loading` again.
    pub(super) fn health(&self) -> Health {
        let is_awaited = !self.awaited().is_empty();
        let tables = self.tables();
        // Files were read before the first question.
        let has_only_files = tables.totals().connections == 0 && self.files.first().is_some();
        let is_whole = (tables.is_whole() || has_only_files) && !is_awaited;
        let was_whole = self.was_whole.load(Ordering::Relaxed) || is_whole;
        self.was_whole.store(was_whole, Ordering::Relaxed);
        match (was_whole, tables.is_fresh()) {
            (false, _) => Health::Loading,
            (true, false) => Health::Stale,
            (true, true) => Health::Ready,
        }
    }

    /// The protocols of which a router is awaited, before which tables are not whole.
    pub(super) fn awaited(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was done to the tables of BPF programs.
    #[cfg(all(target_os = "linux", feature = "xdp"))]
    pub(super) fn bpf(&self) -> MutexGuard<'_, super::bpf_counts::AllBpfCounts> {
        self.bpf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counts of each feed.
    pub(super) fn feeds(&self) -> MutexGuard<'_, AllFeedCounts> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports problems since the last call, at most once a minute until the last one, and dropped peers at once.
    pub(super) fn note_troubles(&self, is_last: bool) {
        self.lines.sum_up(is_last);
        let dropped = self.tables().take_dropped();
        for dropped in dropped {
            match dropped {
                DroppedPaths::Peer { feed, peer, table } => {
                    let peer = match peer.is_empty() {
                        true => feed,
                        false => format!("{feed}, peer {peer}"),
                    };
                    note!(
                        "{peer}: dropped from table {table}, with more paths than --max-peer-paths"
                    );
                }
                DroppedPaths::Feed(feed) => note!(
                    "{feed}: its routes are removed: it has been away for the longest time, and its place among 65,536 peers is needed"
                ),
            }
        }
        let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        let is_soon = |said: Instant| said.elapsed() < Duration::from_secs(60);
        if !is_last && troubles.said.is_some_and(is_soon) {
            return;
        }
        let totals = self.tables().totals();
        let mut feeds = self.feeds();
        let with_reason = feeds.left_out().map(|(_, _, count)| count).sum();
        let known = [
            // Those with a reason are reported by it.
            feeds
                .sum(|counts| counts.invalid)
                .saturating_sub(with_reason),
            feeds.sum(|counts| counts.unknown_next_hops),
            totals.refused,
            totals.failed,
        ];
        let what = [
            "invalid messages or lines left out",
            "routes name a next hop that was not announced: with `no fpm use-next-hop-groups`, zebra sends next hops with their routes",
            "paths or next-hop objects refused: above --max-paths, --max-memory or 65,536 peers, or from a dropped peer",
            "changes could not be published",
        ];
        for line in feeds.report() {
            note(line);
            troubles.said = Some(Instant::now());
        }
        drop(feeds);
        for ((what, now), before) in what.iter().zip(known).zip(troubles.known) {
            if now > before {
                note!("{} {what}", now - before);
                troubles.said = Some(Instant::now());
            }
        }
        troubles.known = known;
    }
}

/// A client that is counted until this is dropped.
pub(super) struct CountedClient<'s>(&'s AtomicUsize);

impl<'s> CountedClient<'s> {
    /// Counts a client, unless there are `most` already.
    pub(super) fn enter(clients: &'s AtomicUsize, most: usize) -> Option<Self> {
        let add = |clients: usize| (clients < most).then_some(clients + 1);
        clients
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .ok()?;
        Some(Self(clients))
    }
}

impl Drop for CountedClient<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
