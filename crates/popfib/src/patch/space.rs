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

use allocator_api2::boxed::Box;

use crate::fib::arrays::{self, FibWord, IDLE_BLOCK};
use crate::fib::encode::MAX_BLOCK;
use crate::memory::{self, Allocator, Global, OutOfMemory};

/// Words of a cache line: a block crosses one only if it is longer.
const LINE: u32 = arrays::LINE as u32;

/// Longer places are pages, which are equally long in all of a table: one list is theirs. Lists for each length up to a page's would
/// be most of a small table.
const MAX_LEN: u32 = MAX_BLOCK as u32;

/// The list of the pages.
const PAGES: usize = MAX_BLOCK + 1;

/// The end of a list: the idle block is never free.
const NONE: u32 = 0;

/// A word that can hold the place of the next free one.
pub(crate) trait FreeLink {
    fn get(&self) -> u32;
    fn set(&self, place: u32);
}

impl FreeLink for FibWord {
    fn get(&self) -> u32 {
        self.load(Ordering::Relaxed)
    }

    fn set(&self, place: u32) {
        self.store(place, Ordering::Relaxed);
    }
}

/// The first free place of each length, and of the pages.
type Heads = [u32; PAGES + 1];

/// Which words of an arena are free. The words themselves are handed in: they
/// belong to the arrays.
#[derive(Debug)]
pub(crate) struct Space<Al: Allocator = Global> {
    /// None before the first change: of a small table that never changes they would be a quarter.
    heads: Option<Box<Heads, Al>>,
    /// The lists that have places.
    lens: u128,
    /// Words of a page, once there is a free one.
    page: u32,
    /// From here on no word has been used yet.
    top: u32,
    /// Words that blocks may take.
    end: u32,
    /// Words in the lists.
    listed: u32,
}

impl<Al: Allocator + Clone> Space<Al> {
    /// The space of an arena of `arena_len` words, used up to `top`.
    pub(crate) fn new(arena_len: usize, top: usize) -> Self {
        debug_assert!((IDLE_BLOCK.len()..=arena_len).contains(&top));
        Self {
            heads: None,
            lens: 0,
            page: 0,
            top: top as u32,
            end: arena_len as u32,
            listed: 0,
        }
    }

    /// Makes sure of the memory to note free places, before the first is taken or freed.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    #[inline]
    pub(crate) fn reserve(&mut self, alloc: &Al) -> Result<(), OutOfMemory> {
        if self.heads.is_none() {
            self.heads = Some(memory::boxed([NONE; PAGES + 1], alloc.clone())?);
        }
        Ok(())
    }

    /// The same free places, noted in memory of their own.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(crate) fn try_clone(&self, alloc: &Al) -> Result<Self, OutOfMemory> {
        let heads = self.heads.as_deref();
        let heads = heads.map(|heads| memory::boxed(*heads, alloc.clone()));
        Ok(Self {
            heads: heads.transpose()?,
            ..*self
        })
    }

    /// Heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.heads.as_ref().map_or(0, |_| size_of::<Heads>())
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
    pub(crate) fn alloc(&mut self, arena: &[impl FreeLink], len: usize) -> Option<u32> {
        let len = len as u32;
        let list = list_of(len);
        if self.lens >> list & 1 != 0 {
            return Some(self.pop(arena, list));
        }
        let start = self.top + gap(self.top, len);
        if start + len <= self.end {
            self.free_parts(arena, self.top, start - self.top);
            self.top = start + len;
            return Some(start);
        }
        // The shortest place in which it fits.
        let mut lists = self.lens >> list >> 1 << 1 << list;
        while lists != 0 {
            let list = lists.trailing_zeros() as usize;
            let (place, longer) = (self.head(list), self.len_of(list));
            let before = gap(place, len);
            if before + len <= longer {
                self.pop(arena, list);
                self.free_parts(arena, place, before);
                let end = place + before + len;
                self.free_parts(arena, end, place + longer - end);
                return Some(place + before);
            }
            lists &= lists - 1;
        }
        None
    }

    /// Takes back `len` words from `place` on. No reader may see them any more.
    pub(crate) fn free(&mut self, arena: &[impl FreeLink], place: u32, len: u32) {
        debug_assert!(place >= IDLE_BLOCK.len() as u32 && place + len <= self.end);
        let list = list_of(len);
        if list == PAGES {
            debug_assert!(self.page == 0 || self.page == len);
            self.page = len;
        }
        let head = self.head_mut(list);
        arena[place as usize].set(*head);
        *head = place;
        self.lens |= 1 << list;
        self.listed += len;
    }

    /// Frees what is left of a place, in parts that are no pages and cross no line needlessly.
    fn free_parts(&mut self, arena: &[impl FreeLink], mut place: u32, mut len: u32) {
        while len > 0 {
            let part = match gap(place, len) {
                0 => len.min(MAX_LEN / LINE * LINE),
                before => before.min(len),
            };
            self.free(arena, place, part);
            (place, len) = (place + part, len - part);
        }
    }

    /// Takes the first place of a list.
    fn pop(&mut self, arena: &[impl FreeLink], list: usize) -> u32 {
        let head = self.head_mut(list);
        let place = *head;
        let next = arena[place as usize].get();
        *head = next;
        if next == NONE {
            self.lens &= !(1 << list);
        }
        self.listed -= self.len_of(list);
        place
    }

    fn head(&self, list: usize) -> u32 {
        self.heads.as_ref().map_or(NONE, |heads| heads[list])
    }

    fn head_mut(&mut self, list: usize) -> &mut u32 {
        &mut self.heads.as_mut().expect("reserved")[list]
    }

    /// Words of the places of a list that has some.
    fn len_of(&self, list: usize) -> u32 {
        if list == PAGES {
            self.page
        } else {
            list as u32
        }
    }
}

/// The list of places of that length.
fn list_of(len: u32) -> usize {
    debug_assert!(len > 0);
    len.min(MAX_LEN + 1) as usize
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
        let arena: Vec<FibWord> = (0..4096).map(|_| FibWord::new(0)).collect();
        let mut space: Space = Space::new(arena.len(), IDLE_BLOCK.len());
        space.reserve(&Global).unwrap();
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
                    256
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
