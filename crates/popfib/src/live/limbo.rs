//! What was taken out of a live table and readers may still see.
//!
//! It is collected until there is enough to ask the readers about ([`COLLECT`]); the epoch then
//! ends, and when every reader has left it or moved on, it is free.

use allocator_api2::vec::Vec;
use core::mem;

use super::epochs::Epochs;
use crate::memory::{self, Allocator, Global, OutOfMemory};

/// Things to collect before the readers are asked whether they can be used again: asking
/// interrupts the other cores.
const COLLECT: usize = 128;

/// Things that were replaced in this epoch, and those of an epoch that has ended.
#[derive(Debug)]
pub(crate) struct Limbo<T, Al: Allocator + Clone = Global> {
    replaced: Vec<T, Al>,
    waiting: Vec<T, Al>,
    waiting_since: usize,
}

impl<T, Al: Allocator + Clone> Limbo<T, Al> {
    pub(crate) fn new_in(alloc: Al) -> Self {
        Self {
            replaced: Vec::new_in(alloc.clone()),
            waiting: Vec::new_in(alloc),
            waiting_since: 0,
        }
    }

    /// Makes sure of the memory for `count` more.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(crate) fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory> {
        memory::grow(&mut self.replaced, count)
    }

    /// Takes over things that nothing leads to any more; reserved. Whether there are enough to be
    /// collected.
    pub(crate) fn append(&mut self, things: &mut Vec<T, Al>) -> bool {
        self.replaced.append(things);
        self.replaced.len() >= COLLECT
    }

    /// Frees what no reader can see any more, and begins to wait for the rest.
    pub(crate) fn collect<Cl: Allocator + Clone>(
        &mut self,
        epochs: &Epochs<Cl>,
        mut free: impl FnMut(T),
    ) {
        if !self.waiting.is_empty() {
            if !epochs.all_passed(self.waiting_since) {
                return;
            }
            // One by one: where `free` panics the others stay.
            while let Some(thing) = self.waiting.pop() {
                free(thing);
            }
        }
        if !self.replaced.is_empty() {
            mem::swap(&mut self.replaced, &mut self.waiting);
            self.waiting_since = epochs.end_epoch();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.replaced.is_empty() && self.waiting.is_empty()
    }

    /// All that waits. O(1) a thing.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.replaced.iter().chain(&self.waiting)
    }

    /// Forgets all of it.
    pub(super) fn clear(&mut self) {
        self.replaced.clear();
        self.waiting.clear();
    }
}
