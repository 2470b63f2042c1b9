//! The Rib's walks against a sorted map, on tables in which prefixes meet often.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::random::Random;
use popfib::{Address, NextHop, Prefix, Rib};

fn walks_agree<A: Address>(seed: u64, tables: usize, routes: u32) {
    let mut random = Random(seed);
    for table in 0..tables {
        let mut rib = Rib::<A>::new();
        let mut model = BTreeMap::new();
        for n in 1..=1 + (table as u32 * 7) % routes {
            let (prefix, next_hop) = (random.prefix::<A>(), NextHop::new(n).unwrap());
            assert_eq!(rib.insert(prefix, next_hop), model.insert(prefix, next_hop));
        }
        let all: Vec<_> = model.iter().map(|(p, n)| (*p, *n)).collect();
        assert!(rib.iter().eq(all.iter().copied()));
        assert_eq!(rib.first(), all.first().copied());
        assert_eq!(rib.last(), all.last().copied());
        for step in 0..40 {
            // Half of the time a prefix with a route, a parent or a neighbour of one.
            let probe = if step % 2 == 0 {
                random.prefix::<A>()
            } else {
                let there = all[random.next() as usize % all.len()].0;
                let len = there.len().saturating_sub((random.next() % 8) as u8);
                Prefix::new_masked(there.address(), len).unwrap()
            };
            let covering: Vec<_> = all
                .iter()
                .filter(|(p, _)| p.covers(&probe))
                .copied()
                .collect();
            let covered: Vec<_> = all
                .iter()
                .filter(|(p, _)| probe.covers(p))
                .copied()
                .collect();
            assert!(
                rib.subnets(probe).eq(covered.iter().copied()),
                "{probe} {rib:?}"
            );
            assert!(
                rib.supernets(probe).eq(covering.iter().copied()),
                "{probe} {rib:?}"
            );
            let overlaps = !covering.is_empty() || !covered.is_empty();
            assert_eq!(rib.overlaps(probe), overlaps);
            let shortest = all
                .iter()
                .find(|(p, _)| p.contains(probe.address()))
                .copied();
            assert_eq!(rib.shortest_match(probe.address()), shortest);
            let next = all.iter().find(|(p, _)| *p > probe).copied();
            assert_eq!(rib.next(probe), next, "{probe} {rib:?}");
        }
    }
}

// A width whose last level has four bits, as that of 64 has, and two whose last level has two: each takes long to compile.
#[test]
fn walks_against_a_sorted_map() {
    walks_agree::<u16>(2, 300, 300);
    walks_agree::<u32>(3, 300, 300);
    walks_agree::<u128>(5, 200, 300);
}

#[test]
fn a_walk_by_prefix_survives_changes() {
    let mut random = Random(6);
    let mut rib: Rib<u32> = (1..=2000)
        .map(|n| (random.prefix(), NextHop::new(n).unwrap()))
        .collect();
    // Removes what it meets, and adds what it must not meet: routes after it.
    let mut at = Prefix::DEFAULT_ROUTE;
    let (len, mut met) = (rib.len(), 0);
    while let Some((prefix, _)) = rib.next(at) {
        assert!(prefix > at);
        rib.remove(prefix);
        let behind = Prefix::new_masked(at.address(), at.len()).unwrap();
        rib.insert(behind, NextHop::MIN);
        met += 1;
        at = prefix;
    }
    // The default route, where the walk starts, is after it from the beginning.
    assert_eq!(met, len - 1);
    assert_eq!(rib.next(at), None);
}

/// Random changes between the steps: what is there throughout is
/// met once, in order, and nothing else is but what is there at that time.
fn a_walk_survives<A: Address>(seed: u64) {
    let mut random = Random(seed);
    for round in 0..60 {
        let pool: Vec<Prefix<A>> = (0..2 + round * 4).map(|_| random.prefix()).collect();
        let mut rib = Rib::<A>::new();
        // Those that nobody touches, and those that come and go.
        let (steady, moving): (Vec<_>, Vec<_>) =
            pool.iter().enumerate().partition(|(n, _)| n % 3 == 0);
        let steady: BTreeSet<_> = steady.into_iter().map(|(_, p)| *p).collect();
        let moving: Vec<_> = moving
            .into_iter()
            .map(|(_, p)| *p)
            .filter(|p| !steady.contains(p))
            .collect();
        rib.extend(steady.iter().map(|p| (*p, NextHop::MAX)));
        let mut met = Vec::new();
        let mut at = rib.first();
        let mut steps = 0;
        while let Some((prefix, next_hop)) = at {
            assert_eq!(rib.get(prefix), Some(next_hop));
            assert!(met.last().is_none_or(|last| prefix > *last));
            met.push(prefix);
            for _ in 0..random.below(6) {
                let Some(&change) = moving.get(random.below(moving.len().max(1))) else {
                    break;
                };
                if rib.remove(change).is_none() {
                    steps += 1;
                    rib.insert(change, NextHop::new(steps).unwrap());
                }
            }
            at = rib.next(prefix);
        }
        met.retain(|prefix| steady.contains(prefix));
        assert!(met.iter().eq(steady.iter()));
    }
}

#[test]
fn walks_between_random_changes() {
    a_walk_survives::<u16>(12);
    a_walk_survives::<u32>(13);
    a_walk_survives::<u128>(15);
}

#[test]
fn an_empty_rib_has_no_walks() {
    let rib = Rib::<u32>::new();
    let probe = "10.0.0.0/8".parse().unwrap();
    assert_eq!(rib.iter().count(), 0);
    assert_eq!(rib.subnets(probe).count() + rib.supernets(probe).count(), 0);
    assert_eq!(rib.next(probe), None);
    assert_eq!((rib.first(), rib.last()), (None, None));
    assert!(!rib.overlaps(probe));
}
