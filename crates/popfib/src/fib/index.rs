//! Flat blocks found by what they hold, so that equal ones are stored once.

use allocator_api2::vec::Vec;

use super::flat_block::FlatBlock;
use super::layout::FLAT_PLACE;
use crate::memory::{self, Allocator, OutOfMemory};

/// How many places of the index are tried for a block. A block that is not found there is stored once more,
/// so that routes that were made to collide cost memory up to the limit, and no time.
const PROBES: usize = 16;

/// What stands where nothing was noted yet.
const FREE: u32 = 0;

/// What stands where a block was forgotten: looking for another goes on there. No pointer is that low.
const LEFT: u32 = 1;

/// Pointers to blocks, at places by the blocks' hashes.
#[derive(Debug)]
pub(crate) struct FlatBlockIndex<Al: Allocator> {
    pointers: Vec<u32, Al>,
}

impl<Al: Allocator + Clone> FlatBlockIndex<Al> {
    /// An index for up to half of `1 << bits` blocks.
    pub(crate) fn new_in(bits: u8, alloc: Al) -> Result<Self, OutOfMemory> {
        let mut pointers = Vec::new_in(alloc);
        memory::reserve(&mut pointers, 1 << bits)?;
        pointers.resize(1 << bits, FREE);
        Ok(Self { pointers })
    }

    /// The places in the index that this block may have.
    fn probes(&self, block: &FlatBlock) -> impl Iterator<Item = usize> + use<Al> {
        // The highest bits are the best of a product. Their number is a power of two.
        let first = (hash(block.words()) >> (u64::BITS - self.pointers.len().ilog2())) as usize;
        let last = self.pointers.len() - 1;
        (first..first + PROBES).map(move |at| at & last)
    }

    /// The pointer to this block, of which `is_at` says whether its words are at a place of the arena, or, if it is not found, where
    /// it can be [noted](Self::note): none if all places of its hash are taken.
    pub(crate) fn find(
        &self,
        block: &FlatBlock,
        is_at: impl Fn(usize) -> bool,
    ) -> Result<u32, Option<usize>> {
        let mut room = None;
        for at in self.probes(block) {
            match self.pointers[at] {
                FREE => return Err(room.or(Some(at))),
                LEFT => room = room.or(Some(at)),
                pointer => {
                    if block.is_as_wide(pointer) && is_at((pointer & FLAT_PLACE) as usize) {
                        return Ok(pointer);
                    }
                }
            }
        }
        Err(room)
    }

    /// Notes the pointer to a block where [`Self::find`] found room for that.
    pub(crate) fn note(&mut self, at: Option<usize>, pointer: u32) {
        if let Some(at) = at {
            self.pointers[at] = pointer;
        }
    }

    /// Forgets this block, if it was noted with this pointer.
    pub(crate) fn forget(&mut self, block: &FlatBlock, pointer: u32) {
        let noted = self.probes(block).find(|at| self.pointers[*at] == pointer);
        if let Some(at) = noted {
            self.pointers[at] = LEFT;
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pointers.capacity() * size_of::<u32>()
    }
}

/// Multiplications and rotations, as rustc's own tables are hashed. Not seeded: see [`PROBES`].
fn hash(words: &[u32]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    words.as_chunks::<2>().0.iter().fold(0, |hash: u64, pair| {
        let pair = u64::from(pair[0]) | u64::from(pair[1]) << 32;
        (hash.rotate_left(5) ^ pair).wrapping_mul(FACTOR)
    })
}
