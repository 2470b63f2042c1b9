//! The answers of a RIB as intervals: stretches of addresses with one longest match.
//!
//! Routes come in prefix order, a covering prefix before what it covers. A
//! stack holds the prefixes open at the current address, the longest on top.
//! An interval ends where the top of the stack ends or where the next route
//! begins, whichever is first. Linear in the number of routes, at most two
//! intervals a route and one more, so checking all addresses costs no search
//! per address.

use std::iter::Peekable;

use popfib::{Address, NextHop, Prefix};

/// Addresses `first..=last`, which all have the longest match of `next_hop`; 0 for none.
///
/// Neighbouring intervals may have the same next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval<A> {
    pub(crate) first: A,
    pub(crate) last: A,
    pub(crate) next_hop: u32,
}

/// The intervals of all addresses, in order and without a gap.
pub(crate) struct Intervals<A: Address, I: Iterator<Item = (Prefix<A>, NextHop)>> {
    routes: Peekable<I>,
    /// Last address and next hop of the prefixes that are open.
    open: Vec<(A, u32)>,
    /// First address of the next interval, `None` behind the last address.
    first: Option<A>,
}

impl<A: Address, I: Iterator<Item = (Prefix<A>, NextHop)>> Intervals<A, I> {
    /// The intervals of `routes`, which come in prefix order.
    pub(crate) fn new(routes: I) -> Self {
        Self {
            routes: routes.peekable(),
            open: Vec::new(),
            first: Some(A::MIN),
        }
    }
}

impl<A: Address, I: Iterator<Item = (Prefix<A>, NextHop)>> Iterator for Intervals<A, I> {
    type Item = Interval<A>;

    fn next(&mut self) -> Option<Interval<A>> {
        let first = self.first?;
        while self.open.last().is_some_and(|&(last, _)| last < first) {
            self.open.pop();
        }
        while let Some((prefix, next_hop)) = self.routes.next_if(|(p, _)| p.first() == first) {
            self.open.push((prefix.last(), next_hop.get()));
        }
        let (mut last, next_hop) = self.open.last().copied().unwrap_or((A::MAX, 0));
        if let Some((next, _)) = self.routes.peek() {
            // It begins behind `first`, so there is an address before it.
            last = last.min(next.first().checked_previous().unwrap_or(last));
        }
        self.first = last.checked_next();
        Some(Interval {
            first,
            last,
            next_hop,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::Rib;
    use popfib_eval::Random;

    /// Every address of `A` against the RIB's own longest match, and no gap between intervals.
    fn agrees_with_longest_match<A: Address>(rib: &Rib<A>) {
        let mut expected_first = Some(A::MIN);
        let mut intervals = 0;
        for interval in Intervals::new(rib.iter()) {
            intervals += 1;
            assert_eq!(Some(interval.first), expected_first);
            assert!(interval.first <= interval.last);
            let mut at = Some(interval.first);
            while let Some(address) = at.filter(|&a| a <= interval.last) {
                let answer = rib.lookup(address).map_or(0, |n| n.get());
                assert_eq!(interval.next_hop, answer, "{address:?}");
                at = address.checked_next();
            }
            expected_first = interval.last.checked_next();
        }
        assert_eq!(
            expected_first, None,
            "the last interval ends at the last address"
        );
        assert!(intervals <= 2 * rib.len() + 1);
    }

    fn random_rib<A: Address>(random: &mut Random, routes: usize) -> Rib<A> {
        let mut rib = Rib::new();
        for _ in 0..routes {
            let len = random.below(usize::from(A::WIDTH) + 1) as u8;
            let prefix = Prefix::new_masked(random.address(), len).unwrap();
            rib.insert(prefix, NextHop::new(random.below(5) as u32 + 1).unwrap());
        }
        rib
    }

    #[test]
    fn intervals_are_the_longest_matches() {
        let mut random = Random::new(42);
        agrees_with_longest_match(&Rib::<u8>::new());
        for round in 0..500 {
            agrees_with_longest_match(&random_rib::<u8>(&mut random, round % 40));
        }
        for routes in [1, 3, 30, 300] {
            agrees_with_longest_match(&random_rib::<u16>(&mut random, routes));
        }
    }

    #[test]
    fn nested_prefixes_with_common_ends() {
        let mut rib = Rib::<u8>::new();
        for (bits, len) in [
            (0, 0),
            (0, 1),
            (0, 8),
            (0x80, 1),
            (0xff, 8),
            (0xfe, 7),
            (0x7f, 8),
        ] {
            let prefix = Prefix::new(bits, len).unwrap();
            rib.insert(
                prefix,
                NextHop::new(u32::from(bits) * 10 + u32::from(len) + 1).unwrap(),
            );
        }
        agrees_with_longest_match(&rib);
    }
}
