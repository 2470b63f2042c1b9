//! Holds a structure's answers against those of the Rib that it was built from.
//!
//! Answers can only change where a route begins or ends. So both ends of every
//! stretch of addresses with one longest match are asked for, which is every
//! boundary and its neighbours, one address inside the stretch, and random
//! addresses on top.

use popfib::{Intervals, Kernel, NextHop, Prefix, Rib};

use crate::any_fib::AnyFib;
use crate::random::Random;
use crate::traffic::Traveller;

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

/// Asks `fib` for every boundary of `rib` and `random` addresses more, in batches by
/// `kernel` and the random ones one by one as well. O(routes + random).
pub fn agreement<A: Traveller>(
    rib: &Rib<A>,
    fib: &dyn AnyFib<A>,
    kernel: Kernel,
    random: usize,
    seed: u64,
) -> Agreement {
    let mut judge = Judge {
        fib,
        kernel,
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
        judge.compare(address, fib.lookup(address), next_hop);
    }
    judge.ask_all();
    judge.found
}

struct Judge<'a, A> {
    fib: &'a dyn AnyFib<A>,
    kernel: Kernel,
    addresses: Vec<A>,
    expected: Vec<u32>,
    found: Agreement,
}

impl<A: Traveller> Judge<'_, A> {
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
        self.fib
            .lookup_into(self.kernel, &addresses, &mut next_hops);
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
    use crate::any_fib::build;
    use crate::{Algorithm, Empty};
    use popfib::Options;

    fn rib<A: Traveller>(prefixes: &[&str]) -> Rib<A> {
        let mut rib = Rib::new();
        for (next_hop, text) in (1..).zip(prefixes) {
            rib.insert(text.parse().unwrap(), NextHop::new(next_hop).unwrap());
        }
        rib
    }

    #[test]
    fn every_algorithm_agrees_and_none_does_not() {
        let table = rib::<u32>(&["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3/32"]);
        for algorithm in Algorithm::all() {
            let fib = build(&table, algorithm, &Options::default()).unwrap().fib;
            let found = agreement(&table, &*fib, Kernel::best(), 100, 1);
            assert_eq!(found.mismatches, 0, "{algorithm:?}: {found:?}");
            // Seven stretches, one of them a single address.
            assert_eq!(found.addresses, 7 * 3 - 2 + 100);
        }
        let wrong = agreement(&table, &Empty, Kernel::best(), 0, 1);
        assert_eq!(wrong.mismatches, 5 * 3 - 2);
        assert!(wrong.first.is_some_and(|text| text.contains("not 1")));
    }

    #[test]
    fn ipv6_too() {
        let table = rib::<u128>(&["2001:db8::/32", "2001:db8:1::/48", "::/0"]);
        let fib = build(&table, Algorithm::Popfib, &Options::default());
        let found = agreement(&table, &*fib.unwrap().fib, Kernel::best(), 10, 1);
        assert_eq!((found.addresses, found.mismatches), (5 * 3 + 10, 0));
    }
}
