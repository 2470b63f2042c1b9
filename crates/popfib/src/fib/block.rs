//! One block of memory for all arrays of a Fib, on huge pages where there are any.
//!
//! Lookups touch a Fib at random. On 4 KiB pages a full table needs more
//! entries of the address translation cache than there are, and under
//! virtualisation a miss there costs as much as a miss of the data cache; two
//! huge pages of 2 MiB cover all of it. They are asked for and not demanded:
//! where the platform has none, the block is ordinary memory.
//!
//! They are asked for whatever allocator the memory is from: the advice concerns
//! whole pages that the block alone fills, changes no content, and is refused
//! without harm where the memory is of another kind. Where there is nobody to
//! ask, a block takes no more than its size.

use core::alloc::Layout;
use core::ptr::NonNull;

use crate::memory::{AllocError, Allocator, Global, OutOfMemory};

/// A cache line: the alignment of each array inside a block.
const LINE: usize = 64;

/// A huge page of x86-64 and of most AArch64 systems.
const HUGE_PAGE: usize = 2 << 20;

/// From this size on a block begins at a huge page and ends at one.
/// Below, more than half of the page would be wasted.
const HUGE_FROM: Option<usize> = if cfg!(all(feature = "std", target_os = "linux")) {
    Some(HUGE_PAGE / 2)
} else {
    None
};

/// Zeroed memory, aligned to cache lines at least.
#[derive(Debug)]
pub(crate) struct Block<Al: Allocator = Global> {
    start: NonNull<u8>,
    layout: Layout,
    alloc: Al,
}

// SAFETY: a block is plain memory that it alone owns.
unsafe impl<Al: Allocator + Send> Send for Block<Al> {}
// SAFETY: a shared block hands out its address only; its users answer for what they do there.
unsafe impl<Al: Allocator + Sync> Sync for Block<Al> {}

impl<Al: Allocator> Block<Al> {
    /// A block of at least `size` bytes, all zero.
    pub(crate) fn zeroed_in(size: usize, alloc: Al) -> Result<Self, OutOfMemory> {
        let allocate = |size, align| {
            let layout = Layout::from_size_align(size, align).ok()?;
            let start = alloc.allocate(layout).ok()?;
            Some((start.cast::<u8>(), layout))
        };
        let huge = size
            .checked_next_multiple_of(HUGE_PAGE)
            .filter(|_| HUGE_FROM.is_some_and(|from| size >= from))
            .and_then(|size| allocate(size, HUGE_PAGE));
        // Where memory is short, without what the pages would cost.
        let (start, layout) = huge
            .or_else(|| allocate(size.max(LINE), LINE))
            .ok_or(OutOfMemory::new(size))?;
        advise(start, layout);
        // After the advice and not by `allocate_zeroed`, which would touch small pages first.
        // SAFETY: the block is that long, and nobody else has it.
        unsafe { start.write_bytes(0, layout.size()) };
        Ok(Self {
            start,
            layout,
            alloc,
        })
    }

    pub(super) fn allocator(&self) -> &Al {
        &self.alloc
    }

    /// The address `offset` bytes into the block.
    pub(crate) fn at<T>(&self, offset: usize) -> NonNull<T> {
        assert!(offset <= self.layout.size());
        // SAFETY: inside the block, or one past its end.
        unsafe { self.start.add(offset).cast() }
    }
}

impl<Al: Allocator> Drop for Block<Al> {
    fn drop(&mut self) {
        // SAFETY: allocated by `zeroed_in` with this layout, from this allocator.
        unsafe { self.alloc.deallocate(self.start, self.layout) };
    }
}

/// The heap, on huge pages from a MiB on: for arrays that lookups touch at random beside a Fib.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HugePages;

impl HugePages {
    /// What is asked of the heap: the same whenever it is given back.
    fn aligned(layout: Layout) -> Layout {
        let align = HUGE_FROM.filter(|from| layout.size() >= *from);
        align.map_or(layout, |_| layout.align_to(HUGE_PAGE).unwrap_or(layout))
    }
}

// SAFETY: the heap's memory; a layout is turned alike when memory is had and when it is given back.
unsafe impl Allocator for HugePages {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let layout = Self::aligned(layout);
        let memory = Global.allocate(layout)?;
        advise(memory.cast(), layout);
        Ok(memory)
    }

    // SAFETY: as the trait asks: memory that `allocate` gave for this layout.
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        // SAFETY: by the caller's promise from `allocate` with this layout.
        unsafe { Global.deallocate(start, Self::aligned(layout)) };
    }
}

/// Asks for huge pages where memory begins at one; a refusal leaves ordinary pages.
fn advise(start: NonNull<u8>, layout: Layout) {
    #[cfg(all(feature = "std", target_os = "linux"))]
    if layout.align() == HUGE_PAGE {
        // SAFETY: the range is the caller's own; the advice does not change its content.
        unsafe { libc::madvise(start.as_ptr().cast(), layout.size(), libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(all(feature = "std", target_os = "linux")))]
    let _ = (start, layout);
}
