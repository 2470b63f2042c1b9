//! The arrays of a live table, and what becomes of blocks that readers may still see.
//!
//! Replaced blocks are collected until there are enough to ask the readers about
//! ([`COLLECT`]); the epoch then ends, and when every reader has left it or moved on,
//! their places are free.

use allocator_api2::vec::Vec;
use core::mem;

use super::shared::Handle;
use crate::fib::layout::{Arrays, View};
use crate::memory::{self, Allocator, OutOfMemory};
use crate::patch::{Home, Place, Space};

/// Blocks to collect before the readers are asked whether they can be used again: asking
/// interrupts the other cores.
const COLLECT: usize = 128;

/// What the writer of a live table holds of its arrays.
#[derive(Debug)]
pub(super) struct Writer<Al: Allocator + Clone> {
    pub(super) shared: Handle<Arrays<Al>, Al>,
    /// Places that were replaced in this epoch, and those of an epoch that has ended.
    replaced: Vec<Place, Al>,
    waiting: Vec<Place, Al>,
    waiting_since: usize,
}

impl<Al: Allocator + Clone> Writer<Al> {
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn new(arrays: Arrays<Al>, alloc: Al) -> Result<Self, OutOfMemory> {
        Ok(Self {
            shared: Handle::new(arrays, alloc.clone())?,
            replaced: Vec::new_in(alloc.clone()),
            waiting: Vec::new_in(alloc),
            waiting_since: 0,
        })
    }

    /// Words that wait until no reader can see them. O(places that wait).
    pub(super) fn waiting_words(&self) -> usize {
        let places = self.replaced.iter().chain(&self.waiting);
        places.map(|(_, len)| *len as usize).sum()
    }
}

impl<Al: Allocator + Clone> Home for Writer<Al> {
    type Al = Al;

    // Full tables change more than they grow, and their readers want the cache.
    const GROWTH: usize = 8;

    #[inline(always)]
    fn view(&self) -> View<'_> {
        // SAFETY: this is the writer; its arrays stay until it publishes others, with `&mut self`.
        unsafe { self.shared.view() }
    }

    fn publish(&mut self, arrays: Arrays<Al>) -> Result<(), OutOfMemory> {
        self.shared.publish(arrays)?;
        // These lie in the arrays of before, which go as a whole.
        self.replaced.clear();
        self.waiting.clear();
        self.shared.free_older();
        Ok(())
    }

    fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory> {
        memory::grow(&mut self.replaced, count)
    }

    fn retire(&mut self, space: &mut Space, places: &mut Vec<Place, Al>) {
        self.replaced.append(places);
        if self.replaced.len() >= COLLECT {
            self.collect(space);
        }
    }

    fn collect(&mut self, space: &mut Space) {
        if !self.waiting.is_empty() {
            if !self.shared.epochs.all_passed(self.waiting_since) {
                return;
            }
            // SAFETY: as in `view`; here the list is borrowed as well.
            let view = unsafe { self.shared.view() };
            for (place, len) in self.waiting.drain(..) {
                space.free(view.arena, place, len);
            }
        }
        if !self.replaced.is_empty() {
            mem::swap(&mut self.replaced, &mut self.waiting);
            self.waiting_since = self.shared.epochs.end_epoch();
        }
        if self.shared.has_older() {
            self.shared.free_older();
        }
    }

    fn is_waiting(&self) -> bool {
        !(self.replaced.is_empty() && self.waiting.is_empty())
    }
}
