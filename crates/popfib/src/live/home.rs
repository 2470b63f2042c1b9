//! The arrays of a live table, and what becomes of blocks that readers may still see (`limbo.rs`).

use allocator_api2::vec::Vec;

use super::limbo::Limbo;
use super::mirror::{self, Mirror, WordJournal};
use super::shared::GenerationsHandle;
use crate::fib::arrays::{FibArrays, FibView};
use crate::memory::{Allocator, OutOfMemory};
use crate::patch::{BlockPlace, Home, Space, SwitchedWord};

/// What the writer of a live table holds of its arrays.
#[derive(Debug)]
pub(super) struct LiveArrays<Al: Allocator + Clone> {
    pub(super) shared: GenerationsHandle<FibArrays<Al>, Al>,
    retired: Limbo<BlockPlace, Al>,
    /// What a mirror of the arrays lacks, if there is one.
    journal: Option<WordJournal<Al>>,
}

impl<Al: Allocator + Clone> LiveArrays<Al> {
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn new(arrays: FibArrays<Al>, alloc: Al) -> Result<Self, OutOfMemory> {
        Ok(Self {
            shared: GenerationsHandle::new(arrays, alloc.clone())?,
            retired: Limbo::new_in(alloc),
            journal: None,
        })
    }

    /// Keeps a journal for a mirror from now on. False if there is one.
    pub(super) fn begin_mirror(&mut self, alloc: &Al) -> bool {
        let is_first = self.journal.is_none();
        self.journal
            .get_or_insert_with(|| WordJournal::new_in(alloc.clone()));
        is_first
    }

    /// Brings the mirror up to date, if there is one.
    ///
    /// # Errors
    /// Those of the mirror.
    pub(super) fn mirror<M: Mirror>(
        &mut self,
        space: &mut Space<Al>,
        mirror: &mut M,
    ) -> Result<(), M::Error> {
        let Some(journal) = &mut self.journal else {
            return Ok(());
        };
        // SAFETY: as in `view`; the journal is borrowed as well.
        let view = unsafe { self.shared.view() };
        if journal.bring(view, space.free_words(), mirror)? {
            self.release(space);
        }
        Ok(())
    }

    /// Keeps no journal from now on.
    pub(super) fn end_mirror(&mut self, space: &mut Space<Al>) {
        self.release(space);
        self.journal = None;
    }

    /// Lets what was held for the mirror's readers wait for those of this process.
    fn release(&mut self, space: &mut Space<Al>) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        // Refused, it waits where it is for the next time.
        let is_reserved = self.retired.reserve(journal.held_places()).is_ok();
        if is_reserved && self.retired.append(journal.release()) {
            self.collect(space);
        }
    }

    /// Heap bytes of the journal.
    pub(super) fn journal_bytes(&self) -> usize {
        self.journal.as_ref().map_or(0, WordJournal::bytes)
    }

    fn held_words(&self) -> usize {
        self.journal.as_ref().map_or(0, WordJournal::held_words)
    }

    /// Words that wait until no reader can see them. O(places that wait).
    pub(super) fn waiting_words(&self) -> usize {
        let retired = self.retired.iter().map(|(_, len)| *len as usize);
        self.held_words() + retired.sum::<usize>()
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
        if let Some(journal) = &mut self.journal {
            journal.move_on();
        }
        self.shared.free_older();
        Ok(())
    }

    fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory> {
        match &mut self.journal {
            Some(journal) if journal.holds() => journal.reserve(count),
            _ => self.retired.reserve(count),
        }
    }

    fn retire(&mut self, space: &mut Space<Al>, places: &mut Vec<BlockPlace, Al>) {
        match &mut self.journal {
            Some(journal) if journal.holds() => journal.hold(places),
            _ if self.retired.append(places) => self.collect(space),
            _ => {}
        }
    }

    #[inline(always)]
    fn stored(&mut self, built: &[BlockPlace], root: &[SwitchedWord], arena: &[SwitchedWord]) {
        if let Some(journal) = &mut self.journal {
            // SAFETY: as in `view`; the journal is borrowed as well.
            journal.note(unsafe { self.shared.view() }, built, root, arena);
        }
    }

    fn spare(&self) -> usize {
        self.journal.as_ref().map_or(0, |_| mirror::SPARE)
    }

    fn collect(&mut self, space: &mut Space<Al>) {
        let Self {
            shared, retired, ..
        } = self;
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
        !self.retired.is_empty() || self.held_words() > 0
    }
}
