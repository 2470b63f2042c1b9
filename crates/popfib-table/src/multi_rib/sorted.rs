//! Many numbers in an order that only the caller knows.
//!
//! They lie in chunks, so that adding and removing one moves few others, however many there are. A place is a chunk and an index
//! in it; it is good until the next change.

use std::cmp::Ordering;

use popfib::NextHop;

/// The most numbers of a chunk.
const CHUNK: usize = 512;

#[derive(Default)]
pub(super) struct SortedNumbers<const MOST: usize = CHUNK> {
    /// None is empty.
    chunks: Vec<Vec<NextHop>>,
    len: usize,
    bytes: usize,
}

/// Where a number is, or would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SortedPlace {
    chunk: usize,
    index: usize,
}

impl<const MOST: usize> SortedNumbers<MOST> {
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
        let ends_before = |chunk: &Vec<NextHop>| chunk.last().is_some_and(is_before);
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

    /// Adds a number at a place.
    pub(super) fn insert(&mut self, mut at: SortedPlace, number: NextHop) {
        // After the end of the last chunk.
        if at.chunk == self.chunks.len() && at.chunk > 0 {
            at.chunk -= 1;
            at.index = self.chunks[at.chunk].len();
        }
        let before = self.chunks.capacity();
        match self.chunks.get_mut(at.chunk) {
            None => self.chunks.push(Vec::new()),
            Some(full) if full.len() == MOST => {
                let mut new = Vec::with_capacity(MOST);
                new.extend(full.drain(MOST / 2..));
                self.bytes += new.capacity() * size_of::<NextHop>();
                self.chunks.insert(at.chunk + 1, new);
                if at.index > MOST / 2 {
                    at.chunk += 1;
                    at.index -= MOST / 2;
                }
            }
            Some(_) => {}
        }
        self.bytes += (self.chunks.capacity() - before) * size_of::<Vec<NextHop>>();
        let chunk = &mut self.chunks[at.chunk];
        let before = chunk.capacity();
        chunk.insert(at.index, number);
        self.bytes += (chunk.capacity() - before) * size_of::<NextHop>();
        self.len += 1;
    }

    /// Removes the number at a place; returns the place of the one after it.
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
    pub(super) fn push(&mut self, number: NextHop) {
        let chunk = self.chunks.len();
        self.insert(SortedPlace { chunk, index: 0 }, number);
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
            let mut sorted = SortedNumbers::<6>::default();
            let mut expected: Vec<NextHop> = Vec::new();
            for _ in 0..3000 {
                let value = number(random(most_numbers));
                let at = sorted.find(|other| other.cmp(&value));
                match expected.binary_search(&value) {
                    Ok(index) => {
                        assert_eq!(sorted.get(at), Some(value));
                        let next = sorted.remove(at);
                        expected.remove(index);
                        assert_eq!(sorted.get(next), expected.get(index).copied());
                    }
                    Err(index) => {
                        assert_eq!(sorted.get(at), expected.get(index).copied());
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
