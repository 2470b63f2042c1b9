//! When what readers may still see can be used again.
//!
//! Time is counted in *epochs*. A reader that is inside a lookup shows the epoch
//! in which it came in; one that is not shows 0. The writer takes something out
//! of the table, then ends the epoch; once every reader is outside or came in
//! during a later epoch, nobody can hold what was taken out. So readers never wait:
//! to come in is one load and one store, to leave is one store.
//!
//! Between the store by which a reader comes in and its first load of the table
//! stands a barrier, lest the writer miss the reader and free what it loads. It
//! pairs with one in [`Epochs::all_passed`]. A full barrier costs a reader some
//! tens of cycles, so where the operating system can (`membarrier.rs`), the writer
//! makes it for all threads at once and such readers only keep the compiler in order.
//!
//! The system may stop to do so at any time. A reader that relies on it then is
//! asked to make its own barrier from the next time on that it comes in; until it
//! has answered, been seen inside in a later epoch, or gone, what it might see
//! waits. Nothing less would do: the writer cannot know whether such a reader has
//! just come in. New readers make their own barrier from the start.
//!
//! Rejected: crossbeam-epoch. It needs a full barrier for each pin, defers one
//! closure for each freed block, and has no quiescent form without std.

use allocator_api2::boxed::Box;
use core::ptr;
use core::sync::atomic::Ordering;

use super::membarrier;
use crate::memory::{Allocator, Global, OutOfMemory};
use crate::sync::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, compiler_fence, fence};

/// What a reader shows outside of lookups. No epoch has this number.
const OUTSIDE: usize = 0;

/// Who makes a reader's barrier when it comes in: the writer, by `membarrier`;
const BY_WRITER: u8 = 0;
/// the same as yet, but the reader is asked to do it itself;
const ASKED: u8 = 1;
/// the reader, each time.
const BY_READER: u8 = 2;

/// The clock and its readers.
#[derive(Debug)]
pub(crate) struct Epochs<Al: Allocator = Global> {
    /// The current epoch, from 1 on. Written by the one writer. The last number there is stays:
    /// a clock that began again could show a reader as later than it is.
    now: AtomicUsize,
    /// All slots ever made, linked; they live as long as the clock.
    slots: AtomicPtr<ReaderSlot>,
    alloc: Al,
}

/// A reader's place to show its epoch; two cache lines, so that readers don't disturb each other.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct ReaderSlot {
    shown: AtomicUsize,
    /// `BY_WRITER`, `ASKED` or `BY_READER`.
    barrier: AtomicU8,
    /// Whether a reader has the slot.
    taken: AtomicBool,
    /// Set before the slot is linked, never changed.
    next: *mut ReaderSlot,
}

// SAFETY: `next` is written before the slot is shared, and the rest is atomic.
unsafe impl Send for ReaderSlot {}
// SAFETY: as above.
unsafe impl Sync for ReaderSlot {}

impl<Al: Allocator + Clone> Epochs<Al> {
    pub(super) fn new_in(alloc: Al) -> Self {
        Self {
            alloc,
            now: AtomicUsize::new(1),
            slots: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// A slot for a new reader, outside. Lock-free; O(readers there have ever been at a time).
    ///
    /// # Errors
    /// [`OutOfMemory`], if there has to be one slot more.
    pub(super) fn register(&self) -> Result<&ReaderSlot, OutOfMemory> {
        self.register_as(if membarrier::is_offered() {
            BY_WRITER
        } else {
            BY_READER
        })
    }

    fn register_as(&self, barrier: u8) -> Result<&ReaderSlot, OutOfMemory> {
        let slot = self.take_slot()?;
        // Release: pairs with `all_passed`; what an earlier reader showed here is history.
        slot.barrier.store(barrier, Ordering::Release);
        // Pairs with the one in `all_passed`: a writer that does not find the reader here has made its
        // changes where the reader will find them.
        fence(Ordering::SeqCst);
        Ok(slot)
    }

    /// A slot that nobody else has.
    fn take_slot(&self) -> Result<&ReaderSlot, OutOfMemory> {
        for slot in self.slots() {
            // Acquire: pairs with the release of the slot by its last reader.
            if !slot.taken.load(Ordering::Relaxed) && !slot.taken.swap(true, Ordering::Acquire) {
                return Ok(slot);
            }
        }
        let slot = ReaderSlot {
            shown: AtomicUsize::new(OUTSIDE),
            barrier: AtomicU8::new(BY_WRITER),
            taken: AtomicBool::new(true),
            next: self.slots.load(Ordering::Relaxed),
        };
        let slot = Box::try_new_in(slot, self.alloc.clone())
            .map_err(|_| OutOfMemory::new(size_of::<ReaderSlot>()))?;
        let (slot, _) = Box::into_raw_with_allocator(slot);
        loop {
            // SAFETY: made above, and not linked yet: nobody else has it.
            let next = unsafe { (*slot).next };
            // Release: whoever walks the list sees the slot's content.
            match self
                .slots
                .compare_exchange_weak(next, slot, Ordering::Release, Ordering::Relaxed)
            {
                // SAFETY: linked slots live as long as the clock.
                Ok(_) => return Ok(unsafe { &*slot }),
                // SAFETY: as above.
                Err(head) => unsafe { (*slot).next = head },
            }
        }
    }

    /// Takes a reader's slot back; the reader is gone.
    pub(super) fn unregister(&self, slot: &ReaderSlot) {
        slot.leave();
        slot.taken.store(false, Ordering::Release);
    }

    /// The reader comes in: what it loads from here on stays until it leaves.
    #[inline(always)]
    pub(super) fn enter(&self, slot: &ReaderSlot) {
        self.show(slot);
        slot.barrier();
    }

    /// The reader, which is inside, has finished what it did so far and goes on.
    ///
    /// No barrier: it is never outside. When the writer reads the new epoch, all that
    /// the reader loaded before lies after it; the reader has seen what the writer
    /// did before that epoch.
    #[inline(always)]
    pub(super) fn show(&self, slot: &ReaderSlot) {
        slot.show(self.now());
    }

    #[inline(always)]
    fn now(&self) -> usize {
        // Acquire: pairs with `end_epoch`; what was taken out before is not found any more.
        self.now.load(Ordering::Acquire)
    }

    /// Ends the current epoch and returns it. Only the writer calls this.
    ///
    /// After the last number there is, which takes a clock of 32 bits at least two days, epochs
    /// no longer end: what is taken out then waits until all readers are outside at once.
    pub(crate) fn end_epoch(&self) -> usize {
        let ended = self.now.load(Ordering::Relaxed);
        // Release: pairs with `show`.
        self.now.store(ended.saturating_add(1), Ordering::Release);
        ended
    }

    /// Whether no reader is left that came in during `epoch` or before. Only the writer calls this.
    pub(crate) fn all_passed(&self, epoch: usize) -> bool {
        self.all_passed_by(epoch, membarrier::run)
    }

    /// As [`all_passed`](Epochs::all_passed); `barrier` makes one in all threads, unless it fails.
    fn all_passed_by(&self, epoch: usize, barrier: impl FnOnce() -> bool) -> bool {
        // Pairs with those of `register` and of the readers that make their own.
        fence(Ordering::SeqCst);
        let mut needs_barrier = false;
        for slot in self.slots() {
            // Acquire, and before what is shown: pairs with `unregister`, `register` and the answer of a
            // reader that was asked. What it did without a barrier was before, and shows.
            let is_ordered = !slot.taken.load(Ordering::Acquire)
                || slot.barrier.load(Ordering::Acquire) == BY_READER;
            match slot.shown(epoch) {
                ReaderPosition::Earlier => return false,
                // It has seen the end of the epoch, and with it what changed.
                ReaderPosition::Later => {}
                ReaderPosition::Outside => needs_barrier |= !is_ordered,
            }
        }
        if !needs_barrier {
            return true;
        }
        if barrier() {
            let mut slots = self.slots();
            return slots.all(|slot| slot.shown(epoch) != ReaderPosition::Earlier);
        }
        for slot in self.slots() {
            slot.ask();
        }
        false
    }

    fn slots(&self) -> impl Iterator<Item = &ReaderSlot> {
        // Acquire: pairs with `register`.
        let mut next = self.slots.load(Ordering::Acquire);
        core::iter::from_fn(move || {
            // SAFETY: null, or a slot of this clock's list, which lives as long as the clock.
            let slot = unsafe { next.as_ref() }?;
            next = slot.next;
            Some(slot)
        })
    }
}

/// Where a reader is, seen from the end of an epoch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReaderPosition {
    Outside,
    Earlier,
    Later,
}

impl ReaderSlot {
    /// The reader is inside, in epoch `now`.
    #[inline(always)]
    fn show(&self, now: usize) {
        // Release: pairs with `all_passed`; earlier loads of the table are done.
        self.shown.store(now, Ordering::Release);
    }

    /// The reader leaves.
    #[inline(always)]
    pub(super) fn leave(&self) {
        // Release: pairs with `all_passed`; all loads of the table are done.
        self.shown.store(OUTSIDE, Ordering::Release);
    }

    fn shown(&self, epoch: usize) -> ReaderPosition {
        // Acquire: pairs with `show` and `leave`.
        match self.shown.load(Ordering::Acquire) {
            OUTSIDE => ReaderPosition::Outside,
            shown if shown > epoch => ReaderPosition::Later,
            _ => ReaderPosition::Earlier,
        }
    }

    /// Orders the reader's store before its loads, together with [`Epochs::all_passed`].
    #[inline(always)]
    fn barrier(&self) {
        match self.barrier.load(Ordering::Relaxed) {
            BY_WRITER => compiler_fence(Ordering::SeqCst),
            by => self.own_barrier(by),
        }
    }

    #[inline]
    fn own_barrier(&self, by: u8) {
        fence(Ordering::SeqCst);
        if by == ASKED {
            // Release: whoever finds this finds what was shown before, too.
            self.barrier.store(BY_READER, Ordering::Release);
        }
    }

    /// Asks the reader to make its own barrier.
    fn ask(&self) {
        // Whatever else it is stays: another reader may have just taken the slot.
        let _ =
            self.barrier
                .compare_exchange(BY_WRITER, ASKED, Ordering::Relaxed, Ordering::Relaxed);
    }
}

impl<Al: Allocator> Drop for Epochs<Al> {
    fn drop(&mut self) {
        let mut next = self.slots.load(Ordering::Relaxed);
        while !next.is_null() {
            // SAFETY: made by `register` from a box; nobody else is left.
            let slot = unsafe { Box::from_raw_in(next, &self.alloc) };
            next = slot.next;
        }
    }
}

#[cfg(all(test, loom))]
mod model;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_passes_when_its_readers_have_left() {
        let epochs = Epochs::new_in(Global);
        let (first, second) = (
            epochs.register().expect("memory"),
            epochs.register().expect("memory"),
        );
        epochs.enter(first);
        let ended = epochs.end_epoch();
        assert!(!epochs.all_passed(ended));
        epochs.enter(second);
        assert!(!epochs.all_passed(ended));
        first.leave();
        assert!(epochs.all_passed(ended), "the second came in later");
        let next = epochs.end_epoch();
        assert!(!epochs.all_passed(next));
        epochs.show(second);
        assert!(
            epochs.all_passed(next),
            "the second has shown that it went on"
        );
    }

    #[test]
    fn slots_are_used_again() {
        let epochs = Epochs::new_in(Global);
        let first: *const ReaderSlot = epochs.register().expect("memory");
        let second: *const ReaderSlot = epochs.register().expect("memory");
        assert_ne!(first, second);
        // SAFETY: slots live as long as the clock.
        let slot = unsafe { &*first };
        epochs.enter(slot);
        epochs.unregister(slot);
        let ended = epochs.end_epoch();
        assert!(epochs.all_passed(ended));
        assert_eq!(
            first,
            epochs.register().expect("memory") as *const ReaderSlot
        );
    }
    /// A reader that relies on the writer's barrier, and a writer to whom it is refused.
    #[test]
    fn a_reader_that_was_there_before_the_refusal_is_waited_for() {
        let refused = || false;
        let epochs = Epochs::new_in(Global);
        let old = epochs.register_as(BY_WRITER).expect("memory");
        let ended = epochs.end_epoch();
        assert!(epochs.all_passed_by(ended, || true));
        assert!(
            !epochs.all_passed_by(ended, refused),
            "it may have come in unseen"
        );
        let new = epochs.register_as(BY_READER).expect("memory");
        epochs.enter(new);
        new.leave();
        assert!(
            !epochs.all_passed_by(ended, refused),
            "the old one is there"
        );
        epochs.enter(old);
        assert!(
            epochs.all_passed_by(ended, refused),
            "seen in a later epoch"
        );
        let ended = epochs.end_epoch();
        assert!(!epochs.all_passed_by(ended, refused), "inside");
        old.leave();
        assert!(epochs.all_passed_by(ended, refused), "it makes its own now");
    }

    /// Nobody waits for a reader that is gone, nor is the system asked when no reader relies on it.
    #[test]
    fn a_refusal_matters_only_to_readers_that_rely_on_the_barrier() {
        let epochs = Epochs::new_in(Global);
        let slot = epochs.register_as(BY_WRITER).expect("memory");
        let ended = epochs.end_epoch();
        epochs.enter(slot);
        assert!(epochs.all_passed_by(ended, || panic!("the reader is seen")));
        epochs.unregister(slot);
        assert!(epochs.all_passed_by(ended, || panic!("no reader is left")));
        epochs.register_as(BY_READER).expect("memory");
        assert!(epochs.all_passed_by(ended, || panic!("readers make their own")));
    }

    /// On 32-bit machines the last epoch can be reached.
    #[test]
    fn the_last_epoch_stays_and_hides_no_reader() {
        let mut epochs = Epochs::new_in(Global);
        epochs.now = AtomicUsize::new(usize::MAX - 1);
        let slot = epochs.register().expect("memory");
        for _ in 0..3 {
            epochs.enter(slot);
            let ended = epochs.end_epoch();
            assert!(!epochs.all_passed(ended), "inside, in epoch {ended}");
            slot.leave();
            assert!(epochs.all_passed(ended));
        }
    }
}
