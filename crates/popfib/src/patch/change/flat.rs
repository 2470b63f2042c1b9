//! Flat blocks of entries of the root that are made again.

use super::{Patch, push};
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::compile;
use crate::fib::flat::{counted, halves};
use crate::fib::layout::{FLAT, FLAT_PLACE, HALF, NODE};
use crate::fold::Fold;
use crate::memory::{self, Allocator};
use crate::patch::shared;
use crate::rib::Vertex;

impl<'a, A: Address, Al: Allocator + Clone> Patch<'_, 'a, A, Al> {
    /// The pointer to a flat block of what lies below `vertex`, whose own longest match is `leaf`: of one that is there, or a new one.
    pub(super) fn build_flat(
        &mut self,
        vertex: Option<Vertex<'a, A>>,
        leaf: u32,
    ) -> Result<u32, CompileError> {
        let mut entries = [leaf; 64];
        if let Some(vertex) = vertex {
            let (rib, aggregation, max) = (self.rib, self.aggregation, self.max_next_hop);
            let alloc = rib.allocator().clone();
            let mut fold = Fold::new_in(rib, aggregation, max, &mut *self, alloc);
            compile::fill_page(&mut fold, vertex, leaf, &mut entries)?;
        }
        let halves = halves(&entries);
        let (block, mark) = match &halves {
            Some(halves) => (&halves[..], HALF),
            None => (&entries[..], 0),
        };
        let Some(shared) = &mut self.shared else {
            return Err(self.full());
        };
        let at = match shared.find(self.view.arena, block) {
            Ok(place) => return Ok(NODE | FLAT | place | mark),
            Err(at) => at,
        };
        memory::grow(&mut shared.noted, 1)?;
        let place = self.write_new(block)?;
        let pointer = NODE | FLAT | place | mark;
        if let Some(shared) = &mut self.shared {
            shared.noted.push(pointer);
            shared.note(at, block, place);
        }
        let (nodes, leaves) = counted(&entries);
        self.log.replaced.nodes += nodes as u64;
        self.log.replaced.leaves += leaves as u64;
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
            let mut words = [0; 64];
            let len = shared::read(self.view.arena, pointer, &mut words);
            if pointer & HALF == 0 {
                for entry in words {
                    self.retire(entry)?;
                }
            }
            push(&mut self.log.retired, (pointer & FLAT_PLACE, len as u32))?;
        }
        Ok(())
    }
}
