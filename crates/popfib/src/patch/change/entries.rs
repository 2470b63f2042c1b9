//! Whole entries of the tables, cut off.

use super::{Patch, push};
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::layout::{NODE, PLACE};
use crate::memory::{Allocator, OutOfMemory};
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
