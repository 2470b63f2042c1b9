//! Memory from where the caller says: by the functions of a table's configuration, else from the global heap.
//!
//! Everything that a table and its readers hold comes from there, the handles included, so that a refusal
//! anywhere is `-ENOMEM` and everything is given back with the last handle.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::NonNull;

use allocator_api2::boxed::Box;
use popfib::memory::{AllocError, Allocator, Global};

use crate::error::{Errno, Result};

/// `popfib_allocate_fn`: user, alignment, size.
pub(crate) type Allocate = unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void;

/// `popfib_release_fn`: user, memory, alignment, size.
pub(crate) type Release = unsafe extern "C" fn(*mut c_void, *mut c_void, usize, usize);

/// An owned value in memory of the caller's.
pub(crate) type Own<T> = Box<T, Memory>;

/// Where a table's memory comes from.
#[derive(Clone, Copy)]
pub(crate) enum Memory {
    Heap,
    Caller {
        allocate: Allocate,
        release: Release,
        user: *mut c_void,
    },
}

impl Memory {
    /// A value in this memory.
    pub(crate) fn own<T>(self, value: T) -> Result<Own<T>> {
        Box::try_new_in(value, self).map_err(|AllocError| Errno::NO_MEMORY)
    }
}

/// The pointer that C keeps of a value, until [`take_back`].
pub(crate) fn hand_out<T>(value: Own<T>) -> *mut T {
    Box::into_raw_with_allocator(value).0
}

/// The value behind a pointer that [`hand_out`] gave.
///
/// # Safety
/// It did so, for a value in this memory, and nobody uses the pointer afterwards.
pub(crate) unsafe fn take_back<T>(pointer: *mut T, memory: Memory) -> Own<T> {
    // SAFETY: the caller's.
    unsafe { Box::from_raw_in(pointer, memory) }
}

/// What C is asked for: it may rely on sizes that are multiples of the alignment, as `aligned_alloc` does.
fn asked(layout: Layout) -> (usize, usize) {
    (layout.align(), layout.pad_to_align().size())
}

// SAFETY: memory stays until it is released, wherever this value moves and whatever copies there are; the
// header asks the caller's functions for no less, and what they give is checked as far as can be.
unsafe impl Allocator for Memory {
    fn allocate(&self, layout: Layout) -> core::result::Result<NonNull<[u8]>, AllocError> {
        let (allocate, release, user) = match *self {
            // Nothing is asked for where there is nothing to hold.
            Self::Caller {
                allocate,
                release,
                user,
            } if layout.size() > 0 => (allocate, release, user),
            _ => return Global.allocate(layout),
        };
        let (alignment, size) = asked(layout);
        // SAFETY: the caller's function, called as the header says.
        let memory = unsafe { allocate(user, alignment, size) };
        let start = NonNull::new(memory.cast::<u8>()).ok_or(AllocError)?;
        if start.addr().get() & (alignment - 1) != 0 {
            // SAFETY: as above.
            unsafe { release(user, memory, alignment, size) };
            return Err(AllocError);
        }
        Ok(NonNull::slice_from_raw_parts(start, layout.size()))
    }

    // SAFETY: as the trait asks.
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        match *self {
            Self::Caller { release, user, .. } if layout.size() > 0 => {
                let (alignment, size) = asked(layout);
                // SAFETY: the caller's function, with what its `allocate` was called with.
                unsafe { release(user, start.as_ptr().cast(), alignment, size) };
            }
            // SAFETY: from `Global`, says the trait.
            _ => unsafe { Global.deallocate(start, layout) },
        }
    }
}
