//! Property tests of maps: random routes over every key width from 1 to 128, collected, inserted one
//! by one and removed again, against the oracle; and random changes beside prefix-trie's map.

use crate::cases;
use crate::judge::with_key;
use crate::maps::{ask, longest};
use crate::oracle::{Oracle, Route};
use crate::probes::{self, key};
use crate::properties::{Case, case};
use crate::tables::{self, Random};
use popfib::map::{Own, Shared, Stores};
use popfib::{Address, Options, Prefix, PrefixMap};
use proptest::prelude::*;

fn route<A: Address>(route: &Route) -> (Prefix<A>, u32) {
    let prefix = Prefix::new(key(route.bits), route.len).unwrap();
    (prefix, route.next_hop)
}

/// Everything that a map says of addresses and of the prefixes of `routes`.
fn judge<A: Address, S: Stores<u32>>(
    map: &PrefixMap<A, u32, S>,
    oracle: &Oracle,
    routes: &[Route],
    probes: &[A],
) {
    map.check().unwrap();
    let expected: Vec<_> = probes.iter().map(|key| longest(oracle, *key)).collect();
    ask(map, probes, &expected);
    let sorted: Vec<(Prefix<A>, u32)> = oracle.sorted().iter().map(route).collect();
    assert!(map.iter().eq(sorted.iter().map(|(p, v)| (*p, v))));
    for at in routes.iter().take(40).map(|r| route::<A>(r).0) {
        let covering = sorted.iter().filter(|(prefix, _)| prefix.covers(&at));
        let inside = sorted.iter().filter(|(prefix, _)| at.covers(prefix));
        assert!(map.supernets(at).eq(covering.map(|(p, v)| (*p, v))));
        assert!(map.subnets(at).eq(inside.map(|(p, v)| (*p, v))));
    }
}

fn follow<A: Address, S: Stores<u32>>(case: &Case) {
    let mut random = Random::new(case.seed);
    let probes = probes::mixed::<A>(&mut random, &case.routes, 32);
    let options = Options::default().direct_bits(Some(case.direct_bits.min(A::WIDTH)));
    let mut map = PrefixMap::<A, u32, S>::with_options(options.clone());
    let mut oracle = Oracle::default();
    let stop = case.routes.len() / 2;
    for (at, r) in case.routes.iter().enumerate() {
        let (prefix, value) = route(r);
        assert_eq!(map.insert(prefix, value), oracle.insert(*r));
        if at == stop {
            judge(&map, &oracle, &case.routes, &probes);
        }
    }
    judge(&map, &oracle, &case.routes, &probes);
    let mut collected = PrefixMap::<A, u32, S>::with_options(options);
    collected.extend(case.routes.iter().map(route));
    assert_eq!(collected, map);
    judge(&collected, &oracle, &case.routes, &probes);
    // In order, when changes wait below one entry of the table.
    map.clear();
    for r in oracle.sorted() {
        let (prefix, value) = route(&r);
        assert_eq!(map.insert(prefix, value), None);
    }
    assert_eq!(collected, map);
    judge(&map, &oracle, &case.routes, &probes);
    for r in case.routes.iter().step_by(2) {
        assert_eq!(map.remove(route(r).0), oracle.remove(*r));
    }
    judge(&map, &oracle, &case.routes, &probes);
}

fn both<A: Address>(case: &Case) {
    follow::<A, Own>(case);
    follow::<A, Shared>(case);
}

#[test]
fn maps_of_one_to_three_routes() {
    let config = ProptestConfig::with_cases(cases(2_000));
    proptest!(config, |(case in case(1..=3))| {
        with_key!(case.width, both(&case));
    });
}

#[test]
fn maps_of_many_routes() {
    let config = ProptestConfig::with_cases(cases(300));
    proptest!(config, |(case in case(4..=200))| {
        with_key!(case.width, both(&case));
    });
}

/// Random changes of two maps, ours and prefix-trie's, which share no code.
fn beside_prefix_trie<A: Address, S: Stores<u32>>(seed: u64)
where
    (A, u8): prefix_trie::Prefix,
{
    let plain = |(prefix, value): (Prefix<A>, &u32)| ((prefix.address(), prefix.len()), *value);
    let theirs = |(prefix, value): ((A, u8), &u32)| (prefix, *value);
    let mut random = Random::new(seed);
    for _ in 0..cases(40) {
        let count = random.between(1, 1_000);
        let routes = tables::mixed(&mut random, A::WIDTH, count as usize);
        let probes = probes::mixed::<A>(&mut random, &routes, 300);
        let mut map = PrefixMap::<A, u32, S>::default();
        let mut trie = prefix_trie::PrefixMap::<(A, u8), u32>::new();
        for step in 0..2 * routes.len() {
            let (prefix, value) = route::<A>(&routes[random.between(0, count - 1) as usize]);
            let (peer, address) = (
                (prefix.address(), prefix.len()),
                probes[step % probes.len()],
            );
            if random.between(0, 2) > 0 {
                assert_eq!(map.insert(prefix, value), trie.insert(peer, value));
            } else {
                assert_eq!(map.remove(prefix), trie.remove(&peer));
            }
            let found = trie.get_lpm(&(address, A::WIDTH)).map(theirs);
            assert_eq!(map.longest_match(address).map(plain), found, "{address:?}");
            let shortest = trie.get_spm(&(address, A::WIDTH)).map(theirs);
            assert_eq!(map.shortest_match(address).map(plain), shortest);
            let covering = trie.get_lpm(&peer).map(theirs);
            assert_eq!(map.covering(prefix).map(plain), covering, "{prefix}");
            assert!(
                map.supernets(prefix)
                    .map(plain)
                    .eq(trie.cover(&peer).map(theirs))
            );
            let tiled = trie.is_covered_in_aggregate(&peer);
            assert_eq!(map.covers_all(prefix), tiled, "{prefix}");
            if step % 8 == 0 {
                assert!(
                    map.subnets(prefix)
                        .map(plain)
                        .eq(trie.children(&peer).map(theirs))
                );
                let from = trie.iter_from(&peer, true).map(theirs).take(20);
                assert!(map.range(prefix..).map(plain).take(20).eq(from));
            }
        }
        assert!(map.iter().map(plain).eq(trie.iter().map(theirs)));
        map.check().unwrap();
    }
}

#[test]
fn maps_beside_prefix_trie() {
    beside_prefix_trie::<u32, Own>(17);
    beside_prefix_trie::<u32, Shared>(18);
    beside_prefix_trie::<u128, Own>(19);
    beside_prefix_trie::<u128, Shared>(20);
}
