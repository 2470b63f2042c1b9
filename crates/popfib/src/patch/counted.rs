//! The blocks of many tables whose routes change: which there are, by what they hold, and how many pointers lead to each.
//!
//! Only the writer knows this. A block's count stands in the word after it, where no reader looks. A block that a change makes has the
//! count 0, and what it leads to is not counted for it before something leads to it itself: so a change that fails leaves counts as they
//! were, and only forgets what it has made.
//!
//! A pointer that is gone is counted off when no reader can follow it any more. So a block that one pointer leads to has readers of one
//! table, and can be changed for these. One that nothing leads to is forgotten and free, and what it leads to is counted off: some
//! blocks with each change ([`CountedBlocks::sweep`]), however large the table was. Until then it is in a list through the counts, which
//! needs no memory.

use allocator_api2::vec::Vec;
use core::iter;
use core::sync::atomic::Ordering::{Relaxed, Release};

use super::Space;
use crate::compile_error::CompileError;
use crate::fib::arrays::{FibView, FibWord};
use crate::fib::index::{BlockHash, BlockIndex};
use crate::fib::layout::{NODE, place};
use crate::fib_set::block::{first_pointer, len};
use crate::memory::{self, Allocator, OutOfMemory};

/// Indexes that the blocks are divided among, so that one that grows has few of them.
const PARTS: usize = 128;

/// The most blocks below each other: keys have up to 128 bits, of which each resolves 6.
const MAX_LEVELS: usize = 22;

/// The most that [`CountedBlocks::commit`] retires: a block at each level, and what one of them leads to.
pub(crate) const MAX_RETIRED: usize = MAX_LEVELS + 64;

/// What waits until no reader can see it: a pointer that is gone, or, with a length, the place of a block whose pointers another
/// has taken over.
pub(crate) type Retired = (u32, u32);

/// A word of a block that no other table has, which is to lead to another block.
#[derive(Debug)]
pub(super) struct SwitchedBlock {
    pub(super) pointer: u32,
    /// The word, and what it becomes.
    pub(super) at: u32,
    pub(super) new: u32,
    /// What the block is found by before and then, and where it is noted.
    pub(super) old_hash: BlockHash,
    pub(super) hash: BlockHash,
    pub(super) room: Option<usize>,
}

/// The blocks of all tables.
#[derive(Debug)]
pub(crate) struct CountedBlocks<Al: Allocator> {
    parts: Vec<BlockIndex<Al>, Al>,
    /// Pointers to the blocks that the change in progress has made, and the words that it asked for.
    built: Vec<u32, Al>,
    pub(crate) asked: usize,
    /// Pointers to the blocks on the way from the table's pointer to what changes, and whether the change has found one of these, for another
    /// place of the table.
    path: [u32; MAX_LEVELS],
    levels: usize,
    pub(super) has_found: bool,
    pub(super) switched: Option<SwitchedBlock>,
    /// The last block that nothing leads to any more; its count leads to the one before. 0 if there is none.
    dead: u32,
    /// Words of these.
    dead_words: usize,
}

/// The words of the block that `pointer` leads to, and its count.
fn words(view: FibView<'_>, pointer: u32) -> (&[FibWord], &FibWord) {
    let rest = &view.arena[place(pointer)..];
    let len = len(pointer, view.value_bits, |at| rest[at].load(Relaxed));
    (&rest[..len], &rest[len])
}

fn count(view: FibView<'_>, pointer: u32) -> &FibWord {
    words(view, pointer).1
}

/// The words of the block that may be pointers to others.
fn pointers(view: FibView<'_>, pointer: u32) -> &[FibWord] {
    let words = words(view, pointer).0;
    &words[first_pointer(pointer, words.len())..]
}

fn hash(view: FibView<'_>, pointer: u32) -> BlockHash {
    BlockHash::of(words(view, pointer).0.iter().map(|word| word.load(Relaxed)))
}

/// Notes a pointer that is gone, if it leads to a block; there is room.
fn retire<Al: Allocator>(retired: &mut Vec<Retired, Al>, pointer: u32) {
    if pointer & NODE != 0 {
        retired.push((pointer, 0));
    }
}

impl<Al: Allocator + Clone> CountedBlocks<Al> {
    /// No blocks.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(crate) fn new_in(alloc: Al) -> Result<Self, OutOfMemory> {
        let mut parts = Vec::new_in(alloc.clone());
        memory::reserve(&mut parts, PARTS)?;
        for _ in 0..PARTS {
            parts.push(BlockIndex::new_in(0, alloc.clone())?);
        }
        Ok(Self {
            parts,
            built: Vec::new_in(alloc),
            path: [0; MAX_LEVELS],
            levels: 0,
            has_found: false,
            asked: 0,
            switched: None,
            dead: 0,
            dead_words: 0,
        })
    }

    /// Bytes of what the writer knows.
    pub(crate) fn bytes(&self) -> usize {
        let parts = self.parts.iter().map(BlockIndex::bytes).sum::<usize>();
        parts + self.built.capacity() * size_of::<u32>()
    }

    /// Words that nothing leads to and that are not free yet, as far as they are known.
    pub(crate) fn dead_words(&self) -> usize {
        self.dead_words
    }

    /// Notes the next block on the way to what changes.
    pub(super) fn pass(&mut self, pointer: u32) {
        self.path[self.levels] = pointer;
        self.levels += 1;
    }

    fn path(&self) -> &[u32] {
        &self.path[..self.levels]
    }

    /// Whether one pointer alone leads to this block.
    pub(super) fn is_alone(view: FibView<'_>, pointer: u32) -> bool {
        count(view, pointer).load(Relaxed) == 1
    }

    /// What a block that is there is found by, and has that fetched into the cache.
    pub(super) fn fetch(&self, view: FibView<'_>, pointer: u32) -> BlockHash {
        let hash = hash(view, pointer);
        self.parts[hash.part(PARTS)].fetch(hash);
        hash
    }

    /// The pointer to the block of these words, or the place in the index where it can be noted. `kind` is what the pointer has
    /// beside the place.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn find(
        &mut self,
        view: FibView<'_>,
        sought: &[u32],
        kind: u32,
    ) -> Result<(BlockHash, Result<u32, Option<usize>>), OutOfMemory> {
        let sought_hash = BlockHash::of(sought.iter().copied());
        let part = &mut self.parts[sought_hash.part(PARTS)];
        part.fetch(sought_hash);
        part.reserve(|pointer| hash(view, pointer))?;
        let found = part.find(sought_hash, |pointer| {
            let there = view.arena[place(pointer)..].iter();
            let there = there.map(|word| word.load(Relaxed)).take(sought.len());
            pointer == kind | place(pointer) as u32 && there.eq(sought.iter().copied())
        });
        self.has_found |= found.is_ok_and(|pointer| self.path().contains(&pointer));
        Ok((sought_hash, found))
    }

    /// The pointer to the block of these words: to one that is there, or a new one.
    ///
    /// # Errors
    /// [`CompileError::Words`] if the arena is full, [`CompileError::OutOfMemory`].
    pub(super) fn share(
        &mut self,
        view: FibView<'_>,
        space: &mut Space<Al>,
        words: &[u32],
        kind: u32,
    ) -> Result<u32, CompileError> {
        let (hash, found) = self.find(view, words, kind)?;
        let room = match found {
            Ok(pointer) => return Ok(pointer),
            Err(room) => room,
        };
        memory::grow(&mut self.built, 1)?;
        self.asked += words.len() + 1;
        let Some(at) = space.alloc(view.arena, words.len() + 1) else {
            return Err(CompileError::Words {
                max: view.arena.len() as u64,
            });
        };
        let to = view.arena[at as usize..].iter();
        for (to, word) in to.zip(words.iter().chain(&[0])) {
            // Relaxed: the pointer that will lead here is stored with release.
            to.store(*word, Relaxed);
        }
        let pointer = kind | at;
        self.parts[hash.part(PARTS)].note(room, hash, pointer);
        self.built.push(pointer);
        Ok(pointer)
    }

    /// Makes the change that was prepared: a block's word is switched, or the table's `entry` becomes `new`. What it replaces is added to
    /// `retired`, which has room for [`MAX_RETIRED`].
    pub(crate) fn commit(
        &mut self,
        view: FibView<'_>,
        entry: &FibWord,
        new: u32,
        retired: &mut Vec<Retired, Al>,
    ) {
        let (word, new) = match self.switched.take() {
            None => (entry, new),
            Some(block) => {
                self.forget(block.old_hash, block.pointer);
                let part = &mut self.parts[block.hash.part(PARTS)];
                part.note(block.room, block.hash, block.pointer);
                (&view.arena[block.at as usize], block.new)
            }
        };
        let old = word.load(Relaxed);
        // Release: pairs with the loads of the lookups, which find the new blocks written.
        word.store(new, Release);
        self.replace(view, old, new, retired);
    }

    /// Counts `new` in place of `old`, which led to nearly the same.
    fn replace(&mut self, view: FibView<'_>, old: u32, new: u32, retired: &mut Vec<Retired, Al>) {
        let counted = |pointer| match pointer & NODE {
            0 => u32::MAX,
            _ => count(view, pointer).load(Relaxed),
        };
        // Others may have been found below the new one.
        let is_replaced = self.path().contains(&old) && !self.has_found;
        if !is_replaced || counted(old) != 1 || counted(new) != 0 {
            self.retain(view, new);
            retire(retired, old);
            return;
        }
        // The new block takes over what both lead to, uncounted: of many pointers that is all but one.
        count(view, new).store(1, Relaxed);
        let (mut olds, mut news) = (pointers(view, old), pointers(view, new));
        let is_same = |(old, new): &(&FibWord, &FibWord)| old.load(Relaxed) == new.load(Relaxed);
        let same = iter::zip(olds, news).take_while(is_same).count();
        (olds, news) = (&olds[same..], &news[same..]);
        let ends = iter::zip(olds.iter().rev(), news.iter().rev());
        let same = ends.take_while(is_same).count();
        (olds, news) = (&olds[..olds.len() - same], &news[..news.len() - same]);
        self.forget(hash(view, old), old);
        retired.push((place(old) as u32, words(view, old).0.len() as u32 + 1));
        if let ([old], [new]) = (olds, news) {
            return self.replace(view, old.load(Relaxed), new.load(Relaxed), retired);
        }
        for new in news {
            self.retain(view, new.load(Relaxed));
        }
        for old in olds {
            retire(retired, old.load(Relaxed));
        }
    }

    /// Counts one pointer more. The recursion is as deep as the blocks made.
    fn retain(&mut self, view: FibView<'_>, pointer: u32) {
        if pointer & NODE == 0 {
            return;
        }
        let count = count(view, pointer);
        let before = count.load(Relaxed);
        count.store(before + 1, Relaxed);
        if before == 0 {
            for below in pointers(view, pointer) {
                self.retain(view, below.load(Relaxed));
            }
        }
    }

    /// Counts off what was retired, which no reader can see any more.
    pub(crate) fn reclaim(&mut self, view: FibView<'_>, space: &mut Space<Al>, retired: Retired) {
        match retired {
            (pointer, 0) => self.release(view, pointer),
            (place, len) => space.free(view.arena, place, len),
        }
    }

    /// Counts one pointer less.
    fn release(&mut self, view: FibView<'_>, pointer: u32) {
        if pointer & NODE == 0 {
            return;
        }
        let (words, count) = words(view, pointer);
        let left = count.load(Relaxed) - 1;
        count.store(left, Relaxed);
        if left == 0 {
            self.forget(hash(view, pointer), pointer);
            count.store(self.dead, Relaxed);
            self.dead = pointer;
            self.dead_words += words.len() + 1;
        }
    }

    /// Frees the blocks of this change that nothing leads to: all of them, if it was not made.
    pub(crate) fn end(&mut self, view: FibView<'_>, space: &mut Space<Al>) {
        self.switched = None;
        self.has_found = false;
        self.levels = 0;
        while let Some(pointer) = self.built.pop() {
            let (words, count) = words(view, pointer);
            if count.load(Relaxed) == 0 {
                self.forget(hash(view, pointer), pointer);
                space.free(view.arena, place(pointer) as u32, words.len() as u32 + 1);
            }
        }
    }

    /// Frees up to `most` of the blocks that nothing leads to.
    pub(crate) fn sweep(&mut self, view: FibView<'_>, space: &mut Space<Al>, most: usize) {
        for _ in 0..most {
            if self.dead == 0 {
                return;
            }
            let pointer = self.dead;
            let (words, before) = words(view, pointer);
            self.dead = before.load(Relaxed);
            self.dead_words -= words.len() + 1;
            for below in pointers(view, pointer) {
                self.release(view, below.load(Relaxed));
            }
            space.free(view.arena, place(pointer) as u32, words.len() as u32 + 1);
        }
    }

    fn forget(&mut self, hash: BlockHash, pointer: u32) {
        self.parts[hash.part(PARTS)].forget(hash, pointer);
    }
}
