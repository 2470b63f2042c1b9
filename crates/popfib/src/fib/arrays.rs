//! The arrays of a Fib: a root table, and an arena of pages and blocks. Where they lie and how they are kept; `layout.rs` says what
//! their words mean, which whoever hands arrays on, copies or saves them need not know.

use alloc::sync::Arc;
use core::any::Any;
use core::ptr::{self, NonNull};
use core::sync::atomic::AtomicU32;

use super::block::Block;
use super::size::Size;
use crate::address::Address;
use crate::memory::{Allocator, Global, OutOfMemory};

/// The most direct bits there can be: a root table of 2^24 entries.
pub(crate) const MAX_DIRECT_BITS: u8 = 24;

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
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.root) + size_of_val(self.arena)
    }

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

impl<Al: Allocator> FibArrays<Al> {
    /// A copy of the arrays in memory of their own.
    pub(crate) fn copy_of(view: FibView<'_>, alloc: Al) -> Result<Self, OutOfMemory> {
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
        Self::grown(view, view.root_bits, arena_len, alloc)
    }

    /// A copy of the arrays whose root has `2^root_bits` words and whose arena has `arena_len`, those to spare zero.
    pub(crate) fn grown(
        view: FibView<'_>,
        root_bits: u8,
        arena_len: usize,
        alloc: Al,
    ) -> Result<Self, OutOfMemory> {
        assert!(view.root.len() <= 1 << root_bits);
        assert!(arena_len >= view.arena.len());
        // One after the other, each from a cache line on, which aligns words.
        let arena_at = (size_of::<FibWord>() << root_bits).next_multiple_of(64);
        let bytes = arena_at.saturating_add(arena_len.saturating_mul(size_of::<FibWord>()));
        let memory = Block::zeroed_in(bytes, alloc)?;
        let (root, arena) = (memory.at(0), memory.at(arena_at));
        // SAFETY: the memory is new, and the arrays are as long as the view's or longer.
        unsafe {
            root.copy_from_nonoverlapping(NonNull::from(view.root).cast(), view.root.len());
            arena.copy_from_nonoverlapping(NonNull::from(view.arena).cast(), view.arena.len());
        }
        Ok(Self {
            root,
            arena,
            arena_len,
            root_bits,
            page_bits: view.page_bits,
            value_bits: view.value_bits,
            is_flat: view.is_flat,
            memory: ArraysMemory::Own(memory),
        })
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

    /// Whether others keep the memory.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.memory, ArraysMemory::Shared(..))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.view().bytes()
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
