//! Pairs that never move, so that readers may hold a reference to a value while others are added.
//!
//! Segments of 16, 32, 64... slots: a new one leaves the others where they are. The slot of a
//! number is found by the place of the highest bit of the number plus 16. A pair is written
//! before the word of the Fib that leads to it, and taken out when no reader can have come by
//! its number any more, so a slot that readers look at does not change.
//!
//! Rejected: one array that is copied when it is full. Values with a lock or a counter inside
//! would be there twice. Rejected: a box for each value; it costs lookups one miss of the cache more.

use alloc::sync::Arc;
use core::fmt;
use core::mem::offset_of;
use core::ptr::{self, NonNull};
use core::sync::atomic::Ordering;

use crate::cpu::prefetch;
use crate::fib::block::HugePages;
use crate::map::pairs::{Pair, PairSlots};
use crate::memory::{AllocError, Allocator, OutOfMemory};
use crate::sync::{AtomicPtr, AtomicUsize};

/// The slots of the first segment.
const FIRST: usize = 16;

/// The slots of a live table's pairs, which the writer and the readers own together.
pub(super) struct PairSegments<V> {
    /// At `k`, segment k of 2^k slots: where the slot of number `-16` would be if the segment
    /// began there with number `2^k - 16`. Null where there is none yet, and below `k` of 4.
    starts: [AtomicPtr<Pair<V>>; usize::BITS as usize],
    /// Slots that have been in use, from 0 on: what lies there is a pair, or has a length of 0.
    end: AtomicUsize,
}

// SAFETY: values are used by the threads of all readers, and dropped by that of the writer or of the last reader.
unsafe impl<V: Send + Sync> Send for PairSegments<V> {}
// SAFETY: as above.
unsafe impl<V: Send + Sync> Sync for PairSegments<V> {}

impl<V> PairSegments<V> {
    /// # Errors
    /// [`OutOfMemory`].
    fn new() -> Result<Self, OutOfMemory> {
        let segments = Self {
            starts: core::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            end: AtomicUsize::new(0),
        };
        segments.add(FIRST)?;
        // SAFETY: the first slot of the segment that was just made; nobody else has it.
        unsafe { len_of(segments.slot(0)).write(0) };
        segments.end.store(1, Ordering::Relaxed);
        Ok(segments)
    }

    /// Makes the segment of so many slots. Only the writer calls this.
    fn add(&self, slots: usize) -> Result<(), OutOfMemory> {
        let layout = layout_of::<V>(slots)?;
        let memory = HugePages.allocate(layout);
        let memory = memory.map_err(|AllocError| OutOfMemory::new(layout.size()))?;
        let start = memory.cast::<Pair<V>>().as_ptr().wrapping_sub(slots);
        // Release: pairs with `slot`.
        self.starts[slots.ilog2() as usize].store(start, Ordering::Release);
        Ok(())
    }

    /// The slot of a number for which there is memory.
    #[inline(always)]
    fn slot(&self, number: u32) -> *mut Pair<V> {
        let at = number as usize + FIRST;
        let segment = usize::BITS - 1 - (at | 1).leading_zeros();
        // Acquire: pairs with `add`.
        let start = self.starts[segment as usize].load(Ordering::Acquire);
        start.wrapping_add(at)
    }

    /// Has the pair of `number` fetched into the cache, if there is one.
    #[inline(always)]
    pub(super) fn fetch(&self, number: u32) {
        prefetch(self.slot(number));
    }

    /// The pair of `number`; none for 0.
    ///
    /// # Safety
    /// `number` is 0, or less than `end` and known to the writer, or was answered by the Fib to a
    /// reader that has been inside since, and is for as long as the pair is used.
    #[inline(always)]
    pub(super) unsafe fn get(&self, number: u32) -> Option<&Pair<V>> {
        let slot = self.slot(number);
        // SAFETY: the slot was in use before the number was known, so its length is written;
        // if that is not 0 all of the pair is, and stays so, as the caller promises.
        unsafe { (len_of(slot).read() != 0).then(|| &*slot) }
    }
}

/// Where the length of a slot's pair lies, plus one; 0 where there is no pair.
#[inline(always)]
fn len_of<V>(slot: *mut Pair<V>) -> *mut u8 {
    slot.cast::<u8>().wrapping_add(offset_of!(Pair<V>, len))
}

fn layout_of<V>(slots: usize) -> Result<core::alloc::Layout, OutOfMemory> {
    core::alloc::Layout::array::<Pair<V>>(slots).map_err(|_| OutOfMemory::new(usize::MAX))
}

impl<V> Drop for PairSegments<V> {
    fn drop(&mut self) {
        // Relaxed: the writer and the readers are gone.
        for number in 0..self.end.load(Ordering::Relaxed) as u32 {
            let slot = self.slot(number);
            // SAFETY: slots below the end have a length, and a pair if that is not 0; each is dropped once.
            unsafe {
                if len_of(slot).read() != 0 {
                    slot.drop_in_place();
                }
            }
        }
        for (segment, start) in self.starts.iter().enumerate() {
            let start = start.load(Ordering::Relaxed);
            let slots = 1 << segment;
            if let (false, Ok(layout)) = (start.is_null(), layout_of::<V>(slots)) {
                let memory = start.wrapping_add(slots).cast::<u8>();
                // SAFETY: had in `add` by this layout, so it is not null; nobody uses it.
                unsafe { HugePages.deallocate(NonNull::new_unchecked(memory), layout) };
            }
        }
    }
}

impl<V> fmt::Debug for PairSegments<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairSegments")
            .field("end", &self.end.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}

/// The writer's side.
#[derive(Debug)]
pub(super) struct StableSlots<V> {
    pub(super) shared: Arc<PairSegments<V>>,
    /// Slots there is memory for.
    room: usize,
}

impl<V> PairSlots<V> for StableSlots<V> {
    fn new() -> Result<Self, OutOfMemory> {
        let shared = Arc::new(PairSegments::new()?);
        Ok(Self {
            shared,
            room: FIRST,
        })
    }

    fn end(&self) -> usize {
        // Relaxed: this is the writer.
        self.shared.end.load(Ordering::Relaxed)
    }

    fn room(&self) -> usize {
        self.room
    }

    fn bytes(&self) -> usize {
        size_of::<PairSegments<V>>() + self.room * size_of::<Pair<V>>()
    }

    fn grow(&mut self) -> Result<(), OutOfMemory> {
        if self.end() == self.room {
            // Segments up to that of 2^k slots have 2^(k + 1) - 16 together.
            let slots = self.room + FIRST;
            self.shared.add(slots)?;
            self.room += slots;
        }
        Ok(())
    }

    fn fetch(&self, number: u32) {
        self.shared.fetch(number);
    }

    fn get(&self, number: u32) -> Option<&Pair<V>> {
        if number as usize >= self.end() {
            return None;
        }
        // SAFETY: a slot in use; it changes by `put` and `take` only, with `&mut self`.
        unsafe { self.shared.get(number) }
    }

    fn put(&mut self, number: u32, pair: Pair<V>) {
        debug_assert!(PairSlots::get(self, number).is_none());
        assert!(
            (number as usize) < self.room,
            "there is memory for the pair"
        );
        // SAFETY: there is memory, and no reader has this number before the Fib has it.
        unsafe { self.shared.slot(number).write(pair) };
        let end = self.end().max(number as usize + 1);
        self.shared.end.store(end, Ordering::Relaxed);
    }

    fn take(&mut self, number: u32) -> Option<Pair<V>> {
        PairSlots::get(self, number)?;
        let slot = self.shared.slot(number);
        // SAFETY: there is a pair, which is here no more once its length is 0. No reader has its number:
        // the caller has waited for them.
        unsafe {
            let pair = slot.read();
            len_of(slot).write(0);
            Some(pair)
        }
    }
}
