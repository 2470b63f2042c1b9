//! The blocks of a set in words: with `runs`, or flat.

use crate::fib::encode::{BlockEncoding, HEAD, MAX_BLOCK, block_len};
use crate::fib::flat_block::FlatBlock;
use crate::fib::layout::{FLAT, HALF, NODE, WIDE, flat_len};

/// From this length on a block of pointers is flat, if that is asked for: it takes twice the words at most.
const LONG: usize = 34;

/// A block as it is stored.
pub(crate) struct SetBlock {
    words: [u32; MAX_BLOCK],
    len: usize,
    /// What a pointer to it has beside the place.
    pub(crate) kind: u32,
}

impl SetBlock {
    /// The block of this encoding; where flat ones are asked for, a long one is flat.
    pub(crate) fn of(block: &BlockEncoding, is_flat: bool) -> Self {
        if is_flat && block.is_wide() && block.len() >= LONG {
            return Self::flat(&block.slots());
        }
        let (mut words, len) = ([0; MAX_BLOCK], block.len());
        block.write(&mut words);
        let kind = block.pointer(0);
        Self { words, len, kind }
    }

    /// The flat block of these slots.
    pub(crate) fn flat(slots: &[u32; 64]) -> Self {
        let block = FlatBlock::of(slots);
        let (mut words, len) = ([0; MAX_BLOCK], block.words().len());
        words[..len].copy_from_slice(block.words());
        let kind = block.pointer(0);
        Self { words, len, kind }
    }

    pub(crate) fn words(&self) -> &[u32] {
        &self.words[..self.len]
    }
}

/// The next hop that all of these slots are, if they are.
pub(crate) fn only_leaf(slots: &[u32; 64]) -> Option<u32> {
    let is_one = slots[0] & NODE == 0 && slots.iter().all(|slot| *slot == slots[0]);
    is_one.then_some(slots[0])
}

/// The length in words of the block that `pointer` leads to; `word` reads the block.
pub(crate) fn len(pointer: u32, value_bits: u8, word: impl Fn(usize) -> u32) -> usize {
    if pointer & FLAT != 0 {
        return flat_len(if pointer & HALF != 0 { 16 } else { 32 });
    }
    let runs = u64::from(word(0)) | u64::from(word(1)) << 32;
    block_len(pointer, value_bits, runs)
}

/// Which words of a block of this length may be pointers to blocks begin there: none of some kinds.
pub(crate) fn first_pointer(pointer: u32, len: usize) -> usize {
    match (pointer & FLAT, pointer & HALF, pointer & WIDE) {
        (0, _, 0) => len,
        (0, _, _) => HEAD,
        (_, 0, _) => 0,
        _ => len,
    }
}
