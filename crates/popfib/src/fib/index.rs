//! Blocks found by what they hold, so that equal ones are stored once.

use allocator_api2::vec::Vec;

use super::layout::{HALF, STRIDE, flat_len};
use crate::memory::{self, Allocator, OutOfMemory};

/// How many places of the index are tried for a block. A block that is not found there is stored once more,
/// so that routes that were made to collide cost memory up to the limit, and no time.
const PROBES: usize = 16;

/// The mark of a place that a block has left: looking for a block goes on there.
const LEFT: u32 = u32::MAX;

/// Where blocks are, by their hashes.
#[derive(Debug)]
pub(crate) struct Index<Al: Allocator> {
    /// Places, with the bit [`HALF`] those of blocks with halves, plus one; 0 where there is none and [`LEFT`] where there was one. Blocks begin
    /// at cache lines.
    places: Vec<u32, Al>,
}

impl<Al: Allocator + Clone> Index<Al> {
    /// An index for up to half of `1 << bits` blocks.
    pub(crate) fn new_in(bits: u8, alloc: Al) -> Result<Self, OutOfMemory> {
        let mut places = Vec::new_in(alloc);
        memory::reserve(&mut places, 1 << bits)?;
        places.resize(1 << bits, 0);
        Ok(Self { places })
    }

    /// The places in the index that this block may have.
    fn probes(&self, block: &[u32]) -> impl Iterator<Item = usize> + use<Al> {
        // The highest bits are the best of a product. Their number is a power of two.
        let first = (hash(block) >> (u64::BITS - self.places.len().ilog2())) as usize;
        let last = self.places.len() - 1;
        (first..first + PROBES).map(move |at| at & last)
    }

    /// The place of this block, of which `is_at` says whether it is at a place, or, if it is not found, where it can be
    /// [noted](Self::note): none if all places of its hash are taken.
    pub(crate) fn find(
        &self,
        block: &[u32],
        is_at: impl Fn(usize) -> bool,
    ) -> Result<u32, Option<usize>> {
        let mut room = None;
        for at in self.probes(block) {
            match self.places[at] {
                0 => return Err(room.or(Some(at))),
                LEFT => room = room.or(Some(at)),
                marked => {
                    let place = (marked - 1) & !HALF;
                    if (marked - 1) & HALF == mark(block) && is_at(place as usize) {
                        return Ok(place);
                    }
                }
            }
        }
        Err(room)
    }

    /// Notes the place of this block where [`Self::find`] found room for that.
    pub(crate) fn note(&mut self, at: Option<usize>, block: &[u32], place: u32) {
        if let Some(at) = at {
            self.places[at] = (place | mark(block)) + 1;
        }
    }

    /// Bytes of the places.
    pub(crate) fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<u32>()
    }

    /// Forgets this block, if it was noted with this place.
    pub(crate) fn forget(&mut self, block: &[u32], place: u32) {
        let marked = (place | mark(block)) + 1;
        let noted = self.probes(block).find(|at| self.places[*at] == marked);
        if let Some(at) = noted {
            self.places[at] = LEFT;
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
