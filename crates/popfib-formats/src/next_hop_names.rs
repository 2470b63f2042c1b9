//! Next-hop names and their numbers.
//!
//! A Rib carries numbers only; here is what they stand for. All names lie one
//! after the other in one string, a hash index of bare numbers finds them
//! again: no allocation per name, none at all for a name seen before.

use std::fmt;
use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};
use popfib::NextHop;

/// The names of next hops, numbered from 1 in the order of their first appearance.
///
/// Takes the names' bytes, 8 for each offset, and 6 to 12 for the index.
#[derive(Clone, Default)]
pub struct NextHopNames {
    names: Names,
    index: HashTable<NextHop>,
    // Seeded at random: the names come from outside, and must not be able to
    // collide on purpose.
    hasher: DefaultHashBuilder,
}

#[derive(Clone, Default)]
struct Names {
    text: String,
    /// Where each name ends in `text`. Not u32: text of more than 4 GiB is
    /// possible, and an overflow would have to be an error of every reader.
    ends: Vec<usize>,
}

impl Names {
    fn get(&self, next_hop: NextHop) -> Option<&str> {
        let index = next_hop.get() as usize - 1;
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }
}

impl NextHopNames {
    /// No names.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of `name`: the existing one, or the next if the name is new.
    ///
    /// Expected constant time.
    ///
    /// # Panics
    /// At 2^32 different names.
    #[inline]
    pub fn intern(&mut self, name: &str) -> NextHop {
        let hash = hash(&self.hasher, name);
        match self.find(hash, name) {
            Some(next_hop) => next_hop,
            None => self.add(hash, name),
        }
    }

    /// The number of `name`; `None` if it was never seen. Expected constant time.
    pub fn number(&self, name: &str) -> Option<NextHop> {
        self.find(hash(&self.hasher, name), name)
    }

    #[inline]
    fn find(&self, hash: u64, name: &str) -> Option<NextHop> {
        // The empty name, that of each route of a list, is not left to `memcmp`: where no name has any text its bytes
        // are nowhere, and a masked vector load of no bytes from there takes some hundred cycles.
        let is_same = |known: &str| known.len() == name.len() && (name.is_empty() || known == name);
        let is_it = |&n: &NextHop| self.names.get(n).is_some_and(is_same);
        self.index.find(hash, is_it).copied()
    }

    /// The name of a number; `None` if no name has it. Constant time.
    pub fn name(&self, next_hop: NextHop) -> Option<&str> {
        self.names.get(next_hop)
    }

    /// How many names there are, which is also the highest number.
    pub fn len(&self) -> usize {
        self.names.ends.len()
    }

    /// The length of all names in bytes.
    pub(crate) fn text_len(&self) -> usize {
        self.names.text.len()
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.names.ends.is_empty()
    }

    #[cold]
    fn add(&mut self, hash: u64, name: &str) -> NextHop {
        self.names.text.push_str(name);
        self.names.ends.push(self.names.text.len());
        let next_hop = u32::try_from(self.len())
            .ok()
            .and_then(NextHop::new)
            .expect("fewer than 2^32 next hops");
        let (names, hasher) = (&self.names, &self.hasher);
        self.index.insert_unique(hash, next_hop, |&n| {
            self::hash(hasher, names.get(n).unwrap_or_default())
        });
        next_hop
    }
}

impl fmt::Debug for NextHopNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextHopNames")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

#[inline]
fn hash(hasher: &DefaultHashBuilder, name: &str) -> u64 {
    // The bytes alone: a name is the whole key, so it needs no end mark as in `str`'s `Hash`.
    let mut state = hasher.build_hasher();
    state.write(name.as_bytes());
    state.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_from_one_in_order_of_appearance() {
        let mut names = NextHopNames::new();
        assert!(names.is_empty());
        for (name, number) in [
            ("a", 1),
            ("bb", 2),
            ("a", 1),
            ("", 3),
            ("ab", 4),
            ("", 3),
            ("bb", 2),
        ] {
            assert_eq!(names.intern(name).get(), number, "{name}");
        }
        assert_eq!(names.len(), 4);
        let all: Vec<_> = (1..=5)
            .map(|n| names.name(NextHop::new(n).unwrap()))
            .collect();
        assert_eq!(all, [Some("a"), Some("bb"), Some(""), Some("ab"), None]);
        assert_eq!(names.name(NextHop::MAX), None);
        assert_eq!(names.number("ab").map(NextHop::get), Some(4));
        assert_eq!(names.number("b"), None);
        assert_eq!(names.len(), 4, "asking adds nothing");
    }

    #[test]
    fn keeps_numbers_while_it_grows() {
        let mut names = NextHopNames::new();
        for round in 0..2 {
            for n in 0..100_000 {
                assert_eq!(
                    names.intern(&format!("AS{n}")).get(),
                    n + 1,
                    "round {round}"
                );
            }
        }
        assert_eq!(names.len(), 100_000);
        for n in 0..100_000 {
            assert_eq!(
                names.name(NextHop::new(n + 1).unwrap()),
                Some(format!("AS{n}").as_str())
            );
        }
    }
}
