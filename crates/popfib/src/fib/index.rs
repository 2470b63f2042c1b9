//! Blocks found by what they hold, so that equal ones are stored once.

use allocator_api2::vec::Vec;

use super::layout::place;
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
pub(crate) struct BlockIndex<Al: Allocator> {
    pointers: Vec<u32, Al>,
    /// How many are noted.
    noted: usize,
}

impl<Al: Allocator + Clone> BlockIndex<Al> {
    /// An index for up to half of `1 << bits` blocks.
    pub(crate) fn new_in(bits: u8, alloc: Al) -> Result<Self, OutOfMemory> {
        let mut pointers = Vec::new_in(alloc);
        memory::reserve(&mut pointers, 1 << bits)?;
        pointers.resize(1 << bits, FREE);
        Ok(Self { pointers, noted: 0 })
    }

    /// The places in the index that the block of these words may have.
    fn probes(&self, words: &[u32]) -> impl Iterator<Item = usize> + use<Al> {
        // The highest bits are the best of a product. Their number is a power of two.
        let first = (hash(words) >> (u64::BITS - self.pointers.len().ilog2())) as usize;
        let last = self.pointers.len() - 1;
        (first..first + PROBES).map(move |at| at & last)
    }

    /// The pointer to the block of these words, of which `is_it` says whether a pointer leads to it, or, if it is not found, where
    /// it can be [noted](Self::note): none if all places of its hash are taken.
    pub(crate) fn find(
        &self,
        words: &[u32],
        is_it: impl Fn(u32) -> bool,
    ) -> Result<u32, Option<usize>> {
        let mut room = None;
        for at in self.probes(words) {
            match self.pointers[at] {
                FREE => return Err(room.or(Some(at))),
                LEFT => room = room.or(Some(at)),
                pointer if is_it(pointer) => return Ok(pointer),
                _ => {}
            }
        }
        Err(room)
    }

    /// [`find`](Self::find) in the arena that is being filled; `kind` is what the pointer has beside the place.
    pub(crate) fn find_in(
        &self,
        arena: &[u32],
        words: &[u32],
        kind: u32,
    ) -> Result<u32, Option<usize>> {
        self.find(words, |pointer| {
            let place = place(pointer);
            let there = arena.get(place..).and_then(|rest| rest.get(..words.len()));
            pointer == kind | place as u32 && there == Some(words)
        })
    }

    /// Notes the pointer to a block where [`Self::find`] found room for that.
    pub(crate) fn note(&mut self, at: Option<usize>, pointer: u32) {
        if let Some(at) = at {
            self.pointers[at] = pointer;
            self.noted += 1;
        }
    }

    /// Doubles the places once a quarter of them is taken, so that few blocks find all places of their hash taken; `words_of` are the words of the block that a pointer leads to.
    pub(crate) fn grow<'w>(
        &mut self,
        words_of: impl Fn(u32) -> &'w [u32],
    ) -> Result<(), OutOfMemory> {
        if self.noted * 4 < self.pointers.len() {
            return Ok(());
        }
        let bits = self.pointers.len().ilog2() as u8 + 1;
        let mut larger = Self::new_in(bits, self.pointers.allocator().clone())?;
        for pointer in self.pointers.iter().copied().filter(|at| *at > LEFT) {
            let room = larger.find(words_of(pointer), |_| false);
            larger.note(room.err().flatten(), pointer);
        }
        *self = larger;
        Ok(())
    }

    /// Forgets the block of these words, if it was noted with this pointer.
    pub(crate) fn forget(&mut self, words: &[u32], pointer: u32) {
        let noted = self.probes(words).find(|at| self.pointers[*at] == pointer);
        if let Some(at) = noted {
            self.pointers[at] = LEFT;
            self.noted -= 1;
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pointers.capacity() * size_of::<u32>()
    }
}

/// Multiplications and rotations, as rustc's own tables are hashed. Not seeded: see [`PROBES`].
fn hash(words: &[u32]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (pairs, rest) = words.as_chunks::<2>();
    let pairs = pairs
        .iter()
        .map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32);
    let rest = rest.iter().map(|word| u64::from(*word));
    pairs.chain(rest).fold(0, |hash: u64, pair| {
        (hash.rotate_left(5) ^ pair).wrapping_mul(FACTOR)
    })
}
