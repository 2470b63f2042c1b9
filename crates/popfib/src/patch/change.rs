//! One changed route in a Fib that readers may be using (paper, section 3.5).
//!
//! A route decides the answers of the addresses below its prefix that no longer
//! prefix covers. So the change begins at the entries or slots that the prefix
//! spans and goes down only where an answer is *inherited* from it: the Rib is
//! expanded below the prefix with a mark in place of the inherited next hop, and
//! slots that keep the mark are those that change. Everything else, whole
//! subtrees among it, stays as it is and is used again.
//!
//! A block that changes is built beside the old one; a slot that leads to a
//! block and still does is switched in place, as are entries of the tables. Nothing
//! that a reader can see is touched while this goes on: the [`PatchLog`] keeps which words are to be switched
//! and which blocks become free, and if the arena has no room the whole patch is
//! forgotten.

mod flat;
mod pages;
mod simple;
mod tables;

use allocator_api2::vec::Vec;
use core::sync::atomic::Ordering;

use super::counted::CountedBlocks;
use super::shared::SharedBlocks;
use super::space::Space;
use super::{BlockPlace, SwitchedWord};
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::arrays::FibView;
use crate::fib::compile;
use crate::fib::encode::{BlockEncoding, HEAD, MAX_BLOCK, slot};
use crate::fib::flat_block::FlatBlock;
use crate::fib::layout::{FLAT, NODE, PLACE, is_route};
use crate::fold::{Fold, STRIDE};
use crate::memory::{self, Allocator, OutOfMemory};
use crate::next_hop::MAX_NEXT_HOP;
use crate::prefix::Prefix;
use crate::rib::Rib;
use crate::rib::vertex::Vertex;

/// In place of a next hop: inherited from the changed route. No next hop is that high.
const INHERITED: u32 = u32::MAX;

/// The most entries of a page.
const MAX_PAGE: usize = 1 << 8;

/// What a patch is going to do; kept between patches for its memory.
#[derive(Debug)]
pub(crate) struct PatchLog<Al: Allocator> {
    /// Root entries and what they become.
    pub(super) root: Vec<SwitchedWord, Al>,
    /// Words of the arena (entries of pages, values of wide blocks) and what they become.
    pub(super) arena: Vec<SwitchedWord, Al>,
    /// Blocks and pages that are seen no more: place and length.
    pub(super) retired: Vec<BlockPlace, Al>,
    /// Blocks and pages that were built: place and length.
    pub(super) built: Vec<BlockPlace, Al>,
}

impl<Al: Allocator + Clone> PatchLog<Al> {
    pub(crate) fn new_in(alloc: &Al) -> Self {
        Self {
            root: Vec::new_in(alloc.clone()),
            arena: Vec::new_in(alloc.clone()),
            retired: Vec::new_in(alloc.clone()),
            built: Vec::new_in(alloc.clone()),
        }
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        let words = [&self.root, &self.arena, &self.retired, &self.built].map(Vec::capacity);
        words.into_iter().sum::<usize>() * size_of::<(u32, u32)>()
    }

    pub(super) fn clear(&mut self) {
        self.root.clear();
        self.arena.clear();
        self.retired.clear();
        self.built.clear();
    }
}

/// What the pointers of a table or block lead to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PointersTo {
    Pages,
    Blocks,
}

/// A patch in the making.
pub(crate) struct Patch<'p, 'a, A: Address, Al: Allocator + Clone> {
    pub(super) rib: &'a Rib<A, Al>,
    pub(super) view: FibView<'p>,
    pub(super) aggregation: bool,
    pub(super) space: &'p mut Space<Al>,
    pub(super) log: &'p mut PatchLog<Al>,
    /// The flat blocks, if the table has such.
    pub(super) shared: Option<&'p mut SharedBlocks<Al>>,
    /// The blocks of all tables, if this is one of many.
    pub(crate) tables: Option<&'p mut CountedBlocks<Al>>,
    /// Of these, whether the blocks on the way down are this table's alone as yet.
    is_own: bool,
    /// What is inherited from the changed route, or without it, from now on.
    pub(super) next_hop: u32,
    /// Whether nobody looks at the table: what keeps its length is changed where it is.
    pub(super) is_unshared: bool,
    /// Slots with routes below: a stack.
    below: Vec<(u8, Vertex<'a, A>), Al>,
}

impl<'p, 'a, A: Address, Al: Allocator + Clone> Patch<'p, 'a, A, Al> {
    pub(crate) fn new(
        rib: &'a Rib<A, Al>,
        view: FibView<'p>,
        aggregation: bool,
        space: &'p mut Space<Al>,
        log: &'p mut PatchLog<Al>,
        next_hop: u32,
    ) -> Self {
        Self {
            rib,
            view,
            aggregation,
            space,
            log,
            shared: None,
            tables: None,
            is_own: true,
            next_hop,
            is_unshared: false,
            below: Vec::new_in(rib.allocator().clone()),
        }
    }

    /// Logs the change of the route of `prefix`, which the Rib has made;
    /// `vertex` is the prefix's if there are routes below it.
    ///
    /// # Errors
    /// [`CompileError::Words`], if the arena is full; [`CompileError::NextHop`], if a next hop of the Rib has more
    /// bits than the values of narrow blocks.
    pub(super) fn change(
        &mut self,
        prefix: Prefix<A>,
        vertex: Option<Vertex<'a, A>>,
    ) -> Result<(), CompileError> {
        let root_bits = self.view.root_bits;
        if self.shared.is_some() {
            return self.change_flat(prefix);
        }
        self.fits()?;
        let below = if self.view.page_bits > 0 {
            PointersTo::Pages
        } else {
            PointersTo::Blocks
        };
        let first = prefix.address().leading(root_bits);
        if prefix.len() > root_bits {
            let old = self.root(first);
            let new = self.descend(old, prefix, vertex, root_bits, below)?;
            return self.set_entry(first, new);
        }
        // Few entries for most prefixes: no allocation for them.
        let (mut few, mut many) = ([0; 64], Vec::new_in(self.rib.allocator().clone()));
        let count = 1usize << (root_bits - prefix.len());
        let entries = if count <= few.len() {
            &mut few[..count]
        } else {
            memory::reserve(&mut many, count)?;
            many.resize(count, 0);
            &mut many[..]
        };
        for (entry, at) in entries.iter_mut().zip(first..) {
            *entry = self.root(at);
        }
        self.spread(entries, vertex, below)?;
        for (entry, at) in entries.iter().zip(first..) {
            self.set_entry(at, *entry)?;
        }
        Ok(())
    }

    /// Logs what an entry of the root becomes.
    fn set_entry(&mut self, at: u32, pointer: u32) -> Result<(), CompileError> {
        if pointer != self.root(at) {
            push(&mut self.log.root, (at, pointer))?;
        }
        Ok(())
    }

    /// Whether narrow blocks have bits for every next hop.
    fn fits(&self) -> Result<(), CompileError> {
        let value_bits = self.view.value_bits;
        // Not of the new one alone: where a map cut an entry off, others have come meanwhile.
        let bound = self.rib.next_hop_bound().min(MAX_NEXT_HOP);
        let highest = bound.max(self.next_hop);
        if u64::from(highest) >> value_bits != 0 {
            return Err(CompileError::NextHop {
                next_hop: highest,
                max: u32::MAX >> (32 - value_bits),
            });
        }
        Ok(())
    }

    /// What `pointer`, after `depth` bits, becomes; the prefix is longer than that.
    fn descend(
        &mut self,
        pointer: u32,
        prefix: Prefix<A>,
        vertex: Option<Vertex<'a, A>>,
        depth: u8,
        below: PointersTo,
    ) -> Result<u32, CompileError> {
        if let Some(tables) = &mut self.tables
            && pointer & NODE != 0
        {
            tables.pass(pointer);
        }
        if is_end(pointer) {
            // All addresses here had one answer or one route, so there is nothing to use again.
            let here = Prefix::clamped(prefix.address(), depth);
            let (above, vertex) = self.rib.surroundings(here);
            let inherited = self.rib.get(here).map_or(above, u32::from);
            return match vertex {
                None => Ok(inherited),
                Some(vertex) => self.build(vertex, inherited, below),
            };
        }
        if below == PointersTo::Pages {
            return self.descend_page(pointer, prefix, vertex, depth);
        }
        let chunk = prefix.address().extract(depth, STRIDE) as usize;
        let end = depth + STRIDE;
        let value_bits = self.view.value_bits;
        let place = Some((prefix, depth));
        if prefix.len() > end {
            let (at, old) = match pointer & FLAT {
                0 if !self.is_sparse(pointer) => {
                    slot(pointer, value_bits, chunk as u32, |at| self.word(at))
                }
                _ => self.shared_slot(pointer, chunk as u32),
            };
            let is_own = self.tables.is_some()
                && old & NODE != 0
                && self.is_own(pointer, chunk as u32, (at, old));
            let new = self.descend(old, prefix, vertex, end, PointersTo::Blocks)?;
            if new == old {
                return Ok(pointer);
            }
            if old & new & NODE != 0 {
                if self.tables.is_none() {
                    push(&mut self.log.arena, (at, new))?;
                    return Ok(pointer);
                }
                let slot = chunk as u32;
                if let Some(new) = self.switch_shared(pointer, slot, (at, old), new, is_own)? {
                    return Ok(new);
                }
            }
            if let Some(new) = self.put(pointer, chunk as u32, 1, new)? {
                return Ok(new);
            }
            let old = self.read(pointer);
            return self.store(pointer, &old, &old.with(chunk, 1, new, value_bits), place);
        }
        let count = 1 << (end - prefix.len());
        if vertex.is_none()
            && let Some(new) = self.put(pointer, chunk as u32, count as u32, self.next_hop)?
        {
            return Ok(new);
        }
        let old = self.read(pointer);
        let new = if vertex.is_none() {
            old.with(chunk, count, self.next_hop, value_bits)
        } else {
            let mut slots = old.slots();
            self.spread(&mut slots[chunk..][..count], vertex, PointersTo::Blocks)?;
            BlockEncoding::of(&slots, value_bits)
        };
        self.store(pointer, &old, &new, place)
    }

    /// Changes those of `entries`, which span the prefix or a part of it, that
    /// inherit from the changed route. `vertex` is that part's, if there are routes below it.
    fn spread(
        &mut self,
        entries: &mut [u32],
        vertex: Option<Vertex<'a, A>>,
        below: PointersTo,
    ) -> Result<(), CompileError> {
        let Some(vertex) = vertex else {
            debug_assert!(
                entries.iter().all(|entry| entry & NODE == 0),
                "no routes, no nodes"
            );
            entries.fill(self.next_hop);
            return Ok(());
        };
        if let [entry] = entries {
            *entry = self.inherit(*entry, vertex, below)?;
            return Ok(());
        }
        let bits = entries.len().ilog2() as u8;
        let width = bits.min(STRIDE);
        let mut next_hops = [INHERITED; 64];
        let next_hops = &mut next_hops[..1 << width];
        let first = self.below.len();
        memory::grow(&mut self.below, next_hops.len())?;
        let (rib, stack) = (self.rib, &mut self.below);
        rib.expand(vertex, width, next_hops, |slot, vertex| {
            stack.push((slot, vertex));
        });
        let mut next = first;
        for (slot, entries) in entries.chunks_mut(1 << (bits - width)).enumerate() {
            let vertex = match self.below.get(next) {
                Some(&(at, vertex)) if usize::from(at) == slot => {
                    next += 1;
                    Some(vertex)
                }
                _ => None,
            };
            if next_hops[slot] == INHERITED {
                self.spread(entries, vertex, below)?;
            }
        }
        self.below.truncate(first);
        Ok(())
    }

    /// What `pointer` becomes, whose subtree inherits from the changed route and has routes of its own.
    fn inherit(
        &mut self,
        pointer: u32,
        vertex: Vertex<'a, A>,
        below: PointersTo,
    ) -> Result<u32, CompileError> {
        if is_end(pointer) {
            return self.build(vertex, self.next_hop, below);
        }
        if below == PointersTo::Pages {
            let mut page = [0; MAX_PAGE];
            let page = self.page(pointer, &mut page);
            self.spread(page, Some(vertex), PointersTo::Blocks)?;
            return self.store_page(pointer, page, None);
        }
        let old = self.read(pointer);
        let mut slots = old.slots();
        self.spread(&mut slots, Some(vertex), PointersTo::Blocks)?;
        let new = BlockEncoding::of(&slots, self.view.value_bits);
        self.store(pointer, &old, &new, None)
    }

    /// Stores the block that `pointer` leads to with other slots; returns its pointer, or the leaf
    /// that it has become.
    ///
    /// `place` tells where it is, unless there are known to be routes below.
    fn store(
        &mut self,
        pointer: u32,
        old: &BlockEncoding,
        new: &BlockEncoding,
        place: Option<(Prefix<A>, u8)>,
    ) -> Result<u32, CompileError> {
        // Without aggregation a node also goes when its last route does, answers or no answers.
        if new == old && self.aggregation {
            return Ok(pointer);
        }
        let retired = (pointer & PLACE, old.len() as u32);
        let is_shared = self.tables.is_some();
        if self.is_leaf(new.values(), place) {
            if !is_shared {
                push(&mut self.log.retired, retired)?;
            }
            return Ok(new.values()[0]);
        }
        if new == old {
            return Ok(pointer);
        }
        if is_shared {
            return self.store_shared(new, pointer & FLAT != 0);
        }
        if old.is_wide() && new.is_wide() && new.runs() == old.runs() {
            let first = (pointer & PLACE) + HEAD as u32;
            for ((new, old), at) in new.values().iter().zip(old.values()).zip(first..) {
                if new != old {
                    push(&mut self.log.arena, (at, *new))?;
                }
            }
            return Ok(pointer);
        }
        let stored = self.store_new(new)?;
        push(&mut self.log.retired, retired)?;
        Ok(stored)
    }

    /// Whether a node of these slots is stored as a leaf: all are equal, and it is
    /// aggregated or has no routes below.
    fn is_leaf(&self, slots: &[u32], place: Option<(Prefix<A>, u8)>) -> bool {
        let first = slots[0];
        first & NODE == 0
            && slots.iter().all(|slot| *slot == first)
            && (self.aggregation
                || place.is_some_and(|(prefix, depth)| {
                    let here = Prefix::clamped(prefix.address(), depth);
                    self.rib.surroundings(here).1.is_none()
                }))
    }

    /// Builds what lies below `vertex`, where there was a leaf.
    fn build(
        &mut self,
        vertex: Vertex<'a, A>,
        inherited: u32,
        below: PointersTo,
    ) -> Result<u32, CompileError> {
        let page_bits = self.view.page_bits;
        let (rib, aggregation) = (self.rib, self.aggregation);
        let alloc = rib.allocator().clone();
        let mut fold = Fold::new_in(rib, aggregation, MAX_NEXT_HOP, &mut *self, alloc);
        if below == PointersTo::Blocks {
            return fold.node(vertex, inherited).map(compile::pointer);
        }
        let mut entries = [0; MAX_PAGE];
        let page = &mut entries[..1 << page_bits];
        compile::fill_page(&mut fold, vertex, inherited, page)?;
        if self.is_leaf(page, None) {
            return Ok(page[0]);
        }
        let place = self.write_new(page)?;
        Ok(NODE | place)
    }

    fn store_new(&mut self, encoding: &BlockEncoding) -> Result<u32, CompileError> {
        let mut words = [0; MAX_BLOCK];
        let words = &mut words[..encoding.len()];
        encoding.write(words);
        self.store_words(words, encoding.pointer(0))
    }

    /// The pointer to a block of these words, whose bits beside the place are `kind`: to a new one, or of many tables one that is there.
    fn store_words(&mut self, words: &[u32], kind: u32) -> Result<u32, CompileError> {
        if let Some(tables) = &mut self.tables {
            return tables.share(self.view, self.space, words, kind);
        }
        Ok(kind | self.write_new(words)?)
    }

    /// Writes `words` where no reader looks yet; returns the place.
    fn write_new(&mut self, words: &[u32]) -> Result<u32, CompileError> {
        let arena = self.view.arena;
        // First, lest a place be taken that nobody knows of.
        memory::grow(&mut self.log.built, 1)?;
        let Some(place) = self.space.alloc(arena, words.len()) else {
            return Err(self.full());
        };
        self.log.built.push((place, words.len() as u32));
        self.write(place, words);
        Ok(place)
    }

    fn write(&self, place: u32, words: &[u32]) {
        for (to, word) in self.view.arena[place as usize..].iter().zip(words) {
            // Relaxed: the pointer that will lead here is stored with release.
            to.store(*word, Ordering::Relaxed);
        }
    }

    /// The arena is full.
    fn full(&self) -> CompileError {
        CompileError::Words {
            max: self.view.arena.len() as u64,
        }
    }

    fn read(&self, pointer: u32) -> BlockEncoding {
        if pointer & FLAT != 0 {
            let block = FlatBlock::read(pointer, |at| self.word(at as u32));
            return BlockEncoding::of(&block.entries(), self.view.value_bits);
        }
        if self.is_sparse(pointer) {
            let slots = core::array::from_fn(|slot| self.shared_slot(pointer, slot as u32).1);
            return BlockEncoding::of(&slots, self.view.value_bits);
        }
        BlockEncoding::read(pointer, self.view.value_bits, |at| self.word(at))
    }

    // Relaxed: only the writer writes, and this is it.

    fn root(&self, at: u32) -> u32 {
        self.view.root[at as usize].load(Ordering::Relaxed)
    }

    fn word(&self, at: u32) -> u32 {
        self.view.arena[at as usize].load(Ordering::Relaxed)
    }
}

/// Whether this pointer leads to no block of slots.
fn is_end(pointer: u32) -> bool {
    pointer & NODE == 0 || is_route(pointer)
}

/// Adds to a log, or says that there is no memory for that.
fn push<T, Al: Allocator>(log: &mut Vec<T, Al>, item: T) -> Result<(), OutOfMemory> {
    memory::grow(log, 1)?;
    log.push(item);
    Ok(())
}
