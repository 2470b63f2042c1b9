//! Changes of one of many tables, whose blocks others may lead to as well.
//!
//! A block that changes is made again, and so are those above it, up to the table's pointer, each found among those that are
//! there or stored (`patch/counted.rs`). Where all blocks from the table's pointer on are this table's alone, it ends earlier: at the first
//! whose pointer to a block becomes another, and stands in a word of its own. That word is switched. Readers that came into the table earlier
//! may see the block as it becomes, at the same place of the same table.

use super::{Patch, PointersTo};
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::encode::{BlockEncoding, HEAD, MAX_BLOCK};
use crate::fib::layout::{FLAT, HALF, PLACE, WIDE, place};
use crate::fib_set::block::{SetBlock, only_leaf};
use crate::fib_set::compile::{LARGE, TableStore, table};
use crate::memory::Allocator;
use crate::patch::SwitchedWord;
use crate::patch::counted::{CountedBlocks, SwitchedBlock};
use crate::prefix::Prefix;
use crate::rib::vertex::Vertex;

impl<'a, A: Address, Al: Allocator + Clone> Patch<'_, 'a, A, Al> {
    /// What the pointer of a table becomes in which the route of `prefix` has changed.
    ///
    /// # Errors
    /// As [`change`](Self::change).
    pub(crate) fn change_table(
        &mut self,
        mut pointer: u32,
        prefix: Prefix<A>,
        vertex: Option<Vertex<'a, A>>,
    ) -> Result<u32, CompileError> {
        if prefix.len() > 0 {
            return self.descend(pointer, prefix, vertex, 0, PointersTo::Blocks);
        }
        let entry = core::slice::from_mut(&mut pointer);
        self.spread(entry, vertex, PointersTo::Blocks)?;
        Ok(pointer)
    }

    /// The pointer of a new table of all routes.
    ///
    /// # Errors
    /// As [`change`](Self::change).
    pub(crate) fn new_table(&mut self) -> Result<u32, CompileError> {
        let (rib, aggregation, is_flat) = (self.rib, self.aggregation, self.view.is_flat);
        table(rib, aggregation, is_flat, self, rib.allocator().clone())
    }

    /// Whether the block that `pointer` leads to, on the way down, is this table's alone.
    pub(super) fn is_own(&mut self, pointer: u32) -> bool {
        self.is_own = self.is_own
            && (self.tables.is_none() || CountedBlocks::<Al>::is_alone(self.view, pointer));
        self.is_own
    }

    /// What the block that `pointer` leads to becomes where one of its slots leads to another block, in the word `at`: found, stored, or, if
    /// it is its table's alone, to be switched. `None` where the word is not that slot's alone, before or after.
    pub(super) fn switch_shared(
        &mut self,
        pointer: u32,
        slot: u32,
        (at, new): SwitchedWord,
        is_own: bool,
    ) -> Result<Option<u32>, CompileError> {
        let start = pointer & PLACE;
        if pointer & (FLAT | WIDE) != WIDE {
            return Ok(None);
        }
        let runs = u64::from(self.word(start)) | u64::from(self.word(start + 1)) << 32;
        let begins = |slot: u32| slot == 64 || runs >> slot & 1 != 0;
        let joins = slot > 0 && self.word(at - 1) == new || slot < 63 && self.word(at + 1) == new;
        if !begins(slot) || !begins(slot + 1) || joins {
            return Ok(None);
        }
        let mut words = [0; MAX_BLOCK];
        let words = &mut words[..HEAD + runs.count_ones() as usize];
        for (word, at) in words.iter_mut().zip(start..) {
            *word = self.word(at);
        }
        words[(at - start) as usize] = new;
        let kind = pointer & !PLACE;
        if is_own
            && let Some(tables) = &mut self.tables
            && !tables.has_found
        {
            let (hash, found) = tables.find(self.view, words, kind)?;
            let Err(room) = found else {
                return Ok(found.ok());
            };
            tables.switched = Some(SwitchedBlock {
                pointer,
                at,
                new,
                hash,
                room,
            });
            return Ok(Some(pointer));
        }
        self.store_words(words, kind).map(Some)
    }

    /// Stores a block of these slots, which was a flat one before or not.
    pub(super) fn store_shared(
        &mut self,
        block: &BlockEncoding,
        was_flat: bool,
    ) -> Result<u32, CompileError> {
        if was_flat && A::WIDTH == 32 && self.rib.len() >= LARGE {
            let slots = block.slots();
            return match only_leaf(&slots) {
                Some(leaf) => Ok(leaf),
                None => self.share(&SetBlock::flat(&slots)),
            };
        }
        self.share(&SetBlock::of(block, self.view.is_flat))
    }

    fn share(&mut self, block: &SetBlock) -> Result<u32, CompileError> {
        self.store_words(block.words(), block.kind)
    }

    /// What `slot` of the flat block holds that `pointer` leads to, and its word.
    pub(super) fn flat_slot(&self, pointer: u32, slot: u32) -> SwitchedWord {
        let first = place(pointer) as u32;
        if pointer & HALF == 0 {
            return (first + slot, self.word(first + slot));
        }
        let at = first + slot / 2;
        (at, self.word(at) >> (slot % 2 * 16) & 0xffff)
    }
}

impl<A: Address, Al: Allocator + Clone> TableStore for &mut Patch<'_, '_, A, Al> {
    fn share(&mut self, block: &SetBlock) -> Result<u32, CompileError> {
        Patch::share(self, block)
    }
}
