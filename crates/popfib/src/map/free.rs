//! Which numbers are free, the lowest first.
//!
//! A bit a number, and above it a bit for each 64 of those, so that the lowest free
//! number is found in a few words even in a map of millions. Low numbers keep the
//! values of narrow blocks narrow. The memory is had when numbers are made, so giving
//! one back needs none.

use alloc::vec::Vec;

use crate::memory::OutOfMemory;

/// Numbers of things that come and go.
#[derive(Clone, Debug, Default)]
pub(super) struct FreeNumbers {
    /// Bit b of word w: 64 * w + b is free.
    words: Vec<u64>,
    /// Bit b of word w: word 64 * w + b has a free number.
    groups: Vec<u64>,
    count: usize,
}

impl FreeNumbers {
    /// Makes room for the numbers below `end`.
    pub(super) fn reserve(&mut self, end: usize) -> Result<(), OutOfMemory> {
        let (words, groups) = (end.div_ceil(64), end.div_ceil(64 * 64));
        let refused = |_| OutOfMemory::new(words * size_of::<u64>());
        let more = |have: usize, want: usize| want.saturating_sub(have);
        self.words
            .try_reserve_exact(more(self.words.len(), words))
            .map_err(refused)?;
        self.groups
            .try_reserve_exact(more(self.groups.len(), groups))
            .map_err(refused)?;
        self.words.resize(words.max(self.words.len()), 0);
        self.groups.resize(groups.max(self.groups.len()), 0);
        Ok(())
    }

    /// How many are free.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn contains(&self, number: u32) -> bool {
        let word = self.words.get(number as usize / 64);
        word.is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    /// Gives a number back, for which there is room.
    pub(super) fn give(&mut self, number: u32) {
        debug_assert!(!self.contains(number));
        let word = number as usize / 64;
        self.words[word] |= 1 << (number % 64);
        self.groups[word / 64] |= 1 << (word % 64);
        self.count += 1;
    }

    /// Takes the lowest free number.
    pub(super) fn take(&mut self) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        let group = self.groups.iter().position(|group| *group != 0)?;
        let word = group * 64 + self.groups[group].trailing_zeros() as usize;
        let bit = self.words[word].trailing_zeros();
        self.words[word] &= self.words[word] - 1;
        if self.words[word] == 0 {
            self.groups[group] &= self.groups[group] - 1;
        }
        self.count -= 1;
        Some(word as u32 * 64 + bit)
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        (self.words.capacity() + self.groups.capacity()) * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    #[test]
    fn the_lowest_comes_first() {
        let mut free = FreeNumbers::default();
        free.reserve(10_000).unwrap();
        let mut model = BTreeSet::new();
        let mut state = 1u32;
        for _ in 0..50_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = (state >> 8) % 10_000;
            if state >> 31 == 0 && model.insert(number) {
                free.give(number);
            } else {
                assert_eq!(free.take(), model.pop_first());
            }
            assert_eq!(free.count(), model.len());
            assert_eq!(free.contains(number), model.contains(&number));
        }
    }
}
