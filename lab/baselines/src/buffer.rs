//! Arrays that lookups read: aligned to cache lines, on huge pages where large.
//!
//! A table that is read at random, and the addresses that are asked of it, cost
//! page walks on pages of 4 KiB; on huge pages they cost next to none. All
//! structures of this crate keep their arrays here, so that none of them pays
//! for memory where another does not. Without code of its own that is unsafe:
//! large arrays are mapped, small ones are a vector of whole cache lines (a
//! huge page for a few hundred bytes would cost more than it saves).

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable};
use memmap2::MmapMut;

/// A huge page of x86-64 and of most AArch64 systems.
const HUGE_PAGE: usize = 2 << 20;

/// From this size on memory is mapped; below, more than half of the page would be wasted.
const HUGE_FROM: usize = HUGE_PAGE / 2;

/// A cache line.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u64; 8]);

enum Memory {
    Lines(Vec<Line>),
    /// Begins at a huge page, `start` bytes into the mapping.
    Mapped {
        map: MmapMut,
        start: usize,
    },
}

/// Numbers in memory of their own, aligned to cache lines; from 1 MiB on it
/// begins at a huge page.
pub struct Buffer<T> {
    memory: Memory,
    bytes: usize,
    item: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// `count` zeros. Takes time only where they are later written or read, if there are many.
    ///
    /// # Errors
    /// If the system has not got the memory.
    pub fn zeroed(count: usize) -> io::Result<Self> {
        let bytes = count
            .checked_mul(size_of::<T>())
            .filter(|bytes| *bytes <= isize::MAX as usize - 2 * HUGE_PAGE)
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let memory = if bytes < HUGE_FROM {
            Memory::Lines(vec![Line([0; 8]); bytes.div_ceil(size_of::<Line>())])
        } else {
            // One page more, to begin and to end at one.
            let map = MmapMut::map_anon(bytes.next_multiple_of(HUGE_PAGE) + HUGE_PAGE)?;
            // A refusal leaves ordinary pages.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            let start = map.as_ptr().align_offset(HUGE_PAGE);
            Memory::Mapped { map, start }
        };
        Ok(Self {
            memory,
            bytes,
            item: PhantomData,
        })
    }

    /// A copy of `items`. Linear.
    ///
    /// # Errors
    /// If the system has not got the memory.
    pub fn copy_of(items: &[T]) -> io::Result<Self> {
        let mut buffer = Self::zeroed(items.len())?;
        buffer.copy_from_slice(items);
        Ok(buffer)
    }
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(match &self.memory {
            Memory::Lines(lines) => &bytemuck::cast_slice(lines)[..self.bytes],
            Memory::Mapped { map, start } => &map[*start..][..self.bytes],
        })
    }
}

impl<T: Pod> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(match &mut self.memory {
            Memory::Lines(lines) => &mut bytemuck::cast_slice_mut(lines)[..self.bytes],
            Memory::Mapped { map, start } => &mut map[*start..][..self.bytes],
        })
    }
}

impl<T: Pod> Clone for Buffer<T> {
    /// # Panics
    /// If the system has not got the memory, as a vector does.
    fn clone(&self) -> Self {
        Self::copy_of(self).expect("memory for a copy")
    }
}

impl<T> fmt::Debug for Buffer<T> {
    /// Not the millions of numbers inside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer of {} bytes", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_what_was_copied() {
        for count in [0, 1, 3, 1_000, HUGE_PAGE / 32, HUGE_PAGE / 16 + 1] {
            let items: Vec<u128> = (0..count as u128).map(|i| i << 64 | 7).collect();
            let buffer = Buffer::copy_of(&items).unwrap();
            assert_eq!(*buffer, items[..]);
            assert_eq!(*buffer.clone(), items[..]);
            let is_large = count >= HUGE_PAGE / 32;
            let alignment = if is_large { HUGE_PAGE } else { 64 };
            assert_eq!(buffer.as_ptr().addr() % alignment, 0);
        }
    }

    #[test]
    fn zeros_can_be_written() {
        for count in [5, HUGE_PAGE] {
            let mut buffer = Buffer::<u16>::zeroed(count).unwrap();
            assert_eq!((buffer.len(), buffer[count - 1]), (count, 0));
            buffer[count - 1] = 7;
            assert_eq!((buffer[count - 2], buffer[count - 1]), (0, 7));
        }
    }

    #[test]
    fn memory_that_nobody_has_is_an_error() {
        for count in [usize::MAX, usize::MAX / 16, isize::MAX as usize / 16] {
            assert!(Buffer::<u128>::zeroed(count).is_err());
        }
    }
}
