//! The blocks of a set in words: with `runs`, sparse, flat, or one route.

use crate::fib::encode::{BlockEncoding, HEAD, MAX_BLOCK, block_len};
use crate::fib::flat_block::FlatBlock;
use crate::fib::layout::{FLAT, HALF, NODE, ROUTE, RouteBlock, WIDE, flat_len, is_route};
use crate::fib::route_block::route_of;

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
    /// The block of this encoding; where flat ones are asked for, a long one is flat. `word` reads the arena.
    pub(crate) fn of(
        block: &BlockEncoding,
        is_flat: bool,
        value_bits: u8,
        word: impl Fn(u32) -> u32,
    ) -> Self {
        if let Some(route) = route_of(block, value_bits, word) {
            let mut words = [0; MAX_BLOCK];
            words[..route.len()].copy_from_slice(&route);
            let (len, kind) = (route.len(), ROUTE);
            return Self { words, len, kind };
        }
        if is_flat && block.is_wide() && block.len() >= LONG {
            return Self::flat(&block.slots());
        }
        Self::sparse(block).unwrap_or_else(|| Self::with_runs(block))
    }

    /// One word for the next hop around children in place of one for each run of it, if it is one with several runs.
    fn sparse(block: &BlockEncoding) -> Option<Self> {
        let around = block.values()[0];
        if !block.is_wide() || around & NODE != 0 || block.leaves() < 2 {
            return None;
        }
        let (mut words, mut len) = ([0; MAX_BLOCK], HEAD + 1);
        let (mut bits, mut starts) = (0_u64, block.runs());
        for value in block.values() {
            let first = starts;
            starts &= starts - 1;
            if value & NODE != 0 {
                // All below the next run, and of these what is not below this one.
                let slots = (starts & starts.wrapping_neg()).wrapping_sub(1)
                    & !(first & first.wrapping_neg()).wrapping_sub(1);
                bits |= slots;
                let end = len + slots.count_ones() as usize;
                words[len..end].fill(*value);
                len = end;
            } else if *value != around {
                return None;
            }
        }
        words[..=HEAD].copy_from_slice(&[bits as u32, (bits >> 32) as u32, around]);
        let kind = block.pointer(0);
        Some(Self { words, len, kind })
    }

    /// The block of this encoding as it is.
    pub(crate) fn with_runs(block: &BlockEncoding) -> Self {
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
    if is_route(pointer) {
        return RouteBlock::default().len();
    }
    if pointer & FLAT != 0 {
        return flat_len(if pointer & HALF != 0 { 16 } else { 32 });
    }
    let runs = u64::from(word(0)) | u64::from(word(1)) << 32;
    // A sparse block has a value that no bit is of.
    let first = usize::from(pointer & WIDE != 0 && runs & 1 == 0);
    block_len(pointer, value_bits, runs) + first
}

/// Which words of a block of this length may be pointers to blocks begin there: none of some kinds.
pub(crate) fn first_pointer(pointer: u32, len: usize) -> usize {
    match (pointer & FLAT, pointer & HALF, pointer & WIDE) {
        (0, _, 0) => len,
        (0, _, _) => HEAD,
        (_, 0, 0) => 0,
        _ => len,
    }
}
