//! A `BTreeMap` and a linear scan over it: what a map has to answer. Random changes by every
//! function that changes a map, with lookups and `check` after each.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;

use popfib::{Address, Entry, Options, Own, Prefix, PrefixMap, Shared, Stores};

use crate::common::random::Random;

type Model<A, V> = BTreeMap<Prefix<A>, V>;

fn longest<A: Address, V>(model: &Model<A, V>, address: A) -> Option<(Prefix<A>, &V)> {
    let holds = |(prefix, _): &(&Prefix<A>, &V)| prefix.contains(address);
    let found = model.iter().filter(holds).max_by_key(|(p, _)| p.len())?;
    Some((*found.0, found.1))
}

/// Values that the map may hold: few, so that some are equal.
trait Value: Clone + Debug + Eq + Hash + 'static {
    fn draw(random: &mut Random) -> Self;
    fn change(&mut self);
}

impl Value for u32 {
    fn draw(random: &mut Random) -> Self {
        random.below(5) as u32
    }

    fn change(&mut self) {
        *self = self.wrapping_mul(3) + 1;
    }
}

impl Value for String {
    fn draw(random: &mut Random) -> Self {
        format!("value {}", random.below(4))
    }

    fn change(&mut self) {
        self.push('+');
        if self.len() > 12 {
            self.clear();
        }
    }
}

/// Addresses and prefixes of a small part of the key space, so that they meet.
fn address<A: Address>(random: &mut Random) -> A {
    let bits = u128::from(random.next()) << 64 | u128::from(random.next());
    let sparse = match random.below(3) {
        0 => bits & 0x0303_0303_0303_0303_0303_0303_0303_0303,
        1 => bits & 0x8100_0000_0000_0000_0000_0000_0000_0001,
        _ => bits,
    };
    A::truncate(sparse >> (128 - A::WIDTH))
}

fn prefix<A: Address>(random: &mut Random) -> Prefix<A> {
    let len = random.below(usize::from(A::WIDTH) + 1) as u8;
    Prefix::new_masked(address(random), len).unwrap()
}

/// A prefix that is there, if there is any.
fn there<A: Address, V>(random: &mut Random, model: &Model<A, V>) -> Prefix<A> {
    let near = prefix(random);
    let found = model
        .range(near..)
        .next()
        .or_else(|| model.iter().next_back());
    found.map_or(near, |(prefix, _)| *prefix)
}

fn step<A: Address, V: Value, S: Stores<V>>(
    random: &mut Random,
    map: &mut PrefixMap<A, V, S>,
    model: &mut Model<A, V>,
) {
    let at = if random.below(2) == 0 {
        prefix(random)
    } else {
        there(random, model)
    };
    let value = V::draw(random);
    match random.below(40) {
        0..12 => assert_eq!(map.insert(at, value.clone()), model.insert(at, value)),
        12..14 => assert_eq!(
            map.try_insert(at, value.clone()).unwrap(),
            model.insert(at, value)
        ),
        14..22 => assert_eq!(map.remove(at), model.remove(&at)),
        22..25 => {
            let (found, expected) = (map.get_mut(at), model.get_mut(&at));
            assert_eq!(found.is_some(), expected.is_some());
            if let (Some(mut found), Some(expected)) = (found, expected) {
                assert_eq!(*found, *expected);
                found.change();
                expected.change();
            }
        }
        25..28 => {
            let address = at.last();
            let expected = longest(model, address).map(|(prefix, _)| prefix);
            let found = map.longest_match_mut(address).map(|(prefix, mut value)| {
                value.change();
                prefix
            });
            assert_eq!(found, expected);
            if let Some(prefix) = expected {
                model.get_mut(&prefix).unwrap().change();
            }
        }
        28..32 => entry(random, map, model, at, value),
        32 => {
            let more: Vec<_> = (0..random.below(40))
                .map(|_| (prefix(random), V::draw(random)))
                .collect();
            map.extend(more.clone());
            model.extend(more);
        }
        33 => {
            let keep = |prefix: Prefix<A>| prefix.len() % 5 != 1;
            map.retain(|prefix, _| keep(prefix));
            model.retain(|prefix, _| keep(*prefix));
        }
        34 => {
            let inside: Vec<_> = model.keys().copied().filter(|p| at.covers(p)).collect();
            assert_eq!(map.remove_subnets(at), inside.len());
            model.retain(|prefix, _| !at.covers(prefix));
        }
        35 => {
            let mut met = Vec::new();
            map.for_each_mut(|prefix, value| {
                met.push(prefix);
                if prefix.len() % 2 == 0 {
                    value.change();
                }
            });
            assert!(met.iter().eq(model.keys()));
            let even = model.iter_mut().filter(|(prefix, _)| prefix.len() % 2 == 0);
            even.for_each(|(_, value)| value.change());
        }
        36 if random.below(8) == 0 => {
            assert!(map.drain().eq(std::mem::take(model)));
        }
        37 if random.below(8) == 0 => {
            map.clear();
            model.clear();
        }
        38 => {
            let found = map.covering_mut(at).map(|(prefix, mut value)| {
                value.change();
                prefix
            });
            let expected = model
                .keys()
                .filter(|p| p.covers(&at))
                .max_by_key(|p| p.len());
            let expected = expected.copied();
            assert_eq!(found, expected);
            if let Some(prefix) = expected {
                model.get_mut(&prefix).unwrap().change();
            }
        }
        39 => *map = map.clone(),
        _ => {}
    }
}

fn entry<A: Address, V: Value, S: Stores<V>>(
    random: &mut Random,
    map: &mut PrefixMap<A, V, S>,
    model: &mut Model<A, V>,
    at: Prefix<A>,
    value: V,
) {
    assert_eq!(map.entry(at).key(), at);
    match random.below(5) {
        0 => {
            assert_eq!(
                *map.entry(at).or_insert(value.clone()),
                *model.entry(at).or_insert(value)
            );
        }
        1 => {
            map.entry(at).and_modify(V::change).or_insert(value.clone());
            model.entry(at).and_modify(V::change).or_insert(value);
        }
        2 => {
            map.entry(at).insert_entry(value.clone()).get_mut().change();
            let mut expected = value;
            expected.change();
            model.insert(at, expected);
        }
        _ => match map.entry(at) {
            Entry::Occupied(mut entry) => {
                assert_eq!(entry.get(), &model[&at]);
                assert_eq!(Some(entry.insert(value.clone())), model.insert(at, value));
                if random.below(2) == 0 {
                    let (prefix, value) = entry.remove_entry();
                    assert_eq!((prefix, Some(value)), (at, model.remove(&at)));
                }
            }
            Entry::Vacant(entry) => {
                assert_eq!(model.insert(at, value.clone()), None);
                assert_eq!(*entry.insert(value.clone()), value);
            }
        },
    }
}

/// Every question at one place.
fn hold<A: Address, V: Value, S: Stores<V>>(
    random: &mut Random,
    map: &PrefixMap<A, V, S>,
    model: &Model<A, V>,
) {
    map.check().unwrap();
    assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
    let addresses: Vec<A> = (0..40)
        .map(|n| match n % 3 {
            0 => address(random),
            1 => there(random, model).last(),
            _ => there(random, model).first(),
        })
        .collect();
    let expected: Vec<_> = addresses.iter().map(|a| longest(model, *a)).collect();
    for (address, expected) in addresses.iter().zip(&expected) {
        assert_eq!(map.longest_match(*address), *expected);
        assert_eq!(map.lookup(*address), expected.map(|(_, value)| value));
        let shortest = model.iter().find(|(prefix, _)| prefix.contains(*address));
        assert_eq!(map.shortest_match(*address), shortest.map(|(p, v)| (*p, v)));
    }
    let mut matches = vec![None; addresses.len()];
    map.longest_match_batch(&addresses, &mut matches);
    assert_eq!(matches, expected);
    let mut values = vec![None; addresses.len()];
    map.lookup_batch(&addresses, &mut values);
    assert!(
        values.iter().eq(expected
            .iter()
            .map(|e| e.map(|(_, value)| value))
            .collect::<Vec<_>>()
            .iter())
    );
    let mut prefixes = vec![None; addresses.len()];
    map.prefix_batch(&addresses, &mut prefixes);
    assert!(
        prefixes
            .into_iter()
            .eq(expected.iter().map(|e| e.map(|(prefix, _)| prefix)))
    );

    let at = if random.below(2) == 0 {
        prefix(random)
    } else {
        there(random, model)
    };
    let plain = |(prefix, value): (&Prefix<A>, &V)| (*prefix, value.clone());
    let plain2 = |(prefix, value): (Prefix<A>, &V)| (prefix, value.clone());
    assert_eq!(map.get(at), model.get(&at));
    assert_eq!(map.contains_key(at), model.contains_key(&at));
    let covering = model.iter().filter(|(prefix, _)| prefix.covers(&at));
    let inside = model.iter().filter(|(prefix, _)| at.covers(prefix));
    assert!(
        map.supernets(at)
            .map(plain2)
            .eq(covering.clone().map(plain))
    );
    assert!(map.subnets(at).map(plain2).eq(inside.clone().map(plain)));
    assert_eq!(
        map.covering(at).map(plain2),
        covering.clone().last().map(plain)
    );
    assert_eq!(map.covers(at), covering.clone().next().is_some());
    let overlaps = covering.clone().chain(inside.clone()).next().is_some();
    assert_eq!(map.overlaps(at), overlaps);
    let subtree = map.subtree(at);
    assert_eq!((subtree.prefix(), subtree.value()), (at, model.get(&at)));
    assert_eq!(subtree.is_empty(), inside.clone().next().is_none());
    assert!(subtree.iter().map(plain2).eq(inside.map(plain)));
    let host = address(random);
    let within = longest(model, host).filter(|(prefix, _)| at.covers(prefix));
    assert_eq!(subtree.longest_match(host), within);
    if let Some((left, right)) = subtree.halves() {
        let both = left.iter().chain(right.iter());
        let own = subtree.value().map(|value| (at, value));
        assert!(own.into_iter().chain(both).eq(subtree.iter()));
    }
    let to = prefix(random);
    assert!(map.range(at..).map(plain2).eq(model.range(at..).map(plain)));
    assert!(map.range(..to).map(plain2).eq(model.range(..to).map(plain)));
    assert!(
        map.iter_from(at, false).eq(model
            .range((std::ops::Bound::Excluded(at), std::ops::Bound::Unbounded))
            .map(|(p, v)| (*p, v)))
    );
    if at <= to {
        assert!(
            map.range(at..=to)
                .map(plain2)
                .eq(model.range(at..=to).map(plain))
        );
    }
    assert_eq!(map.first().map(plain2), model.first_key_value().map(plain));
    assert_eq!(map.last().map(plain2), model.last_key_value().map(plain));
}

/// What takes a while: whole walks, and conversions.
fn hold_all<A: Address, V: Value, S: Stores<V>>(map: &PrefixMap<A, V, S>, model: &Model<A, V>) {
    assert!(
        map.iter()
            .eq(model.iter().map(|(prefix, value)| (*prefix, value)))
    );
    assert_eq!(map.iter().len(), model.len());
    assert!(map.keys().eq(model.keys().copied()) && map.values().eq(model.values()));
    assert_eq!(format!("{map:?}"), format!("{model:?}"));
    let collected: PrefixMap<A, V, S> = model.iter().map(|(p, v)| (*p, v.clone())).collect();
    assert_eq!(collected, *map);
    collected.check().unwrap();
    assert!(collected.into_iter().eq(model.clone()));
    assert!(map.clone().into_keys().eq(model.keys().copied()));
    assert!(map.clone().into_values().eq(model.values().cloned()));
}

fn run<A: Address, V: Value, S: Stores<V>>(options: Options, seed: u64, steps: usize) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut map = PrefixMap::with_options(options);
    let mut model = Model::new();
    for at in 0..steps {
        step::<A, V, S>(&mut random, &mut map, &mut model);
        hold(&mut random, &map, &model);
        if at % 50 == 0 {
            hold_all(&map, &model);
        }
    }
}

fn widths<V: Value, S: Stores<V>>(seed: u64, steps: usize) {
    for options in [
        Options::default(),
        Options::default().direct_bits(Some(7)),
        Options::default().direct_bits(Some(0)).aggregation(false),
    ] {
        run::<u8, V, S>(options.clone(), seed, steps);
        run::<u16, V, S>(options.clone(), seed + 1, steps);
        run::<u32, V, S>(options.clone(), seed + 2, steps);
        run::<u64, V, S>(options.clone(), seed + 3, steps);
        run::<u128, V, S>(options.clone(), seed + 4, steps);
    }
    run::<u64, V, S>(Options::default().direct_bits(Some(18)), seed, steps / 8);
    run::<u128, V, S>(Options::default().direct_bits(Some(20)), seed, steps / 8);
}

#[test]
fn own_values() {
    widths::<u32, Own>(1, 400);
    widths::<String, Own>(2, 200);
}

#[test]
fn shared_values() {
    widths::<u32, Shared>(3, 400);
    widths::<String, Shared>(4, 200);
}
