//! The pairs of a map: value and prefix length of each answer, in one packed array.
//!
//! The number of a pair is the next hop of its routes in the Rib and the leaf in the
//! Fib. The matched prefix is the address cut to the pair's length, so a lookup needs
//! nothing of the route itself. Value and length lie side by side: each array beside
//! the Fib costs a miss of cache and TLB, which is more than the lookup (docs/experiments.md).
//!
//! Nobody here knows of routes or of the Fib: a live table numbers its pairs the same way.

use allocator_api2::vec::Vec;
use core::num::NonZeroU8;

use super::defer::ASK;
use super::free::FreeNumbers;
use super::storage::Storage;
use crate::fib::block::HugePages;
use crate::memory::{self, OutOfMemory};
use crate::next_hop::NextHop;

/// A value, and the length of the prefixes that it is a pair with.
#[derive(Clone, Debug)]
pub(crate) struct Pair<V> {
    pub(super) value: V,
    /// Plus one, so that an empty slot costs nothing.
    len: NonZeroU8,
}

impl<V> Pair<V> {
    pub(super) fn new(value: V, len: u8) -> Self {
        Self {
            value,
            len: NonZeroU8::MIN.saturating_add(len),
        }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> u8 {
        self.len.get() - 1
    }
}

/// Pair `n` is in slot `n`; slot 0, "no route", stays empty.
pub(super) type Slots<V> = [Option<Pair<V>>];

/// Numbered pairs.
#[derive(Clone, Debug)]
pub struct Pairs<V, S: Storage> {
    slots: Vec<Option<Pair<V>>, HugePages>,
    free: FreeNumbers,
    /// What the storage needs to know of each.
    pub(super) index: S::Index,
}

impl<V, S: Storage> Pairs<V, S> {
    pub(super) fn new() -> Self {
        Self {
            slots: Vec::new_in(HugePages),
            free: FreeNumbers::default(),
            index: S::Index::default(),
        }
    }

    #[inline(always)]
    pub(super) fn slots(&self) -> &Slots<V> {
        &self.slots
    }

    pub(super) fn slots_mut(&mut self) -> &mut Slots<V> {
        &mut self.slots
    }

    /// The pair of that number; none for 0.
    #[inline(always)]
    pub(super) fn get(&self, number: u32) -> Option<&Pair<V>> {
        self.slots.get(number as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, number: NextHop) -> Option<&mut Pair<V>> {
        self.slots.get_mut(number.get() as usize)?.as_mut()
    }

    /// The number of pairs.
    pub(super) fn len(&self) -> usize {
        self.slots.len().saturating_sub(1) - self.free.count()
    }

    /// Whether nobody has that number.
    pub(super) fn is_free(&self, number: u32) -> bool {
        self.get(number).is_none() && (number == 0 || self.free.contains(number))
    }

    /// Whether so few numbers are in use that giving them out again is worth its time.
    pub(super) fn is_sparse(&self) -> bool {
        self.slots.len() > 64 && self.len() < self.slots.len() / 4
    }

    /// Makes sure of the memory for one pair more.
    pub(super) fn reserve(&mut self) -> Result<(), OutOfMemory> {
        if self.free.count() > 0 {
            return Ok(());
        }
        let len = self.slots.len().max(1);
        if len >= ASK as usize {
            return Err(OutOfMemory::new(usize::MAX));
        }
        if self.slots.capacity() <= len {
            // By half, and not by `Vec`'s doubling, which a large table would pay for.
            let more = 1 + len - self.slots.len();
            memory::reserve(&mut self.slots, more.max(len / 2))
                .or_else(|_| memory::reserve(&mut self.slots, more))?;
        }
        self.free.reserve(self.slots.capacity())
    }

    /// Adds a pair, for which there is room; returns its number, the lowest that is free.
    pub(super) fn put(&mut self, pair: Pair<V>) -> NextHop {
        if self.slots.is_empty() {
            self.slots.push(None);
        }
        let number = match self.free.take() {
            Some(number) => {
                self.slots[number as usize] = Some(pair);
                number
            }
            None => {
                self.slots.push(Some(pair));
                self.slots.len() as u32 - 1
            }
        };
        NextHop::new(number).expect("slot 0 is taken")
    }

    /// Takes a pair out; its number is free then.
    pub(super) fn take(&mut self, number: NextHop) -> Option<Pair<V>> {
        let pair = self.slots.get_mut(number.get() as usize)?.take()?;
        self.free.give(number.get());
        Some(pair)
    }

    /// Gives back what was had for more pairs to come, if that is much and there is memory to move to.
    pub(super) fn shrink(&mut self) {
        let len = self.slots.len();
        if self.slots.capacity() <= len + len / 8 + 16 {
            return;
        }
        let mut slots = Vec::new_in(HugePages);
        if memory::reserve(&mut slots, len + len / 16).is_ok() {
            slots.append(&mut self.slots);
            self.slots = slots;
        }
    }

    /// Numbers the pairs again, from 1 on in the order that they have; returns the new number of
    /// each old one. Where memory is short nothing happens.
    pub(super) fn renumber(&mut self) -> Option<alloc::vec::Vec<u32>> {
        let mut numbers = alloc::vec::Vec::new();
        numbers.try_reserve_exact(self.slots.len()).ok()?;
        let mut slots = Vec::new_in(HugePages);
        memory::reserve(&mut slots, self.len() + 1).ok()?;
        let mut free = FreeNumbers::default();
        free.reserve(slots.capacity()).ok()?;
        slots.push(None);
        for slot in self.slots.drain(..) {
            numbers.push(if slot.is_some() {
                slots.len() as u32
            } else {
                0
            });
            if slot.is_some() {
                slots.push(slot);
            }
        }
        self.slots = slots;
        self.free = free;
        S::renumber(&mut self.index, &numbers);
        Some(numbers)
    }

    /// Heap bytes, without what the values own.
    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Option<Pair<V>>>()
            + self.free.bytes()
            + S::index_bytes(&self.index)
    }
}
