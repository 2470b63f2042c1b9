//! The readers of a live table.

use core::marker::PhantomData;
use core::mem;

use super::seat::ReaderSeat;
use super::shared::GenerationsHandle;
use crate::address::Address;
use crate::batch::Kernel;
use crate::fib::arrays::{FibArrays, FibView};
use crate::fib::lookup;
use crate::memory::{Allocator, Global, OutOfMemory};

/// Addresses that [`Reader::lookup_batch`] looks up before it lets the writer
/// have what it no longer needs.
const BURST: usize = 4096;

/// One reader of a [`LiveFib`](super::LiveFib), for one thread.
///
/// Lookups never wait, never lock and never retry, whatever the writer does.
/// Each answer is the one before or the one after a change of that address's
/// route that happened meanwhile; a lookup that begins when
/// [`announce`](super::LiveFib::announce) has returned sees the change.
///
/// A reader may outlive the writer: it then sees the last state of the table. It can be sent to
/// another thread, and cloned for one more.
#[derive(Debug)]
pub struct Reader<A: Address, Al: Allocator + Clone = Global> {
    seat: ReaderSeat<FibArrays<Al>, Al>,
    types: PhantomData<fn(A)>,
}

impl<A: Address, Al: Allocator + Clone> Reader<A, Al> {
    pub(super) fn new(shared: GenerationsHandle<FibArrays<Al>, Al>) -> Result<Self, OutOfMemory> {
        Ok(Self {
            seat: ReaderSeat::new(shared)?,
            types: PhantomData,
        })
    }

    /// One more reader of the same table.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        Ok(Self {
            seat: self.seat.try_clone()?,
            types: PhantomData,
        })
    }

    /// Enters a read-side section: until the guard is dropped or [quiescent](Guard::quiescent), the writer
    /// frees nothing that was in the table.
    ///
    /// Costs about a hundredth of a burst of 64 lookups (docs/live.md), so enter once for each burst.
    #[inline]
    pub fn pin(&mut self) -> Guard<'_, A, Al> {
        self.seat.enter();
        Guard { reader: self }
    }

    /// The next hop of the longest prefix that contains `address`; 0 if there is none.
    #[inline]
    pub fn lookup(&mut self, address: A) -> u32 {
        self.pin().lookup(address)
    }

    /// Looks up each of `addresses` and writes its next hop to the same place of `next_hops`; 0 if there is
    /// none. As [`Fib::lookup_batch`](crate::Fib::lookup_batch).
    ///
    /// A long slice is looked up in parts of a few thousand addresses, each with its own guard.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`] panics.
    pub fn lookup_batch(&mut self, addresses: &[A], next_hops: &mut [u32]) {
        assert_eq!(
            addresses.len(),
            next_hops.len(),
            "one next hop for each address"
        );
        let mut guard = self.pin();
        for (addresses, next_hops) in addresses.chunks(BURST).zip(next_hops.chunks_mut(BURST)) {
            guard.quiescent();
            guard.lookup_batch(addresses, next_hops);
        }
    }
}

impl<A: Address, Al: Allocator + Clone> Clone for Reader<A, Al> {
    /// One more reader of the same table. Aborts the program if memory is exhausted;
    /// [`Reader::try_clone`] does not.
    fn clone(&self) -> Self {
        match self.try_clone() {
            Ok(reader) => reader,
            Err(error) => error.abort(),
        }
    }
}

/// A [`Reader`] in a read-side section of the table.
///
/// Applications hold one for a burst and drop it. A run-to-completion data plane holds one forever and calls
/// [`Guard::quiescent`] between bursts, which costs even less:
///
/// ```
/// # use popfib::{LiveFib, Options};
/// # let table: LiveFib<u32> = LiveFib::new(Options::default())?;
/// # let mut bursts = 0;
/// # let mut receive = |_: &mut [u32]| { bursts += 1; bursts < 3 };
/// let mut reader = table.reader();
/// let mut guard = reader.pin();
/// let (mut addresses, mut next_hops) = ([0; 64], [0; 64]);
/// while receive(&mut addresses) {
///     guard.lookup_batch(&addresses, &mut next_hops);
///     guard.quiescent();
/// }
/// # Ok::<(), popfib::CompileError>(())
/// ```
///
/// A thread that holds a guard and sleeps keeps the writer from reusing replaced memory, which then grows with
/// the changes: drop the guard before sleeping.
#[derive(Debug)]
pub struct Guard<'r, A: Address, Al: Allocator + Clone = Global> {
    reader: &'r mut Reader<A, Al>,
}

impl<A: Address, Al: Allocator + Clone> Guard<'_, A, Al> {
    /// The next hop of the longest prefix that contains `address`; 0 if there is none.
    #[inline]
    pub fn lookup(&self, address: A) -> u32 {
        lookup::lookup(self.view(), address)
    }

    /// Looks up each of `addresses` and writes its next hop to the same place of `next_hops`; 0 if there is
    /// none. As [`Fib::lookup_batch`](crate::Fib::lookup_batch).
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`] panics.
    #[inline]
    pub fn lookup_batch(&self, addresses: &[A], next_hops: &mut [u32]) {
        self.lookup_batch_with(Kernel::best(), addresses, next_hops);
    }

    /// As [`Guard::lookup_batch`], by the given kernel.
    ///
    /// # Panics
    /// If the slices have different lengths.
    pub fn lookup_batch_with(&self, kernel: Kernel, addresses: &[A], next_hops: &mut [u32]) {
        kernel.lookup_batch(self.view(), addresses, next_hops);
    }

    /// As [`Guard::lookup_batch`], of addresses in network order.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`] panics.
    pub fn lookup_batch_be(&self, addresses: &[A::Bytes], next_hops: &mut [u32]) {
        Kernel::best().lookup_batch_be::<A>(self.view(), addresses, next_hops);
    }

    /// Reports a quiescent state: the lookups so far are finished, so memory that only they could see can be
    /// reclaimed. The guard stays in its read-side section.
    ///
    /// A load and a store, without a barrier. Needs no std.
    #[inline(always)]
    pub fn quiescent(&mut self) {
        self.reader.seat.go_on();
    }

    #[inline(always)]
    fn view(&self) -> FibView<'_> {
        // SAFETY: the reader is inside for as long as the guard lives; a view is
        // gone when `quiescent` is called, which borrows the guard exclusively.
        unsafe { self.reader.seat.current() }.view()
    }
}

impl<A: Address, Al: Allocator + Clone> Drop for Guard<'_, A, Al> {
    #[inline]
    fn drop(&mut self) {
        self.reader.seat.leave();
    }
}

// A guard that is forgotten leaves its reader inside: memory is kept, never freed too early.
const _: () = assert!(mem::needs_drop::<Guard<'_, u32>>());
