//! Blocks found by what they hold, so that equal ones are stored once.

use allocator_api2::vec::Vec;

use super::layout::{HALF, STRIDE, flat_len};
use crate::memory::{self, Allocator, OutOfMemory};

/// How many places of the index are tried for a block. A block that is not found there is stored once more,
/// so that routes that were made to collide cost memory up to the limit, and no time.
const PROBES: usize = 16;

/// Where blocks are, by their hashes.
pub(super) struct Index<Al: Allocator> {
    /// Places, with the bit [`HALF`] those of blocks with halves, plus one; 0 where there is none. Blocks begin at cache lines.
    places: Vec<u32, Al>,
}

impl<Al: Allocator + Clone> Index<Al> {
    /// An index for up to half of `1 << bits` blocks.
    pub(super) fn new_in(bits: u8, alloc: Al) -> Result<Self, OutOfMemory> {
        let mut places = Vec::new_in(alloc);
        memory::reserve(&mut places, 1 << bits)?;
        places.resize(1 << bits, 0);
        Ok(Self { places })
    }

    /// The place of this block among `words`, or, if it is not found, where it can be [noted](Self::note): none if all
    /// places of its hash are taken.
    pub(super) fn find(&self, words: &[u32], block: &[u32]) -> Result<u32, Option<usize>> {
        // The highest bits are the best of a product.
        let first = (hash(block) >> (u64::BITS - self.places.len().ilog2())) as usize;
        // Their number is a power of two.
        let last = self.places.len() - 1;
        for at in first..first + PROBES {
            let Some(marked) = self.places[at & last].checked_sub(1) else {
                return Err(Some(at & last));
            };
            let place = marked & !HALF;
            if marked & HALF == mark(block) && words[place as usize..][..block.len()] == *block {
                return Ok(place);
            }
        }
        Err(None)
    }

    /// Notes the place of this block where [`Self::find`] found room for that.
    pub(super) fn note(&mut self, at: Option<usize>, block: &[u32], place: usize) {
        if let Some(at) = at {
            self.places[at] = (place as u32 | mark(block)) + 1;
        }
    }
}

/// [`HALF`] if the block has halves.
fn mark(block: &[u32]) -> u32 {
    if block.len() == flat_len(STRIDE, 16) {
        HALF
    } else {
        0
    }
}

/// Multiplications and rotations, as rustc's own tables are hashed. Not seeded: see [`PROBES`].
fn hash(block: &[u32]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    block.as_chunks::<2>().0.iter().fold(0, |hash: u64, pair| {
        let pair = u64::from(pair[0]) | u64::from(pair[1]) << 32;
        (hash.rotate_left(5) ^ pair).wrapping_mul(FACTOR)
    })
}
