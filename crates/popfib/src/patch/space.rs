//! Places for blocks in an arena whose routes change.
//!
//! Free places are lists by their exact length, linked through their own
//! words, so that giving a block back needs no memory and cannot fail. A block
//! takes a place of its own length if there is one, else words that were never
//! used, else a part of a longer free place. Blocks have few lengths and changes
//! come and go at the same prefixes, so the first case is the common one.
//!
//! Rejected: buddy allocation, as in the paper. It rounds a length up to a power
//! of two, which costs a quarter of the arena from the first block on. What exact
//! lengths may lose instead are free places that nobody asks for; when the arena is
//! full because of them the table is compiled again, so that free words stay
//! below the share that an arena is given to spare.

use core::sync::atomic::Ordering;

use crate::fib::layout::{self, IDLE_BLOCK, Word};

/// Words of a cache line: a block crosses one only if it is longer.
const LINE: u32 = layout::LINE as u32;

/// The longest place there is: a page of 2^8 entries.
const MAX_LEN: usize = 256;

/// The end of a list: the idle block is never free.
const NONE: u32 = 0;

/// A word that can hold the place of the next free one.
pub(crate) trait Link {
    fn get(&self) -> u32;
    fn set(&self, place: u32);
}

impl Link for Word {
    fn get(&self) -> u32 {
        self.load(Ordering::Relaxed)
    }

    fn set(&self, place: u32) {
        self.store(place, Ordering::Relaxed);
    }
}

/// Which words of an arena are free. The words themselves are handed in: they
/// belong to the arrays.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    /// The first free place of each length.
    heads: [u32; MAX_LEN + 1],
    /// The lengths that have free places.
    lens: [u64; MAX_LEN / 64 + 1],
    /// From here on no word has been used yet.
    top: u32,
    /// Words that blocks may take.
    end: u32,
    /// Words in the lists.
    listed: u32,
}

impl Space {
    /// The space of an arena of `arena_len` words, used up to `top`.
    pub(crate) fn new(arena_len: usize, top: usize) -> Self {
        debug_assert!((IDLE_BLOCK.len()..=arena_len).contains(&top));
        Self {
            heads: [NONE; MAX_LEN + 1],
            lens: [0; MAX_LEN / 64 + 1],
            top: top as u32,
            end: arena_len as u32,
            listed: 0,
        }
    }

    /// Words that are free.
    pub(crate) fn free_words(&self) -> usize {
        (self.listed + self.end - self.top) as usize
    }

    /// The arena has become longer.
    pub(crate) fn lengthen(&mut self, arena_len: usize) {
        debug_assert!(arena_len >= self.end as usize);
        self.end = arena_len as u32;
    }

    /// A place of `len` words; `None` if the arena is full.
    pub(crate) fn alloc(&mut self, arena: &[impl Link], len: usize) -> Option<u32> {
        debug_assert!((1..=MAX_LEN).contains(&len));
        if self.heads[len] != NONE {
            return Some(self.pop(arena, len));
        }
        let len = len as u32;
        let start = self.top + gap(self.top, len);
        if start + len <= self.end {
            if start > self.top {
                self.free(arena, self.top, start - self.top);
            }
            self.top = start + len;
            return Some(start);
        }
        // The shortest place in which it fits.
        let mut from = len + 1;
        while let Some(longer) = self.next_len(from) {
            let place = self.heads[longer as usize];
            let before = gap(place, len);
            if before + len <= longer {
                self.pop(arena, longer as usize);
                let after = longer - before - len;
                if before > 0 {
                    self.free(arena, place, before);
                }
                self.free_rest(arena, place + before + len, after);
                return Some(place + before);
            }
            from = longer + 1;
        }
        None
    }

    /// Takes back `len` words from `place` on. No reader may see them any more.
    pub(crate) fn free(&mut self, arena: &[impl Link], place: u32, len: u32) {
        debug_assert!(place >= IDLE_BLOCK.len() as u32 && place + len <= self.end);
        let class = len as usize;
        arena[place as usize].set(self.heads[class]);
        self.heads[class] = place;
        self.lens[class / 64] |= 1 << (class % 64);
        self.listed += len;
    }

    /// Frees what is left of a place, in parts that cross no line needlessly.
    fn free_rest(&mut self, arena: &[impl Link], place: u32, len: u32) {
        let before = gap(place, len).min(len);
        for (place, len) in [(place, before), (place + before, len - before)] {
            if len > 0 {
                self.free(arena, place, len);
            }
        }
    }

    /// Takes the first free place of exactly `len` words.
    fn pop(&mut self, arena: &[impl Link], len: usize) -> u32 {
        let place = self.heads[len];
        let next = arena[place as usize].get();
        self.heads[len] = next;
        if next == NONE {
            self.lens[len / 64] &= !(1 << (len % 64));
        }
        self.listed -= len as u32;
        place
    }

    /// The shortest length from `from` on that has free places.
    fn next_len(&self, from: u32) -> Option<u32> {
        let mut group = from as usize / 64;
        let mut lens = *self.lens.get(group)? & (u64::MAX << (from % 64));
        loop {
            if lens != 0 {
                return Some(group as u32 * 64 + lens.trailing_zeros());
            }
            group += 1;
            lens = *self.lens.get(group)?;
        }
    }
}

/// Words to leave out at `place` so that `len` words from there on cross no line needlessly.
fn gap(place: u32, len: u32) -> u32 {
    let room = place.next_multiple_of(LINE) - place;
    if len <= room || room == 0 { 0 } else { room }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn no_word_has_two_owners_and_none_is_lost() {
        let arena: Vec<Word> = (0..4096).map(|_| Word::new(0)).collect();
        let mut space = Space::new(arena.len(), IDLE_BLOCK.len());
        let all = space.free_words();
        let mut owned = [false; 4096];
        let mut held: Vec<(u32, usize)> = Vec::new();
        let mut state = 7u32;
        let mut full = 0;
        for _ in 0..100_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let draw = (state >> 8) as usize;
            if draw.is_multiple_of(2) {
                let len = if draw.is_multiple_of(32) {
                    MAX_LEN
                } else {
                    1 + draw / 64 % 66
                };
                match space.alloc(&arena, len) {
                    Some(place) => {
                        let words = &mut owned[place as usize..][..len];
                        assert!(!words.contains(&true));
                        words.fill(true);
                        assert!(len > 16 || place / LINE == (place + len as u32 - 1) / LINE);
                        held.push((place, len));
                    }
                    None => full += 1,
                }
            } else if !held.is_empty() {
                let (place, len) = held.swap_remove(draw / 2 % held.len());
                owned[place as usize..][..len].fill(false);
                space.free(&arena, place, len as u32);
            }
            let used: usize = held.iter().map(|(_, len)| len).sum();
            assert_eq!(space.free_words() + used, all);
        }
        assert!(full > 0, "the arena was full at times");
        assert!(!owned[..IDLE_BLOCK.len()].contains(&true));
    }
}
