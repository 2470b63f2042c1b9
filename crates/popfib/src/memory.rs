//! Memory from the caller's allocator, and what happens where there is none.
//!
//! The Rib, the Fib and all that is needed to make one take their memory from
//! an [`Allocator`], the interface of the standard library's that is not stable
//! yet, by the crate `allocator-api2`. What changes a table first makes sure of
//! the memory, so that a refusal leaves the table as it was.

use alloc::alloc::{Layout, handle_alloc_error};
use allocator_api2::boxed::Box;
use allocator_api2::vec::Vec;
use core::error::Error;
use core::fmt;

pub use allocator_api2::alloc::{AllocError, Allocator, Global};

/// The allocator refused; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    bytes: usize,
}

impl OutOfMemory {
    pub(crate) const fn new(bytes: usize) -> Self {
        Self { bytes }
    }

    /// The bytes that were asked for and not given.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Ends the program as the standard collections do.
    #[cold]
    pub(crate) fn abort(self) -> ! {
        let layout = Layout::from_size_align(self.bytes, 1);
        handle_alloc_error(layout.unwrap_or(Layout::new::<u8>()))
    }
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "out of memory: {} bytes were refused", self.bytes)
    }
}

impl Error for OutOfMemory {}

/// Makes room for `more` elements, and for as many more as keep the time of
/// appending one by one linear, if there is memory for those.
pub(crate) fn grow<T, Al: Allocator>(vec: &mut Vec<T, Al>, more: usize) -> Result<(), OutOfMemory> {
    vec.try_reserve(more).or_else(|_| reserve(vec, more))
}

/// A value in memory from `alloc`.
pub(crate) fn boxed<T, Al: Allocator>(value: T, alloc: Al) -> Result<Box<T, Al>, OutOfMemory> {
    Box::try_new_in(value, alloc).map_err(|_| OutOfMemory::new(size_of::<T>()))
}

/// Makes room for `more` elements, and for no more than those.
pub(crate) fn reserve<T, Al: Allocator>(
    vec: &mut Vec<T, Al>,
    more: usize,
) -> Result<(), OutOfMemory> {
    let bytes = vec
        .len()
        .saturating_add(more)
        .saturating_mul(size_of::<T>());
    vec.try_reserve_exact(more)
        .map_err(|_| OutOfMemory::new(bytes))
}

/// Gives back what `vec` has beyond `room` elements, which are as many as it has or more, if there is memory to move to.
pub(crate) fn shrink<T, Al: Allocator + Clone>(vec: &mut Vec<T, Al>, room: usize) {
    if vec.capacity() <= room {
        return;
    }
    let mut shorter = Vec::new_in(vec.allocator().clone());
    if reserve(&mut shorter, room).is_ok() {
        shorter.append(vec);
        *vec = shorter;
    }
}
