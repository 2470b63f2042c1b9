//! Random sequences of Rib operations against a map of prefixes and the oracle.

use crate::cases;
use crate::forms::Form;
use crate::judge::prefix;
use crate::oracle::{Oracle, Route};
use crate::probes::{bits, boundaries, key};
use crate::tables::{self, Random};
use popfib::{Address, NextHop, Prefix, Rib};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What to do; `pick` chooses a prefix of a small pool, so that operations meet.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Insert { pick: usize, next_hop: u32 },
    Remove { pick: usize },
    Get { pick: usize },
    LongestMatch { pick: usize, behind: u64 },
    Iterate,
    Clear,
}

fn operation() -> impl Strategy<Value = Operation> {
    let pick = 0..256usize;
    prop_oneof![
        20 => (pick.clone(), 1..=u32::MAX)
            .prop_map(|(pick, next_hop)| Operation::Insert { pick, next_hop }),
        14 => pick.clone().prop_map(|pick| Operation::Remove { pick }),
        6 => pick.clone().prop_map(|pick| Operation::Get { pick }),
        10 => (pick, any::<u64>())
            .prop_map(|(pick, behind)| Operation::LongestMatch { pick, behind }),
        2 => Just(Operation::Iterate),
        1 => Just(Operation::Clear),
    ]
}

/// A Rib, and beside it what it should hold, twice: as a map and as the oracle.
struct Trio<A: Address> {
    rib: Rib<A>,
    map: BTreeMap<Prefix<A>, NextHop>,
    oracle: Oracle,
}

impl<A: Address> Trio<A> {
    fn new() -> Self {
        Self {
            rib: Rib::new(),
            map: BTreeMap::new(),
            oracle: Oracle::default(),
        }
    }

    fn insert(&mut self, route: Route) {
        let next_hop = NextHop::new(route.next_hop).unwrap();
        let replaced = self.rib.insert(prefix(route), next_hop);
        assert_eq!(replaced, self.map.insert(prefix(route), next_hop));
        self.oracle.insert(route);
    }

    fn remove(&mut self, route: Route) {
        let removed = self.rib.remove(prefix(route));
        assert_eq!(removed, self.map.remove(&prefix(route)));
        self.oracle.remove(route);
    }

    fn ask(&self, address: A) {
        let expected = self.oracle.longest_match(bits(address));
        let expected = expected.map(|r| (prefix(r), NextHop::new(r.next_hop).unwrap()));
        assert_eq!(self.rib.longest_match(address), expected, "{address:?}");
        assert_eq!(
            self.rib.lookup(address),
            expected.map(|(_, next_hop)| next_hop)
        );
    }

    fn same_routes(&self) {
        assert!(self.rib.iter().eq(self.map.iter().map(|(&p, &n)| (p, n))));
        assert_eq!(self.rib.len(), self.map.len());
        assert_eq!(self.rib.is_empty(), self.map.is_empty());
    }

    fn run(&mut self, pool: &[Route], operation: Operation) {
        let picked = |pick: usize| pool[pick % pool.len()];
        match operation {
            Operation::Insert { pick, next_hop } => self.insert(Route {
                next_hop,
                ..picked(pick)
            }),
            Operation::Remove { pick } => self.remove(picked(pick)),
            Operation::Get { pick } => {
                let prefix = prefix(picked(pick));
                assert_eq!(self.rib.get(prefix), self.map.get(&prefix).copied());
            }
            Operation::LongestMatch { pick, behind } => {
                let route = picked(pick);
                let inside = Random::new(behind).under(route.bits, route.len);
                self.ask(key(inside));
            }
            Operation::Iterate => self.same_routes(),
            Operation::Clear => {
                self.rib.clear();
                self.map.clear();
                self.oracle = Oracle::default();
            }
        }
        assert_eq!(self.rib.len(), self.map.len());
    }
}

fn short_sequences<A: Address>() {
    let config = ProptestConfig::with_cases(cases(1_000));
    proptest!(config, |(seed: u64, size in 1..48usize, operations in vec(operation(), 1..200))| {
        let pool = tables::mixed(&mut Random::new(seed), A::WIDTH, size);
        let mut trio = Trio::<A>::new();
        for operation in operations {
            trio.run(&pool, operation);
        }
        trio.same_routes();
        for address in boundaries(&pool) {
            trio.ask(address);
        }
    });
}

/// Fills and drains one Rib many times; its memory must not grow with the rounds.
fn fill_and_drain<A: Address>() {
    let empty = Rib::<A>::new().bytes();
    let mut random = Random::new(6);
    let pool = tables::mixed(&mut random, A::WIDTH, 400);
    let mut trio = Trio::<A>::new();
    let (mut first_full, mut first_drained) = (0, 0);
    for round in 0..30 {
        for &route in &pool {
            trio.insert(route);
        }
        trio.same_routes();
        let full = trio.rib.bytes();
        // Another order every round: by turns as inserted, reversed, by length, shuffled.
        let mut order = pool.clone();
        match round % 4 {
            0 => {}
            1 => order.reverse(),
            2 => order.sort_by_key(|r| r.len),
            _ => order.sort_by_cached_key(|_| random.bits()),
        }
        for (done, &route) in order.iter().enumerate() {
            trio.remove(route);
            if done % 50 == 0 {
                trio.same_routes();
                trio.ask(key(random.under(route.bits, route.len)));
            }
        }
        assert!(trio.rib.is_empty());
        assert_eq!(trio.rib.len(), 0);
        assert_eq!(trio.rib.iter().next(), None);
        assert_eq!(trio.rib.lookup(A::MIN), None);
        let drained = trio.rib.bytes();
        if round == 0 {
            (first_full, first_drained) = (full, drained);
        }
        // Not equality: a store may keep room for another order of the same routes.
        assert!(
            full <= 2 * first_full,
            "{full} bytes in round {round}, {first_full} at first"
        );
        assert!(
            drained <= 2 * first_drained.max(empty),
            "{drained} bytes drained in round {round}, {first_drained} at first"
        );
    }
    trio.rib.clear();
    assert!(trio.rib.bytes() <= first_full);
}

/// Routes come and go while their number stays: memory must not creep up, and be
/// near that of a Rib that never held others.
fn churn<A: Address>() {
    let mut random = Random::new(20);
    let mut trio = Trio::<A>::new();
    let mut held = Vec::new();
    for step in 0..20_000 {
        let len = random.len(1, A::WIDTH);
        // Half of them close together, half anywhere.
        let bits = random.wide() >> (step % 2 * u32::from(A::WIDTH / 4));
        let route = Route::new(bits, len, step + 1);
        trio.insert(route);
        held.push(route);
        if held.len() > 300 {
            let at = random.between(0, 300) as usize;
            trio.remove(held.swap_remove(at));
        }
        if step % 1_000 == 0 {
            trio.same_routes();
            // Not collected, which leaves no room for more.
            let mut fresh = Rib::new();
            for (&prefix, &next_hop) in &trio.map {
                fresh.insert(prefix, next_hop);
            }
            let (bytes, fresh) = (trio.rib.bytes(), fresh.bytes());
            assert!(
                bytes <= 2 * fresh + 1_024,
                "{bytes} bytes, {fresh} when fresh"
            );
        }
    }
}

/// Routes come and go; in between the table is compiled and everything is asked.
fn compiled_between_changes<A: Address>() {
    let mut random = Random::new(7);
    for _ in 0..cases(40) {
        let pool = tables::mixed(&mut random, A::WIDTH, 60);
        let mut trio = Trio::<A>::new();
        for step in 0..200 {
            let route = pool[random.between(0, pool.len() as u32 - 1) as usize];
            if random.between(0, 2) < 2 {
                let next_hop = random.between(1, 4);
                trio.insert(Route { next_hop, ..route });
            } else {
                trio.remove(route);
            }
            if step % 20 != 0 {
                continue;
            }
            let form = Form::new(random.between(0, Form::COUNT as u32 - 1) as usize);
            let s = random.len(0, A::WIDTH.min(12));
            let fib = form.compile(&trio.rib, Some(s)).unwrap();
            fib.check().unwrap();
            for address in boundaries::<A>(&pool) {
                let expected = trio.oracle.longest_match(bits(address));
                let expected = expected.map_or(0, |r| r.next_hop);
                assert_eq!(fib.lookup(address), expected, "{form:?} s={s} {address:?}");
            }
        }
    }
}

/// Collected at once, in order up to some place: the same routes as by inserts, and a Rib that changes as well.
fn collected<A: Address>() {
    let mut random = Random::new(46);
    for case in 0..cases(300) {
        let size = random.between(1, 300) as usize;
        let mut pool = tables::mixed(&mut random, A::WIDTH, size);
        pool.sort_by_key(|&route| prefix::<A>(route));
        // Equal prefixes stay or go; then some are out of order, from a place that may be the end.
        if case % 2 == 0 {
            pool.dedup_by_key(|route| prefix::<A>(*route));
        }
        let from = random.between(0, pool.len() as u32) as usize;
        if case % 3 == 0 {
            pool[from..].reverse();
        }
        let mut trio = Trio::<A>::new();
        for &route in &pool {
            trio.insert(route);
        }
        let next_hop = |route: &Route| NextHop::new(route.next_hop).unwrap();
        let routes = pool.iter().map(|route| (prefix(*route), next_hop(route)));
        let rib: Rib<A> = routes.collect();
        assert_eq!(rib, trio.rib);
        assert_eq!(rib.next_hop_bound(), trio.rib.next_hop_bound());
        trio.rib = rib;
        for address in boundaries(&pool) {
            trio.ask(address);
        }
        for step in 1..=pool.len() {
            let at = random.between(0, pool.len() as u32 - 1) as usize;
            if step % 3 == 0 {
                trio.insert(pool[at]);
            } else {
                trio.remove(pool[at]);
            }
        }
        trio.same_routes();
    }
}

macro_rules! for_key {
    ($($key:ident)*) => {$(
        mod $key {
            #[test]
            fn short_sequences() {
                super::short_sequences::<$key>();
            }

            #[test]
            fn fill_and_drain() {
                super::fill_and_drain::<$key>();
            }

            #[test]
            fn churn() {
                super::churn::<$key>();
            }

            #[test]
            fn collected() {
                super::collected::<$key>();
            }

            #[test]
            fn compiled_between_changes() {
                super::compiled_between_changes::<$key>();
            }
        }
    )*};
}
for_key!(u8 u16 u32 u64 u128);
