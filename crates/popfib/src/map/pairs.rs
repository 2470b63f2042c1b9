//! The pairs of a map: value and prefix length of each answer, in one packed array.
//!
//! The number of a pair is the next hop of its routes in the Rib and the leaf in the
//! Fib. The matched prefix is the address cut to the pair's length, so a lookup needs
//! nothing of the route itself. Value and length lie side by side: each array beside
//! the Fib costs a miss of cache and TLB, which is more than the lookup (docs/experiments/doors.md).
//!
//! Nobody here knows of routes or of the Fib: a live table numbers its pairs the same way.

use allocator_api2::vec::Vec;
use core::marker::PhantomData;
use core::num::NonZeroU8;

use super::free::FreeNumbers;
use super::storage::Storage;
use crate::address::Address;
use crate::cpu::prefetch;
use crate::fib::block::HugePages;
use crate::memory::{self, OutOfMemory};
use crate::next_hop::{MAX_NEXT_HOP, NextHop};
use crate::prefix::Prefix;

/// A value, and the length of the prefixes that it is a pair with.
#[derive(Clone, Debug)]
// In C's order, as live tables look at the length of a place that may hold no pair.
#[repr(C)]
pub struct Pair<V> {
    pub(crate) value: V,
    /// Plus one, so that an empty slot costs nothing.
    pub(crate) len: NonZeroU8,
}

impl<V> Pair<V> {
    pub(crate) fn new(value: V, len: u8) -> Self {
        Self {
            value,
            len: NonZeroU8::MIN.saturating_add(len),
        }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> u8 {
        self.len.get() - 1
    }

    /// The prefix that matches `address`, which is the address cut to the length, and the value.
    #[inline(always)]
    pub(crate) fn matched<A: Address>(&self, address: A) -> (Prefix<A>, &V) {
        (Prefix::clamped(address, self.len()), &self.value)
    }
}

/// Pair `n` is in slot `n`; slot 0, "no route", stays empty.
pub(crate) type PairSlice<V> = [Option<Pair<V>>];

/// Where pairs lie. Those of a map in one array; those of a live table where they never move.
pub trait PairSlots<V> {
    /// No pairs.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    fn new() -> Result<Self, OutOfMemory>
    where
        Self: Sized;

    /// The slots that have been in use so far, slot 0 among them; 0 before there is one.
    fn end(&self) -> usize;

    /// Slots there is memory for.
    fn room(&self) -> usize;

    /// Heap bytes.
    fn bytes(&self) -> usize;

    /// Makes sure of the memory for one slot more.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    fn grow(&mut self) -> Result<(), OutOfMemory>;

    /// Has the pair of that number fetched into the cache, if there is one.
    fn fetch(&self, number: u32);

    /// The pair of that number.
    fn get(&self, number: u32) -> Option<&Pair<V>>;

    /// Puts a pair into an empty slot, or into the next one that has not been in use.
    fn put(&mut self, number: u32, pair: Pair<V>);

    /// Takes a pair out.
    fn take(&mut self, number: u32) -> Option<Pair<V>>;
}

/// The pairs of a map.
#[derive(Clone, Debug)]
pub struct PackedSlots<V>(Vec<Option<Pair<V>>, HugePages>);

impl<V> PairSlots<V> for PackedSlots<V> {
    fn new() -> Result<Self, OutOfMemory> {
        Ok(Self(Vec::new_in(HugePages)))
    }

    fn end(&self) -> usize {
        self.0.len()
    }

    fn room(&self) -> usize {
        self.0.capacity()
    }

    fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Option<Pair<V>>>()
    }

    fn grow(&mut self) -> Result<(), OutOfMemory> {
        let slots = &mut self.0;
        let len = slots.len().max(1);
        if slots.capacity() <= len {
            // By half, and not by `Vec`'s doubling, which a large table would pay for.
            let more = 1 + len - slots.len();
            memory::reserve(slots, more.max(len / 2)).or_else(|_| memory::reserve(slots, more))?;
        }
        Ok(())
    }

    #[inline(always)]
    fn fetch(&self, number: u32) {
        prefetch(self.0.as_ptr().wrapping_add(number as usize));
    }

    #[inline(always)]
    fn get(&self, number: u32) -> Option<&Pair<V>> {
        self.0.get(number as usize)?.as_ref()
    }

    fn put(&mut self, number: u32, pair: Pair<V>) {
        let at = number as usize;
        if self.0.len() <= at {
            self.0.resize_with(at + 1, || None);
        }
        self.0[at] = Some(pair);
    }

    fn take(&mut self, number: u32) -> Option<Pair<V>> {
        self.0.get_mut(number as usize)?.take()
    }
}

/// Numbered pairs.
#[derive(Clone, Debug)]
pub struct Pairs<V, S: Storage, M: PairSlots<V> = PackedSlots<V>> {
    slots: M,
    free: FreeNumbers,
    /// What the storage needs to know of each.
    pub(crate) index: S::ValueIndex,
    values: PhantomData<V>,
}

impl<V, S: Storage, M: PairSlots<V>> Pairs<V, S, M> {
    /// # Errors
    /// [`OutOfMemory`].
    pub(crate) fn try_new() -> Result<Self, OutOfMemory> {
        Ok(Self {
            slots: M::new()?,
            free: FreeNumbers::default(),
            index: S::ValueIndex::default(),
            values: PhantomData,
        })
    }

    /// The pair of that number; none for 0.
    #[inline(always)]
    pub(crate) fn get(&self, number: u32) -> Option<&Pair<V>> {
        self.slots.get(number)
    }

    pub(crate) fn memory(&self) -> &M {
        &self.slots
    }

    /// The highest number there has been, and one more.
    pub(crate) fn end(&self) -> usize {
        self.slots.end()
    }

    /// Makes sure of the memory for one pair more.
    pub(crate) fn reserve(&mut self) -> Result<(), OutOfMemory> {
        if self.free.count() > 0 {
            return Ok(());
        }
        if self.end() >= MAX_NEXT_HOP as usize {
            return Err(OutOfMemory::new(usize::MAX));
        }
        self.slots.grow()?;
        self.free.reserve(self.slots.room())
    }

    /// Adds a pair, for which there is room; returns its number, the lowest that is free.
    pub(crate) fn put(&mut self, pair: Pair<V>) -> NextHop {
        let next = self.end().max(1) as u32;
        let number = self.free.take().unwrap_or(next);
        self.slots.put(number, pair);
        NextHop::new(number).expect("no pair has number 0")
    }

    /// Takes a pair out; its number is free then.
    pub(crate) fn take(&mut self, number: NextHop) -> Option<Pair<V>> {
        let pair = self.slots.take(number.get())?;
        self.free.give(number.get());
        Some(pair)
    }

    /// The number of pairs.
    pub(crate) fn len(&self) -> usize {
        self.end().saturating_sub(1) - self.free.count()
    }

    /// Heap bytes, without what the values own.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.bytes() + self.free.bytes() + S::index_bytes(&self.index)
    }

    /// Whether nobody has that number.
    pub(super) fn is_free(&self, number: u32) -> bool {
        self.get(number).is_none() && (number == 0 || self.free.contains(number))
    }
}

impl<V, S: Storage> Pairs<V, S> {
    pub(super) fn new() -> Self {
        Self::try_new().expect("an empty array takes no memory")
    }

    #[inline(always)]
    pub(super) fn slots(&self) -> &PairSlice<V> {
        &self.slots.0
    }

    pub(super) fn slots_mut(&mut self) -> &mut PairSlice<V> {
        &mut self.slots.0
    }

    pub(super) fn get_mut(&mut self, number: NextHop) -> Option<&mut Pair<V>> {
        self.slots.0.get_mut(number.get() as usize)?.as_mut()
    }

    /// Whether so few numbers are in use that giving them out again is worth its time.
    pub(super) fn is_sparse(&self) -> bool {
        self.slots.0.len() > 64 && self.len() < self.slots.0.len() / 4
    }

    /// Gives back what was had for more pairs to come, if that is much and there is memory to move to.
    pub(super) fn shrink(&mut self) {
        let len = self.slots.0.len();
        if self.slots.0.capacity() > len + len / 8 {
            memory::shrink(&mut self.slots.0, len + len / 16);
        }
        S::shrink(&mut self.index);
    }

    /// Numbers the pairs again, from 1 on in the order that they have; returns the new number of
    /// each old one. Where memory is short nothing happens.
    pub(super) fn renumber(&mut self) -> Option<alloc::vec::Vec<u32>> {
        let mut numbers = alloc::vec::Vec::new();
        numbers.try_reserve_exact(self.slots.0.len()).ok()?;
        let mut slots = Vec::new_in(HugePages);
        memory::reserve(&mut slots, self.len() + 1).ok()?;
        let mut free = FreeNumbers::default();
        free.reserve(slots.capacity()).ok()?;
        slots.push(None);
        for slot in self.slots.0.drain(..) {
            numbers.push(if slot.is_some() {
                slots.len() as u32
            } else {
                0
            });
            if slot.is_some() {
                slots.push(slot);
            }
        }
        self.slots.0 = slots;
        self.free = free;
        S::renumber(&mut self.index, &numbers);
        Some(numbers)
    }
}
