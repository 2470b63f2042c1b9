//! SYN1 and SYN2: a table of tomorrow made from one of today, by the Poptrie
//! paper's rules (Asai and Ohara, SIGCOMM 2015, section 4.1).
//!
//! SYN1 splits each prefix up to /24 into two and each up to /16 into four, SYN2
//! those up to /24, /20 and /16 into two, four and eight. The parts take the
//! place of the prefix, and part i leads to next hop n + i, n that of the
//! prefix; so that none of these is the next hop of another route, the next
//! hops of the table are first numbered anew, with room between them. i counts
//! from 0: only then do the paper's numbers of next hops come out (13 become 45
//! and 87; 9 become 19 and 33).
//!
//! The paper's words are "no longer than", so a /24 is split; its numbers of
//! routes say otherwise. 531,489 routes become 764,847 and 885,645 there, 1.44
//! and 1.67 times as many; on a table of the time the rules by their words make
//! it 2.0 and 2.5 times, and 1.44 and 1.73 times if only prefixes shorter than
//! the bounds are split. The words are kept: larger tables are the harder test.
//!
//! Where a part is a prefix that the table has anyway, or a part of a longer
//! one, the longer prefix of the two wins, as it does in lookups: every address
//! has the next hop of its longest match in the table, plus i.

use std::collections::BTreeSet;

use popfib::{NextHop, Prefix, Rib};

/// One of the paper's two rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syn {
    /// Up to /24 into two, up to /16 into four.
    Syn1,
    /// Up to /24 into two, up to /20 into four, up to /16 into eight.
    Syn2,
}

impl Syn {
    /// The name as the paper has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Syn1 => "SYN1",
            Self::Syn2 => "SYN2",
        }
    }

    /// By how many bits a prefix of `len` bits is split: into two to that power.
    fn split_bits(self, len: u8) -> u8 {
        match (self, len) {
            (Self::Syn1, 0..=16) => 2,
            (Self::Syn2, 0..=16) => 3,
            (Self::Syn2, 17..=20) => 2,
            (_, 17..=24) => 1,
            _ => 0,
        }
    }

    /// Numbers that a next hop of the table takes up.
    fn room(self) -> u32 {
        1 << self.split_bits(0)
    }

    /// The table that this rule makes of `rib`. O(routes * log(next hops)).
    ///
    /// # Panics
    /// If the table has more than 2^28 next hops.
    pub fn of(self, rib: &Rib<u32>) -> Rib<u32> {
        let known: BTreeSet<NextHop> = rib.iter().map(|(_, next_hop)| next_hop).collect();
        let known: Vec<NextHop> = known.into_iter().collect();
        assert!(known.len() <= 1 << 28, "more next hops than can be split");
        let mut split = Rib::new();
        // A covering prefix comes before what it covers: its parts are replaced
        // by those of the longer one.
        for (prefix, next_hop) in rib.iter() {
            let rank = known.binary_search(&next_hop).expect("known from above");
            let first = NextHop::MIN.saturating_add(rank as u32 * self.room());
            for (part, i) in self.parts(prefix) {
                // One that is split in turn is not there in the end.
                if part == prefix || !rib.contains_key(part) {
                    split.insert(part, first.saturating_add(i));
                }
            }
        }
        split
    }

    /// The parts of a prefix, and the number of each.
    fn parts(self, prefix: Prefix<u32>) -> impl Iterator<Item = (Prefix<u32>, u32)> {
        let bits = self.split_bits(prefix.len());
        let len = prefix.len() + bits;
        (0..1u32 << bits).map(move |i| {
            let below = if bits == 0 { 0 } else { i << (32 - len) };
            let part = Prefix::new(prefix.address() | below, len);
            (part.expect("the part's bits lie before its length"), i)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn rib(routes: &[(&str, u32)]) -> Rib<u32> {
        let mut rib = Rib::new();
        for (prefix, next_hop) in routes {
            rib.insert(prefix.parse().unwrap(), NextHop::new(*next_hop).unwrap());
        }
        rib
    }

    fn listed(rib: &Rib<u32>) -> Vec<(String, u32)> {
        let text =
            |(prefix, next_hop): (Prefix<u32>, NextHop)| (prefix.to_string(), next_hop.get());
        rib.iter().map(text).collect()
    }

    fn expected(routes: &[(&str, u32)]) -> Vec<(String, u32)> {
        let text = |(prefix, next_hop): &(&str, u32)| (prefix.to_string(), *next_hop);
        routes.iter().map(text).collect()
    }

    #[test]
    fn prefixes_are_split_by_their_length() {
        for (len, one, two) in [
            (0, 4, 8),
            (8, 4, 8),
            (16, 4, 8),
            (17, 2, 4),
            (20, 2, 4),
            (21, 2, 2),
            (24, 2, 2),
            (25, 1, 1),
            (32, 1, 1),
        ] {
            let table = rib(&[(&format!("0.0.0.0/{len}"), 1)]);
            assert_eq!(Syn::Syn1.of(&table).len(), one, "/{len}");
            assert_eq!(Syn::Syn2.of(&table).len(), two, "/{len}");
        }
    }

    #[test]
    fn parts_have_next_hops_of_their_own() {
        let table = rib(&[("10.0.0.0/16", 70), ("20.0.0.0/24", 9), ("30.0.0.0/28", 70)]);
        assert_eq!(
            listed(&Syn::Syn1.of(&table)),
            expected(&[
                ("10.0.0.0/18", 5),
                ("10.0.64.0/18", 6),
                ("10.0.128.0/18", 7),
                ("10.0.192.0/18", 8),
                ("20.0.0.0/25", 1),
                ("20.0.0.128/25", 2),
                ("30.0.0.0/28", 5),
            ])
        );
    }

    #[test]
    fn longer_prefixes_win() {
        // A part of the first is the second, one of the second is the third,
        // and the third is not split.
        let table = rib(&[("10.0.0.0/23", 1), ("10.0.1.0/24", 2), ("10.0.1.128/25", 3)]);
        assert_eq!(
            listed(&Syn::Syn1.of(&table)),
            expected(&[("10.0.0.0/24", 1), ("10.0.1.0/25", 5), ("10.0.1.128/25", 9)])
        );
        // Two prefixes with parts of one length.
        let table = rib(&[("10.0.0.0/16", 1), ("10.0.128.0/17", 2)]);
        assert_eq!(
            listed(&Syn::Syn1.of(&table)),
            expected(&[
                ("10.0.0.0/18", 1),
                ("10.0.64.0/18", 2),
                ("10.0.128.0/18", 5),
                ("10.0.192.0/18", 6),
            ])
        );
    }

    /// Every address has its former next hop, numbered anew, plus the number of its part.
    #[test]
    fn every_address_has_the_part_of_its_longest_match() {
        let mut random = Random::new(5);
        for syn in [Syn::Syn1, Syn::Syn2] {
            for _ in 0..50 {
                let mut table = Rib::<u32>::new();
                for _ in 0..300 {
                    let len = random.below(33) as u8;
                    // Under few first bytes, so that routes meet.
                    let address = random.address::<u32>() & 0x03ff_ffff;
                    let next_hop = NextHop::new(random.below(9) as u32 * 5 + 3).unwrap();
                    table.insert(Prefix::new_masked(address, len).unwrap(), next_hop);
                }
                let known: BTreeSet<NextHop> = table.iter().map(|(_, n)| n).collect();
                let split = syn.of(&table);
                for _ in 0..2_000 {
                    let address = random.address::<u32>() & 0x03ff_ffff;
                    let want = table.longest_match(address).map(|(prefix, next_hop)| {
                        let rank = known.iter().filter(|n| **n < next_hop).count() as u32;
                        let (room, parts) = match (syn, prefix.len()) {
                            (Syn::Syn1, 0..=16) => (4, 4),
                            (Syn::Syn1, 17..=24) => (4, 2),
                            (Syn::Syn2, 0..=16) => (8, 8),
                            (Syn::Syn2, 17..=20) => (8, 4),
                            (Syn::Syn2, 21..=24) => (8, 2),
                            (Syn::Syn1, _) => (4, 1),
                            (Syn::Syn2, _) => (8, 1),
                        };
                        let size = 1u64 << (32 - prefix.len());
                        let part = u64::from(address - prefix.first()) * parts / size;
                        1 + rank * room + part as u32
                    });
                    assert_eq!(split.lookup(address).map(NextHop::get), want);
                }
            }
        }
    }
}
