//! A reader's place at what a live table shares, whatever that is: all of a reader that other
//! threads have to do with.

use core::ptr::NonNull;

use super::epochs::ReaderSlot;
use super::shared::GenerationsHandle;
use crate::memory::{Allocator, Global, OutOfMemory};

/// Keeps what is shared, and has a slot of its clock.
#[derive(Debug)]
pub(super) struct ReaderSeat<T, Al: Allocator + Clone = Global> {
    shared: GenerationsHandle<T, Al>,
    /// This reader's own, until it is dropped; it lives as long as `shared`.
    slot: NonNull<ReaderSlot>,
}

// SAFETY: a slot is shared by atomic operations; that only one thread at a time
// uses it as its own follows from `&mut self`.
unsafe impl<T: Send + Sync, Al: Allocator + Clone + Send + Sync> Send for ReaderSeat<T, Al> {}
// SAFETY: a shared seat gives away nothing but others like itself, and content to whoever is inside.
unsafe impl<T: Send + Sync, Al: Allocator + Clone + Send + Sync> Sync for ReaderSeat<T, Al> {}

impl<T, Al: Allocator + Clone> ReaderSeat<T, Al> {
    /// A seat outside.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn new(shared: GenerationsHandle<T, Al>) -> Result<Self, OutOfMemory> {
        let slot = NonNull::from(shared.epochs.register()?);
        Ok(Self { shared, slot })
    }

    /// One more, at the same.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn try_clone(&self) -> Result<Self, OutOfMemory> {
        Self::new(self.shared.clone())
    }

    /// Comes in: what [`current`](ReaderSeat::current) gives from here on stays until the reader leaves.
    #[inline(always)]
    pub(super) fn enter(&mut self) {
        self.shared.epochs.enter(self.slot());
    }

    /// Has finished what it did so far, and stays inside.
    #[inline(always)]
    pub(super) fn go_on(&mut self) {
        self.shared.epochs.show(self.slot());
    }

    #[inline(always)]
    pub(super) fn leave(&mut self) {
        self.slot().leave();
    }

    /// What is there today.
    ///
    /// # Safety
    /// The reader is inside; what it gets is not used after it left or went on.
    #[inline(always)]
    pub(super) unsafe fn current(&self) -> &T {
        // SAFETY: the caller's.
        unsafe { self.shared.current() }
    }

    #[inline(always)]
    fn slot(&self) -> &ReaderSlot {
        // SAFETY: slots live as long as the clock in `shared`.
        unsafe { self.slot.as_ref() }
    }
}

impl<T, Al: Allocator + Clone> Drop for ReaderSeat<T, Al> {
    fn drop(&mut self) {
        self.shared.epochs.unregister(self.slot());
    }
}
