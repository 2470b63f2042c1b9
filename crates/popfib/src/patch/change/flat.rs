//! Entries of the root that lead to flat blocks, made again.
//!
//! A change makes the entries that its prefix reaches again from the Rib, looks for their blocks among those that are there, by hash
//! and content, or stores new ones, and switches the root. `patch/shared.rs` counts what leads to each block. Tables of long keys,
//! whose flat blocks lie below each other, are not flat while their routes change.

use allocator_api2::vec::Vec;

use super::{Patch, push};
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::compile;
use crate::fib::flat_block::FlatBlock;
use crate::fib::layout::{FLAT_PLACE, NODE, PLACE};
use crate::fold::Fold;
use crate::memory::{self, Allocator, OutOfMemory};
use crate::next_hop::MAX_NEXT_HOP;
use crate::patch::shared;
use crate::prefix::Prefix;
use crate::rib::vertex::Vertex;

impl<'a, A: Address, Al: Allocator + Clone> Patch<'_, 'a, A, Al> {
    /// [`change`](Self::change) of a flat table.
    pub(super) fn change_flat(&mut self, prefix: Prefix<A>) -> Result<(), CompileError> {
        let root_bits = self.view.root_bits;
        self.fits()?;
        if prefix.len() < root_bits {
            return self.change_many(prefix);
        }
        // One entry, without the memory that many take.
        let entry = Prefix::clamped(prefix.address(), root_bits);
        let (above, vertex) = self.rib.surroundings(entry);
        let leaf = self.rib.get(entry).map_or(above, u32::from);
        let new = self.build_flat(vertex, leaf)?;
        self.set_entry(entry.address().leading(root_bits), new)?;
        self.count()
    }

    /// [`change_flat`](Self::change_flat) of a prefix that has many entries of the root.
    fn change_many(&mut self, prefix: Prefix<A>) -> Result<(), CompileError> {
        let (rib, aggregation) = (self.rib, self.aggregation);
        let root_bits = self.view.root_bits;
        let mut entries = Vec::new_in(rib.allocator().clone());
        let count = 1 << (root_bits - prefix.len());
        memory::reserve(&mut entries, count)?;
        entries.resize(count, (self.next_hop, None));
        if let (_, Some(vertex)) = rib.surroundings(prefix) {
            let alloc = rib.allocator().clone();
            let mut fold = Fold::new_in(rib, aggregation, MAX_NEXT_HOP, &mut *self, alloc);
            let inherited = fold.store.next_hop;
            fold.table(vertex, inherited, &mut entries, &mut |_, leaf, below| {
                Ok((leaf, below))
            })?;
        }
        let first = prefix.address().leading(root_bits);
        for ((leaf, vertex), at) in entries.into_iter().zip(first..) {
            let new = self.build_flat(vertex, leaf)?;
            self.set_entry(at, new)?;
        }
        self.count()
    }

    /// The pointer to a flat block of what lies below `vertex`, whose own longest match is `leaf`: of one that is there, or a new one.
    pub(super) fn build_flat(
        &mut self,
        vertex: Option<Vertex<'a, A>>,
        leaf: u32,
    ) -> Result<u32, CompileError> {
        let mut entries = [leaf; 64];
        if let Some(vertex) = vertex {
            let (rib, aggregation) = (self.rib, self.aggregation);
            let alloc = rib.allocator().clone();
            let mut fold = Fold::new_in(rib, aggregation, MAX_NEXT_HOP, &mut *self, alloc);
            compile::fill_page(&mut fold, vertex, leaf, &mut entries)?;
        }
        let block = FlatBlock::of(&entries);
        let mut at = None;
        if let Some(shared) = &mut self.shared {
            at = match shared.find(self.view.arena, &block) {
                Ok(pointer) => return Ok(pointer),
                Err(at) => at,
            };
            shared.reserve()?;
        }
        let pointer = block.pointer(self.write_new(block.words())?);
        if let Some(shared) = &mut self.shared {
            shared.note(at, &block, pointer);
        }
        Ok(pointer)
    }

    /// Counts the entries of the root that are logged as what they become, and logs the flat blocks that none leads to any more.
    pub(super) fn count(&mut self) -> Result<(), CompileError> {
        let Some(shared) = &mut self.shared else {
            return Ok(());
        };
        shared.count(self.view.root, &self.log.root)?;
        for at in 0.. {
            let left = self.shared.as_ref().and_then(|shared| shared.left.get(at));
            let Some(&pointer) = left else {
                break;
            };
            let block = shared::read(self.view.arena, pointer);
            for child in block.children() {
                self.retire(child)?;
            }
            let retired = (pointer & FLAT_PLACE, block.words().len() as u32);
            push(&mut self.log.retired, retired)?;
        }
        Ok(())
    }

    /// Logs that nothing leads to `pointer` any more.
    fn retire(&mut self, pointer: u32) -> Result<(), OutOfMemory> {
        if pointer & NODE == 0 {
            return Ok(());
        }
        let block = self.read(pointer);
        for below in block.values() {
            self.retire(*below)?;
        }
        push(&mut self.log.retired, (pointer & PLACE, block.len() as u32))
    }
}
