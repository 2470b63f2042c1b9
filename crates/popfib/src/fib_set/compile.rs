//! Compilation of many Ribs over one arena.

use allocator_api2::vec::Vec;

use super::FibSet;
use crate::address::{Address, STRIDE};
use crate::compile_error::CompileError;
use crate::fib::Options;
use crate::fib::arena::Arena;
use crate::fib::arrays::{FibView, MAX_DIRECT_BITS, MAX_WORDS, as_words};
use crate::fib::compile::{check_next_hops, fill_page, pointer};
use crate::fib::encode::{BlockEncoding, MAX_BLOCK, OneValueBlock, block_len};
use crate::fib::flat_block::FlatBlock;
use crate::fib::index::BlockIndex;
use crate::fib::layout::{FLAT, HALF, NODE, flat_len, place};
use crate::fold::{Fold, Slot, Store, Vertex};
use crate::memory::{self, Allocator};
use crate::next_hop::MAX_NEXT_HOP;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// From this length on a block of pointers is flat, if that is asked for: it takes twice the words at most.
const LONG: usize = 34;

/// From this number of routes on all blocks of IPv4 tables down to the 24th bit are flat, if that is asked for, as those of a Fib are.
const LARGE: usize = 1 << 16;

/// The arrays of new tables.
pub(super) struct CompiledTables<Al: Allocator> {
    root: Vec<u32, Al>,
    arena: Vec<u32, Al>,
    value_bits: u8,
    is_flat: bool,
    pub(super) tables: usize,
}

impl<Al: Allocator> CompiledTables<Al> {
    pub(super) fn view(&mut self) -> FibView<'_> {
        FibView {
            root_bits: self.root.len().ilog2() as u8,
            root: as_words(&mut self.root),
            arena: as_words(&mut self.arena),
            page_bits: 0,
            value_bits: self.value_bits,
            is_flat: self.is_flat,
        }
    }
}

/// Compiles a table of each Rib.
pub(super) fn compile<'r, A: Address, R: Allocator + Clone + 'r, Al: Allocator + Clone>(
    ribs: impl Iterator<Item = &'r Rib<A, R>> + Clone,
    options: &Options,
    alloc: Al,
) -> Result<CompiledTables<Al>, CompileError> {
    for rib in ribs.clone() {
        check_next_hops(rib)?;
    }
    let bound = ribs.clone().map(Rib::next_hop_bound).max().unwrap_or(0);
    let value_bits = (u32::BITS - bound.min(MAX_NEXT_HOP).leading_zeros()).max(1) as u8;
    let is_flat = options.is_balanced();
    let mut blocks = TableBlocks {
        arena: Arena::new_in(MAX_WORDS, alloc.clone())?,
        index: BlockIndex::new_in(10, alloc.clone())?,
        value_bits,
        is_flat,
    };
    let mut root = Vec::new_in(alloc.clone());
    for rib in ribs {
        let max = FibSet::<A>::MAX_TABLES;
        if root.len() == max {
            return Err(CompileError::Tables { max: max as u32 });
        }
        memory::grow(&mut root, 1)?;
        let (vertex, default) = rib.root_vertex();
        // No nodes where there are no routes.
        let has_routes = rib.surroundings(Prefix::clamped(A::MIN, 0)).1.is_some();
        let mut fold = Fold::new_in(
            rib,
            options.is_aggregating(),
            MAX_NEXT_HOP,
            blocks,
            alloc.clone(),
        );
        root.push(if !has_routes {
            default
        } else if is_flat && A::WIDTH == 32 && rib.len() >= LARGE {
            large(&mut fold, vertex, default, alloc.clone())?
        } else {
            pointer(fold.node(vertex, default)?)
        });
        blocks = fold.store;
    }
    let tables = root.len();
    let entries = tables.max(1).next_power_of_two();
    memory::reserve(&mut root, entries - tables)?;
    root.resize(entries, 0);
    Ok(CompiledTables {
        root,
        arena: blocks.arena.finish(),
        value_bits,
        is_flat,
        tables,
    })
}

/// The pointer of an IPv4 table all of whose blocks down to the 24th bit are flat.
fn large<'r, A: Address, Al: Allocator + Clone>(
    fold: &mut Fold<'r, A, TableBlocks<Al>, Al>,
    vertex: Vertex<'r, A>,
    default: u32,
    alloc: Al,
) -> Result<u32, CompileError> {
    let mut entries = Vec::new_in(alloc);
    memory::reserve(&mut entries, 1 << (MAX_DIRECT_BITS - STRIDE))?;
    entries.resize(1 << (MAX_DIRECT_BITS - STRIDE), 0);
    fold.table(vertex, default, &mut entries, &mut |fold, leaf, below| {
        let Some(vertex) = below else {
            return Ok(leaf);
        };
        let mut entries = [0; 64];
        fill_page(fold, vertex, leaf, &mut entries)?;
        fold.store.share_flat(&entries)
    })?;
    while entries.len() > 1 {
        for at in 0..entries.len() / 64 {
            let slots = entries.as_chunks::<64>().0[at];
            entries[at] = fold.store.share_flat(&slots)?;
        }
        entries.truncate(entries.len() / 64);
    }
    Ok(entries[0])
}

/// The blocks of all tables, equal ones once.
struct TableBlocks<Al: Allocator> {
    arena: Arena<Al>,
    index: BlockIndex<Al>,
    value_bits: u8,
    is_flat: bool,
}

impl<Al: Allocator + Clone> TableBlocks<Al> {
    /// The pointer to a flat block of these slots, or the next hop that all of them are.
    fn share_flat(&mut self, slots: &[u32; 64]) -> Result<u32, CompileError> {
        if slots[0] & NODE == 0 && slots.iter().all(|slot| *slot == slots[0]) {
            return Ok(slots[0]);
        }
        let block = FlatBlock::of(slots);
        self.share(block.words(), block.pointer(0))
    }

    /// The pointer to a block of these words, whose bits beside the place are `kind`: to one that is there, or a new one.
    fn share(&mut self, words: &[u32], kind: u32) -> Result<u32, CompileError> {
        let room = match self.index.find_in(self.arena.words(), words, kind) {
            Ok(pointer) => return Ok(pointer),
            Err(room) => room,
        };
        let at = self.arena.alloc(words.len())?;
        let arena = self.arena.words();
        arena[at..][..words.len()].copy_from_slice(words);
        let pointer = kind | at as u32;
        self.index.note(room, pointer);
        let value_bits = self.value_bits;
        self.index.grow(|pointer| {
            let rest = &arena[place(pointer)..];
            &rest[..len(pointer, value_bits, |at| rest[at])]
        })?;
        Ok(pointer)
    }
}

impl<Al: Allocator + Clone> Store for TableBlocks<Al> {
    /// A pointer.
    type Node = u32;

    fn store(&mut self, slots: &[Slot<u32>; 64]) -> Result<u32, CompileError> {
        let slots = slots.map(pointer);
        let block = BlockEncoding::of(&slots, self.value_bits);
        if self.is_flat && block.is_wide() && block.len() >= LONG {
            return self.share_flat(&slots);
        }
        let mut words = [0; MAX_BLOCK];
        block.write(&mut words);
        self.share(&words[..block.len()], block.pointer(0))
    }

    fn store_one(
        &mut self,
        first: u8,
        count: u8,
        slot: Slot<u32>,
        around: u32,
    ) -> Result<u32, CompileError> {
        let block = OneValueBlock::new(self.value_bits, (first, count), pointer(slot), around);
        self.share(block.words(), block.pointer(0))
    }
}

/// The length in words of the block that `pointer` leads to; `word` reads the block.
pub(super) fn len(pointer: u32, value_bits: u8, word: impl Fn(usize) -> u32) -> usize {
    if pointer & FLAT != 0 {
        return flat_len(if pointer & HALF != 0 { 16 } else { 32 });
    }
    let runs = u64::from(word(0)) | u64::from(word(1)) << 32;
    block_len(pointer, value_bits, runs)
}
