//! The blocks of an arena moved together into another, as they are.
//!
//! Less than a compilation: nothing is decoded, and the Rib is not looked at.
//! Blocks end up in the order of their addresses, as a compilation puts them.

use allocator_api2::vec::Vec;
use core::sync::atomic::Ordering;

use crate::compile_error::CompileError;
use crate::fib::arena::Arena;
use crate::fib::arrays::{FibView, MAX_WORDS};
use crate::fib::encode::{HEAD, block_len};
use crate::fib::layout::{NODE, PLACE, WIDE};
use crate::memory::{self, Allocator};

/// Root table and arena of a table.
pub(super) struct CompactArrays<Al: Allocator> {
    pub(super) root: Vec<u32, Al>,
    pub(super) arena: Vec<u32, Al>,
}

/// The same table with nothing between its blocks.
///
/// # Errors
/// [`CompileError::OutOfMemory`], and those of [`Arena::alloc`].
pub(super) fn compact<Al: Allocator + Clone>(
    view: FibView<'_>,
    alloc: &Al,
) -> Result<CompactArrays<Al>, CompileError> {
    let mut mover = BlockMover {
        view,
        arena: Arena::new_in(MAX_WORDS, alloc.clone())?,
    };
    let mut root = Vec::new_in(alloc.clone());
    memory::reserve(&mut root, view.root.len())?;
    for entry in view.root {
        // Relaxed: this is the writer.
        let pointer = entry.load(Ordering::Relaxed);
        root.push(if pointer & NODE == 0 {
            pointer
        } else if view.page_bits > 0 {
            mover.pointers(pointer & PLACE, 0, 1 << view.page_bits)? | NODE
        } else {
            mover.block(pointer)?
        });
    }
    Ok(CompactArrays {
        root,
        arena: mover.arena.finish(),
    })
}

struct BlockMover<'a, Al: Allocator> {
    view: FibView<'a>,
    arena: Arena<Al>,
}

impl<Al: Allocator + Clone> BlockMover<'_, Al> {
    /// Moves a block and what lies below it; returns its new pointer.
    fn block(&mut self, pointer: u32) -> Result<u32, CompileError> {
        let place = pointer & PLACE;
        let runs = u64::from(self.word(place)) | u64::from(self.word(place + 1)) << 32;
        let len = block_len(pointer, self.view.value_bits, runs);
        if pointer & WIDE != 0 {
            return Ok(NODE | WIDE | self.pointers(place, HEAD, len)?);
        }
        let to = self.arena.alloc(len)?;
        for at in 0..len {
            self.arena.words()[to + at] = self.word(place + at as u32);
        }
        Ok(NODE | to as u32)
    }

    /// Moves `len` words that are pointers from `head` on, with what lies below them; returns the new place.
    fn pointers(&mut self, place: u32, head: usize, len: usize) -> Result<u32, CompileError> {
        let mut words = [0; 1 << 8];
        for (at, to) in words[..len].iter_mut().enumerate() {
            let word = self.word(place + at as u32);
            *to = if at >= head && word & NODE != 0 {
                self.block(word)?
            } else {
                word
            };
        }
        let to = self.arena.alloc(len)?;
        self.arena.words()[to..][..len].copy_from_slice(&words[..len]);
        Ok(to as u32)
    }

    fn word(&self, at: u32) -> u32 {
        self.view.arena[at as usize].load(Ordering::Relaxed)
    }
}
