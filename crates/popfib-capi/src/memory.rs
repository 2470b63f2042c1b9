//! Memory from where the caller says: requests of the library in, calls of the functions of a table's configuration out,
//! or of the global heap if it has none.
//!
//! Everything that a table and its readers hold comes from there, the handles included. So a refusal anywhere becomes
//! `-ENOMEM`, and everything is given back with the last handle.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::NonNull;

use allocator_api2::boxed::Box;
use popfib::memory::{AllocError, Allocator, Global};

use crate::border::free_handle;
use crate::error::{Errno, Result};

/// `popfib_allocate_fn`: user, alignment, size.
pub(crate) type AllocateFn = unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void;

/// `popfib_release_fn`: user, memory, alignment, size.
pub(crate) type ReleaseFn = unsafe extern "C" fn(*mut c_void, *mut c_void, usize, usize);

/// A value in memory from a [`CAllocator`].
pub(crate) type CBox<T> = Box<T, CAllocator>;

/// Where a table's memory comes from.
#[derive(Clone, Copy)]
pub(crate) enum CAllocator {
    Heap,
    Caller {
        allocate: AllocateFn,
        release: ReleaseFn,
        user: *mut c_void,
    },
}

impl CAllocator {
    /// A value in memory from here; -ENOMEM if there is none.
    pub(crate) fn own<T>(self, value: T) -> Result<CBox<T>> {
        Box::try_new_in(value, self).map_err(|AllocError| Errno::NO_MEMORY)
    }
}

/// A handle of a value on the heap, until [`free_on_heap`]; -ENOMEM if there is no memory.
pub(crate) fn make_on_heap<T>(value: T) -> Result<*mut T> {
    CAllocator::Heap.own(value).map(hand_out)
}

/// Frees a handle, unless it is null.
///
/// # Safety
/// `handle` is null or from [`make_on_heap`], and nobody uses it any more.
pub(crate) unsafe fn free_on_heap<T>(handle: *mut T) {
    free_handle(handle, |handle| {
        // SAFETY: not null, hence from `make_on_heap`, and not used again.
        drop(unsafe { take_back(handle, CAllocator::Heap) });
    });
}

/// The pointer that C keeps of a value, until [`take_back`].
pub(crate) fn hand_out<T>(value: CBox<T>) -> *mut T {
    Box::into_raw_with_allocator(value).0
}

/// The value of a pointer that [`hand_out`] gave.
///
/// # Safety
/// [`hand_out`] gave it, for a value in memory from this allocator, and nobody uses the pointer afterwards.
pub(crate) unsafe fn take_back<T>(pointer: *mut T, allocator: CAllocator) -> CBox<T> {
    // SAFETY: from such a box, and nobody else makes one of it again, as the caller promises.
    unsafe { Box::from_raw_in(pointer, allocator) }
}

/// The alignment and size that C is asked for: it may rely on sizes that are multiples of the alignment, as
/// `aligned_alloc` does.
fn c_layout(layout: Layout) -> (usize, usize) {
    (layout.align(), layout.pad_to_align().size())
}

// SAFETY: memory stays until it is released, wherever this value moves and whatever copies of it there are. popfib.h asks
// the caller's functions for no less; null and misaligned memory, which can be seen, count as a refusal.
unsafe impl Allocator for CAllocator {
    fn allocate(&self, layout: Layout) -> core::result::Result<NonNull<[u8]>, AllocError> {
        let (allocate, release, user) = match *self {
            // A size of 0 needs no memory.
            Self::Caller {
                allocate,
                release,
                user,
            } if layout.size() > 0 => (allocate, release, user),
            _ => return Global.allocate(layout),
        };
        let (alignment, size) = c_layout(layout);
        // SAFETY: `popfib_allocate_fn`, called with its `user`, a power of two and a multiple of it.
        let memory = unsafe { allocate(user, alignment, size) };
        let start = NonNull::new(memory.cast::<u8>()).ok_or(AllocError)?;
        if start.addr().get() & (alignment - 1) != 0 {
            // SAFETY: `popfib_release_fn`, called with what `allocate` was called with and has returned.
            unsafe { release(user, memory, alignment, size) };
            return Err(AllocError);
        }
        Ok(NonNull::slice_from_raw_parts(start, layout.size()))
    }

    // SAFETY: asks for what the trait does: memory of `allocate` for this layout, which nobody uses any more.
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        match *self {
            Self::Caller { release, user, .. } if layout.size() > 0 => {
                let (alignment, size) = c_layout(layout);
                // SAFETY: `popfib_release_fn`, called with what `allocate` was called with and has returned.
                unsafe { release(user, start.as_ptr().cast(), alignment, size) };
            }
            // SAFETY: `allocate` took it from `Global`.
            _ => unsafe { Global.deallocate(start, layout) },
        }
    }
}
