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
//! tens of cycles, so where the operating system can (Linux, `membarrier`), the writer
//! makes it for all threads at once and readers only keep the compiler in order.
//!
//! Rejected: crossbeam-epoch. It needs a full barrier for each pin, defers one
//! closure for each freed block, and has no quiescent form without std.

use allocator_api2::boxed::Box;
use core::ptr;
use core::sync::atomic::Ordering;

use crate::memory::{Allocator, Global, OutOfMemory};
use crate::sync::{AtomicBool, AtomicPtr, AtomicUsize, fence};

/// What a reader shows outside of lookups.
const OUTSIDE: usize = 0;

/// The clock and its readers.
#[derive(Debug)]
pub(super) struct Epochs<Al: Allocator = Global> {
    /// The current epoch, from 1 on. Written by the one writer.
    now: AtomicUsize,
    /// All slots ever made, linked; they live as long as the clock.
    slots: AtomicPtr<Slot>,
    alloc: Al,
}

/// A reader's place to show its epoch; two cache lines, so that readers don't disturb each other.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Slot {
    shown: AtomicUsize,
    /// Whether a reader has the slot.
    taken: AtomicBool,
    /// Set before the slot is linked, never changed.
    next: *mut Slot,
}

// SAFETY: `next` is written before the slot is shared, and the rest is atomic.
unsafe impl Send for Slot {}
// SAFETY: as above.
unsafe impl Sync for Slot {}

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
    pub(super) fn register(&self) -> Result<&Slot, OutOfMemory> {
        for slot in self.slots() {
            // Acquire: pairs with the release of the slot by its last reader.
            if !slot.taken.load(Ordering::Relaxed) && !slot.taken.swap(true, Ordering::Acquire) {
                return Ok(slot);
            }
        }
        let slot = Slot {
            shown: AtomicUsize::new(OUTSIDE),
            taken: AtomicBool::new(true),
            next: self.slots.load(Ordering::Relaxed),
        };
        let slot = Box::try_new_in(slot, self.alloc.clone())
            .map_err(|_| OutOfMemory::new(size_of::<Slot>()))?;
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
    pub(super) fn unregister(&self, slot: &Slot) {
        slot.leave();
        slot.taken.store(false, Ordering::Release);
    }

    /// The reader comes in: what it loads from here on stays until it leaves.
    #[inline(always)]
    pub(super) fn enter(&self, slot: &Slot) {
        self.show(slot);
        reader_barrier();
    }

    /// The reader, which is inside, has finished what it did so far and goes on.
    ///
    /// No barrier: it is never outside. When the writer reads the new epoch, all that
    /// the reader loaded before lies behind it; the reader has seen what the writer
    /// did before that epoch.
    #[inline(always)]
    pub(super) fn show(&self, slot: &Slot) {
        // Acquire: pairs with `end_epoch`; what was taken out before is not found any more.
        let now = self.now.load(Ordering::Acquire);
        // Release: pairs with `all_passed`; earlier loads of the table are done.
        slot.shown.store(now, Ordering::Release);
    }

    /// Ends the current epoch and returns it. Only the writer calls this.
    pub(super) fn end_epoch(&self) -> usize {
        let ended = self.now.load(Ordering::Relaxed);
        // Release: pairs with `show`.
        self.now.store(ended + 1, Ordering::Release);
        ended
    }

    /// Whether no reader is left that came in during `epoch` or before. Only the writer calls this.
    pub(super) fn all_passed(&self, epoch: usize) -> bool {
        writer_barrier();
        self.slots().all(|slot| {
            // Acquire: pairs with `show` and `leave`.
            let shown = slot.shown.load(Ordering::Acquire);
            shown == OUTSIDE || shown > epoch
        })
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> {
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

impl Slot {
    /// The reader leaves.
    #[inline(always)]
    pub(super) fn leave(&self) {
        // Release: pairs with `all_passed`; all loads of the table are done.
        self.shown.store(OUTSIDE, Ordering::Release);
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

/// Orders the reader's store before its loads, together with [`writer_barrier`].
#[inline(always)]
fn reader_barrier() {
    #[cfg(all(feature = "std", target_os = "linux", not(any(loom, miri))))]
    if membarrier::is_registered() {
        core::sync::atomic::compiler_fence(Ordering::SeqCst);
        return;
    }
    fence(Ordering::SeqCst);
}

/// The writer's side of [`reader_barrier`].
fn writer_barrier() {
    fence(Ordering::SeqCst);
    #[cfg(all(feature = "std", target_os = "linux", not(any(loom, miri))))]
    if membarrier::is_registered() {
        membarrier::run();
    }
}

/// A full barrier in every running thread of this process, at the cost of the caller.
#[cfg(all(feature = "std", target_os = "linux", not(any(loom, miri))))]
mod membarrier {
    use std::sync::atomic::{AtomicU8, Ordering};

    const UNKNOWN: u8 = 0;
    const REFUSED: u8 = 1;
    const REGISTERED: u8 = 2;

    /// Never changes once it is known: both sides must choose alike.
    static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);

    #[inline(always)]
    pub(super) fn is_registered() -> bool {
        match STATE.load(Ordering::Relaxed) {
            UNKNOWN => register(),
            state => state == REGISTERED,
        }
    }

    #[cold]
    fn register() -> bool {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            let state = match call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) {
                0 => REGISTERED,
                _ => REFUSED,
            };
            STATE.store(state, Ordering::Relaxed);
        });
        STATE.load(Ordering::Relaxed) == REGISTERED
    }

    #[cold]
    pub(super) fn run() {
        let result = call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
        assert_eq!(result, 0, "membarrier was registered");
    }

    fn call(command: libc::c_int) -> libc::c_long {
        // SAFETY: the call takes two numbers and touches no memory.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }
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
        let first: *const Slot = epochs.register().expect("memory");
        let second: *const Slot = epochs.register().expect("memory");
        assert_ne!(first, second);
        // SAFETY: slots live as long as the clock.
        let slot = unsafe { &*first };
        epochs.enter(slot);
        epochs.unregister(slot);
        let ended = epochs.end_epoch();
        assert!(epochs.all_passed(ended));
        assert_eq!(first, epochs.register().expect("memory") as *const Slot);
    }
}
