//! [`MemoryBudget`]: one count of all that feeds make the process hold, and whether the limit allows more. Tables, decoders and buffers
//! draw from it, as a router can fill each of them.
//!
//! What connections hold besides tables has a limit of its own, so that a full table refuses no router, and no connection takes the room
//! of routes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Heap bytes that all connections together may hold besides tables; and how many of these may be for a moment only.
const MAX_SHARES: usize = 32 << 20;
const MAX_BRIEF: usize = MAX_SHARES / 2;

/// Heap bytes of all targets of the process.
pub(crate) static TARGETS: AtomicUsize = AtomicUsize::new(0);

/// How much memory [`Tables`](crate::Tables) may take, and take. Decoders that keep something for their routes share it with them.
#[derive(Debug)]
pub struct MemoryBudget {
    most: AtomicUsize,
    most_of_source: AtomicUsize,
    /// How much was refused by others than the tables.
    refused: AtomicU64,
    /// Heap bytes of tables, lookup structures, sources and shares.
    counted: AtomicUsize,
    /// Those of shares.
    shared: AtomicUsize,
}

impl Default for MemoryBudget {
    /// Without limits.
    fn default() -> Self {
        Self {
            most: AtomicUsize::new(usize::MAX),
            most_of_source: AtomicUsize::new(usize::MAX),
            refused: AtomicU64::new(0),
            counted: AtomicUsize::new(0),
            shared: AtomicUsize::new(0),
        }
    }
}

impl MemoryBudget {
    /// Changes the limits: of heap bytes, and of what one source may have.
    pub(crate) fn limit(&self, bytes: usize, of_source: usize) {
        self.most.store(bytes, Ordering::Relaxed);
        self.most_of_source.store(of_source, Ordering::Relaxed);
    }

    /// Whether a source may have `count` parts of next-hop objects. What it may not have is counted as refused.
    pub(crate) fn allows(&self, count: usize) -> bool {
        let is_allowed = count <= self.most_of_source.load(Ordering::Relaxed) && !self.is_full(0);
        self.refused
            .fetch_add(u64::from(!is_allowed), Ordering::Relaxed);
        is_allowed
    }

    /// How much was refused by [`allows`](Self::allows).
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Counts a change from `before` to `after` bytes.
    pub(crate) fn change(&self, before: usize, after: usize) {
        if after >= before {
            self.counted.fetch_add(after - before, Ordering::Relaxed);
        } else {
            self.counted.fetch_sub(before - after, Ordering::Relaxed);
        }
    }

    /// Heap bytes that are counted, without targets.
    pub fn counted(&self) -> usize {
        self.counted.load(Ordering::Relaxed)
    }

    /// Whether there is no room for so many heap bytes more.
    pub(crate) fn is_full(&self, more: usize) -> bool {
        let most = self.most.load(Ordering::Relaxed);
        let taken = self.counted() + TARGETS.load(Ordering::Relaxed);
        most < usize::MAX && taken.saturating_add(more) >= most
    }
}

/// What one connection holds besides tables. Dropping it gives that back.
#[derive(Debug)]
pub struct BudgetShare {
    budget: Arc<MemoryBudget>,
    bytes: usize,
    most: usize,
}

impl Default for BudgetShare {
    /// Of a budget of its own.
    fn default() -> Self {
        Self::new(&Arc::default())
    }
}

impl BudgetShare {
    /// For what stays as long as the connection, such as peers. Holds nothing yet.
    pub fn new(budget: &Arc<MemoryBudget>) -> Self {
        Self::up_to(budget, MAX_SHARES)
    }

    /// For what is needed for a moment, such as a buffer: it leaves peers a half. Holds nothing yet.
    pub fn brief(budget: &Arc<MemoryBudget>) -> Self {
        Self::up_to(budget, MAX_BRIEF)
    }

    /// For what has a budget of its own, of which all shares together may hold so many bytes.
    pub fn up_to(budget: &Arc<MemoryBudget>, most: usize) -> Self {
        Self {
            budget: budget.clone(),
            bytes: 0,
            most,
        }
    }

    /// Heap bytes that it holds.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Holds this many heap bytes from now on: ask before they are allocated. Returns false, and nothing changes, if all connections
    /// would hold more than they may, which is 32 MiB, or 16 MiB of what is brief.
    #[must_use = "what is refused must not be allocated"]
    pub fn set(&mut self, bytes: usize) -> bool {
        let replace = |all: usize| {
            let all = all - self.bytes + bytes;
            (all <= self.most || bytes <= self.bytes).then_some(all)
        };
        let shared = &self.budget.shared;
        let done = shared.fetch_update(Ordering::Relaxed, Ordering::Relaxed, replace);
        if done.is_ok() {
            self.budget.change(self.bytes, bytes);
            self.bytes = bytes;
        }
        done.is_ok()
    }
}

impl Drop for BudgetShare {
    fn drop(&mut self) {
        // Less is never refused.
        let _ = self.set(0);
    }
}
