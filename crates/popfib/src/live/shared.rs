//! What the writer and the readers of a live table share: the arrays of today,
//! and the clock that tells when older ones can go.

use allocator_api2::boxed::Box;
use core::ops::Deref;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, fence};

use super::epochs::Epochs;
use crate::fib::layout::{Arrays, View};
use crate::memory::{Allocator, Global, OutOfMemory};

/// Owned by the writer and the readers together; whoever is last frees it.
#[derive(Debug)]
pub(super) struct Shared<Al: Allocator + Clone = Global> {
    /// The arrays that lookups use. Never null.
    current: AtomicPtr<Generation<Al>>,
    pub(super) epochs: Epochs<Al>,
    alloc: Al,
    /// Handles that there are.
    handles: AtomicUsize,
}

/// The arrays of a table between two moves.
#[derive(Debug)]
struct Generation<Al: Allocator> {
    arrays: Arrays<Al>,
    /// The generation before, until no reader can see it. The writer alone uses
    /// this, and the drop.
    older: AtomicPtr<Generation<Al>>,
    /// The epoch that ended when the next one was published. As above.
    ended: AtomicUsize,
}

impl<Al: Allocator + Clone> Shared<Al> {
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
    ///
    /// # Errors
    /// [`OutOfMemory`]; the arrays of before are then still those of today.
    pub(super) fn publish(&self, arrays: Arrays<Al>) -> Result<(), OutOfMemory> {
        let older = self.current.load(Ordering::Relaxed);
        let new = Generation::boxed(arrays, older, &self.alloc)?;
        // Release: pairs with `view`.
        self.current.store(new, Ordering::Release);
        let ended = self.epochs.end_epoch();
        // SAFETY: only the writer frees generations, and it is here.
        unsafe { (*older).ended.store(ended, Ordering::Relaxed) };
        Ok(())
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
                unsafe { Generation::free(next, &self.alloc) };
                return;
            }
            at = next;
        }
    }
}

impl<Al: Allocator + Clone> Generation<Al> {
    fn boxed(arrays: Arrays<Al>, older: *mut Self, alloc: &Al) -> Result<*mut Self, OutOfMemory> {
        let generation = Self {
            arrays,
            older: AtomicPtr::new(older),
            ended: AtomicUsize::new(0),
        };
        let boxed = Box::try_new_in(generation, alloc.clone())
            .map_err(|_| OutOfMemory::new(size_of::<Self>()))?;
        Ok(Box::into_raw_with_allocator(boxed).0)
    }

    /// Frees `generation` and those before it.
    ///
    /// # Safety
    /// Nobody uses them any more; `alloc` is where they are from.
    unsafe fn free(mut generation: *mut Self, alloc: &Al) {
        while !generation.is_null() {
            // SAFETY: made by `boxed` from this allocator; nobody uses it.
            let mut freed = unsafe { Box::from_raw_in(generation, alloc.clone()) };
            generation = *freed.older.get_mut();
        }
    }
}

impl<Al: Allocator + Clone> Drop for Shared<Al> {
    fn drop(&mut self) {
        // SAFETY: writer and readers are gone.
        unsafe { Generation::free(*self.current.get_mut(), &self.alloc) };
    }
}

/// A counted reference to what is shared, as `Arc` is; stable Rust's takes its
/// memory from the global heap only.
#[derive(Debug)]
pub(super) struct Handle<Al: Allocator + Clone = Global>(NonNull<Shared<Al>>);

// SAFETY: what is shared is used by several threads at once, and freed by whichever is last.
unsafe impl<Al: Allocator + Clone + Send + Sync> Send for Handle<Al> {}
// SAFETY: as above.
unsafe impl<Al: Allocator + Clone + Send + Sync> Sync for Handle<Al> {}

impl<Al: Allocator + Clone> Handle<Al> {
    /// The first handle.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn new(arrays: Arrays<Al>, alloc: Al) -> Result<Self, OutOfMemory> {
        let current = Generation::boxed(arrays, ptr::null_mut(), &alloc)?;
        let shared = Shared {
            current: AtomicPtr::new(current),
            epochs: Epochs::new_in(alloc.clone()),
            alloc: alloc.clone(),
            handles: AtomicUsize::new(1),
        };
        // Refused, the generation is freed with what it would have been in.
        let boxed = Box::try_new_in(shared, alloc)
            .map_err(|_| OutOfMemory::new(size_of::<Shared<Al>>()))?;
        let (shared, _) = Box::into_raw_with_allocator(boxed);
        // SAFETY: a box is not null.
        Ok(Self(unsafe { NonNull::new_unchecked(shared) }))
    }
}

impl<Al: Allocator + Clone> Deref for Handle<Al> {
    type Target = Shared<Al>;

    #[inline(always)]
    fn deref(&self) -> &Shared<Al> {
        // SAFETY: freed with the last handle only.
        unsafe { self.0.as_ref() }
    }
}

impl<Al: Allocator + Clone> Clone for Handle<Al> {
    fn clone(&self) -> Self {
        // Relaxed: whoever clones a handle holds one.
        let handles = self.handles.fetch_add(1, Ordering::Relaxed);
        assert!(handles < usize::MAX / 2, "readers are leaked");
        Self(self.0)
    }
}

impl<Al: Allocator + Clone> Drop for Handle<Al> {
    fn drop(&mut self) {
        // Release: what this thread did is done before another frees.
        if self.handles.fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        // Acquire: pairs with the others' release.
        fence(Ordering::Acquire);
        let alloc = self.alloc.clone();
        // SAFETY: made by `new` from this allocator; this was the last handle.
        drop(unsafe { Box::from_raw_in(self.0.as_ptr(), alloc) });
    }
}
