//! The change that most are: a route without others below it, in one block.
//!
//! The values around it are moved as they are packed, and nothing is expanded to 64 slots.

use super::{Patch, push};
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::cpu::counted;
use crate::fib::encode::{self, MAX_PUT, block_len};
use crate::fib::layout::{FLAT, PLACE, WIDE};
use crate::memory::Allocator;

impl<A: Address, Al: Allocator + Clone> Patch<'_, '_, A, Al> {
    counted! {
        /// Stores `value` in the `count` slots from `first` on of the block that `pointer` leads to, if these hold one leaf and
        /// the block keeps its form; returns its pointer then.
        pub(super) fn put, put_counted(
            &mut self,
            pointer: u32,
            first: u32,
            count: u32,
            value: u32
        ) -> Result<Option<u32>, CompileError> = put_any
    }

    #[inline(always)]
    fn put_any(
        &mut self,
        pointer: u32,
        first: u32,
        count: u32,
        value: u32,
    ) -> Result<Option<u32>, CompileError> {
        // Of a set, other pointers may become one form or another.
        if pointer & FLAT != 0 || self.tables.is_some() && pointer & WIDE != 0 {
            return Ok(None);
        }
        let (bits, place) = (self.view.value_bits, pointer & PLACE);
        let mut words = [0; MAX_PUT];
        let word = |at| self.word(at);
        let slots = (first, count);
        let Some(len) = encode::put(pointer, bits, slots, value, word, &mut words) else {
            return Ok(None);
        };
        let words = &words[..len];
        if self.tables.is_some() {
            return self.store_words(words, pointer & !PLACE).map(Some);
        }
        let runs = u64::from(self.word(place)) | u64::from(self.word(place + 1)) << 32;
        let old_len = block_len(pointer, bits, runs);
        // The last step of a patch: nothing fails after it, so what is written here never has to be forgotten.
        if self.is_unshared && len == old_len {
            self.write(place, words);
            return Ok(Some(pointer));
        }
        let new = self.write_new(words)?;
        push(&mut self.log.retired, (place, old_len as u32))?;
        Ok(Some(pointer & !PLACE | new))
    }
}
