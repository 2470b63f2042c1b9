//! Whole entries of the tables: cut off, or made again from the Rib.

use allocator_api2::vec::Vec;

use super::{MAX_PAGE, Patch, PointersTo, push};
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::layout::{NODE, PLACE};
use crate::fold::Fold;
use crate::memory::{self, Allocator, OutOfMemory};
use crate::prefix::Prefix;

impl<A: Address, Al: Allocator + Clone> Patch<'_, '_, A, Al> {
    /// Logs that the table's entry of exactly this prefix answers `self.next_hop`. Whether there is one.
    pub(in super::super) fn cut(&mut self, entry: Prefix<A>) -> Result<bool, CompileError> {
        let (root_bits, page_bits) = (self.view.root_bits, self.view.page_bits);
        let first = entry.address().leading(root_bits);
        let mut pointer = self.root(first);
        if page_bits == 0 {
            push(&mut self.log.root, (first, self.next_hop))?;
        } else if pointer & NODE == 0 {
            return Ok(false);
        } else {
            let at = (pointer & PLACE) + entry.address().extract(root_bits, page_bits);
            pointer = self.word(at);
            push(&mut self.log.arena, (at, self.next_hop))?;
        }
        self.retire(pointer)?;
        Ok(true)
    }

    /// Logs that the entries of the root table below `part` become what the Rib says, whatever they were.
    ///
    /// # Errors
    /// As [`change`](Self::change).
    pub(in super::super) fn fill(&mut self, part: Prefix<A>) -> Result<(), CompileError> {
        self.fits()?;
        let root_bits = self.view.root_bits;
        let below = self.below_root();
        let (rib, aggregation, max) = (self.rib, self.aggregation, self.max_next_hop);
        let mut entries = Vec::new_in(rib.allocator().clone());
        let count = 1 << (root_bits - part.len());
        memory::reserve(&mut entries, count)?;
        entries.resize(count, (self.next_hop, None));
        if let (_, Some(vertex)) = rib.surroundings(part) {
            let alloc = rib.allocator().clone();
            let mut fold = Fold::new_in(rib, aggregation, max, &mut *self, alloc);
            let inherited = fold.store.next_hop;
            fold.table(vertex, inherited, &mut entries, &mut |_, leaf, below| {
                Ok((leaf, below))
            })?;
        }
        for ((leaf, vertex), at) in entries.into_iter().zip(part.address().leading(root_bits)..) {
            let new = if self.shared.is_some() {
                self.build_flat(vertex, leaf)?
            } else {
                self.retire_below(self.root(at), below)?;
                match vertex {
                    None => leaf,
                    Some(vertex) => self.build(vertex, leaf, below)?,
                }
            };
            self.set_entry(at, new)?;
        }
        self.count()
    }

    /// Logs that nothing leads to `pointer`, of a table or block with this below it, any more.
    pub(super) fn retire_below(
        &mut self,
        pointer: u32,
        below: PointersTo,
    ) -> Result<(), OutOfMemory> {
        if pointer & NODE == 0 || below == PointersTo::Blocks {
            return self.retire(pointer);
        }
        let mut page = [0; MAX_PAGE];
        let page = self.page(pointer, &mut page);
        for entry in &*page {
            self.retire(*entry)?;
        }
        push(&mut self.log.retired, (pointer & PLACE, page.len() as u32))
    }

    /// Logs that nothing leads to `pointer` any more.
    pub(super) fn retire(&mut self, pointer: u32) -> Result<(), OutOfMemory> {
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
