//! Memory for measured inputs, on huge pages where there are any.
//!
//! Streaming through 64 MiB on 4 KiB pages costs page walks, which take turns
//! with those of the table that is measured: inputs must not cost anything.

use std::io;
use std::marker::PhantomData;
use std::ops::Deref;

use bytemuck::Pod;
use memmap2::MmapMut;

/// A huge page of x86-64 and of most AArch64 systems.
const HUGE_PAGE: usize = 2 << 20;

/// Numbers in memory of their own that begins at a huge page.
#[derive(Debug)]
pub struct Buffer<T> {
    memory: MmapMut,
    start: usize,
    bytes: usize,
    item: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// A copy of `items`. Linear.
    ///
    /// # Errors
    /// If the system has not got the memory.
    pub fn copy_of(items: &[T]) -> io::Result<Self> {
        let bytes = size_of_val(items);
        // One page more, to begin and to end at one.
        let mut memory = MmapMut::map_anon(bytes.next_multiple_of(HUGE_PAGE) + HUGE_PAGE)?;
        // A refusal leaves ordinary pages.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        let start = memory.as_ptr().align_offset(HUGE_PAGE);
        memory[start..start + bytes].copy_from_slice(bytemuck::cast_slice(items));
        Ok(Self {
            memory,
            start,
            bytes,
            item: PhantomData,
        })
    }
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.memory[self.start..self.start + self.bytes])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_what_was_copied() {
        for count in [0, 1, 1_000, HUGE_PAGE / 16, HUGE_PAGE / 16 + 1] {
            let items: Vec<u128> = (0..count as u128).map(|i| i << 64 | 7).collect();
            let buffer = Buffer::copy_of(&items).unwrap();
            assert_eq!(*buffer, items[..]);
            assert_eq!(buffer.as_ptr().addr() % HUGE_PAGE, 0);
        }
    }
}
