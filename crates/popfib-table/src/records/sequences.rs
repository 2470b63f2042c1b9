//! Different sequences of codes and their numbers: rows of records while they are collected, and lists.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Sequences of codes, numbered from 1 in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequences {
    codes: Vec<u32>,
    /// Where each ends in `codes`.
    ends: Vec<usize>,
    index: HashTable<u32>,
    // Seeded at random, as the sequences come from outside.
    hasher: DefaultHashBuilder,
}

impl Sequences {
    /// The number of `codes`: that of an equal sequence, or the next. Expected time in proportion to its length.
    ///
    /// # Panics
    /// At 2^32 different sequences.
    pub(super) fn intern(&mut self, codes: &[u32]) -> u32 {
        let hash = self.hasher.hash_one(codes);
        let known = |&number: &u32| sequence(&self.codes, &self.ends, number) == Some(codes);
        if let Some(&number) = self.index.find(hash, known) {
            return number;
        }
        self.codes.extend_from_slice(codes);
        self.ends.push(self.codes.len());
        let number = u32::try_from(self.ends.len()).expect("fewer than 2^32 sequences");
        let (hasher, all, ends) = (&self.hasher, &self.codes, &self.ends);
        let hash_of =
            |&known: &u32| hasher.hash_one(sequence(all, ends, known).unwrap_or_default());
        self.index.insert_unique(hash, number, hash_of);
        number
    }

    /// The sequence of a number; `None` if there is none. O(1).
    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<&[u32]> {
        sequence(&self.codes, &self.ends, number)
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (1..=self.len() as u32).filter_map(|number| self.get(number))
    }

    pub(super) fn bytes(&self) -> usize {
        let ends = self.ends.capacity() * size_of::<usize>();
        self.codes.capacity() * size_of::<u32>() + ends + self.index.allocation_size()
    }
}

#[inline]
fn sequence<'a>(codes: &'a [u32], ends: &[usize], number: u32) -> Option<&'a [u32]> {
    let index = (number as usize).checked_sub(1)?;
    let end = *ends.get(index)?;
    let start = index.checked_sub(1).map_or(0, |before| ends[before]);
    Some(&codes[start..end])
}
