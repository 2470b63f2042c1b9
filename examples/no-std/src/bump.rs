//! Memory from an array: each piece after the last.
//!
//! Only the last piece can grow where it is or be given back; what lies before it
//! is lost until all is. Tables that are made once need no more.

use core::alloc::Layout;
use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};

use popfib::memory::{AllocError, Allocator};

pub(crate) struct Bump<'m> {
    start: NonNull<u8>,
    len: usize,
    used: Cell<usize>,
    memory: PhantomData<&'m mut [MaybeUninit<u8>]>,
}

impl<'m> Bump<'m> {
    pub(crate) fn new(memory: &'m mut [MaybeUninit<u8>]) -> Self {
        Self {
            len: memory.len(),
            start: NonNull::from(memory).cast(),
            used: Cell::new(0),
            memory: PhantomData,
        }
    }

    /// Whether a piece of `size` bytes is the last.
    fn is_last(&self, piece: NonNull<u8>, size: usize) -> bool {
        piece.addr().get() + size == self.start.addr().get() + self.used.get()
    }
}

// SAFETY: pieces lie inside of the memory, which is borrowed for as long as the
// `Bump` may be used, and after all that are in use.
unsafe impl Allocator for Bump<'_> {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let free = self.start.addr().get() + self.used.get();
        let place = free.next_multiple_of(layout.align()) - self.start.addr().get();
        let end = place.checked_add(layout.size()).ok_or(AllocError)?;
        if end > self.len {
            return Err(AllocError);
        }
        self.used.set(end);
        // SAFETY: `place` is at most `len`.
        let piece = unsafe { self.start.add(place) };
        Ok(NonNull::slice_from_raw_parts(piece, layout.size()))
    }

    unsafe fn deallocate(&self, piece: NonNull<u8>, layout: Layout) {
        if self.is_last(piece, layout.size()) {
            self.used.set(piece.addr().get() - self.start.addr().get());
        }
    }

    // SAFETY: as above: a piece that grows where it is stays inside of the memory.
    unsafe fn grow(
        &self,
        piece: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        if self.is_last(piece, old.size()) {
            let place = piece.addr().get() - self.start.addr().get();
            if place + new.size() > self.len {
                return Err(AllocError);
            }
            self.used.set(place + new.size());
            return Ok(NonNull::slice_from_raw_parts(piece, new.size()));
        }
        let grown = self.allocate(new)?;
        // SAFETY: both are that long, and a new piece overlaps no other.
        unsafe { ptr::copy_nonoverlapping(piece.as_ptr(), grown.cast().as_ptr(), old.size()) };
        Ok(grown)
    }
}
