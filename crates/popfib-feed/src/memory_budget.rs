//! [`MemoryBudget`]: one count of all that feeds make the tables hold, and whether the limit allows more. Tables and decoders share it, as
//! a router can fill either.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Heap bytes of all targets of the process.
static TARGETS: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn add_target(bytes: usize) {
    TARGETS.fetch_add(bytes, Ordering::Relaxed);
}

pub(crate) fn remove_target(bytes: usize) {
    TARGETS.fetch_sub(bytes, Ordering::Relaxed);
}

/// How much memory [`Tables`](crate::Tables) may take, and take. Decoders that keep something for their routes share it with them.
#[derive(Debug)]
pub struct MemoryBudget {
    most: AtomicUsize,
    most_of_source: AtomicUsize,
    /// How much was refused by others than the tables.
    refused: AtomicU64,
    /// Heap bytes of tables, lookup structures and sources.
    counted: AtomicUsize,
}

impl Default for MemoryBudget {
    /// Without limits.
    fn default() -> Self {
        Self {
            most: AtomicUsize::new(usize::MAX),
            most_of_source: AtomicUsize::new(usize::MAX),
            refused: AtomicU64::new(0),
            counted: AtomicUsize::new(0),
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
        let is_allowed = count <= self.most_of_source.load(Ordering::Relaxed) && !self.is_full();
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
    pub(crate) fn counted(&self) -> usize {
        self.counted.load(Ordering::Relaxed)
    }

    /// Whether there is no room for more.
    pub(crate) fn is_full(&self) -> bool {
        let most = self.most.load(Ordering::Relaxed);
        most < usize::MAX
            && self
                .counted()
                .saturating_add(TARGETS.load(Ordering::Relaxed))
                >= most
    }
}
