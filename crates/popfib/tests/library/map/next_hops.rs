//! Maps to next hops, beside a `BTreeMap` and a linear scan over it.

use popfib::{Address, CompileError, NextHop, NextHopMap, Prefix};

use crate::common::model::{
    self, Wide, covering, inside, longest, narrow, random_there, rows, same, wide,
};
use crate::common::random::Random;
use crate::common::rounds::rounds;

type Model = model::Model<NextHop>;

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

fn plain<A: Address>((prefix, next_hop): (Prefix<A>, NextHop)) -> (Wide, NextHop) {
    (wide(prefix), next_hop)
}

fn owned(rows: Vec<(Wide, &NextHop)>) -> Vec<(Wide, NextHop)> {
    let owned = rows
        .into_iter()
        .map(|(prefix, next_hop)| (prefix, *next_hop));
    owned.collect()
}

fn hold<A: Address>(random: &mut Random, map: &NextHopMap<A>, model: &Model) {
    map.check().unwrap();
    assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
    let at: [Prefix<A>; 3] = [
        random.prefix(),
        random_there(random, model),
        random_there(random, model),
    ];
    let addresses: Vec<A> = at.iter().flat_map(|p| [p.first(), p.last()]).collect();
    let mut expected = Vec::new();
    for &address in &addresses {
        let longest = longest(model, address).map(|(prefix, next_hop)| (prefix, *next_hop));
        assert_eq!(map.longest_match(address).map(plain), longest);
        assert_eq!(map.lookup(address), longest.map(|(_, n)| n));
        expected.push(longest);
    }
    // More than are looked up at a time.
    let many = addresses.repeat(50);
    let mut next_hops = vec![0; many.len()];
    map.lookup_batch(&many, &mut next_hops);
    for (at, next_hop) in next_hops.into_iter().enumerate() {
        let expected = expected[at % expected.len()];
        assert_eq!(next_hop, expected.map_or(0, |(_, n)| n.get()));
    }
    let mut found = 0;
    map.longest_match_each(&many, |at, matched| {
        assert_eq!(at, found);
        assert_eq!(matched.map(plain), expected[at % expected.len()]);
        found += 1;
    });
    assert_eq!(found, many.len());
    for at in at {
        let key = wide(at);
        assert_eq!(map.get(at), model.get(&key).copied());
        same(map.supernets(at).map(plain), owned(covering(model, key)));
        same(map.subnets(at).map(plain), owned(inside(model, key)));
        let after = model.range(key..).find(|(prefix, _)| **prefix != key);
        assert_eq!(map.next(at).map(plain), after.map(|(p, n)| (*p, *n)));
    }
}

fn run<A: Address>(seed: u64) {
    let mut random = Random(seed);
    let (mut map, mut model) = (NextHopMap::<A>::new(), Model::new());
    for step in 0..rounds(150, 600) {
        let at: Prefix<A> = match random.below(2) {
            0 => random.prefix(),
            _ => random_there(&mut random, &model),
        };
        let key = wide(at);
        match random.below(20) {
            0..9 => {
                let new = draw::<A>(&mut random);
                assert_eq!(map.insert(at, new), Ok(model.insert(key, new)));
            }
            9..17 => assert_eq!(map.remove(at), model.remove(&key)),
            17 => {
                let mut more: Vec<_> = (0..random.below(60))
                    .map(|_| (random.prefix(), draw::<A>(&mut random)))
                    .collect();
                // As files are: in order.
                if step % 2 == 0 {
                    more.sort_unstable();
                }
                map.extend(more.iter().copied()).unwrap();
                model.extend(more.into_iter().map(plain));
            }
            18 => {
                let kept = map.clone();
                map.remove(at);
                map = kept;
                if step % 2 == 0 {
                    let rib = model.iter().map(|(p, n)| (narrow(*p), *n)).collect();
                    map = NextHopMap::from_rib(rib).unwrap();
                }
            }
            _ => same(map.iter().map(plain), owned(rows(&model))),
        }
        hold(&mut random, &map, &model);
    }
    for prefix in model.keys() {
        assert!(map.remove(narrow(*prefix)).is_some());
    }
    assert!(map.is_empty() && map.first().is_none());
    assert_eq!(format!("{map:?}"), "{}");
    map.check().unwrap();
}

#[test]
fn changes_and_lookups_of_three_widths() {
    for seed in 1..3 {
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
