//! Many numbers in an order that only the caller knows.
//!
//! They lie in chunks, so that adding and removing one moves few others, however many there are. A place is a chunk and an index
//! in it; it is good until the next change.

use core::cmp::Ordering;

use allocator_api2::vec::Vec;

use crate::memory::{self, Allocator, Global, OutOfMemory};
use crate::next_hop::NextHop;

/// The most numbers of a chunk.
const CHUNK: usize = 512;

#[derive(Clone, Debug)]
pub(super) struct SortedNumbers<Al: Allocator = Global, const MOST: usize = CHUNK> {
    /// None is empty.
    chunks: Vec<Vec<NextHop, Al>, Al>,
    len: usize,
    bytes: usize,
}

/// Where a number is, or would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SortedPlace {
    chunk: usize,
    index: usize,
}

impl<Al: Allocator + Clone, const MOST: usize> SortedNumbers<Al, MOST> {
    pub(super) fn new_in(alloc: Al) -> Self {
        Self {
            chunks: Vec::new_in(alloc),
            len: 0,
            bytes: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Heap bytes, spare ones included.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The first number that is not `Less` in the eyes of `order`, which compares a number with what is sought. O(log numbers).
    pub(super) fn find(&self, order: impl Fn(NextHop) -> Ordering) -> SortedPlace {
        let is_before = |number: &NextHop| order(*number) == Ordering::Less;
        let ends_before = |chunk: &Vec<NextHop, Al>| chunk.last().is_some_and(is_before);
        let chunk = self.chunks.partition_point(ends_before);
        let numbers = self.chunks.get(chunk).map_or(&[][..], |chunk| &chunk[..]);
        let index = numbers.partition_point(is_before);
        SortedPlace { chunk, index }
    }

    pub(super) fn get(&self, at: SortedPlace) -> Option<NextHop> {
        self.chunks.get(at.chunk)?.get(at.index).copied()
    }

    /// The place after a number.
    pub(super) fn next(&self, at: SortedPlace) -> SortedPlace {
        let index = at.index + 1;
        match self.chunks.get(at.chunk) {
            Some(chunk) if index < chunk.len() => SortedPlace { index, ..at },
            _ => SortedPlace {
                chunk: at.chunk + 1,
                index: 0,
            },
        }
    }

    /// How many numbers are from `from` to before `to`. O(chunks).
    pub(super) fn count(&self, from: SortedPlace, to: SortedPlace) -> usize {
        let chunks = self.chunks.get(from.chunk..to.chunk).unwrap_or_default();
        let whole: usize = chunks.iter().map(Vec::len).sum();
        (whole + to.index).saturating_sub(from.index)
    }

    /// Makes room for a number at a place, which may be another then.
    pub(super) fn reserve(&mut self, mut at: SortedPlace) -> Result<SortedPlace, OutOfMemory> {
        // After the end of the last chunk.
        if at.chunk == self.chunks.len() && at.chunk > 0 {
            at.chunk -= 1;
            at.index = self.chunks[at.chunk].len();
        }
        let before = self.chunks.capacity();
        match self.chunks.get_mut(at.chunk) {
            Some(chunk) if chunk.len() < MOST => {
                let before = chunk.capacity();
                memory::grow(chunk, 1)?;
                self.bytes += (chunk.capacity() - before) * size_of::<NextHop>();
                return Ok(at);
            }
            _ => memory::grow(&mut self.chunks, 1)?,
        }
        let more = self.chunks.capacity() - before;
        self.bytes += more * size_of::<Vec<NextHop, Al>>();
        let mut new = Vec::new_in(self.chunks.allocator().clone());
        let is_first = self.chunks.is_empty();
        memory::reserve(&mut new, if is_first { 1 } else { MOST })?;
        self.bytes += new.capacity() * size_of::<NextHop>();
        if is_first {
            self.chunks.push(new);
            return Ok(at);
        }
        let full = &mut self.chunks[at.chunk];
        new.extend_from_slice(&full[MOST / 2..]);
        full.truncate(MOST / 2);
        self.chunks.insert(at.chunk + 1, new);
        if at.index > MOST / 2 {
            at.chunk += 1;
            at.index -= MOST / 2;
        }
        Ok(at)
    }

    /// Adds a number at a place that was reserved.
    pub(super) fn insert(&mut self, at: SortedPlace, number: NextHop) {
        self.chunks[at.chunk].insert(at.index, number);
        self.len += 1;
    }

    /// Moves the number at `from` to `to`, which was reserved. Needs no memory.
    pub(super) fn shift(&mut self, mut from: SortedPlace, to: SortedPlace) {
        let Some(number) = self.get(from) else { return };
        self.insert(to, number);
        from.index += usize::from(from.chunk == to.chunk && to.index <= from.index);
        self.remove(from);
    }

    /// Removes the number at a place; returns the place of the one after it. Needs no memory.
    pub(super) fn remove(&mut self, at: SortedPlace) -> SortedPlace {
        let SortedPlace { mut chunk, index } = at;
        self.chunks[chunk].remove(index);
        self.len -= 1;
        if self.chunks[chunk].is_empty() {
            self.drop_chunk(chunk);
            return SortedPlace { chunk, index: 0 };
        }
        let mut index = index;
        if self.take_next(chunk) {
        } else if let Some(before) = chunk.checked_sub(1) {
            let len = self.chunks[before].len();
            if self.take_next(before) {
                chunk = before;
                index += len;
            }
        }
        if index == self.chunks[chunk].len() {
            return SortedPlace {
                chunk: chunk + 1,
                index: 0,
            };
        }
        SortedPlace { chunk, index }
    }

    /// Moves the numbers of the next chunk to the end of this one, if both are short.
    fn take_next(&mut self, chunk: usize) -> bool {
        let [this, next, ..] = &mut self.chunks[chunk..] else {
            return false;
        };
        let len = this.len() + next.len();
        if len > MOST / 2 || len > this.capacity() {
            return false;
        }
        this.extend_from_slice(next);
        self.drop_chunk(chunk + 1);
        true
    }

    fn drop_chunk(&mut self, chunk: usize) {
        let gone = self.chunks.remove(chunk);
        self.bytes -= gone.capacity() * size_of::<NextHop>();
    }

    /// Adds a number after all others.
    pub(super) fn push(&mut self, number: NextHop) -> Result<(), OutOfMemory> {
        let end = SortedPlace {
            chunk: self.chunks.len(),
            index: 0,
        };
        let end = self.reserve(end)?;
        self.insert(end, number);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against one vector, with chunks of few numbers.
    #[test]
    fn numbers_stay_in_order() {
        let mut state = 1u64;
        let mut random = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        let number = |n: u64| NextHop::new(n as u32 + 1).unwrap();
        for most_numbers in [3, 20, 200] {
            let mut sorted = SortedNumbers::<Global, 6>::new_in(Global);
            let mut expected: std::vec::Vec<NextHop> = std::vec::Vec::new();
            for _ in 0..3000 {
                let value = number(random(most_numbers));
                let at = sorted.find(|other| other.cmp(&value));
                match expected.binary_search(&value) {
                    Ok(index) if random(3) == 0 => {
                        // To where another value would be.
                        let other = number(random(most_numbers));
                        let to = sorted.find(|n| n.cmp(&other));
                        let to = sorted.reserve(to).unwrap();
                        let from = sorted.find(|n| n.cmp(&value));
                        expected.remove(index);
                        match expected.binary_search(&other) {
                            // It stays where it is: two equal ones would not be sorted.
                            Ok(_) => expected.insert(index, value),
                            Err(_) => {
                                sorted.shift(from, to);
                                // Now it is out of order: put the other value into its place.
                                let moved = sorted.chunks.iter_mut().flat_map(|c| c.iter_mut());
                                moved.filter(|n| **n == value).for_each(|n| *n = other);
                                let index = expected.binary_search(&other).unwrap_err();
                                expected.insert(index, other);
                            }
                        }
                    }
                    Ok(index) => {
                        assert_eq!(sorted.get(at), Some(value));
                        let next = sorted.remove(at);
                        expected.remove(index);
                        assert_eq!(sorted.get(next), expected.get(index).copied());
                    }
                    Err(index) => {
                        assert_eq!(sorted.get(at), expected.get(index).copied());
                        let at = sorted.reserve(at).unwrap();
                        sorted.insert(at, value);
                        expected.insert(index, value);
                    }
                }
                assert_eq!(sorted.len(), expected.len());
                let mut at = SortedPlace::default();
                for &value in &expected {
                    assert_eq!(sorted.get(at), Some(value));
                    assert_eq!(sorted.find(|other| other.cmp(&value)), at);
                    at = sorted.next(at);
                }
                assert_eq!(sorted.get(at), None);
                assert_eq!(sorted.count(SortedPlace::default(), at), expected.len());
                let held = sorted.chunks.iter().map(|chunk| chunk.capacity() * 4);
                let list = sorted.chunks.capacity() * size_of::<Vec<NextHop>>();
                assert_eq!(sorted.bytes(), held.sum::<usize>() + list);
                assert!(sorted.chunks.len() <= expected.len() / 2 + 1);
            }
        }
    }
}
