//! [`TableView`]: changes of the best paths of a table in, a live map that other threads read out.
//!
//! Changes wait until they are published, so that many of them need one compilation instead of one patch each. A compilation takes the
//! longer the larger the table is, so no thread that changes or queries [`Tables`](crate::Tables) waits for it: batches of changes are
//! put into a queue, in order, and a thread that holds no other lock publishes them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

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

/// Brings a copy of a table that other programs read up to date with the table. It makes no changes of it.
pub type TableMirror = Box<dyn FnMut(&mut LiveIpMap<Target, Shared>) + Send>;

/// A table, and its copy if it has one.
#[derive(Default)]
struct PublishedTable {
    routes: LiveIpMap<Target, Shared>,
    mirror: Option<TableMirror>,
}

/// What readers see of a table. It is shared: nothing here waits for the tables.
pub struct TableView {
    name: String,
    live: Mutex<Option<PublishedTable>>,
    /// The first reader, which others are cloned from.
    reader: Mutex<Option<IpMapReader<Target>>>,
    queue: Mutex<VecDeque<ChangeBatch>>,
    journal: Mutex<Journal>,
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
        self.open(&mut live).routes.reader()
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
        let PublishedTable { routes, .. } = self.open(&mut live);
        (self.version(), all(routes.ipv4()), all(routes.ipv6()))
    }

    /// Keeps the changes from now on, for a client that watches the table.
    pub fn watch(self: Arc<Self>) -> WatchedView {
        let next = lock(&self.journal).watch();
        WatchedView { view: self, next }
    }

    /// Begins a copy of the table, which the mirror brings up to date now and each time that changes are published; other publications
    /// wait meanwhile. False if there is one.
    pub fn begin_mirror(&self, mirror: TableMirror) -> bool {
        let mut live = lock(&self.live);
        let table = self.open(&mut live);
        if table.mirror.is_some() {
            return false;
        }
        table.mirror = Some(mirror);
        table.bring_mirror();
        true
    }

    /// Brings the copy up to date once more, if it could not be before.
    pub fn bring_mirror(&self) {
        let mut live = lock(&self.live);
        self.open(&mut live).bring_mirror();
    }

    /// Ends the copy, which keeps the state that it has.
    pub fn end_mirror(&self) {
        let mut live = lock(&self.live);
        let PublishedTable { routes, mirror } = self.open(&mut live);
        *mirror = None;
        routes.ipv4_mut().end_mirror();
        routes.ipv6_mut().end_mirror();
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
        let PublishedTable { routes, .. } = table;
        let mut has_changed = false;
        loop {
            let next = lock(&self.queue).pop_front();
            let Some(batch) = next else { break };
            has_changed = true;
            self.note(&batch);
            let mut failed = publish(routes.ipv4_mut(), batch.ipv4);
            failed += publish(routes.ipv6_mut(), batch.ipv6);
            self.published.failed.fetch_add(failed, Ordering::Relaxed);
            self.version.store(batch.version, Ordering::Relaxed);
            let prefixes = [routes.ipv4().len(), routes.ipv6().len()];
            for (to, prefixes) in self.prefixes.iter().zip(prefixes) {
                to.store(prefixes, Ordering::Relaxed);
            }
            let bytes = routes.bytes();
            self.budget
                .change(self.bytes.swap(bytes, Ordering::Relaxed), bytes);
            self.published.queued.fetch_sub(1, Ordering::Relaxed);
        }
        if has_changed {
            table.bring_mirror();
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

    fn open<'l>(&self, live: &'l mut Option<PublishedTable>) -> &'l mut PublishedTable {
        live.get_or_insert_with(|| {
            let table = PublishedTable::default();
            *lock(&self.reader) = Some(table.routes.reader());
            table
        })
    }
}

impl PublishedTable {
    fn bring_mirror(&mut self) {
        if let Some(mirror) = &mut self.mirror {
            mirror(&mut self.routes);
        }
    }
}

impl Drop for TableView {
    fn drop(&mut self) {
        self.budget.change(self.bytes(), 0);
    }
}

/// A table whose changes are kept for a client, until this is dropped.
pub struct WatchedView {
    view: Arc<TableView>,
    /// The number of the next change.
    next: u64,
}

impl WatchedView {
    /// Appends up to `most` of the next changes to `to`. Returns how many changes before these were lost because they are no longer kept.
    /// O(`most`).
    pub fn changes(&mut self, most: usize, to: &mut Vec<BestPathChange>) -> u64 {
        let lost;
        (self.next, lost) = lock(&self.view.journal).from(self.next, most, to);
        lost
    }
}

impl Drop for WatchedView {
    fn drop(&mut self) {
        lock(&self.view.journal).unwatch();
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
