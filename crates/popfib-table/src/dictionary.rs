//! [`Dictionary`]: a text in, its number out, and back.
//!
//! The structures for lookups carry numbers only; a dictionary says what they stand for. All texts lie one after the other in one
//! string, and a hash index of bare numbers finds them again. So a text needs no allocation of its own, as in a map of `String`s,
//! and a text seen before needs no memory at all.

use std::fmt;
use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};
use popfib::NextHop;

use crate::numbered_texts::NumberedTexts;

/// Texts, numbered from 1 in the order of their first appearance.
///
/// Takes the texts' bytes, 8 for each offset, and 6 to 12 for the index.
#[derive(Clone, Default)]
pub struct Dictionary {
    texts: NumberedTexts,
    index: HashTable<NextHop>,
    // Seeded at random: the texts come from outside, and must not be able to collide on purpose.
    hasher: DefaultHashBuilder,
}

impl Dictionary {
    /// No texts.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of `text`: the existing one, or the next if the text is new.
    ///
    /// Expected constant time.
    ///
    /// # Panics
    /// At 2^32 different texts.
    #[inline]
    pub fn intern(&mut self, text: &str) -> NextHop {
        let hash = hash(&self.hasher, text);
        match self.find(hash, text) {
            Some(number) => number,
            None => self.add(hash, text),
        }
    }

    /// The number of `text`; `None` if it was never seen. Expected constant time.
    pub fn number(&self, text: &str) -> Option<NextHop> {
        self.find(hash(&self.hasher, text), text)
    }

    #[inline]
    fn find(&self, hash: u64, text: &str) -> Option<NextHop> {
        // The empty text, which every route of a value-less list has, is not left to `memcmp`: if no text has any bytes, the string
        // has no memory, and a masked vector load of no bytes from its dangling address takes some hundred cycles.
        let is_same = |known: &str| known.len() == text.len() && (text.is_empty() || known == text);
        let is_it = |&number: &NextHop| self.texts.get(number).is_some_and(is_same);
        self.index.find(hash, is_it).copied()
    }

    /// The text of a number; `None` if no text has it. Constant time.
    #[inline]
    pub fn get(&self, number: NextHop) -> Option<&str> {
        self.texts.get(number)
    }

    /// How many texts there are, which is also the highest number.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.texts.len() == 0
    }

    /// All texts in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.texts.iter()
    }

    /// The texts with their numbers, which find none again.
    pub(crate) fn into_texts(self) -> NumberedTexts {
        self.texts
    }

    /// The length of all texts in bytes.
    pub fn text_len(&self) -> usize {
        self.texts.text_len()
    }

    #[cold]
    fn add(&mut self, hash: u64, text: &str) -> NextHop {
        self.texts.push(text);
        let number = u32::try_from(self.len())
            .ok()
            .and_then(NextHop::new)
            .expect("fewer than 2^32 texts");
        let (texts, hasher) = (&self.texts, &self.hasher);
        self.index.insert_unique(hash, number, |&known| {
            self::hash(hasher, texts.get(known).unwrap_or_default())
        });
        number
    }
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

#[inline]
fn hash(hasher: &DefaultHashBuilder, text: &str) -> u64 {
    // The bytes alone: a text is the whole key, so it needs no end mark as in `str`'s `Hash`.
    let mut state = hasher.build_hasher();
    state.write(text.as_bytes());
    state.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_from_one_in_order_of_appearance() {
        let mut texts = Dictionary::new();
        assert!(texts.is_empty());
        for (text, number) in [
            ("a", 1),
            ("bb", 2),
            ("a", 1),
            ("", 3),
            ("ab", 4),
            ("", 3),
            ("bb", 2),
        ] {
            assert_eq!(texts.intern(text).get(), number, "{text}");
        }
        assert_eq!(texts.len(), 4);
        assert!(texts.iter().eq(["a", "bb", "", "ab"]));
        let all: Vec<_> = (1..=5)
            .map(|n| texts.get(NextHop::new(n).unwrap()))
            .collect();
        assert_eq!(all, [Some("a"), Some("bb"), Some(""), Some("ab"), None]);
        assert_eq!(texts.get(NextHop::MAX), None);
        assert_eq!(texts.number("ab").map(NextHop::get), Some(4));
        assert_eq!(texts.number("b"), None);
        assert_eq!(texts.len(), 4, "asking adds nothing");
    }

    #[test]
    fn keeps_numbers_while_it_grows() {
        let mut texts = Dictionary::new();
        for round in 0..2 {
            for n in 0..100_000 {
                assert_eq!(
                    texts.intern(&format!("AS{n}")).get(),
                    n + 1,
                    "round {round}"
                );
            }
        }
        assert_eq!(texts.len(), 100_000);
        for n in 0..100_000 {
            assert_eq!(
                texts.get(NextHop::new(n + 1).unwrap()),
                Some(format!("AS{n}").as_str())
            );
        }
    }
}
