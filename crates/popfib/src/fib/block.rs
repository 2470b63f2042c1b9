//! One block of memory for all arrays of a Fib, on huge pages where there are any.
//!
//! Lookups touch a Fib at random. On 4 KiB pages a full table needs more
//! entries of the address translation cache than there are, and under
//! virtualisation a miss there costs as much as a miss of the data cache; two
//! huge pages of 2 MiB cover all of it. They are asked for and not demanded:
//! where the platform has none, the block is ordinary memory.

use alloc::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use core::ptr::NonNull;

/// A cache line: the alignment of each array inside a block.
const LINE: usize = 64;

/// A huge page of x86-64 and of most AArch64 systems.
const HUGE_PAGE: usize = 2 << 20;

/// From this size on a block begins at a huge page and ends at one.
/// Below, more than half of the page would be wasted.
const HUGE_FROM: usize = HUGE_PAGE / 2;

/// Zeroed memory, aligned to cache lines at least.
#[derive(Debug)]
pub(super) struct Block {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a block is plain memory that it alone owns.
unsafe impl Send for Block {}
// SAFETY: a shared block hands out its address only; its users answer for what they do there.
unsafe impl Sync for Block {}

impl Block {
    /// A block of at least `size` bytes, all zero. Aborts if memory is exhausted, as `Vec` does.
    pub(super) fn zeroed(size: usize) -> Self {
        let (size, align) = if size >= HUGE_FROM {
            (size.next_multiple_of(HUGE_PAGE), HUGE_PAGE)
        } else {
            (size.max(LINE), LINE)
        };
        let layout = Layout::from_size_align(size, align).expect("a block is less than isize::MAX");
        // SAFETY: the size is not zero.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }) else {
            handle_alloc_error(layout)
        };
        #[cfg(all(feature = "std", target_os = "linux"))]
        if align == HUGE_PAGE {
            // A refusal leaves ordinary pages.
            // SAFETY: the range is this block's own; the advice does not change its content.
            unsafe { libc::madvise(start.as_ptr().cast(), size, libc::MADV_HUGEPAGE) };
        }
        // After the advice and not by `alloc_zeroed`, which would touch small pages first.
        // SAFETY: the block is `size` bytes long.
        unsafe { start.write_bytes(0, size) };
        Self { start, layout }
    }

    /// The address `offset` bytes into the block.
    pub(super) fn at<T>(&self, offset: usize) -> NonNull<T> {
        assert!(offset <= self.layout.size());
        // SAFETY: inside the block, or one past its end.
        unsafe { self.start.add(offset).cast() }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated by `zeroed` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
