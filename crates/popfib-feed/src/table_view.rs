//! [`TableView`]: changes of the best paths of a table in, a live map that other threads read out.
//!
//! Changes wait until they are published, so that many of them need one compilation instead of one patch each. A compilation takes the
//! longer the larger the table is, so no thread that changes or queries [`Tables`](crate::Tables) waits for it: batches of changes are
//! put into a queue, in order, and a thread that holds no other lock publishes them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use popfib::live::IpMapReader;
use popfib::map::Shared;
use popfib::{Address, LiveIpMap, LiveMap, Prefix};

use crate::journal::{BestPathChange, Journal};
use crate::memory_budget::MemoryBudget;
use crate::table_info::BestRoutes;
use crate::target::Target;

/// A change of the best path of a prefix of one family: the new target, or `None` if the prefix has no path any more.
pub(crate) type BestPathChangeOf<A> = (Prefix<A>, Option<Target>);

/// Changes that are published together, in their order.
#[derive(Default)]
pub(crate) struct ChangeBatch {
    pub(crate) ipv4: Vec<BestPathChangeOf<u32>>,
    pub(crate) ipv6: Vec<BestPathChangeOf<u128>>,
    /// The version that the table has with these changes.
    pub(crate) version: u64,
}

/// Counts of all views.
#[derive(Debug, Default)]
pub(crate) struct PublishedCounts {
    /// Batches in queues.
    pub(crate) queued: AtomicUsize,
    /// Changes that failed because there was no memory or no number left.
    pub(crate) failed: AtomicU64,
}

/// What readers see of a table. It is shared: nothing here waits for the tables.
pub struct TableView {
    name: String,
    live: Mutex<Option<LiveIpMap<Target, Shared>>>,
    /// The first reader, which others are cloned from.
    reader: Mutex<Option<IpMapReader<Target>>>,
    queue: Mutex<VecDeque<ChangeBatch>>,
    journal: Mutex<Journal>,
    /// Whoever waits for another version, with the lock of the journal.
    changed: Condvar,
    is_mirrored: AtomicBool,
    published: Arc<PublishedCounts>,
    budget: Arc<MemoryBudget>,
    bytes: AtomicUsize,
    prefixes: [AtomicUsize; 2],
    version: AtomicU64,
}

/// Heap bytes of a table without routes.
static EMPTY_BYTES: LazyLock<usize> =
    LazyLock::new(|| LiveIpMap::<Target, Shared>::default().bytes());

impl TableView {
    pub(crate) fn new(
        name: &str,
        version: u64,
        budget: &Arc<MemoryBudget>,
        published: &Arc<PublishedCounts>,
    ) -> Self {
        // The table is made later, without a lock, but counted now.
        budget.change(0, *EMPTY_BYTES);
        Self {
            name: name.to_owned(),
            live: Mutex::default(),
            reader: Mutex::default(),
            queue: Mutex::default(),
            journal: Mutex::default(),
            changed: Condvar::new(),
            is_mirrored: AtomicBool::new(false),
            published: published.clone(),
            budget: budget.clone(),
            bytes: AtomicUsize::new(*EMPTY_BYTES),
            prefixes: Default::default(),
            version: AtomicU64::new(version),
        }
    }

    /// The name of the table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A reader of the best paths, for another thread.
    pub fn reader(&self) -> IpMapReader<Target> {
        if let Some(reader) = &*lock(&self.reader) {
            return reader.clone();
        }
        let mut live = lock(&self.live);
        self.open(&mut live).reader()
    }

    /// While it stays the same, readers see the same. It is another one each time that changes are published, and no other
    /// table has it, nor had one of the same name before.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }

    /// All best paths in prefix order, those that another thread is about to publish among them, and their version. Readers and changes
    /// of the tables do not wait meanwhile. O(routes).
    pub fn routes(&self) -> (u64, BestRoutes<u32>, BestRoutes<u128>) {
        self.publish();
        let mut live = lock(&self.live);
        let table = self.open(&mut live);
        (self.version(), all(table.ipv4()), all(table.ipv6()))
    }

    /// Keeps the changes from now on, for a client that watches the table. Returns the number of the next change.
    pub fn watch(&self) -> u64 {
        lock(&self.journal).watch()
    }

    /// Ends a [`TableView::watch`].
    pub fn unwatch(&self) {
        lock(&self.journal).unwatch();
    }

    /// Appends up to `most` changes from number `from` on to `to`. Returns the number of the next change, and how many
    /// changes before it were lost because they are no longer kept. O(`most`).
    pub fn changes(&self, from: u64, most: usize, to: &mut Vec<BestPathChange>) -> (u64, u64) {
        lock(&self.journal).from(from, most, to)
    }

    /// Begins a copy of the table that other programs read, which [`mirror`](Self::mirror) brings up to date. False if there is one.
    pub fn begin_mirror(&self) -> bool {
        !self.is_mirrored.swap(true, Ordering::Relaxed)
    }

    /// Runs `bring` with the table that readers see. It makes no changes; what is published waits meanwhile.
    pub fn mirror<R>(&self, bring: impl FnOnce(&mut LiveIpMap<Target, Shared>) -> R) -> R {
        let mut live = lock(&self.live);
        bring(self.open(&mut live))
    }

    /// Ends the copy, which keeps the state that it has.
    pub fn end_mirror(&self) {
        self.mirror(|live| {
            live.ipv4_mut().end_mirror();
            live.ipv6_mut().end_mirror();
        });
        self.is_mirrored.store(false, Ordering::Relaxed);
    }

    /// Waits until the version is another one than this, but no longer than this time, if the table has a mirror.
    pub fn wait_for_version(&self, seen: u64, time: Duration) {
        let journal = lock(&self.journal);
        let is_same = |_: &mut Journal| self.version() == seen;
        drop(self.changed.wait_timeout_while(journal, time, is_same));
    }

    /// Heap bytes, as of the last publication.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The number of prefixes of each family that readers see.
    pub(crate) fn prefixes(&self) -> [usize; 2] {
        [0, 1].map(|family| self.prefixes[family].load(Ordering::Relaxed))
    }

    /// Puts changes into the queue.
    pub(crate) fn push(&self, batch: ChangeBatch) {
        self.published.queued.fetch_add(1, Ordering::Relaxed);
        lock(&self.queue).push_back(batch);
    }

    /// Publishes all batches that are in the queue. When it returns, readers see them.
    pub(crate) fn publish(&self) {
        let mut live = lock(&self.live);
        let table = self.open(&mut live);
        loop {
            let next = lock(&self.queue).pop_front();
            let Some(batch) = next else { break };
            self.note(&batch);
            let mut failed = publish(table.ipv4_mut(), batch.ipv4);
            failed += publish(table.ipv6_mut(), batch.ipv6);
            self.published.failed.fetch_add(failed, Ordering::Relaxed);
            self.version.store(batch.version, Ordering::Relaxed);
            // To wake is a system call, also where nobody waits.
            if self.is_mirrored.load(Ordering::Relaxed) {
                // Whoever is about to wait has looked at the version with this lock.
                drop(lock(&self.journal));
                self.changed.notify_all();
            }
            let prefixes = [table.ipv4().len(), table.ipv6().len()];
            for (to, prefixes) in self.prefixes.iter().zip(prefixes) {
                to.store(prefixes, Ordering::Relaxed);
            }
            let bytes = table.bytes();
            self.budget
                .change(self.bytes.swap(bytes, Ordering::Relaxed), bytes);
            self.published.queued.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Adds the changes to the journal, if a client watches.
    fn note(&self, batch: &ChangeBatch) {
        let mut journal = lock(&self.journal);
        if !journal.is_watched() {
            return;
        }
        for (prefix, target) in &batch.ipv4 {
            journal.add((*prefix).into(), target.clone());
        }
        for (prefix, target) in &batch.ipv6 {
            journal.add((*prefix).into(), target.clone());
        }
    }

    fn open<'l>(
        &self,
        live: &'l mut Option<LiveIpMap<Target, Shared>>,
    ) -> &'l mut LiveIpMap<Target, Shared> {
        live.get_or_insert_with(|| {
            let table = LiveIpMap::default();
            *lock(&self.reader) = Some(table.reader());
            table
        })
    }
}

impl Drop for TableView {
    fn drop(&mut self) {
        self.budget.change(self.bytes(), 0);
    }
}

impl fmt::Debug for TableView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableView")
            .field("name", &self.name)
            .field("prefixes", &self.prefixes())
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn all<A: Address>(map: &LiveMap<A, Target, Shared>) -> BestRoutes<A> {
    let routes = map.iter();
    routes
        .map(|(prefix, target)| (prefix, target.clone()))
        .collect()
}

/// Applies the changes of one family; returns how many failed.
fn publish<A: Address>(
    map: &mut LiveMap<A, Target, Shared>,
    changes: Vec<BestPathChangeOf<A>>,
) -> u64 {
    let mut failed = 0;
    if changes.len() < 2 || map.apply(changes.iter().cloned()).is_err() {
        for (prefix, target) in changes {
            let done = match target {
                Some(target) => map.announce(prefix, target),
                None => map.withdraw(prefix),
            };
            failed += u64::from(done.is_err());
        }
    }
    failed
}
