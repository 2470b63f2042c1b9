//! What the memory limit leaves: one count of all that feeds make the tables hold.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::target::Target;

/// The limit of memory of [`Tables`](crate::Tables), which those share with decoders.
#[derive(Debug)]
pub(crate) struct Room {
    most: AtomicUsize,
    /// Heap bytes of tables, lookup structures and sources.
    held: AtomicUsize,
}

impl Default for Room {
    /// Without limits.
    fn default() -> Self {
        Self {
            most: AtomicUsize::new(usize::MAX),
            held: AtomicUsize::new(0),
        }
    }
}

impl Room {
    /// Changes the limit of heap bytes.
    pub(crate) fn limit(&self, bytes: usize) {
        self.most.store(bytes, Ordering::Relaxed);
    }

    /// Counts a change from `before` to `after` bytes.
    pub(crate) fn change(&self, before: usize, after: usize) {
        if after >= before {
            self.held.fetch_add(after - before, Ordering::Relaxed);
        } else {
            self.held.fetch_sub(before - after, Ordering::Relaxed);
        }
    }

    /// Heap bytes that are counted, without targets.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Whether there is no room for more.
    pub(crate) fn is_full(&self) -> bool {
        let most = self.most.load(Ordering::Relaxed);
        most < usize::MAX && self.held().saturating_add(Target::all_bytes()) >= most
    }
}
