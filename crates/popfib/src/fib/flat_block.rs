//! Flat blocks from entries and back: what their words are.
//!
//! `layout.rs` describes the format; an entry is a pointer here, as a slot is in `encode.rs`.

use super::layout::{FLAT, FLAT_PLACE, HALF, HALF_END, NODE, flat_len};

/// A flat block of 64 entries as it is stored.
pub(crate) struct FlatBlock {
    /// Those that it has, and then zeros.
    words: [u32; 64],
    is_half: bool,
}

impl FlatBlock {
    /// The block of `entries`: with halves if all are next hops below [`HALF_END`].
    pub(crate) fn of(entries: &[u32; 64]) -> Self {
        if entries.iter().fold(0, |all, entry| all | entry) >= HALF_END {
            return Self::whole(entries);
        }
        let mut words = [0; 64];
        for (word, pair) in words.iter_mut().zip(entries.as_chunks::<2>().0) {
            *word = pair[0] | pair[1] << 16;
        }
        Self {
            words,
            is_half: true,
        }
    }

    /// The block of `entries`, with whole words.
    pub(crate) fn whole(entries: &[u32; 64]) -> Self {
        Self {
            words: *entries,
            is_half: false,
        }
    }

    /// The block that `pointer` leads to; `word` reads the arena, asked for words of the block only.
    pub(crate) fn read(pointer: u32, word: impl Fn(usize) -> u32) -> Self {
        let mut block = Self {
            words: [0; 64],
            is_half: pointer & HALF != 0,
        };
        let (place, len) = ((pointer & FLAT_PLACE) as usize, block.words().len());
        for (at, to) in block.words[..len].iter_mut().enumerate() {
            *to = word(place + at);
        }
        block
    }

    pub(crate) fn words(&self) -> &[u32] {
        &self.words[..flat_len(if self.is_half { 16 } else { 32 })]
    }

    /// The entries, pointers.
    pub(crate) fn entries(&self) -> [u32; 64] {
        if !self.is_half {
            return self.words;
        }
        core::array::from_fn(|slot| self.words[slot / 2] >> (slot % 2 * 16) & 0xffff)
    }

    /// The pointer that leads to the block at `place`.
    pub(crate) fn pointer(&self, place: u32) -> u32 {
        NODE | FLAT | place | if self.is_half { HALF } else { 0 }
    }

    /// The entries that lead to blocks.
    pub(crate) fn children(&self) -> impl Iterator<Item = u32> {
        let entries = if self.is_half { &[] } else { &self.words[..] };
        entries.iter().copied().filter(|entry| entry & NODE != 0)
    }
}

/// Runs of equal entries, and how many of these are next hops.
pub(crate) fn runs_and_leaves(entries: &[u32; 64]) -> (usize, usize) {
    const { assert!(NODE == 1 << 31, "counted by that bit") };
    let (mut runs, mut nodes) = (1, entries[0] >> 31);
    // No branches, so that the loop becomes vectors.
    for at in 1..64 {
        let begins = u32::from(entries[at] != entries[at - 1]);
        runs += begins;
        nodes += begins & entries[at] >> 31;
    }
    (runs as usize, (runs - nodes) as usize)
}
