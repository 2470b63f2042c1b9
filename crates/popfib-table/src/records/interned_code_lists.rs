//! Codes in, a number out: equal lists of codes get one number. For the rows of records while they are collected, and for columns of
//! lists.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::code_lists::CodeLists;

/// Different lists of codes, numbered from 1 in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct InternedCodeLists {
    lists: CodeLists,
    index: HashTable<u32>,
    // Seeded at random, as the lists come from outside.
    hasher: DefaultHashBuilder,
}

impl InternedCodeLists {
    /// The number of `codes`: that of an equal list, or the next. Expected time in proportion to its length.
    ///
    /// # Panics
    /// At 2^32 different lists.
    pub(crate) fn intern(&mut self, codes: &[u32]) -> u32 {
        let (lists, hasher) = (&mut self.lists, &self.hasher);
        let hash = hasher.hash_one(codes);
        let is_it = |&number: &u32| lists.get(number) == Some(codes);
        if let Some(&number) = self.index.find(hash, is_it) {
            return number;
        }
        lists.push(codes);
        let number = u32::try_from(lists.len()).expect("fewer than 2^32 lists");
        let hash_of = |&known: &u32| hasher.hash_one(lists.get(known).unwrap_or_default());
        self.index.insert_unique(hash, number, hash_of);
        number
    }

    /// The lists by their numbers.
    pub(crate) fn lists(&self) -> &CodeLists {
        &self.lists
    }

    /// The lists by their numbers, without the index that finds equal ones.
    pub(crate) fn into_lists(self) -> CodeLists {
        self.lists
    }
}
