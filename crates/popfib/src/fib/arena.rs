//! Places for blocks while a Fib is compiled.
//!
//! A block crosses a cache line only if it is longer than one: a lookup then
//! waits for one line, not two. What is left free before such a block takes
//! shorter blocks later, of the same neighbourhood only, so that the blocks
//! under one part of the root stay close together.

use core::array;

use allocator_api2::vec::Vec;

use super::arrays::{IDLE_BLOCK, LINE};
use crate::compile_error::CompileError;
use crate::memory::{self, Allocator, Global, OutOfMemory};

/// Holes farther back than this are left alone.
const NEIGHBOURHOOD: usize = 8192;

#[derive(Debug)]
pub(crate) struct Arena<Al: Allocator = Global> {
    words: Vec<u32, Al>,
    /// Free places by their length in words.
    holes: [Vec<u32, Al>; LINE],
    /// The most words there may be.
    limit: usize,
}

impl<Al: Allocator + Clone> Arena<Al> {
    pub(crate) fn new_in(limit: usize, alloc: Al) -> Result<Self, OutOfMemory> {
        let mut words = Vec::new_in(alloc.clone());
        memory::grow(&mut words, IDLE_BLOCK.len())?;
        words.extend_from_slice(&IDLE_BLOCK);
        Ok(Self {
            words,
            holes: array::from_fn(|_| Vec::new_in(alloc.clone())),
            limit,
        })
    }

    /// Takes these words in place of all that there are.
    pub(crate) fn fill(
        &mut self,
        words: impl ExactSizeIterator<Item = u32>,
    ) -> Result<(), OutOfMemory> {
        self.words.clear();
        memory::grow(&mut self.words, words.len())?;
        self.words.extend(words);
        Ok(())
    }

    /// A place of `len` words, all zero.
    pub(crate) fn alloc(&mut self, len: usize) -> Result<usize, CompileError> {
        if let Some(place) = self.take_hole(len)? {
            return Ok(place);
        }
        let end = self.words.len();
        let room = end.next_multiple_of(LINE) - end;
        let place = if len <= room || room == 0 {
            end
        } else {
            end + room
        };
        if place + len > self.limit {
            return Err(CompileError::Words {
                max: self.limit as u64,
            });
        }
        if place > end {
            self.add_hole(end, room)?;
        }
        memory::grow(&mut self.words, place + len - end)?;
        self.words.resize(place + len, 0);
        Ok(place)
    }

    fn take_hole(&mut self, len: usize) -> Result<Option<usize>, OutOfMemory> {
        for hole_len in len..LINE {
            let Some(place) = self.holes[hole_len].pop() else {
                continue;
            };
            let place = place as usize;
            if place + NEIGHBOURHOOD < self.words.len() {
                // Those below it in the stack are farther still.
                self.holes[hole_len].clear();
                continue;
            }
            if hole_len > len {
                self.add_hole(place + len, hole_len - len)?;
            }
            return Ok(Some(place));
        }
        Ok(None)
    }

    fn add_hole(&mut self, place: usize, len: usize) -> Result<(), OutOfMemory> {
        let holes = &mut self.holes[len];
        memory::grow(holes, 1)?;
        holes.push(place as u32);
        Ok(())
    }

    pub(crate) fn words(&mut self) -> &mut [u32] {
        &mut self.words
    }

    /// The finished arena.
    pub(crate) fn finish(self) -> Vec<u32, Al> {
        self.words
    }
}
