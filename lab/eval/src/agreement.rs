//! Holds a structure's answers against those of the Rib that it was built from.
//!
//! Answers can only change where a route begins or ends. So both ends of every
//! stretch of addresses with one longest match are asked for, which is every
//! boundary and its neighbours, one address inside the stretch, and random
//! addresses on top.

use popfib::intervals::Intervals;
use popfib::{NextHop, Prefix, Rib};

use crate::random::Random;
use crate::traffic::TrafficAddress;

/// Addresses that are looked up at once.
const BLOCK: usize = 4_096;

/// How many answers were right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Addresses that were asked for.
    pub addresses: u64,
    /// Wrong answers.
    pub mismatches: u64,
    /// The first wrong answer, in words.
    pub first: Option<String>,
}

/// Asks for every boundary of `rib` and `random` addresses more, all by `lookup_into` and the
/// random ones by `lookup` as well. O(routes + random).
pub fn agreement<A: TrafficAddress>(
    rib: &Rib<A>,
    lookup: impl Fn(A) -> u32,
    lookup_into: impl Fn(&[A], &mut [u32]),
    random: usize,
    seed: u64,
) -> Agreement {
    let mut judge = Judge {
        lookup_into,
        addresses: Vec::with_capacity(BLOCK + 3),
        expected: Vec::with_capacity(BLOCK + 3),
        found: Agreement::default(),
    };
    let mut numbers = Random::new(seed);
    for interval in Intervals::new(rib) {
        let next_hop = interval.next_hop.map_or(0, NextHop::get);
        let (first, last) = (interval.first.to_u128(), interval.last.to_u128());
        judge.ask(interval.first, next_hop);
        if last != first {
            let inside = first + u128::from(numbers.bits()) % (last - first);
            judge.ask(A::truncate(inside), next_hop);
            judge.ask(interval.last, next_hop);
        }
    }
    for place in 0..random {
        let address = if place % 2 == 0 {
            numbers.address()
        } else {
            numbers.host(A::uniform())
        };
        let next_hop = rib.lookup(address).map_or(0, NextHop::get);
        judge.ask(address, next_hop);
        judge.compare(address, lookup(address), next_hop);
    }
    judge.ask_all();
    judge.found
}

struct Judge<A, F> {
    lookup_into: F,
    addresses: Vec<A>,
    expected: Vec<u32>,
    found: Agreement,
}

impl<A: TrafficAddress, F: Fn(&[A], &mut [u32])> Judge<A, F> {
    fn ask(&mut self, address: A, expected: u32) {
        self.addresses.push(address);
        self.expected.push(expected);
        if self.addresses.len() >= BLOCK {
            self.ask_all();
        }
    }

    fn ask_all(&mut self) {
        let addresses = std::mem::take(&mut self.addresses);
        let expected = std::mem::take(&mut self.expected);
        let mut next_hops = vec![0; addresses.len()];
        (self.lookup_into)(&addresses, &mut next_hops);
        self.found.addresses += addresses.len() as u64;
        for ((address, answer), expected) in addresses.iter().zip(next_hops).zip(&expected) {
            self.compare(*address, answer, *expected);
        }
        (self.addresses, self.expected) = (addresses, expected);
        self.addresses.clear();
        self.expected.clear();
    }

    fn compare(&mut self, address: A, answer: u32, expected: u32) {
        if answer != expected {
            self.found.mismatches += 1;
            self.found.first.get_or_insert_with(|| {
                let host = Prefix::host(address);
                format!("{host}: next hop {answer}, not {expected}")
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Algorithm;
    use crate::any_fib::{AnyFib, build};
    use popfib::{Kernel, Options};

    fn rib<A: TrafficAddress>(prefixes: &[&str]) -> Rib<A> {
        let mut rib = Rib::new();
        for (next_hop, text) in (1..).zip(prefixes) {
            rib.insert(text.parse().unwrap(), NextHop::new(next_hop).unwrap());
        }
        rib
    }

    fn of<A: TrafficAddress>(rib: &Rib<A>, fib: &dyn AnyFib<A>, random: usize) -> Agreement {
        let batch = |addresses: &[A], next_hops: &mut [u32]| {
            fib.lookup_into(Kernel::best(), addresses, next_hops);
        };
        agreement(rib, |address| fib.lookup(address), batch, random, 1)
    }

    #[test]
    fn every_algorithm_agrees_and_none_does_not() {
        let table = rib::<u32>(&["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3/32"]);
        for algorithm in Algorithm::all() {
            let fib = build(&table, algorithm, &Options::default()).unwrap().fib;
            let found = of(&table, &*fib, 100);
            assert_eq!(found.mismatches, 0, "{algorithm:?}: {found:?}");
            // Seven stretches, one of them a single address.
            assert_eq!(found.addresses, 7 * 3 - 2 + 100);
        }
        let wrong = agreement(&table, |_| 0, |_, answers| answers.fill(0), 0, 1);
        assert_eq!(wrong.mismatches, 5 * 3 - 2);
        assert!(wrong.first.is_some_and(|text| text.contains("not 1")));
    }

    #[test]
    fn ipv6_too() {
        let table = rib::<u128>(&["2001:db8::/32", "2001:db8:1::/48", "::/0"]);
        let fib = build(
            &table,
            Algorithm::Popfib(popfib::Size::Smallest),
            &Options::default(),
        );
        let found = of(&table, &*fib.unwrap().fib, 10);
        assert_eq!((found.addresses, found.mismatches), (5 * 3 + 10, 0));
    }
}
