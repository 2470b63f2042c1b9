//! Maps to next hops, beside a `BTreeMap` and a linear scan over it.

use std::collections::BTreeMap;

use popfib::{Address, CompileError, NextHop, NextHopMap, Prefix};

use crate::common::random::Random;

type Model<A> = BTreeMap<Prefix<A>, NextHop>;

fn next_hop(number: u32) -> NextHop {
    NextHop::new(number).unwrap()
}

/// Few next hops, and the highest.
fn draw<A: Address>(random: &mut Random) -> NextHop {
    next_hop(match random.below(5) {
        0 => NextHopMap::<A>::MAX - random.below(3) as u32,
        n => n as u32,
    })
}

/// A prefix that is there, if there is any after a random one.
fn there<A: Address>(random: &mut Random, model: &Model<A>) -> Prefix<A> {
    let near = random.prefix();
    let found = model.range(near..).next();
    found.map_or(near, |(prefix, _)| *prefix)
}

fn hold<A: Address>(random: &mut Random, map: &NextHopMap<A>, model: &Model<A>) {
    map.check().unwrap();
    assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
    let at = [random.prefix(), there(random, model), there(random, model)];
    let addresses: Vec<A> = at.iter().flat_map(|p| [p.first(), p.last()]).collect();
    let expected = addresses.iter().map(|address| {
        let holds = model.iter().filter(|(prefix, _)| prefix.contains(*address));
        let longest = holds.max_by_key(|(prefix, _)| prefix.len());
        longest.map(|(prefix, next_hop)| (*prefix, *next_hop))
    });
    let expected: Vec<_> = expected.collect();
    for (address, expected) in addresses.iter().zip(&expected) {
        assert_eq!(map.longest_match(*address), *expected);
        assert_eq!(map.lookup(*address), expected.map(|(_, n)| n));
    }
    // More than are looked up at a time.
    let (many, expected_many) = (addresses.repeat(50), expected.repeat(50));
    let mut next_hops = vec![0; many.len()];
    map.lookup_batch(&many, &mut next_hops);
    let numbers = expected_many.iter().map(|e| e.map_or(0, |(_, n)| n.get()));
    assert!(next_hops.into_iter().eq(numbers));
    let mut found = Vec::new();
    map.longest_match_each(&many, |at, matched| {
        assert_eq!(at, found.len());
        found.push(matched);
    });
    assert_eq!(found, expected_many);
    for at in at {
        let route = |(prefix, next_hop): (&Prefix<A>, &NextHop)| (*prefix, *next_hop);
        let covering = model.iter().filter(|(prefix, _)| prefix.covers(&at));
        let inside = model.iter().filter(|(prefix, _)| at.covers(prefix));
        assert_eq!(map.get(at), model.get(&at).copied());
        assert!(map.supernets(at).eq(covering.map(route)));
        assert!(map.subnets(at).eq(inside.map(route)));
        let after = model.range(at..).find(|(prefix, _)| **prefix != at);
        assert_eq!(map.next(at), after.map(route));
    }
}

fn run<A: Address>(seed: u64) {
    let mut random = Random(seed);
    let (mut map, mut model) = (NextHopMap::<A>::new(), Model::<A>::new());
    for step in 0..600 {
        let at = match random.below(2) {
            0 => random.prefix(),
            _ => there(&mut random, &model),
        };
        match random.below(20) {
            0..9 => {
                let new = draw::<A>(&mut random);
                assert_eq!(map.insert(at, new), Ok(model.insert(at, new)));
            }
            9..17 => assert_eq!(map.remove(at), model.remove(&at)),
            17 => {
                let mut more: Vec<_> = (0..random.below(60))
                    .map(|_| (random.prefix(), draw::<A>(&mut random)))
                    .collect();
                // As files are: in order.
                if step % 2 == 0 {
                    more.sort();
                }
                map.extend(more.iter().copied()).unwrap();
                model.extend(more);
            }
            18 => {
                let kept = map.clone();
                map.remove(at);
                map = kept;
                if step % 2 == 0 {
                    map = NextHopMap::from_rib(model.iter().map(|(p, n)| (*p, *n)).collect())
                        .unwrap();
                }
            }
            _ => assert!(map.iter().eq(model.iter().map(|(p, n)| (*p, *n)))),
        }
        hold(&mut random, &map, &model);
    }
    for prefix in model.keys() {
        assert!(map.remove(*prefix).is_some());
    }
    assert!(map.is_empty() && map.first().is_none());
    assert_eq!(format!("{map:?}"), "{}");
    map.check().unwrap();
}

#[test]
fn changes_and_lookups_of_every_width() {
    for seed in 1..3 {
        run::<u8>(seed);
        run::<u16>(seed);
        run::<u32>(seed);
        run::<u64>(seed);
        run::<u128>(seed);
    }
}

#[test]
fn next_hops_that_a_leaf_cannot_hold_change_nothing() {
    let mut map = NextHopMap::<u128>::new();
    let prefix = |n: u128| Prefix::new(n << 64, 64).unwrap();
    let max = NextHopMap::<u128>::MAX;
    map.insert(prefix(1), next_hop(max)).unwrap();
    let refused = CompileError::NextHop {
        next_hop: max + 1,
        max,
    };
    assert_eq!(
        map.insert(prefix(1), next_hop(max + 1)),
        Err(refused.clone())
    );
    let routes = [(2, 7), (3, max + 1), (4, 7)].map(|(n, to)| (prefix(n), next_hop(to)));
    assert_eq!(map.extend(routes), Err(refused.clone()));
    let rib = routes.into_iter().collect();
    assert_eq!(NextHopMap::from_rib(rib).unwrap_err(), refused);
    // Those before it are there.
    let expected = [(prefix(1), next_hop(max)), (prefix(2), next_hop(7))];
    assert!(map.iter().eq(expected));
    assert_eq!(map.lookup(prefix(2).last()), Some(next_hop(7)));
    assert_eq!(map.lookup(prefix(3).last()), None);
    map.check().unwrap();
}

#[test]
fn long_batches_are_looked_up_in_parts() {
    let prefix = |n: u32| Prefix::new(n << 16, 16).unwrap();
    let mut map = NextHopMap::<u32>::new();
    map.extend((0..3000).map(|n| (prefix(n), next_hop(n + 1))))
        .unwrap();
    // The entry of this change sends lookups to the routes.
    map.insert(prefix(1 << 15), next_hop(9)).unwrap();
    let addresses: Vec<u32> = (0..20_001u32)
        .map(|n| n.wrapping_mul(0x9e37_79b9))
        .collect();
    let mut next_hops = vec![0; addresses.len()];
    map.lookup_batch(&addresses, &mut next_hops);
    for (address, found) in addresses.iter().zip(next_hops) {
        assert_eq!(NextHop::new(found), map.lookup(*address));
    }
}
