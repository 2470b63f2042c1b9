//! The readers of a live map.

use alloc::sync::Arc;
use core::fmt;

use super::segments::PairSegments;
use crate::address::Address;
use crate::live::{Guard, Reader};
use crate::map::batch::{self, Answering};
use crate::map::pairs::Pair;
use crate::memory::OutOfMemory;
use crate::prefix::Prefix;

/// One reader of a [`LiveMap`](super::LiveMap), for one thread.
///
/// Lookups never wait, never lock and never retry, whatever the writer does. A reader may outlive the
/// writer: it then sees the last state of the map. It can be sent to another thread, and cloned for one more.
pub struct MapReader<A: Address, V> {
    reader: Reader<A>,
    pairs: Arc<PairSegments<V>>,
}

impl<A: Address, V> MapReader<A, V> {
    pub(super) fn new(reader: Reader<A>, pairs: Arc<PairSegments<V>>) -> Self {
        Self { reader, pairs }
    }

    /// One more reader of the same map.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        Ok(Self::new(self.reader.try_clone()?, self.pairs.clone()))
    }

    /// Enters a read-side section: until the guard is dropped or [quiescent](MapGuard::quiescent), no value
    /// that was in the map is dropped.
    ///
    /// As [`Reader::pin`]: enter once for each burst.
    #[inline]
    pub fn pin(&mut self) -> MapGuard<'_, A, V> {
        MapGuard {
            guard: self.reader.pin(),
            pairs: &self.pairs,
        }
    }
}

impl<A: Address, V> Clone for MapReader<A, V> {
    /// One more reader of the same map. Aborts the program if memory is exhausted;
    /// [`MapReader::try_clone`] does not.
    fn clone(&self) -> Self {
        Self::new(self.reader.clone(), self.pairs.clone())
    }
}

impl<A: Address, V> fmt::Debug for MapReader<A, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapReader").finish_non_exhaustive()
    }
}

/// A [`MapReader`] in a read-side section of the map: what it finds stays until the guard is dropped or
/// quiescent.
///
/// Each answer is the one before or the one after a change of that address's route
/// that happened meanwhile; a lookup that begins when a change has returned sees it.
///
/// A thread that holds a guard and sleeps keeps the writer from dropping values and from reusing memory: drop
/// the guard before sleeping.
pub struct MapGuard<'r, A: Address, V> {
    guard: Guard<'r, A>,
    pairs: &'r PairSegments<V>,
}

impl<A: Address, V> MapGuard<'_, A, V> {
    /// The value of the longest prefix that contains `address`.
    #[inline]
    pub fn lookup(&self, address: impl Into<A>) -> Option<&V> {
        Some(&self.find(address.into())?.value)
    }

    /// The longest prefix that contains `address`, and its value.
    #[inline]
    pub fn longest_match(&self, address: impl Into<A>) -> Option<(Prefix<A>, &V)> {
        let address = address.into();
        Some(self.find(address)?.matched(address))
    }

    /// As [`PrefixMap::lookup_batch`](crate::PrefixMap::lookup_batch).
    ///
    /// # Panics
    /// If the slices have different lengths, or [`Kernel::best`](crate::Kernel::best) panics.
    pub fn lookup_batch<'g, K: Copy + Into<A>>(
        &'g self,
        addresses: &[K],
        values: &mut [Option<&'g V>],
    ) {
        batch::values(self, addresses, values);
    }

    /// As [`PrefixMap::longest_match_batch`](crate::PrefixMap::longest_match_batch).
    ///
    /// # Panics
    /// If the slices have different lengths, or [`Kernel::best`](crate::Kernel::best) panics.
    pub fn longest_match_batch<'g, K: Copy + Into<A>>(
        &'g self,
        addresses: &[K],
        matches: &mut [Option<(Prefix<A>, &'g V)>],
    ) {
        batch::matches(self, addresses, matches);
    }

    /// Reports a quiescent state: nothing that was found so far is still in use, as the borrow checker ensures. The
    /// guard stays in its read-side section.
    #[inline]
    pub fn quiescent(&mut self) {
        self.guard.quiescent();
    }

    #[inline]
    fn find(&self, address: A) -> Option<&Pair<V>> {
        let number = self.guard.lookup(address);
        // SAFETY: the Fib answered this to this guard, which is borrowed for as long as the pair is.
        unsafe { self.pairs.get(number) }
    }
}

impl<'g, A: Address, V> Answering<A> for &'g MapGuard<'_, A, V> {
    type Answer = Option<&'g Pair<V>>;

    #[inline(always)]
    fn answers(self, addresses: &[A], numbers: &mut [u32]) -> impl Iterator<Item = Self::Answer> {
        self.guard.lookup_batch(addresses, numbers);
        if batch::is_fetched::<A, V>(numbers) {
            numbers.iter().for_each(|number| self.pairs.fetch(*number));
        }
        numbers.iter().map(|number| {
            // SAFETY: as in `find`.
            unsafe { self.pairs.get(*number) }
        })
    }
}

impl<A: Address, V> fmt::Debug for MapGuard<'_, A, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapGuard").finish_non_exhaustive()
    }
}
