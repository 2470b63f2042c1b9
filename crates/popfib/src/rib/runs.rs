//! Runs: short arrays of varying length inside one big array, named by their start.
//!
//! A node's values, and its children, lie side by side so that a population
//! count finds one of them. A run of `n` elements occupies a block of the
//! smallest class that holds `n`; blocks given back are chained into their
//! class's free list, the links in their own slots. The classes grow by a
//! quarter to a third, so that a run that grows by one element mostly stays
//! where it is; the block at the end of the array always does.
//!
//! What may need memory comes in two steps: `reserve_run` or `reserve_insert`,
//! which may fail and change nothing, then the change, which cannot fail. So
//! the Rib makes sure of the memory of all its runs before it changes the first.
//! Taking an element away never fails.
//!
//! A long array that is nearly full is copied to a longer one some slots a change, so that no change
//! takes the time of all of it.
//!
//! Rejected: blocks of exactly `n`. They would move every run on every change. Rejected: an array in
//! parts. Each step of a walk would look for its part first.

use allocator_api2::boxed::Box;
use allocator_api2::vec::Vec;

use crate::memory::{self, Allocator, Global, OutOfMemory};

/// Block sizes. The largest run is a node's values: 127 prefixes.
const CLASSES: [u8; 14] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

/// `CLASS_OF[n]` is the class of a run of `n`.
const CLASS_OF: [u8; 129] = {
    let mut table = [0; 129];
    let mut n = 1;
    while n < table.len() {
        let mut class = 0;
        while (CLASSES[class] as usize) < n {
            class += 1;
        }
        table[n] = class as u8;
        n += 1;
    }
    table
};

// As `reserve_all` has it.
const _: () = {
    let mut n = 1;
    while n < CLASS_OF.len() {
        assert!(2 * CLASSES[CLASS_OF[n] as usize] as usize <= 3 * n);
        n += 1;
    }
};

// A block that shrinks to the next smaller class leaves a whole block behind.
const _: () = {
    let mut class = 1;
    while class < CLASSES.len() {
        let rest = CLASSES[class] - CLASSES[class - 1];
        assert!(CLASSES[CLASS_OF[rest as usize] as usize] == rest);
        class += 1;
    }
};

/// From so many slots on, an array is copied in steps before it is full.
const LONG: usize = if cfg!(test) { 64 } else { 1 << 15 };

/// The end of a free list.
const NONE: u32 = u32::MAX;

/// An element that can hold a free list's link while its block is free.
pub(super) trait RunSlot: Copy + Default {
    fn link(next: u32) -> Self;
    fn linked(&self) -> u32;
}

impl RunSlot for u32 {
    fn link(next: u32) -> Self {
        next
    }

    fn linked(&self) -> u32 {
        *self
    }
}

#[derive(Debug)]
pub(super) struct Runs<T, Al: Allocator = Global> {
    slots: Vec<T, Al>,
    /// The longer array that is to take the place of `slots`: a copy of the first of them so far.
    longer: Option<Box<Vec<T, Al>, Al>>,
    /// The first free block of each class.
    free: [u32; CLASSES.len()],
    /// Slots in blocks that are in use.
    used: usize,
}

impl<T: RunSlot, Al: Allocator + Clone> Runs<T, Al> {
    pub(super) fn new_in(alloc: Al) -> Self {
        Self {
            slots: Vec::new_in(alloc),
            longer: None,
            free: [NONE; CLASSES.len()],
            used: 0,
        }
    }

    pub(super) fn allocator(&self) -> &Al {
        self.slots.allocator()
    }

    /// Heap bytes, spare capacity included.
    pub(super) fn bytes(&self) -> usize {
        let longer = self.longer.as_ref().map_or(0, |longer| longer.capacity());
        (self.slots.capacity() + longer) * size_of::<T>()
    }

    /// Whether so much lies free that moving everything together is worth its time.
    #[inline]
    pub(super) fn is_sparse(&self) -> bool {
        self.slots.len() > 16 && self.used < self.slots.len() / 2
    }

    /// The same runs at the same places.
    pub(super) fn try_clone(&self) -> Result<Self, OutOfMemory> {
        let mut slots = Vec::new_in(self.allocator().clone());
        memory::reserve(&mut slots, self.slots.len())?;
        slots.extend_from_slice(&self.slots);
        Ok(Self {
            slots,
            longer: None,
            ..*self
        })
    }

    /// Runs without an element yet, with room for all those of `self`.
    pub(super) fn for_copy(&self) -> Result<Self, OutOfMemory> {
        let mut runs = Self::new_in(self.allocator().clone());
        memory::reserve(&mut runs.slots, self.used)?;
        Ok(runs)
    }

    /// All slots, those that are free included.
    #[inline]
    pub(super) fn slots(&self) -> &[T] {
        &self.slots
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> &T {
        &self.slots[index as usize]
    }

    #[inline]
    pub(super) fn set(&mut self, index: u32, value: T) {
        self.slots[index as usize] = value;
        self.follow(index as usize, 1);
    }

    /// The first `len` elements of the run at `start`.
    pub(super) fn run(&self, start: u32, len: usize) -> &[T] {
        &self.slots[start as usize..][..len]
    }

    /// Makes sure of the memory for a new run of `len` elements.
    #[inline]
    pub(super) fn reserve_run(&mut self, len: usize) -> Result<(), OutOfMemory> {
        let class = CLASS_OF[len];
        if self.has_free(class) {
            return Ok(());
        }
        self.reserve(block_size(class))
    }

    /// Makes sure that a removal from a run of up to `longest` elements finds a place to move
    /// to. The run's own block is then free, for an insertion that takes the removal back.
    pub(super) fn reserve_move(&mut self, longest: usize) -> Result<(), OutOfMemory> {
        self.reserve(block_size(CLASS_OF[longest - 1]))
    }

    /// Makes sure of the memory for one element more in the run of `len` elements at `start`.
    #[inline]
    pub(super) fn reserve_insert(&mut self, start: u32, len: usize) -> Result<(), OutOfMemory> {
        if len == 0 {
            return self.reserve_run(1);
        }
        let (old_class, new_class) = (CLASS_OF[len], CLASS_OF[len + 1]);
        if old_class == new_class || self.has_free(new_class) {
            return Ok(());
        }
        let in_place = if self.is_last(start as usize, old_class) {
            block_size(old_class)
        } else {
            0
        };
        self.reserve(block_size(new_class) - in_place)
    }

    /// Makes sure of the memory for new runs of `count` elements in all, not in steps.
    #[inline]
    pub(super) fn reserve_all(&mut self, count: usize) -> Result<(), OutOfMemory> {
        // No block is longer than one and a half of its run.
        let most = count + count.div_ceil(2);
        if self.spare() >= most {
            return Ok(());
        }
        // What a short array has too much is given back soon.
        let len = self.slots.len();
        self.reserve_more(if len < LONG { most.max(len) } else { most }, false)
    }

    /// Gives back what was had for more slots to come, if that is much and there is memory to move to.
    pub(super) fn shrink(&mut self) {
        let len = self.slots.len();
        // Of a long array some is left, so that it can be copied in steps.
        let left = if len < LONG { 0 } else { len / 32 };
        if self.longer.is_none() && self.spare() <= left + len / 16 {
            return;
        }
        self.longer = None;
        memory::shrink(&mut self.slots, len + left);
    }

    /// A new run of one element; reserved.
    pub(super) fn alloc_one(&mut self, value: T) -> u32 {
        self.alloc_run(&[value])
    }

    /// A new run of these elements; reserved. An empty run has no block.
    pub(super) fn alloc_run(&mut self, values: &[T]) -> u32 {
        self.alloc_with(values.len(), |run| run.copy_from_slice(values))
    }

    /// A new run of `len` elements, which `fill` writes; reserved. An empty run has no block.
    pub(super) fn alloc_with(&mut self, len: usize, fill: impl FnOnce(&mut [T])) -> u32 {
        if len == 0 {
            return 0;
        }
        let start = self.alloc(CLASS_OF[len]);
        fill(&mut self.slots[start as usize..][..len]);
        self.follow(start as usize, len);
        start
    }

    /// Puts `value` at `at` into the run of `len` elements at `start`; returns
    /// the run's start, which may be a new one. Reserved. An empty run has no block.
    pub(super) fn insert(&mut self, start: u32, len: usize, at: usize, value: T) -> u32 {
        if len == 0 {
            return self.alloc_one(value);
        }
        let (old_class, new_class) = (CLASS_OF[len], CLASS_OF[len + 1]);
        let from = start as usize;
        let in_place = old_class == new_class || self.extend_last(from, old_class, new_class);
        if in_place {
            self.slots.copy_within(from + at..from + len, from + at + 1);
            self.slots[from + at] = value;
            self.follow(from + at, len + 1 - at);
            return start;
        }
        let new_start = self.alloc(new_class);
        let to = new_start as usize;
        self.slots.copy_within(from..from + at, to);
        self.slots[to + at] = value;
        self.slots.copy_within(from + at..from + len, to + at + 1);
        self.follow(to, len + 1);
        self.release(start, old_class);
        new_start
    }

    /// Takes the element at `at` out of the run of `len` elements at `start`;
    /// returns the run's start, which may be a new one.
    pub(super) fn remove(&mut self, start: u32, len: usize, at: usize) -> u32 {
        let old_class = CLASS_OF[len];
        if len == 1 {
            self.release(start, old_class);
            return 0;
        }
        let from = start as usize;
        let new_class = CLASS_OF[len - 1];
        if old_class == new_class {
            self.slots.copy_within(from + at + 1..from + len, from + at);
            self.follow(from + at, len - 1 - at);
            return start;
        }
        let size = block_size(new_class);
        if !self.has_free(new_class) && self.reserve(size).is_err() {
            // No memory to move to: the run stays, the end of its block becomes free.
            self.slots.copy_within(from + at + 1..from + len, from + at);
            self.follow(from + at, len - 1 - at);
            let rest = block_size(old_class) - size;
            self.release(start + size as u32, CLASS_OF[rest]);
            return start;
        }
        let new_start = self.alloc(new_class);
        let to = new_start as usize;
        self.slots.copy_within(from..from + at, to);
        self.slots.copy_within(from + at + 1..from + len, to + at);
        self.follow(to, len - 1);
        self.release(start, old_class);
        new_start
    }

    #[inline]
    fn has_free(&self, class: u8) -> bool {
        self.free[usize::from(class)] != NONE
    }

    /// Whether the block at `start` is the last of the array.
    #[inline]
    fn is_last(&self, start: usize, class: u8) -> bool {
        start + block_size(class) == self.slots.len()
    }

    fn alloc(&mut self, class: u8) -> u32 {
        let size = block_size(class);
        self.used += size;
        let free = &mut self.free[usize::from(class)];
        let start = *free;
        if start != NONE {
            *free = self.slots[start as usize].linked();
            return start;
        }
        let start = self.slots.len();
        self.grow(size);
        start as u32
    }

    fn release(&mut self, start: u32, class: u8) {
        self.used -= block_size(class);
        let free = &mut self.free[usize::from(class)];
        let link = T::link(*free);
        *free = start;
        self.set(start, link);
    }

    /// Lengthens the block at `start` if it is the last of the array and no
    /// free block would do: otherwise runs that come and go would leave their
    /// free blocks behind and lengthen the array forever.
    fn extend_last(&mut self, start: usize, old_class: u8, new_class: u8) -> bool {
        if !self.is_last(start, old_class) || self.has_free(new_class) {
            return false;
        }
        let more = block_size(new_class) - block_size(old_class);
        self.used += more;
        self.grow(more);
        true
    }

    #[inline]
    fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory> {
        let len = self.slots.len();
        if self.spare() >= count && (len < LONG || self.spare() >= len / 8) {
            return Ok(());
        }
        self.reserve_more(count, true)
    }

    /// Slots that the memory has room for.
    #[inline]
    fn spare(&self) -> usize {
        self.slots.capacity() - self.slots.len()
    }

    /// Capacity grows by half, not by `Vec`'s doubling: a thousand small tables
    /// should not pay for room they never use. Where memory is short, by what is
    /// needed.
    #[cold]
    fn reserve_more(&mut self, count: usize, in_steps: bool) -> Result<(), OutOfMemory> {
        let len = self.slots.len();
        // Slots are numbered by 32 bits, and the last number ends a free list.
        if len + count > NONE as usize {
            return Err(OutOfMemory::new(
                (len + count).saturating_mul(size_of::<T>()),
            ));
        }
        if in_steps && len >= LONG {
            self.lengthen(count);
            if self.spare() >= count {
                return Ok(());
            }
        }
        // What was copied would only take memory from this.
        self.longer = None;
        memory::reserve(&mut self.slots, count.max(len / 2))
            .or_else(|_| memory::reserve(&mut self.slots, count))
    }

    /// Copies some slots more to the longer array, which takes the place of `slots` once it has all: enough of
    /// them that changes of few slots never find the rest to copy when they need room. Does nothing where there is no memory.
    fn lengthen(&mut self, count: usize) {
        let (len, spare) = (self.slots.len(), self.spare());
        let begin = || {
            let alloc = self.slots.allocator();
            let mut longer = Vec::new_in(alloc.clone());
            memory::reserve(&mut longer, len + count.max(len / 2)).ok()?;
            Box::try_new_in(longer, alloc.clone()).ok()
        };
        let Some(mut longer) = self.longer.take().or_else(begin) else {
            return;
        };
        let rest = &self.slots[longer.len()..];
        let some = if spare < count {
            rest.len()
        } else {
            (rest.len() / spare.max(1) * 256 + 256).min(rest.len())
        };
        longer.extend_from_slice(&rest[..some]);
        if longer.len() == len {
            self.slots = Box::into_inner(longer);
        } else {
            self.longer = Some(longer);
        }
    }

    /// Copies slots that have changed to the longer array, as far as it has them.
    #[inline]
    fn follow(&mut self, start: usize, len: usize) {
        let Some(longer) = &mut self.longer else {
            return;
        };
        let end = longer.len().min(start + len);
        if start < end {
            longer[start..end].copy_from_slice(&self.slots[start..end]);
        }
    }

    /// Appends `count` slots, reserved.
    fn grow(&mut self, count: usize) {
        debug_assert!(self.slots.capacity() - self.slots.len() >= count);
        self.slots.resize(self.slots.len() + count, T::default());
    }
}

fn block_size(class: u8) -> usize {
    usize::from(CLASSES[usize::from(class)])
}

#[cfg(test)]
mod tests;
