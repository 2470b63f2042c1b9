//! The readers of many live tables.

use core::ops::Deref;

use super::seat::ReaderSeat;
use super::shared::GenerationsHandle;
use crate::address::Address;
use crate::fib_set::FibSet;
use crate::memory::{Allocator, Global, OutOfMemory};

/// One reader of a [`LiveFibSet`](crate::LiveFibSet), for one thread.
///
/// As a [`Reader`](super::Reader) of one table it never waits, may outlive the writer, and can be sent to another thread.
#[derive(Debug)]
pub struct FibSetReader<A: Address, Al: Allocator + Clone = Global> {
    seat: ReaderSeat<FibSet<A, Al>, Al>,
}

impl<A: Address, Al: Allocator + Clone> FibSetReader<A, Al> {
    pub(super) fn new(shared: GenerationsHandle<FibSet<A, Al>, Al>) -> Result<Self, OutOfMemory> {
        let seat = ReaderSeat::new(shared)?;
        Ok(Self { seat })
    }

    /// One more reader of the same tables.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        let seat = self.seat.try_clone()?;
        Ok(Self { seat })
    }

    /// Enters a read-side section, once for each burst, as [`Reader::pin`](super::Reader::pin).
    #[inline]
    pub fn pin(&mut self) -> FibSetGuard<'_, A, Al> {
        self.seat.enter();
        FibSetGuard { reader: self }
    }
}

/// A [`FibSetReader`] in a read-side section: the tables as a [`FibSet`], each as it is when it is looked up in.
#[derive(Debug)]
pub struct FibSetGuard<'r, A: Address, Al: Allocator + Clone = Global> {
    reader: &'r mut FibSetReader<A, Al>,
}

impl<A: Address, Al: Allocator + Clone> FibSetGuard<'_, A, Al> {
    /// Reports a quiescent state, as [`Guard::quiescent`](super::Guard::quiescent).
    #[inline(always)]
    pub fn quiescent(&mut self) {
        self.reader.seat.go_on();
    }
}

impl<A: Address, Al: Allocator + Clone> Deref for FibSetGuard<'_, A, Al> {
    type Target = FibSet<A, Al>;

    #[inline(always)]
    fn deref(&self) -> &FibSet<A, Al> {
        // SAFETY: the reader is inside for as long as the guard lives; what is borrowed here is gone when `quiescent` is called,
        // which borrows the guard exclusively.
        unsafe { self.reader.seat.current() }
    }
}

impl<A: Address, Al: Allocator + Clone> Drop for FibSetGuard<'_, A, Al> {
    #[inline]
    fn drop(&mut self) {
        self.reader.seat.leave();
    }
}
