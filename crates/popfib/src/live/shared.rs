//! What the writer and the readers of a live table share: the arrays of today,
//! and the clock that tells when older ones can go.

use alloc::boxed::Box;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::epochs::Epochs;
use crate::fib::layout::{Arrays, View};

/// Owned by the writer and the readers together; whoever is last frees it.
#[derive(Debug)]
pub(super) struct Shared {
    /// The arrays that lookups use. Never null.
    current: AtomicPtr<Generation>,
    pub(super) epochs: Epochs,
}

/// The arrays of a table between two moves.
#[derive(Debug)]
struct Generation {
    arrays: Arrays,
    /// The generation before, until no reader can see it. The writer alone uses
    /// this, and the drop.
    older: AtomicPtr<Generation>,
    /// The epoch that ended when the next one was published. As above.
    ended: AtomicUsize,
}

impl Shared {
    pub(super) fn new(arrays: Arrays) -> Self {
        Self {
            current: AtomicPtr::new(Generation::boxed(arrays, ptr::null_mut())),
            epochs: Epochs::new(),
        }
    }

    /// The arrays of today.
    ///
    /// # Safety
    /// The caller is the writer, or a reader that is inside; what it gets is used
    /// no longer than it stays so.
    #[inline(always)]
    pub(super) unsafe fn view(&self) -> View<'_> {
        // Acquire: pairs with `publish`.
        let current = self.current.load(Ordering::Acquire);
        // SAFETY: never null, and freed when no reader is inside that may have
        // seen it, as the caller promises to be.
        unsafe { (*current).arrays.view() }
    }

    /// Lets lookups use `arrays` from now on. Only the writer calls this.
    pub(super) fn publish(&self, arrays: Arrays) {
        let older = self.current.load(Ordering::Relaxed);
        let new = Generation::boxed(arrays, older);
        // Release: pairs with `view`.
        self.current.store(new, Ordering::Release);
        let ended = self.epochs.end_epoch();
        // SAFETY: only the writer frees generations, and it is here.
        unsafe { (*older).ended.store(ended, Ordering::Relaxed) };
    }

    /// Whether older arrays wait for readers. Only the writer calls this.
    pub(super) fn has_older(&self) -> bool {
        let current = self.current.load(Ordering::Relaxed);
        // SAFETY: only the writer frees generations, and it is here.
        !unsafe { (*current).older.load(Ordering::Relaxed) }.is_null()
    }

    /// Frees the arrays that no reader sees any more. Only the writer calls this.
    pub(super) fn free_older(&self) {
        let mut at = self.current.load(Ordering::Relaxed);
        loop {
            // SAFETY: only the writer frees generations, and it is here.
            let older = unsafe { &(*at).older };
            let next = older.load(Ordering::Relaxed);
            if next.is_null() {
                return;
            }
            // SAFETY: as above.
            let ended = unsafe { (*next).ended.load(Ordering::Relaxed) };
            if self.epochs.all_passed(ended) {
                older.store(ptr::null_mut(), Ordering::Relaxed);
                // SAFETY: no reader sees it nor, as they ended earlier, the ones
                // before it, and the writer has just unlinked them.
                unsafe { Generation::free(next) };
                return;
            }
            at = next;
        }
    }
}

impl Generation {
    fn boxed(arrays: Arrays, older: *mut Self) -> *mut Self {
        Box::into_raw(Box::new(Self {
            arrays,
            older: AtomicPtr::new(older),
            ended: AtomicUsize::new(0),
        }))
    }

    /// Frees `generation` and those before it.
    ///
    /// # Safety
    /// Nobody uses them any more.
    unsafe fn free(mut generation: *mut Self) {
        while !generation.is_null() {
            // SAFETY: made by `boxed`; nobody uses it.
            let mut freed = unsafe { Box::from_raw(generation) };
            generation = *freed.older.get_mut();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: writer and readers are gone.
        unsafe { Generation::free(*self.current.get_mut()) };
    }
}
