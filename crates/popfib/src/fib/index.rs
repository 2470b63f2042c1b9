//! Blocks found by what they hold, so that equal ones are stored once.
//!
//! A block's hash names two buckets, of a cache line each, and it is noted in the emptier one. So what is looked for is in two lines or
//! not there, however many blocks there are and whatever is forgotten meanwhile, and three quarters of all places can be taken.

use allocator_api2::vec::Vec;

use super::layout::place;
use crate::cpu::prefetch;
use crate::memory::{self, Allocator, OutOfMemory};

/// Places of a bucket. If all of both buckets are taken, a block is not noted, and one more like it is stored once more: routes that
/// were made to collide cost memory up to the limit, and no time.
const SLOTS: usize = 12;

/// Places by what they hold: one byte of the hash, which is not 0 where a block is noted, and the pointer to the block.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bucket {
    tags: [u8; SLOTS],
    pointers: [u32; SLOTS],
}

/// Pointers to blocks, at places by the blocks' hashes.
#[derive(Debug)]
pub(crate) struct BlockIndex<Al: Allocator> {
    /// A power of two of them, or none.
    buckets: Vec<Bucket, Al>,
    /// How many blocks are noted.
    noted: usize,
}

impl<Al: Allocator + Clone> BlockIndex<Al> {
    /// An index for up to `blocks` blocks.
    pub(crate) fn new_in(blocks: usize, alloc: Al) -> Result<Self, OutOfMemory> {
        let mut buckets = Vec::new_in(alloc);
        if blocks > 0 {
            let count = (blocks * 4).div_ceil(SLOTS * 3).next_power_of_two();
            memory::reserve(&mut buckets, count)?;
            let empty = Bucket {
                tags: [0; SLOTS],
                pointers: [0; SLOTS],
            };
            buckets.resize(count, empty);
        }
        Ok(Self { buckets, noted: 0 })
    }

    /// The pointer to the block of this hash, of which `is_it` says whether a pointer leads to it, or, if it is not found, where
    /// it can be [noted](Self::note): none if all places of its hash are taken.
    #[inline]
    pub(crate) fn find(
        &self,
        hash: BlockHash,
        is_it: impl Fn(u32) -> bool,
    ) -> Result<u32, Option<usize>> {
        let (mut room, mut most) = (None, 0);
        for at in hash.buckets(self.buckets.len()) {
            let bucket = &self.buckets[at];
            for slot in hash.slots(bucket) {
                if is_it(bucket.pointers[slot]) {
                    return Ok(bucket.pointers[slot]);
                }
            }
            let free = ones(bucket, 0);
            if free.count_ones() > most {
                most = free.count_ones();
                room = Some(at * SLOTS + free.trailing_zeros() as usize);
            }
        }
        Err(room)
    }

    /// Has the buckets of this hash fetched into the cache.
    pub(crate) fn fetch(&self, hash: BlockHash) {
        for at in hash.buckets(self.buckets.len()) {
            prefetch(&self.buckets[at]);
        }
    }

    /// [`find`](Self::find) in the arena that is being filled; `kind` is what the pointer has beside the place.
    pub(crate) fn find_in(
        &self,
        hash: BlockHash,
        arena: &[u32],
        words: &[u32],
        kind: u32,
    ) -> Result<u32, Option<usize>> {
        self.find(hash, |pointer| {
            let place = place(pointer);
            let there = arena.get(place..).and_then(|rest| rest.get(..words.len()));
            pointer == kind | place as u32 && there == Some(words)
        })
    }

    /// Notes the pointer to a block where [`Self::find`] found room for that.
    pub(crate) fn note(&mut self, at: Option<usize>, hash: BlockHash, pointer: u32) {
        if let Some(at) = at {
            let bucket = &mut self.buckets[at / SLOTS];
            bucket.tags[at % SLOTS] = hash.tag();
            bucket.pointers[at % SLOTS] = pointer;
            self.noted += 1;
        }
    }

    /// Makes sure that three quarters of the places are enough for one block more; `hash_of` hashes the block that a pointer leads to.
    ///
    /// # Errors
    /// [`OutOfMemory`]; the index is as it was.
    pub(crate) fn reserve(
        &mut self,
        hash_of: impl Fn(u32) -> BlockHash,
    ) -> Result<(), OutOfMemory> {
        let blocks = self.noted + 1;
        if blocks * 4 <= self.buckets.len() * SLOTS * 3 {
            return Ok(());
        }
        let mut larger = Self::new_in(blocks, self.buckets.allocator().clone())?;
        for bucket in &self.buckets {
            for (tag, pointer) in bucket.tags.iter().zip(bucket.pointers) {
                if *tag != 0 {
                    let hash = hash_of(pointer);
                    let room = larger.find(hash, |_| false);
                    larger.note(room.err().flatten(), hash, pointer);
                }
            }
        }
        *self = larger;
        Ok(())
    }

    /// Forgets the block of this hash, if it was noted with this pointer.
    pub(crate) fn forget(&mut self, hash: BlockHash, pointer: u32) {
        for at in hash.buckets(self.buckets.len()) {
            let bucket = &mut self.buckets[at];
            let mut slots = hash.slots(bucket);
            if let Some(slot) = slots.find(|slot| bucket.pointers[*slot] == pointer) {
                bucket.tags[slot] = 0;
                self.noted -= 1;
                return;
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>()
    }
}

/// The slots with this tag, as bits.
#[inline(always)]
fn ones(bucket: &Bucket, tag: u8) -> u32 {
    let mut bits = 0;
    for (slot, other) in bucket.tags.iter().enumerate() {
        bits |= u32::from(*other == tag) << slot;
    }
    bits
}

/// What a block is found by. Not seeded: see [`SLOTS`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockHash(u64);

impl BlockHash {
    /// Multiplications and rotations, as rustc's own tables are hashed, and a last one that mixes all bits.
    #[inline]
    pub(crate) fn of(mut words: impl Iterator<Item = u32>) -> Self {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut hash = 0_u64;
        while let Some(low) = words.next() {
            let pair = u64::from(low) | u64::from(words.next().unwrap_or(0)) << 32;
            hash = (hash.rotate_left(5) ^ pair).wrapping_mul(FACTOR);
        }
        Self((hash ^ hash >> 32).wrapping_mul(FACTOR))
    }

    /// Which of `count` indexes, a power of two, the block is in, where there are several.
    pub(crate) fn part(self, count: usize) -> usize {
        self.0 as usize / 256 % count
    }

    fn tag(self) -> u8 {
        (self.0 as u8).max(1)
    }

    /// The two buckets of `count`.
    fn buckets(self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let last = count.wrapping_sub(1) as u64;
        // Not the same one twice, where there are more.
        let both = [self.0 >> 36, self.0 >> 36 ^ (self.0 >> 15 | 1)];
        let both = both.map(|at| (at & last) as usize);
        both.into_iter().take(if count == 0 { 0 } else { 2 })
    }

    /// The slots that may have the block.
    fn slots(self, bucket: &Bucket) -> impl Iterator<Item = usize> + use<> {
        let mut left = ones(bucket, self.tag());
        core::iter::from_fn(move || {
            let slot = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (slot < u32::BITS).then_some(slot as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Global;
    use core::cell::Cell;

    /// Blocks that were made to collide: as many as two buckets have are noted, and no more are asked for another.
    #[test]
    fn equal_hashes_take_two_buckets() {
        let (hash, asked) = (BlockHash::of(1..9), Cell::new(0));
        let mut index = BlockIndex::new_in(0, Global).expect("nothing yet");
        let mut unnoted = 0;
        for pointer in 1..1000 {
            index.reserve(|_| hash).expect("memory");
            asked.set(0);
            let room = index.find(hash, |_| {
                asked.set(asked.get() + 1);
                false
            });
            let room = room.expect_err("no block is that");
            assert!(asked.get() <= 2 * SLOTS);
            unnoted += usize::from(room.is_none());
            index.note(room, hash, pointer);
        }
        assert!(unnoted >= 999 - 2 * SLOTS, "{unnoted}");
        assert_eq!(index.find(hash, |pointer| pointer == 3), Ok(3));
        index.forget(hash, 3);
        assert!(index.find(hash, |pointer| pointer == 3).is_err());
        assert!(index.find(BlockHash::of(2..9), |_| true).is_err());
    }

    /// Many blocks, of which all are found, and three quarters of the places are taken.
    #[test]
    fn random_blocks_are_all_found() {
        let hash = |pointer: u32| BlockHash::of([pointer, 7, pointer ^ 5].into_iter());
        let mut index = BlockIndex::new_in(0, Global).expect("nothing yet");
        for pointer in 0..70_000 {
            index.reserve(hash).expect("memory");
            let room = index.find(hash(pointer), |other| other == pointer);
            assert!(matches!(room, Err(Some(_))), "{pointer}");
            index.note(room.expect_err("new"), hash(pointer), pointer);
            if pointer % 3 == 0 {
                index.forget(hash(pointer / 2), pointer / 2);
            }
        }
        assert!(index.bytes() <= 70_000 * 64 / 9 * 2);
    }
}
