//! Compilation of many Ribs over one arena.

use allocator_api2::vec::Vec;

use super::FibSet;
use super::block::{SetBlock, len, only_leaf};
use crate::address::{Address, STRIDE};
use crate::compile_error::CompileError;
use crate::fib::Options;
use crate::fib::arena::Arena;
use crate::fib::arrays::{FibView, MAX_DIRECT_BITS, MAX_WORDS, as_words};
use crate::fib::compile::{check_next_hops, fill_page, pointer};
use crate::fib::encode::BlockEncoding;
use crate::fib::index::{BlockHash, BlockIndex};
use crate::fib::layout::{ROUTE, place};
use crate::fib::route_block::route;
use crate::fold::{Fold, Slot, Store};
use crate::memory::{self, Allocator, OutOfMemory};
use crate::next_hop::MAX_NEXT_HOP;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// From this number of routes on all blocks of IPv4 tables down to the 24th bit are flat, if that is asked for, as those of a Fib are.
pub(crate) const LARGE: usize = 1 << 16;

/// The arrays of new tables.
pub(super) struct CompiledTables<Al: Allocator> {
    root: Vec<u32, Al>,
    arena: Vec<u32, Al>,
    value_bits: u8,
    is_flat: bool,
    pub(super) tables: usize,
}

impl<Al: Allocator + Clone> CompiledTables<Al> {
    /// Tables of these pointers.
    pub(super) fn of(
        mut root: Vec<u32, Al>,
        blocks: TableBlocks<Al>,
    ) -> Result<Self, CompileError> {
        let tables = root.len();
        let entries = tables.max(1).next_power_of_two();
        memory::reserve(&mut root, entries - tables)?;
        root.resize(entries, 0);
        Ok(Self {
            root,
            value_bits: blocks.value_bits,
            is_flat: blocks.is_flat,
            arena: blocks.finish(),
            tables,
        })
    }

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
    let mut blocks = TableBlocks::new_in(value_bits, is_flat, alloc.clone())?;
    let mut root = Vec::new_in(alloc.clone());
    for rib in ribs {
        let max = FibSet::<A>::MAX_TABLES;
        if root.len() == max {
            return Err(CompileError::Tables { max: max as u32 });
        }
        memory::grow(&mut root, 1)?;
        let aggregation = options.is_aggregating();
        root.push(table(
            rib,
            aggregation,
            is_flat,
            &mut blocks,
            alloc.clone(),
        )?);
    }
    CompiledTables::of(root, blocks)
}

/// Where the blocks of tables go.
pub(crate) trait TableStore: Store<Node = u32> {
    /// The pointer to this block: to one that is there, or a new one.
    ///
    /// # Errors
    /// As [`Store::store`].
    fn share(&mut self, block: &SetBlock) -> Result<u32, CompileError>;
}

/// The pointer of a table of these routes, whose blocks go to `blocks`. IPv4 tables of many routes have flat ones down to the 24th bit
/// where such are asked for.
pub(crate) fn table<A: Address, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    aggregation: bool,
    is_flat: bool,
    blocks: impl TableStore,
    alloc: Al,
) -> Result<u32, CompileError> {
    let (vertex, default) = rib.root_vertex();
    // No nodes where there are no routes.
    if rib.surroundings(Prefix::clamped(A::MIN, 0)).1.is_none() {
        return Ok(default);
    }
    let mut fold = Fold::new_in(rib, aggregation, MAX_NEXT_HOP, blocks, alloc.clone());
    if !(is_flat && A::WIDTH == 32 && rib.len() >= LARGE) {
        return fold.node(vertex, default).map(pointer);
    }
    let share_flat = |blocks: &mut _, slots: &[u32; 64]| match only_leaf(slots) {
        Some(leaf) => Ok(leaf),
        None => TableStore::share(blocks, &SetBlock::flat(slots)),
    };
    let mut entries = Vec::new_in(alloc);
    memory::reserve(&mut entries, 1 << (MAX_DIRECT_BITS - STRIDE))?;
    entries.resize(1 << (MAX_DIRECT_BITS - STRIDE), 0);
    fold.table(vertex, default, &mut entries, &mut |fold, leaf, below| {
        let Some(vertex) = below else {
            return Ok(leaf);
        };
        let mut entries = [0; 64];
        fill_page(fold, vertex, leaf, &mut entries)?;
        share_flat(&mut fold.store, &entries)
    })?;
    while entries.len() > 1 {
        for at in 0..entries.len() / 64 {
            let slots = entries.as_chunks::<64>().0[at];
            entries[at] = share_flat(&mut fold.store, &slots)?;
        }
        entries.truncate(entries.len() / 64);
    }
    Ok(entries[0])
}

/// The blocks of all tables, equal ones once.
pub(crate) struct TableBlocks<Al: Allocator> {
    arena: Arena<Al>,
    index: BlockIndex<Al>,
    value_bits: u8,
    is_flat: bool,
}

impl<Al: Allocator + Clone> TableBlocks<Al> {
    pub(crate) fn new_in(value_bits: u8, is_flat: bool, alloc: Al) -> Result<Self, OutOfMemory> {
        Ok(Self {
            arena: Arena::new_in(MAX_WORDS, alloc.clone())?,
            index: BlockIndex::new_in(0, alloc)?,
            value_bits,
            is_flat,
        })
    }

    /// Blocks after those that these words hold, which are not found.
    pub(super) fn holding(
        words: impl ExactSizeIterator<Item = u32>,
        value_bits: u8,
    ) -> Result<Self, OutOfMemory>
    where
        Al: Default,
    {
        let mut blocks = Self::new_in(value_bits, false, Al::default())?;
        blocks.arena.fill(words)?;
        Ok(blocks)
    }

    /// The place of these words, from now on.
    pub(crate) fn place(&mut self, words: &[u32]) -> Result<usize, CompileError> {
        let at = self.arena.alloc(words.len())?;
        self.arena.words()[at..][..words.len()].copy_from_slice(words);
        Ok(at)
    }

    /// The bits of values of narrow blocks.
    pub(crate) fn value_bits(&self) -> u8 {
        self.value_bits
    }

    pub(crate) fn finish(self) -> Vec<u32, Al> {
        self.arena.finish()
    }

    /// The pointer to a block of these slots.
    pub(super) fn share_slots(&mut self, slots: &[u32; 64]) -> Result<u32, CompileError> {
        let block = BlockEncoding::of(slots, self.value_bits);
        let arena = self.arena.words();
        let block = SetBlock::of(&block, self.is_flat, self.value_bits, |at| {
            arena[at as usize]
        });
        self.share_words(block.words(), block.kind)
    }

    /// The pointer to a block of these words, whose bits beside the place are `kind`: to one that is there, or a new one.
    fn share_words(&mut self, words: &[u32], kind: u32) -> Result<u32, CompileError> {
        let hash = BlockHash::of(words.iter().copied());
        let (arena, value_bits) = (self.arena.words(), self.value_bits);
        self.index.reserve(|pointer| {
            let rest = &arena[place(pointer)..];
            let len = len(pointer, value_bits, |at| rest[at]);
            BlockHash::of(rest[..len].iter().copied())
        })?;
        let room = match self.index.find_in(hash, arena, words, kind) {
            Ok(pointer) => return Ok(pointer),
            Err(room) => room,
        };
        let pointer = kind | self.place(words)? as u32;
        self.index.note(room, hash, pointer);
        Ok(pointer)
    }
}

impl<Al: Allocator + Clone> TableStore for &mut TableBlocks<Al> {
    fn share(&mut self, block: &SetBlock) -> Result<u32, CompileError> {
        self.share_words(block.words(), block.kind)
    }
}

impl<Al: Allocator + Clone> Store for &mut TableBlocks<Al> {
    /// A pointer.
    type Node = u32;

    fn store(&mut self, slots: &[Slot<u32>; 64]) -> Result<u32, CompileError> {
        self.share_slots(&slots.map(pointer))
    }

    fn store_route(
        &mut self,
        bits: u32,
        len: u8,
        next_hop: u32,
        around: u32,
    ) -> Result<Option<u32>, CompileError> {
        let block = route(bits, len, next_hop, around);
        block
            .map(|words| self.share_words(&words, ROUTE))
            .transpose()
    }
}
