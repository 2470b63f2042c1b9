//! Changes of one of many tables, whose blocks others may lead to as well.
//!
//! A block that changes is made again, and so are those above it, up to the table's pointer, each found among those that are
//! there or stored (`patch/counted.rs`). Where all blocks from the table's pointer on are this table's alone, it ends earlier: at the first
//! whose pointer to a block becomes another, and stands in a word of its own. That word is switched. Readers that came into the table earlier
//! may see the block as it becomes, at the same place of the same table.

use super::{Patch, PointersTo};
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::compile::pointer;
use crate::fib::encode::{BlockEncoding, HEAD, MAX_BLOCK, OneValueBlock};
use crate::fib::layout::{FLAT, HALF, ROUTE, WIDE, place, sparse_rank};
use crate::fib::route_block::{MAX_RUNS, route};
use crate::fib_set::block::{self, SetBlock, only_leaf};
use crate::fib_set::compile::{LARGE, TableStore, table};
use crate::fold::{self, Slot, Store};
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

    /// Whether the block that `pointer` leads to, on the way down through its `slot` in the word `at`, is this table's alone, at one place.
    pub(super) fn is_own(&mut self, pointer: u32, slot: u32, (at, old): SwitchedWord) -> bool {
        let is_own = self.is_own && CountedBlocks::<Al>::is_alone(self.view, pointer);
        self.is_own = is_own && self.is_one(pointer, slot, (at, old));
        is_own
    }

    /// Whether the word `at`, of a block that leads to others, is that of this slot alone.
    fn is_one(&self, pointer: u32, slot: u32, (at, word): SwitchedWord) -> bool {
        if pointer & FLAT != 0 {
            return !self.has_neighbour(slot, (at, word));
        }
        let runs = self.runs(pointer);
        if runs & 1 == 0 {
            return runs >> slot & 1 != 0 && !self.has_neighbour(slot, (at, word));
        }
        runs >> slot & 1 != 0 && (slot == 63 || runs >> slot & 2 != 0)
    }

    /// Whether the word before or after that of this slot, which is `at`, is the same.
    fn has_neighbour(&self, slot: u32, (at, word): SwitchedWord) -> bool {
        slot > 0 && self.word(at - 1) == word || slot < 63 && self.word(at + 1) == word
    }

    fn runs(&self, pointer: u32) -> u64 {
        let start = place(pointer) as u32;
        u64::from(self.word(start)) | u64::from(self.word(start + 1)) << 32
    }

    /// What the block that `pointer` leads to becomes where one of its slots leads to another block, in the word `at`: found, stored, or, if
    /// it is its table's alone, to be switched. `None` where the word is not that slot's alone, before or after.
    pub(super) fn switch_shared(
        &mut self,
        pointer: u32,
        slot: u32,
        (at, old): SwitchedWord,
        new: u32,
        is_own: bool,
    ) -> Result<Option<u32>, CompileError> {
        let is_sparse = self.is_sparse(pointer);
        // It may become one route as a whole.
        let most = if is_sparse { 1 } else { MAX_RUNS };
        let is_short = pointer & FLAT == 0 && self.runs(pointer).count_ones() <= most;
        if is_short || !self.is_one(pointer, slot, (at, old)) || self.has_neighbour(slot, (at, new))
        {
            return Ok(None);
        }
        let start = place(pointer) as u32;
        let mut words = [0; MAX_BLOCK];
        let len = block::len(pointer, self.view.value_bits, |at| {
            self.word(start + at as u32)
        });
        let words = &mut words[..len];
        for (word, at) in words.iter_mut().zip(start..) {
            *word = self.word(at);
        }
        words[(at - start) as usize] = new;
        let kind = pointer & !(place(pointer) as u32);
        if is_own
            && let Some(tables) = &mut self.tables
            && !tables.has_found
        {
            let old_hash = tables.fetch(self.view, pointer);
            let (hash, found) = tables.find(self.view, words, kind)?;
            let Err(room) = found else {
                return Ok(found.ok());
            };
            tables.switched = Some(SwitchedBlock {
                pointer,
                at,
                new,
                old_hash,
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
        let (is_flat, value_bits) = (self.view.is_flat, self.view.value_bits);
        let block = SetBlock::of(block, is_flat, value_bits, |at| self.word(at));
        self.share(&block)
    }

    fn share(&mut self, block: &SetBlock) -> Result<u32, CompileError> {
        self.store_words(block.words(), block.kind)
    }

    /// Whether this pointer leads to a sparse block.
    pub(super) fn is_sparse(&self, pointer: u32) -> bool {
        self.tables.is_some()
            && pointer & (FLAT | WIDE) == WIDE
            && self.word(place(pointer) as u32) & 1 == 0
    }

    /// What `slot` of the flat or sparse block holds that `pointer` leads to, and its word.
    pub(super) fn shared_slot(&self, pointer: u32, slot: u32) -> SwitchedWord {
        let first = place(pointer) as u32;
        if pointer & FLAT == 0 {
            let at = first + HEAD as u32 + sparse_rank(self.runs(pointer), slot);
            return (at, self.word(at));
        }
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

/// Nodes that are built again.
impl<A: Address, Al: Allocator + Clone> Store for &mut Patch<'_, '_, A, Al> {
    /// A pointer.
    type Node = u32;

    fn store(&mut self, slots: &[Slot<u32>; 64]) -> Result<u32, CompileError> {
        let slots = slots.map(pointer);
        let block = BlockEncoding::of(&slots, self.view.value_bits);
        if self.tables.is_some() {
            return self.store_shared(&block, false);
        }
        self.store_new(&block)
    }

    fn store_route(
        &mut self,
        bits: u32,
        len: u8,
        next_hop: u32,
        around: u32,
    ) -> Result<Option<u32>, CompileError> {
        let block = self.tables.as_ref();
        let block = block.and_then(|_| route(bits, len, next_hop, around));
        block
            .map(|words| self.store_words(&words, ROUTE))
            .transpose()
    }

    fn store_one(
        &mut self,
        first: u8,
        count: u8,
        slot: Slot<u32>,
        around: u32,
    ) -> Result<u32, CompileError> {
        if self.tables.is_some() {
            return Store::store(self, &fold::one(first, count, slot, around));
        }
        let slots = (first, count);
        let block = OneValueBlock::new(self.view.value_bits, slots, pointer(slot), around);
        self.store_words(block.words(), block.pointer(0))
    }
}
