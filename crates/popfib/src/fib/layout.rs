//! The arrays of a Fib: a root table and an arena of blocks.
//!
//! Poptrie's idea (paper, sections 3.1 to 3.4) with one kind of node. The first
//! bits of an address index the root table (the paper's direct pointing). Its
//! entries, and everything that leads further, are *pointers* of 32 bits: a next
//! hop, or the place of a block in the arena. A *block* resolves the next 6
//! bits, its 64 *slots*. It begins with a bit vector of 64 bits, `runs`, in which
//! bit *v* says that slot *v* begins a run of equal slots (the paper's
//! `leafvec`; bit 0 is always set); one value for each run follows. The value of
//! slot *v* is found by the population count of `runs` up to *v*. Where no slot
//! leads to a child, the values are next hops of as few bits as the highest
//! needs (a *narrow* block); else they are pointers (a *wide* one).
//!
//! So a lookup that ends below the root table touches one cache line of the
//! root and, mostly, one of the arena; the paper's three arrays make that
//! three lines. Neither `vector` nor the bases are needed, and a change of a
//! route is one new block and one pointer. docs/experiments.md has the figures.
//!
//! Keys of more than 32 bits split the direct bits beyond 16: the root table has
//! 2^16 entries, and the rest indexes a *page* of pointers in the arena. Pages
//! exist only where there are routes; a whole table over, say, the first 24
//! bits of IPv6 would be nearly empty.
//!
//! A table may be *flat* ([`FLAT`], made by `flat.rs`). There are two forms:
//!
//! - Each entry of the root leads to a *flat block*, whose 64 entries are stored one by one, in 16 bits if these hold
//!   them. Equal blocks are stored once. If the root itself would answer, it leads to a block of 64 equal entries, so
//!   that a lookup reads two words and tests only the second. This takes three times the memory. Deeper blocks have `runs`.
//! - Long keys keep root and pages, which are nearly empty. All blocks below are flat, and equal ones are stored
//!   once, whatever lies above them.

use alloc::sync::Arc;
use core::any::Any;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU32, Ordering};

use super::block::{Block, ClearingBlock};
use super::size::Size;
use crate::address::Address;
use crate::memory::{Allocator, Global, OutOfMemory};

pub(crate) use crate::fold::STRIDE;

/// The most direct bits there can be: a root table of 2^24 entries.
pub(crate) const MAX_DIRECT_BITS: u8 = 24;

/// Bit 31 of a pointer: it leads to a block (or page), else it is a next hop.
pub(crate) const NODE: u32 = 1 << 31;

/// Bit 30 of a pointer to a block: the block's values are pointers.
pub(crate) const WIDE: u32 = 1 << 30;

/// The other bits: the place in the arena, in words of 32 bits.
pub(crate) const PLACE: u32 = WIDE - 1;

/// The bit of a pointer that says that it leads to a flat block: no arena is so long that a place has it. Of keys of up to 32
/// bits only the root has such pointers.
///
/// The entries of the block are pointers, or, if the pointer has the bit [`HALF`], halves of words: next hops below
/// [`HALF_END`].
pub(crate) const FLAT: u32 = 1 << 29;

/// The bit of such a pointer that says that entries have 16 bits. Flat blocks begin at cache lines, so no place has it.
pub(crate) const HALF: u32 = 1;

/// The place that a pointer to a flat block contains.
pub(crate) const FLAT_PLACE: u32 = FLAT - 1 - HALF;

/// Entries of 16 bits are below this.
pub(crate) const HALF_END: u32 = 1 << 15;

/// The length in words of a flat block whose entries have so many bits.
pub(crate) const fn flat_len(bits: u8) -> usize {
    (bits as usize / 16) << (STRIDE - 1)
}

/// Words of a cache line. No block that is shorter crosses one, and flat blocks begin at one.
pub(crate) const LINE: usize = 64 / size_of::<u32>();

/// An arena has fewer words than this: kernels number its bytes by 31 bits.
pub(crate) const MAX_WORDS: usize = 1 << 29;

/// What every arena begins with: a block of one run without a next hop, which
/// reads the same narrow or wide. Kernels without branches send idle lanes here.
pub(crate) const IDLE_BLOCK: [u32; 3] = [1, 0, 0];

/// A word of the arrays.
///
/// A writer may store pointers (entries of the root and of pages, values of wide
/// blocks) while readers load them: both are atomic. All else of a block is
/// written before a pointer leads there, and not changed while a reader may follow
/// one; it may be read plainly, by reads that do not touch words of other blocks.
pub(crate) type FibWord = AtomicU32;

/// Numbers as words, where they lie.
pub(crate) fn as_words(numbers: &mut [u32]) -> &[FibWord] {
    // SAFETY: a word has the size, alignment and values of a number, and nobody
    // else can reach these numbers while they are borrowed.
    unsafe { &*(ptr::from_mut(numbers) as *const [FibWord]) }
}

/// Numbers as words.
#[cfg(test)]
pub(crate) fn words(numbers: alloc::vec::Vec<u32>) -> alloc::vec::Vec<FibWord> {
    numbers.into_iter().map(FibWord::new).collect()
}

/// Bits of the root table for `direct_bits` in all.
pub(crate) fn root_bits<A: Address>(direct_bits: u8) -> u8 {
    if A::WIDTH > 32 {
        direct_bits.min(16)
    } else {
        direct_bits
    }
}

/// The arrays of a Fib as the lookups see them.
///
/// The lookups trust the invariants that [`Fib::check`](crate::Fib::check)
/// verifies; they hold for the arrays that `compile` makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FibView<'a> {
    pub(crate) root: &'a [FibWord],
    pub(crate) arena: &'a [FibWord],
    /// The root has `2^root_bits` entries, a page `2^page_bits`. Entries of the
    /// root lead to pages if `page_bits` is not 0, else to blocks.
    pub(crate) root_bits: u8,
    pub(crate) page_bits: u8,
    /// Bits of a value in a narrow block, 1 to 32.
    pub(crate) value_bits: u8,
    /// Whether the root, or of long keys whatever leads to blocks, leads to flat ones.
    pub(crate) is_flat: bool,
}

impl FibView<'_> {
    /// The size that the arrays are of.
    pub(crate) fn size(&self) -> Size {
        match self.is_flat {
            false => Size::Smallest,
            true => Size::Balanced,
        }
    }
}

/// The arrays of a Fib, side by side in one block of memory, or anywhere in
/// memory that others share, such as an image.
#[derive(Debug)]
pub(crate) struct FibArrays<Al: Allocator = Global> {
    root: NonNull<FibWord>,
    arena: NonNull<FibWord>,
    arena_len: usize,
    root_bits: u8,
    page_bits: u8,
    value_bits: u8,
    is_flat: bool,
    /// Owns what the pointers point to.
    memory: ArraysMemory<Al>,
}

/// What keeps the arrays' memory.
#[derive(Debug)]
enum ArraysMemory<Al: Allocator> {
    Own(Block<Al>),
    Shared(Arc<dyn Any + Send + Sync>, Al),
}

// SAFETY: the pointers lead into the memory that the arrays own.
unsafe impl<Al: Allocator + Send> Send for FibArrays<Al> {}
// SAFETY: shared arrays are atomic words.
unsafe impl<Al: Allocator + Sync> Sync for FibArrays<Al> {}

/// Arrays for a table that is still to be made, in memory that is cleared part by part.
#[derive(Debug)]
pub(crate) struct EmptyArrays<Al: Allocator> {
    /// Bits of the root table, of pages and of values in narrow blocks.
    form: (u8, u8, u8),
    is_flat: bool,
    arena_len: usize,
    memory: ClearingBlock<Al>,
}

impl<Al: Allocator> EmptyArrays<Al> {
    pub(crate) fn new(
        form: (u8, u8, u8),
        is_flat: bool,
        arena_len: usize,
        alloc: Al,
    ) -> Result<Self, OutOfMemory> {
        // Long enough for both arrays one after the other; each begins at a cache line, which aligns words.
        let bytes = arena_at(form.0).saturating_add(arena_len.saturating_mul(size_of::<FibWord>()));
        Ok(Self {
            form,
            is_flat,
            arena_len,
            memory: ClearingBlock::new_in(bytes, alloc)?,
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// Clears so many bytes more; whether all are clear.
    pub(crate) fn clear(&mut self, bytes: usize) -> bool {
        self.memory.clear(bytes)
    }

    /// The arrays, in which no address has an answer, or, if they are flat, no entry of the root leads to a block yet.
    pub(crate) fn into_arrays(self) -> FibArrays<Al> {
        let arrays = self.into_zeroed();
        for (to, word) in arrays.view().arena.iter().zip(IDLE_BLOCK) {
            // Relaxed: nobody else has the arrays.
            to.store(word, Ordering::Relaxed);
        }
        arrays
    }

    fn into_zeroed(self) -> FibArrays<Al> {
        let (root_bits, page_bits, value_bits) = self.form;
        let memory = self.memory.into_block();
        FibArrays {
            root: memory.at(0),
            arena: memory.at(arena_at(root_bits)),
            arena_len: self.arena_len,
            root_bits,
            page_bits,
            value_bits,
            is_flat: self.is_flat,
            memory: ArraysMemory::Own(memory),
        }
    }
}

/// Where the arena begins after a root table: at a cache line, also after a small one.
fn arena_at(root_bits: u8) -> usize {
    (size_of::<FibWord>() << root_bits).next_multiple_of(64)
}

impl<Al: Allocator> FibArrays<Al> {
    /// A copy of the arrays in memory of their own.
    pub(super) fn copy_of(view: FibView<'_>, alloc: Al) -> Result<Self, OutOfMemory> {
        Self::with_arena(view, view.arena.len(), alloc)
    }

    /// The same arrays: in memory of their own, or where they are if others keep them.
    pub(super) fn try_clone(&self) -> Result<Self, OutOfMemory>
    where
        Al: Clone,
    {
        match &self.memory {
            ArraysMemory::Own(block) => Self::copy_of(self.view(), block.allocator().clone()),
            ArraysMemory::Shared(owner, alloc) => Ok(Self {
                memory: ArraysMemory::Shared(Arc::clone(owner), alloc.clone()),
                ..*self
            }),
        }
    }

    /// A copy of the arrays whose arena has `arena_len` words, those to spare zero.
    pub(crate) fn with_arena(
        view: FibView<'_>,
        arena_len: usize,
        alloc: Al,
    ) -> Result<Self, OutOfMemory> {
        assert_eq!(view.root.len(), 1 << view.root_bits);
        assert!(arena_len >= view.arena.len());
        let form = (view.root_bits, view.page_bits, view.value_bits);
        let arrays = Self::zeroed(form, view.is_flat, arena_len, alloc)?;
        // SAFETY: the memory is new, and the arrays are as long as the view's or longer.
        unsafe {
            arrays
                .root
                .copy_from_nonoverlapping(NonNull::from(view.root).cast(), view.root.len());
            arrays
                .arena
                .copy_from_nonoverlapping(NonNull::from(view.arena).cast(), view.arena.len());
        }
        Ok(arrays)
    }

    /// Arrays of zeros: bits of the root table, of pages and of values in narrow blocks, and words of the arena.
    fn zeroed(
        form: (u8, u8, u8),
        is_flat: bool,
        arena_len: usize,
        alloc: Al,
    ) -> Result<Self, OutOfMemory> {
        Ok(EmptyArrays::new(form, is_flat, arena_len, alloc)?.into_zeroed())
    }

    /// The arrays where they are, in memory that `owner` keeps.
    ///
    /// # Safety
    /// The arrays of `view` stay where they are, unchanged, as long as `owner` lives.
    pub(crate) unsafe fn shared(
        view: FibView<'_>,
        owner: Arc<dyn Any + Send + Sync>,
        alloc: Al,
    ) -> Self {
        assert_eq!(view.root.len(), 1 << view.root_bits);
        Self {
            root: NonNull::from(view.root).cast(),
            arena: NonNull::from(view.arena).cast(),
            arena_len: view.arena.len(),
            root_bits: view.root_bits,
            page_bits: view.page_bits,
            value_bits: view.value_bits,
            is_flat: view.is_flat,
            memory: ArraysMemory::Shared(owner, alloc),
        }
    }

    #[inline(always)]
    pub(crate) fn view(&self) -> FibView<'_> {
        // SAFETY: the arrays have that many words, by `with_arena` or by the
        // contract of `shared`, and the memory lives as long as `self`.
        unsafe {
            FibView {
                root: NonNull::slice_from_raw_parts(self.root, 1 << self.root_bits).as_ref(),
                arena: NonNull::slice_from_raw_parts(self.arena, self.arena_len).as_ref(),
                root_bits: self.root_bits,
                page_bits: self.page_bits,
                value_bits: self.value_bits,
                is_flat: self.is_flat,
            }
        }
    }
}
