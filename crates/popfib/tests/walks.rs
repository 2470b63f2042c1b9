//! The Rib's walks against a sorted map, on tables in which prefixes meet often.

mod common;

use std::collections::BTreeMap;

use common::random::Random;
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
            let previous = all.iter().rev().find(|(p, _)| *p < probe).copied();
            assert_eq!(rib.previous(probe), previous, "{probe} {rib:?}");
        }
    }
}

#[test]
fn walks_of_every_key_width() {
    walks_agree::<u8>(1, 300, 60);
    walks_agree::<u16>(2, 300, 300);
    walks_agree::<u32>(3, 300, 300);
    walks_agree::<u64>(4, 200, 300);
    walks_agree::<u128>(5, 200, 300);
}

#[test]
fn a_walk_by_prefix_survives_changes() {
    let mut random = Random(6);
    let mut rib: Rib<u32> = (1..=2000)
        .map(|n| (random.prefix(), NextHop::new(n).unwrap()))
        .collect();
    // Removes what it meets, and adds what it must not meet: routes behind it.
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
    // The default route, where the walk starts, is behind it from the beginning.
    assert_eq!(met, len - 1);
    assert_eq!(rib.next(at), None);
}

#[test]
fn an_empty_rib_has_no_walks() {
    let rib = Rib::<u32>::new();
    let probe = "10.0.0.0/8".parse().unwrap();
    assert_eq!(rib.iter().count(), 0);
    assert_eq!(rib.subnets(probe).count() + rib.supernets(probe).count(), 0);
    assert_eq!((rib.next(probe), rib.previous(probe)), (None, None));
    assert!(!rib.overlaps(probe));
}
