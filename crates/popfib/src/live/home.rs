//! The arrays of a live table, and what becomes of blocks that readers may still see (`limbo.rs`).

use allocator_api2::vec::Vec;

use super::limbo::Limbo;
use super::shared::GenerationsHandle;
use crate::fib::layout::{FibArrays, FibView};
use crate::memory::{Allocator, OutOfMemory};
use crate::patch::{BlockPlace, Home, Space};

/// What the writer of a live table holds of its arrays.
#[derive(Debug)]
pub(super) struct LiveArrays<Al: Allocator + Clone> {
    pub(super) shared: GenerationsHandle<FibArrays<Al>, Al>,
    retired: Limbo<BlockPlace, Al>,
}

impl<Al: Allocator + Clone> LiveArrays<Al> {
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn new(arrays: FibArrays<Al>, alloc: Al) -> Result<Self, OutOfMemory> {
        Ok(Self {
            shared: GenerationsHandle::new(arrays, alloc.clone())?,
            retired: Limbo::new_in(alloc),
        })
    }

    /// Words that wait until no reader can see them. O(places that wait).
    pub(super) fn waiting_words(&self) -> usize {
        self.retired.iter().map(|(_, len)| *len as usize).sum()
    }
}

impl<Al: Allocator + Clone> Home for LiveArrays<Al> {
    type Al = Al;

    // Full tables change more than they grow, and their readers want the cache.
    const GROWTH: usize = 8;

    const IS_UNSHARED: bool = false;

    #[inline(always)]
    fn view(&self) -> FibView<'_> {
        // SAFETY: this is the writer; its arrays stay until it publishes others, with `&mut self`.
        unsafe { self.shared.view() }
    }

    fn publish(&mut self, arrays: FibArrays<Al>) -> Result<(), OutOfMemory> {
        self.shared.publish(arrays)?;
        // These lie in the arrays of before, which go as a whole.
        self.retired.clear();
        self.shared.free_older();
        Ok(())
    }

    fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory> {
        self.retired.reserve(count)
    }

    fn retire(&mut self, space: &mut Space<Al>, places: &mut Vec<BlockPlace, Al>) {
        if self.retired.append(places) {
            self.collect(space);
        }
    }

    fn collect(&mut self, space: &mut Space<Al>) {
        let Self { shared, retired } = self;
        // SAFETY: as in `view`; here what waits is borrowed as well.
        let view = unsafe { shared.view() };
        retired.collect(&shared.epochs, |(place, len)| {
            space.free(view.arena, place, len);
        });
        if shared.has_older() {
            shared.free_older();
        }
    }

    fn is_waiting(&self) -> bool {
        !self.retired.is_empty()
    }
}
