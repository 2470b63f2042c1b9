//! The flat blocks of a table whose routes change: which there are, and how many entries of the root lead to each.
//!
//! Only the writer knows this. A block does not change while an entry leads to it: a change of routes makes the entries
//! that it reaches again from the Rib, finds their blocks or stores new ones, and switches the root. A block that
//! no entry leads to any more is forgotten, and free when no reader can see it.

use allocator_api2::boxed::Box;
use allocator_api2::vec::Vec;
use core::sync::atomic::Ordering;

use crate::fib::arrays::{FibView, FibWord, LINE};
use crate::fib::flat_block::FlatBlock;
use crate::fib::index::{BlockHash, BlockIndex};
use crate::fib::layout::place;
use crate::memory::{self, Allocator, OutOfMemory};

/// The flat blocks of a table. All are below its root.
#[derive(Debug)]
pub(crate) struct SharedBlocks<Al: Allocator> {
    index: BlockIndex<Al>,
    /// By the line at which a block begins: entries of the root that lead there.
    counts: Vec<u32, Al>,
    /// Pointers to the blocks that the change in progress stores (`noted`), and to the blocks without an entry after it (`left`).
    noted: Vec<u32, Al>,
    pub(super) left: Vec<u32, Al>,
    /// Whether the entries of the root are counted as what they become.
    is_counted: bool,
}

/// The flat block that `pointer` leads to.
pub(super) fn read(arena: &[FibWord], pointer: u32) -> FlatBlock {
    // Relaxed: this is the writer.
    FlatBlock::read(pointer, |at| arena[at].load(Ordering::Relaxed))
}

fn hash(block: &FlatBlock) -> BlockHash {
    BlockHash::of(block.words().iter().copied())
}

fn line(pointer: u32) -> usize {
    place(pointer) / LINE
}

impl<Al: Allocator + Clone> SharedBlocks<Al> {
    /// Those of these arrays, if they are flat.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn of(view: FibView<'_>, alloc: Al) -> Result<Option<Box<Self, Al>>, OutOfMemory> {
        if !view.is_flat {
            return Ok(None);
        }
        let mut shared = Self {
            // At most one for each entry of the root.
            index: BlockIndex::new_in(view.root.len(), alloc.clone())?,
            counts: Vec::new_in(alloc.clone()),
            noted: Vec::new_in(alloc.clone()),
            left: Vec::new_in(alloc.clone()),
            is_counted: false,
        };
        shared.lengthen(view.arena.len())?;
        for entry in view.root {
            let pointer = entry.load(Ordering::Relaxed);
            let count = &mut shared.counts[line(pointer)];
            *count += 1;
            if *count == 1 {
                let block = read(view.arena, pointer);
                if let Err(at) = shared.find(view.arena, &block) {
                    shared.index.note(at, hash(&block), pointer);
                }
            }
        }
        memory::boxed(shared, alloc).map(Some)
    }

    /// The arena has become longer.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn lengthen(&mut self, arena_len: usize) -> Result<(), OutOfMemory> {
        let lines = arena_len / LINE + 1;
        if let Some(more) = lines.checked_sub(self.counts.len()) {
            memory::reserve(&mut self.counts, more)?;
            self.counts.resize(lines, 0);
        }
        Ok(())
    }

    /// The pointer to this block, or, if it is not found, where it can be noted.
    pub(super) fn find(&self, arena: &[FibWord], block: &FlatBlock) -> Result<u32, Option<usize>> {
        let words = block.words();
        self.index.find(hash(block), |pointer| {
            let place = place(pointer);
            let there = arena[place..].iter();
            let there = there.map(|word| word.load(Ordering::Relaxed));
            pointer == block.pointer(place as u32)
                && there.take(words.len()).eq(words.iter().copied())
        })
    }

    /// Makes sure of the memory to note one more block.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn reserve(&mut self) -> Result<(), OutOfMemory> {
        memory::grow(&mut self.noted, 1)
    }

    /// Notes the pointer to a block that this change stores; reserved.
    pub(super) fn note(&mut self, at: Option<usize>, block: &FlatBlock, pointer: u32) {
        self.noted.push(pointer);
        self.index.note(at, hash(block), pointer);
    }

    /// Counts the `changed` entries of the root as what they become, and lists the blocks that none leads to any more.
    ///
    /// # Errors
    /// [`OutOfMemory`]; nothing is counted then.
    pub(super) fn count(
        &mut self,
        root: &[FibWord],
        changed: &[(u32, u32)],
    ) -> Result<(), OutOfMemory> {
        memory::grow(&mut self.left, changed.len())?;
        self.is_counted = true;
        // First what comes: a block may be left and found by the same change.
        for (_, new) in changed {
            self.counts[line(*new)] += 1;
        }
        for (at, _) in changed {
            let old = root[*at as usize].load(Ordering::Relaxed);
            let count = &mut self.counts[line(old)];
            *count -= 1;
            if *count == 0 {
                self.left.push(old);
            }
        }
        Ok(())
    }

    /// The change is made: what it leaves is forgotten. Its words are still there.
    pub(super) fn keep(&mut self, arena: &[FibWord]) {
        while let Some(pointer) = self.left.pop() {
            self.forget(arena, pointer);
        }
        self.noted.clear();
        self.is_counted = false;
    }

    /// The change is not made: its blocks are forgotten, whose words are still there, and the `changed` entries of the root, which
    /// are as they were, counted as before.
    pub(super) fn undo(&mut self, arena: &[FibWord], root: &[FibWord], changed: &[(u32, u32)]) {
        while let Some(pointer) = self.noted.pop() {
            self.forget(arena, pointer);
        }
        if self.is_counted {
            for (at, new) in changed {
                self.counts[line(*new)] -= 1;
                let old = root[*at as usize].load(Ordering::Relaxed);
                self.counts[line(old)] += 1;
            }
        }
        self.left.clear();
        self.is_counted = false;
    }

    fn forget(&mut self, arena: &[FibWord], pointer: u32) {
        self.index.forget(hash(&read(arena, pointer)), pointer);
    }

    /// Bytes of what the writer knows.
    pub(super) fn bytes(&self) -> usize {
        self.index.bytes() + self.counts.capacity() * size_of::<u32>()
    }
}
