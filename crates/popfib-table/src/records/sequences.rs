//! Different sequences of codes and their numbers: rows of records while they are collected, and lists.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::lists::Lists;

/// Sequences of codes, numbered from 1 in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequences {
    lists: Lists,
    index: HashTable<u32>,
    // Seeded at random, as the sequences come from outside.
    hasher: DefaultHashBuilder,
}

impl Sequences {
    /// The number of `codes`: that of an equal sequence, or the next. Expected time in proportion to its length.
    ///
    /// # Panics
    /// At 2^32 different sequences.
    pub(crate) fn intern(&mut self, codes: &[u32]) -> u32 {
        let (lists, hasher) = (&mut self.lists, &self.hasher);
        let hash = hasher.hash_one(codes);
        let is_it = |&number: &u32| lists.get(number) == Some(codes);
        if let Some(&number) = self.index.find(hash, is_it) {
            return number;
        }
        lists.push(codes);
        let number = u32::try_from(lists.len()).expect("fewer than 2^32 sequences");
        let hash_of = |&known: &u32| hasher.hash_one(lists.get(known).unwrap_or_default());
        self.index.insert_unique(hash, number, hash_of);
        number
    }

    pub(crate) fn lists(&self) -> &Lists {
        &self.lists
    }

    /// The sequences with their numbers, which find none again.
    pub(crate) fn into_lists(self) -> Lists {
        self.lists
    }
}
