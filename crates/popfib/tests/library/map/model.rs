//! A `BTreeMap` and a linear scan over it: what a map has to answer. Random changes by every
//! function that changes a map, with lookups and `check` after each.

use std::fmt::{self, Debug};
use std::hash::Hash;
use std::ops::Bound;

use popfib::map::{Entry, Own, Shared, Stores};
use popfib::{Address, Options, Prefix, PrefixMap};

use crate::common::model::{
    Model, Wide, covering, inside, longest, narrow, rows, same, there, wide,
};
use crate::common::random::Random;
use crate::common::rounds::rounds;

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
fn near<A: Address, V>(random: &mut Random, model: &Model<V>) -> Prefix<A> {
    narrow(there(model, wide::<A>(prefix(random))))
}

fn any<A: Address, V>(random: &mut Random, model: &Model<V>) -> Prefix<A> {
    if random.below(2) == 0 {
        prefix(random)
    } else {
        near(random, model)
    }
}

/// Changes the value of a route of the model.
fn change<V: Value>(model: &mut Model<V>, prefix: Option<Wide>) {
    if let Some(prefix) = prefix {
        model.get_mut(&prefix).unwrap().change();
    }
}

fn step<A: Address, V: Value, S: Stores<V>>(
    random: &mut Random,
    map: &mut PrefixMap<A, V, S>,
    model: &mut Model<V>,
) {
    let at = any(random, model);
    let key = wide(at);
    let value = V::draw(random);
    match random.below(40) {
        0..12 => assert_eq!(map.insert(at, value.clone()), model.insert(key, value)),
        12..14 => assert_eq!(
            map.try_insert(at, value.clone()).unwrap(),
            model.insert(key, value)
        ),
        14..22 => assert_eq!(map.remove(at), model.remove(&key)),
        22..25 => {
            let expected = model.get(&key);
            let found = map.get_mut(at).map(|mut value| {
                assert_eq!(Some(&*value), expected);
                value.change();
            });
            let expected = expected.map(|_| key);
            assert_eq!(found.is_some(), expected.is_some());
            change(model, expected);
        }
        25..28 => {
            let expected = longest(model, at.last()).map(|(prefix, _)| prefix);
            let found = map.longest_match_mut(at.last()).map(|(prefix, mut value)| {
                value.change();
                wide(prefix)
            });
            assert_eq!(found, expected);
            change(model, expected);
        }
        28..32 => entry(random, map, model, at, value),
        32 => {
            let mut more = Vec::new();
            for _ in 0..random.below(40) {
                let (prefix, value) = (prefix(random), V::draw(random));
                more.push((prefix, value.clone()));
                model.insert(wide(prefix), value);
            }
            map.extend(more);
        }
        33 => {
            map.retain(|prefix, _| prefix.len() % 5 != 1);
            model.retain(|prefix, _| prefix.len() % 5 != 1);
        }
        34 => {
            assert_eq!(map.remove_subnets(at), inside(model, key).len());
            model.retain(|prefix, _| !key.covers(prefix));
        }
        35 => {
            let mut met = Vec::new();
            map.for_each_mut(|prefix, value| {
                met.push(wide(prefix));
                if prefix.len() % 2 == 0 {
                    value.change();
                }
            });
            assert!(met.iter().eq(model.keys()));
            met.retain(|prefix| prefix.len() % 2 == 0);
            met.iter().for_each(|prefix| change(model, Some(*prefix)));
        }
        36 if random.below(8) == 0 => {
            let expected = std::mem::take(model).into_iter().collect();
            same(map.drain().map(|(p, v)| (wide(p), v)), expected);
        }
        37 if random.below(8) == 0 => {
            map.clear();
            model.clear();
        }
        38 => {
            let found = map.covering_mut(at).map(|(prefix, mut value)| {
                value.change();
                wide(prefix)
            });
            let expected = covering(model, key).pop().map(|(prefix, _)| prefix);
            assert_eq!(found, expected);
            change(model, expected);
        }
        39 => *map = map.clone(),
        _ => {}
    }
}

fn entry<A: Address, V: Value, S: Stores<V>>(
    random: &mut Random,
    map: &mut PrefixMap<A, V, S>,
    model: &mut Model<V>,
    at: Prefix<A>,
    value: V,
) {
    assert_eq!(map.entry(at).key(), at);
    let key = wide(at);
    match random.below(5) {
        0 => {
            assert_eq!(
                *map.entry(at).or_insert(value.clone()),
                *model.entry(key).or_insert(value)
            );
        }
        1 => {
            map.entry(at).and_modify(V::change).or_insert(value.clone());
            model.entry(key).and_modify(V::change).or_insert(value);
        }
        2 => {
            map.entry(at).insert_entry(value.clone()).get_mut().change();
            model.insert(key, value);
            change(model, Some(key));
        }
        _ => match map.entry(at) {
            Entry::Occupied(mut entry) => {
                assert_eq!(entry.get(), &model[&key]);
                assert_eq!(Some(entry.insert(value.clone())), model.insert(key, value));
                if random.below(2) == 0 {
                    assert_eq!(entry.key(), at);
                    assert_eq!(Some(entry.remove()), model.remove(&key));
                }
            }
            Entry::Vacant(entry) => {
                assert_eq!(model.insert(key, value.clone()), None);
                assert_eq!(*entry.insert(value.clone()), value);
            }
        },
    }
}

fn plain<A: Address, V>((prefix, value): (Prefix<A>, &V)) -> (Wide, &V) {
    (wide(prefix), value)
}

/// Every question at one place.
fn hold<A: Address, V: Value, S: Stores<V>>(
    random: &mut Random,
    map: &PrefixMap<A, V, S>,
    model: &Model<V>,
) {
    map.check().unwrap();
    assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
    let addresses: Vec<A> = (0..40)
        .map(|n| match n % 3 {
            0 => address(random),
            1 => near(random, model).last(),
            _ => near(random, model).first(),
        })
        .collect();
    let mut matches = vec![None; addresses.len()];
    map.longest_match_batch(&addresses, &mut matches);
    let mut values = vec![None; addresses.len()];
    map.lookup_batch(&addresses, &mut values);
    let mut prefixes = vec![None; addresses.len()];
    map.prefix_batch(&addresses, &mut prefixes);
    for (n, &address) in addresses.iter().enumerate() {
        let covering = covering(model, wide(Prefix::host(address)));
        let expected = covering.last().copied();
        assert_eq!(map.longest_match(address).map(plain), expected);
        assert_eq!(matches[n].map(plain), expected);
        let value = expected.map(|(_, value)| value);
        assert_eq!((map.lookup(address), values[n]), (value, value));
        assert_eq!(prefixes[n].map(wide), expected.map(|(prefix, _)| prefix));
        let shortest = covering.first().copied();
        assert_eq!(map.shortest_match(address).map(plain), shortest);
    }

    let at: Prefix<A> = any(random, model);
    let key = wide(at);
    assert_eq!(map.get(at), model.get(&key));
    assert_eq!(map.contains_key(at), model.contains_key(&key));
    let (covering, inside) = (covering(model, key), inside(model, key));
    same(map.supernets(at).map(plain), covering.clone());
    same(map.subnets(at).map(plain), inside.clone());
    assert_eq!(map.covering(at).map(plain), covering.last().copied());
    assert_eq!(map.covers(at), !covering.is_empty());
    let overlaps = !covering.is_empty() || !inside.is_empty();
    assert_eq!(map.overlaps(at), overlaps);
    let subtree = map.subtree(at);
    assert_eq!((subtree.prefix(), subtree.value()), (at, model.get(&key)));
    assert_eq!(subtree.is_empty(), inside.is_empty());
    let host: A = address(random);
    let within = longest(model, host).filter(|(prefix, _)| key.covers(prefix));
    assert_eq!(subtree.longest_match(host).map(plain), within);
    if let Some((left, right)) = subtree.halves() {
        let own = subtree.value().map(|value| (at, value));
        let both = left.iter().chain(right.iter());
        same(own.into_iter().chain(both).map(plain), inside.clone());
    }
    same(subtree.iter().map(plain), inside);
    let to = prefix(random);
    let range = |from, to| {
        let range = model.range((from, to));
        range.map(|(prefix, value)| (*prefix, value)).collect()
    };
    let (from, end) = (Bound::Included(key), Bound::Excluded(wide(to)));
    same(map.range(at..).map(plain), range(from, Bound::Unbounded));
    same(map.range(..to).map(plain), range(Bound::Unbounded, end));
    let behind = (Bound::Excluded(at), Bound::Unbounded);
    same(
        map.range(behind).map(plain),
        range(Bound::Excluded(key), Bound::Unbounded),
    );
    if at <= to {
        let end = Bound::Included(wide(to));
        same(map.range(at..=to).map(plain), range(from, end));
    }
    let all = rows(model);
    assert_eq!(map.first().map(plain), all.first().copied());
    assert_eq!(map.last().map(plain), all.last().copied());
}

/// What takes a while: whole walks, and conversions.
#[allow(
    clippy::incompatible_msrv,
    reason = "tests are built by the newest Rust"
)]
fn hold_all<A: Address, V: Value, S: Stores<V>>(map: &PrefixMap<A, V, S>, model: &Model<V>) {
    let keys = || model.keys().copied().collect();
    let owned = || model.clone().into_iter().collect();
    same(map.iter().map(plain), rows(model));
    assert_eq!(map.iter().len(), model.len());
    same(map.keys().map(wide), keys());
    same(map.values(), model.values().collect());
    let shown = fmt::from_fn(|f| {
        let mut rows = f.debug_map();
        for (prefix, value) in model {
            rows.entry(&narrow::<A>(*prefix), value);
        }
        rows.finish()
    });
    assert_eq!(format!("{map:?}"), format!("{shown:?}"));
    let collected: PrefixMap<A, V, S> =
        model.iter().map(|(p, v)| (narrow(*p), v.clone())).collect();
    assert_eq!(collected, *map);
    collected.check().unwrap();
    same(collected.into_iter().map(|(p, v)| (wide(p), v)), owned());
    same(map.clone().into_keys().map(wide), keys());
    same(map.clone().into_values(), model.values().cloned().collect());
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

fn options() -> [Options; 3] {
    [
        Options::default(),
        Options::default().direct_bits(Some(7)),
        Options::default().direct_bits(Some(0)).aggregation(false),
    ]
}

fn runs<A: Address, V: Value, S: Stores<V>>(seed: u64, steps: usize) {
    for options in options() {
        run::<A, V, S>(options, seed, steps);
    }
}

// Each key, value and store is in at least one, and both families are in both stores: each combination more takes long to
// compile.
#[test]
fn own_values() {
    runs::<u8, u32, Own>(1, rounds(100, 400));
    runs::<u32, String, Own>(4, rounds(60, 200));
    runs::<u64, u32, Own>(5, rounds(100, 400));
    runs::<u128, String, Own>(6, rounds(60, 200));
    let options = Options::default().direct_bits(Some(18));
    run::<u64, u32, Own>(options, 5, rounds(10, 40));
}

#[test]
fn shared_values() {
    runs::<u16, String, Shared>(7, rounds(60, 200));
    runs::<u32, u32, Shared>(8, rounds(100, 400));
    runs::<u128, u32, Shared>(9, rounds(100, 400));
    let options = Options::default().direct_bits(Some(20));
    run::<u128, u32, Shared>(options, 9, rounds(10, 40));
}
