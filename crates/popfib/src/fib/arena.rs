//! Places for blocks while a Fib is compiled.
//!
//! A block crosses a cache line only if it is longer than one: a lookup then
//! waits for one line, not two. What is left free before such a block takes
//! shorter blocks later, of the same neighbourhood only, so that the blocks
//! under one part of the root stay close together.

use alloc::vec::Vec;

use super::layout::{IDLE_BLOCK, Word, words};
use crate::compile_error::CompileError;

/// Words of a cache line.
const LINE: usize = 16;

/// Holes farther back than this are left alone.
const NEIGHBOURHOOD: usize = 8192;

#[derive(Debug)]
pub(crate) struct Arena {
    words: Vec<u32>,
    /// Free places by their length in words.
    holes: [Vec<u32>; LINE],
    /// The most words there may be.
    limit: usize,
}

impl Arena {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            words: IDLE_BLOCK.to_vec(),
            holes: [const { Vec::new() }; LINE],
            limit,
        }
    }

    /// A place of `len` words, all zero.
    pub(crate) fn alloc(&mut self, len: usize) -> Result<usize, CompileError> {
        if let Some(place) = self.take_hole(len) {
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
            self.holes[room].push(end as u32);
        }
        self.words.resize(place + len, 0);
        Ok(place)
    }

    fn take_hole(&mut self, len: usize) -> Option<usize> {
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
                self.holes[hole_len - len].push((place + len) as u32);
            }
            return Some(place);
        }
        None
    }

    pub(crate) fn words(&mut self) -> &mut [u32] {
        &mut self.words
    }

    /// The finished arena.
    pub(crate) fn finish(self) -> Vec<Word> {
        words(self.words)
    }
}
