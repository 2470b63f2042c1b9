//! What the writer and the readers of a live table share: the current arrays,
//! and the clock that decides when older ones can be freed.
//!
//! It is written for any content `T`: the model of it (`model.rs`) has a content that notices when two threads use it.

use allocator_api2::boxed::Box;
use core::ops::Deref;
use core::ptr::{self, NonNull};
use core::sync::atomic::Ordering;

use super::epochs::Epochs;
use crate::fib::arrays::{FibArrays, FibView};
use crate::memory::{Allocator, Global, OutOfMemory};
use crate::sync::{AtomicPtr, AtomicUsize, fence};

/// Owned by the writer and the readers together; whoever is last frees it.
#[derive(Debug)]
pub(super) struct Generations<T, Al: Allocator + Clone = Global> {
    /// What lookups use. Never null.
    current: AtomicPtr<Generation<T>>,
    pub(super) epochs: Epochs<Al>,
    alloc: Al,
    /// Handles that there are.
    handles: AtomicUsize,
}

/// The content between two moves.
#[derive(Debug)]
struct Generation<T> {
    content: T,
    /// The generation before, until no reader can see it. The writer alone uses
    /// this, and the drop.
    older: AtomicPtr<Generation<T>>,
    /// The epoch that ended when the next one was published. Used by the writer alone, and by the drop.
    ended: AtomicUsize,
}

impl<Al: Allocator + Clone> Generations<FibArrays<Al>, Al> {
    /// The current arrays.
    ///
    /// # Safety
    /// The caller is the writer, or a reader that is inside; what it gets is used
    /// no longer than it stays so.
    #[inline(always)]
    pub(super) unsafe fn view(&self) -> FibView<'_> {
        // SAFETY: the caller's.
        unsafe { self.current() }.view()
    }
}

impl<T, Al: Allocator + Clone> Generations<T, Al> {
    /// The current content.
    ///
    /// # Safety
    /// The caller is the writer, or a reader that is inside; what it gets is used
    /// no longer than it stays so.
    #[inline(always)]
    pub(super) unsafe fn current(&self) -> &T {
        // Acquire: pairs with `publish`.
        let current = self.current.load(Ordering::Acquire);
        // SAFETY: never null, and freed when no reader is inside that may have
        // seen it, as the caller promises to be.
        unsafe { &(*current).content }
    }

    /// Lets lookups use `content` from now on. Only the writer calls this.
    ///
    /// # Errors
    /// [`OutOfMemory`]; the content is then unchanged.
    pub(super) fn publish(&self, content: T) -> Result<(), OutOfMemory> {
        let older = self.current.load(Ordering::Relaxed);
        let new = Generation::boxed(content, older, &self.alloc)?;
        // Release: pairs with `current`.
        self.current.store(new, Ordering::Release);
        let ended = self.epochs.end_epoch();
        // SAFETY: only the writer frees generations, and it is here.
        unsafe { (*older).ended.store(ended, Ordering::Relaxed) };
        Ok(())
    }

    /// Bytes of the older content that waits for readers. Only the writer calls this.
    pub(super) fn older_bytes(&self, bytes_of: impl Fn(&T) -> usize) -> usize {
        // SAFETY: only the writer frees generations, and it is here.
        let older = |at: *mut Generation<_>| unsafe { (*at).older.load(Ordering::Relaxed) };
        let mut at = older(self.current.load(Ordering::Relaxed));
        let mut bytes = 0;
        while !at.is_null() {
            // SAFETY: as above.
            bytes += bytes_of(unsafe { &(*at).content });
            at = older(at);
        }
        bytes
    }

    /// Whether older content waits for readers. Only the writer calls this.
    pub(super) fn has_older(&self) -> bool {
        let current = self.current.load(Ordering::Relaxed);
        // SAFETY: only the writer frees generations, and it is here.
        !unsafe { (*current).older.load(Ordering::Relaxed) }.is_null()
    }

    /// Frees the content that no reader sees any more. Only the writer calls this.
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

impl<T> Generation<T> {
    fn boxed<Al: Allocator + Clone>(
        content: T,
        older: *mut Self,
        alloc: &Al,
    ) -> Result<*mut Self, OutOfMemory> {
        let generation = Self {
            content,
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
    unsafe fn free<Al: Allocator + Clone>(mut generation: *mut Self, alloc: &Al) {
        while !generation.is_null() {
            // SAFETY: made by `boxed` from this allocator; nobody uses it.
            let freed = unsafe { Box::from_raw_in(generation, alloc.clone()) };
            generation = freed.older.load(Ordering::Relaxed);
        }
    }
}

impl<T, Al: Allocator + Clone> Drop for Generations<T, Al> {
    fn drop(&mut self) {
        let current = self.current.load(Ordering::Relaxed);
        // SAFETY: writer and readers are gone.
        unsafe { Generation::free(current, &self.alloc) };
    }
}

/// A counted reference to what is shared, as `Arc` is; stable Rust's takes its
/// memory from the global heap only.
#[derive(Debug)]
pub(super) struct GenerationsHandle<T, Al: Allocator + Clone = Global>(NonNull<Generations<T, Al>>);

// SAFETY: what is shared is used by several threads at once, and freed by whichever is last.
unsafe impl<T: Send + Sync, Al: Allocator + Clone + Send + Sync> Send for GenerationsHandle<T, Al> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync, Al: Allocator + Clone + Send + Sync> Sync for GenerationsHandle<T, Al> {}

impl<T, Al: Allocator + Clone> GenerationsHandle<T, Al> {
    /// The first handle.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn new(content: T, alloc: Al) -> Result<Self, OutOfMemory> {
        let current = Generation::boxed(content, ptr::null_mut(), &alloc)?;
        let shared = Generations {
            current: AtomicPtr::new(current),
            epochs: Epochs::new_in(alloc.clone()),
            alloc: alloc.clone(),
            handles: AtomicUsize::new(1),
        };
        // Refused, the generation is freed with what it would have been in.
        let boxed = Box::try_new_in(shared, alloc)
            .map_err(|_| OutOfMemory::new(size_of::<Generations<T, Al>>()))?;
        let (shared, _) = Box::into_raw_with_allocator(boxed);
        // SAFETY: a box is not null.
        Ok(Self(unsafe { NonNull::new_unchecked(shared) }))
    }
}

impl<T, Al: Allocator + Clone> Deref for GenerationsHandle<T, Al> {
    type Target = Generations<T, Al>;

    #[inline(always)]
    fn deref(&self) -> &Generations<T, Al> {
        // SAFETY: freed with the last handle only.
        unsafe { self.0.as_ref() }
    }
}

impl<T, Al: Allocator + Clone> Clone for GenerationsHandle<T, Al> {
    fn clone(&self) -> Self {
        // Relaxed: whoever clones a handle holds one.
        let handles = self.handles.fetch_add(1, Ordering::Relaxed);
        assert!(handles < usize::MAX / 2, "readers are leaked");
        Self(self.0)
    }
}

impl<T, Al: Allocator + Clone> Drop for GenerationsHandle<T, Al> {
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
