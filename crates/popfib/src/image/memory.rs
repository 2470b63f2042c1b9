//! The memory that contains an image, and typed arrays inside it.
//!
//! There are four kinds of memory, which are read in the same way: a copy on the heap (on any
//! platform), a copy in anonymous memory with huge pages, a mapped file, and static memory of the
//! caller. Fibs and arrays have an `Arc` of the memory and pointers into it.

use alloc::sync::Arc;
use core::fmt;
use core::ops::{Deref, Range};
use core::ptr::NonNull;
#[cfg(feature = "std")]
use std::{fs::File, io, io::Read};

use crate::fib::block::Block;
use crate::memory::Global;

use super::format::ALIGNMENT;

/// A huge page of x86-64 and of most AArch64 systems.
#[cfg(feature = "std")]
const HUGE_PAGE: usize = 2 << 20;

/// Bytes that stay where they are, aligned to cache lines.
#[derive(Debug)]
pub(super) enum ImageMemory {
    /// A copy on the heap.
    Heap { block: Block, len: usize },
    /// Pages of this process, which are read-only after the file was read, or those of a mapped file.
    #[cfg(feature = "std")]
    Pages {
        map: memmap2::Mmap,
        range: Range<usize>,
    },
    /// Static memory of the caller.
    StaticBytes(StaticBytes),
}

/// Static bytes; `Debug` shows only their address and length.
pub(super) struct StaticBytes(&'static [u8]);

impl fmt::Debug for StaticBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:p}, {} bytes", self.0, self.0.len())
    }
}

impl ImageMemory {
    /// `bytes` themselves if sections are aligned there, otherwise a copy.
    pub(super) fn lent(bytes: &'static [u8]) -> Self {
        if (bytes.as_ptr() as usize).is_multiple_of(ALIGNMENT) {
            Self::StaticBytes(StaticBytes(bytes))
        } else {
            Self::copy_of(bytes)
        }
    }

    /// A copy of `bytes`.
    pub(super) fn copy_of(bytes: &[u8]) -> Self {
        let block = match Block::zeroed_in(bytes.len(), Global) {
            Ok(block) => block,
            Err(error) => error.abort(),
        };
        // SAFETY: the block is new and at least as long.
        unsafe {
            block
                .at(0)
                .copy_from_nonoverlapping(NonNull::from(bytes).cast::<u8>(), bytes.len());
        }
        Self::Heap {
            block,
            len: bytes.len(),
        }
    }

    /// Reads the content of `file` into memory of this process, which is on huge pages if
    /// the system has any, and write-protected.
    #[cfg(feature = "std")]
    pub(super) fn read(mut file: File) -> io::Result<Self> {
        let len = length(&file)?;
        // For less than half a huge page, most of the page would be wasted.
        let spare = if len >= HUGE_PAGE / 2 { HUGE_PAGE } else { 0 };
        // Not a `Block`: new pages are zero already, and for a file that is too long this returns
        // an error; the allocator would abort.
        let mut map = memmap2::MmapMut::map_anon((len + spare).max(1))?;
        #[cfg(target_os = "linux")]
        if spare > 0 {
            // If the system refuses, the pages stay ordinary ones.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        let start = map.as_ptr().align_offset(spare.max(1));
        let range = start..start + len;
        file.read_exact(&mut map[range.clone()])?;
        Ok(Self::Pages {
            map: map.make_read_only()?,
            range,
        })
    }

    /// Maps the content of `file`, shared with all processes that map it.
    ///
    /// # Safety
    /// Nobody writes to the file while the memory lives.
    #[cfg(feature = "std")]
    pub(super) unsafe fn map(file: &File) -> io::Result<Self> {
        let len = length(file)?;
        // The system maps no empty range.
        if len == 0 {
            return Ok(Self::copy_of(&[]));
        }
        // SAFETY: the caller's.
        let map = unsafe { memmap2::MmapOptions::new().len(len).map(file)? };
        Ok(Self::Pages { map, range: 0..len })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: there are that many bytes, and nobody writes to them.
        unsafe { self.whole().as_ref() }
    }

    fn whole(&self) -> NonNull<[u8]> {
        let (start, len) = match self {
            Self::Heap { block, len } => (block.at(0), *len),
            #[cfg(feature = "std")]
            Self::Pages { map, range } => (NonNull::from(&map[range.clone()]).cast(), range.len()),
            Self::StaticBytes(StaticBytes(bytes)) => (NonNull::from(*bytes).cast(), bytes.len()),
        };
        NonNull::slice_from_raw_parts(start, len)
    }
}

/// The length of a regular file.
#[cfg(feature = "std")]
fn length(file: &File) -> io::Result<usize> {
    let data = file.metadata()?;
    if data.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !data.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    usize::try_from(data.len()).map_err(|_| io::ErrorKind::FileTooLarge.into())
}

/// An array inside the memory.
#[derive(Debug)]
pub(super) struct ImageArray<T> {
    start: NonNull<T>,
    len: usize,
    /// Keeps the memory alive that `start` points to.
    _memory: Arc<ImageMemory>,
}

// SAFETY: an array is read only, as the memory is.
unsafe impl<T: Sync> Send for ImageArray<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for ImageArray<T> {}

impl<T> ImageArray<T> {
    /// The array in `range` of `memory`; `None` if the length is not a multiple of the size of
    /// `T`, or the range is not aligned for it.
    ///
    /// # Safety
    /// Every pattern of bits is a `T`: it is an integer, perhaps an atomic one.
    pub(super) unsafe fn new(memory: &Arc<ImageMemory>, range: Range<usize>) -> Option<Self> {
        let whole = memory.whole();
        if range.start > range.end || range.end > whole.len() {
            return None;
        }
        // SAFETY: inside the memory, or one past its end.
        let start: NonNull<T> = unsafe { whole.cast::<u8>().add(range.start) }.cast();
        let len = range.len() / size_of::<T>();
        (start.is_aligned() && len * size_of::<T>() == range.len()).then(|| Self {
            start,
            len,
            _memory: Arc::clone(memory),
        })
    }
}

impl<T> Deref for ImageArray<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `new` found that many aligned `T` in the memory, which is neither moved
        // nor written to.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.len).as_ref() }
    }
}
