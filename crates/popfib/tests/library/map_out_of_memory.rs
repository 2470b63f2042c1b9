//! Maps with every allocation of a change refused in turn: a change that fails changes nothing, one
//! that succeeds is right whether or not there was memory for the Poptrie, and what needs no memory
//! never asks for it.

use std::collections::BTreeMap;

use crate::common::failing::{FailingHeap, Refuse};
use crate::common::random::Random;
use popfib::map::{Own, Shared, Stores};
use popfib::{Address, LiveMap, Options, Prefix, PrefixMap};

type Model<A> = BTreeMap<Prefix<A>, u32>;

/// The routes, and the answers at both ends of `prefix`, are those of the model.
fn hold<A: Address, S: Stores<u32>>(
    map: &PrefixMap<A, u32, S>,
    model: &Model<A>,
    prefix: Prefix<A>,
) {
    map.check().unwrap();
    assert!(map.iter().eq(model.iter().map(|(p, v)| (*p, v))));
    for address in [prefix.first(), prefix.last()] {
        let covering = model.iter().filter(|(prefix, _)| prefix.contains(address));
        let longest = covering.max_by_key(|(prefix, _)| prefix.len());
        let expected = longest.map(|(prefix, value)| (*prefix, value));
        let ask = || (map.lookup(address), map.longest_match(address));
        let ((value, found), _) = FailingHeap::refusing(Refuse::From(0), ask);
        assert_eq!((value, found), (expected.map(|(_, v)| v), expected));
        let mut batch = [None];
        let ask = || map.longest_match_batch(&[address], &mut batch);
        FailingHeap::refusing(Refuse::From(0), ask);
        assert_eq!(batch, [expected]);
    }
}

/// What was refused: insertions that failed, and those that went on without a Poptrie.
#[derive(Default)]
struct Refused {
    routes: usize,
    poptries: usize,
}

fn insert<A: Address, S: Stores<u32>>(
    map: &mut PrefixMap<A, u32, S>,
    model: &mut Model<A>,
    (prefix, value): (Prefix<A>, u32),
    one: bool,
    refused: &mut Refused,
) {
    let mut changed = model.clone();
    let old = changed.insert(prefix, value);
    for granted in 0.. {
        let refuse = if one {
            Refuse::One(granted)
        } else {
            Refuse::From(granted)
        };
        let mut trial = map.clone();
        let (result, count) = FailingHeap::refusing(refuse, || trial.try_insert(prefix, value));
        match result {
            Ok(replaced) => {
                assert_eq!(replaced, old);
                hold(&trial, &changed, prefix);
            }
            Err(error) => {
                assert!(count > 0 && error.bytes() > 0);
                hold(&trial, model, prefix);
            }
        }
        if count == 0 {
            *map = trial;
            break;
        }
        match result {
            Ok(_) => refused.poptries += 1,
            Err(_) => refused.routes += 1,
        }
        // Some of what could not make a Poptrie goes on: it has to come back.
        if result.is_ok() && granted % 3 == 2 {
            *map = trial;
            break;
        }
    }
    *model = changed;
}

fn change<A: Address, S: Stores<u32>>(options: Options, seed: u64) -> Refused {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut map = PrefixMap::<A, u32, S>::with_options(options);
    let mut model = Model::new();
    let mut refused = Refused::default();
    for step in 0..150 {
        let is_growing = step < 100;
        let prefix = if model.is_empty() || is_growing && random.below(4) != 0 {
            random.prefix()
        } else {
            *model.keys().nth(random.below(model.len())).unwrap()
        };
        if is_growing && random.below(6) != 0 {
            let value = random.below(5) as u32;
            let one = step % 2 == 0;
            insert(&mut map, &mut model, (prefix, value), one, &mut refused);
        } else {
            let expected = model.remove(&prefix);
            let (removed, _) = FailingHeap::refusing(Refuse::From(0), || map.remove(prefix));
            assert_eq!(removed, expected);
        }
        hold(&map, &model, prefix);
    }
    for prefix in model.keys().copied().collect::<Vec<_>>() {
        let (removed, _) = FailingHeap::refusing(Refuse::From(0), || map.remove(prefix));
        assert_eq!(removed, model.remove(&prefix));
    }
    assert_eq!(map.bytes(), PrefixMap::<A, u32, S>::default().bytes());
    refused
}

fn all<S: Stores<u32>>() {
    for (seed, options) in [
        (1, Options::default()),
        (2, Options::default().direct_bits(Some(0))),
        (
            3,
            Options::default().direct_bits(Some(7)).aggregation(false),
        ),
    ] {
        let refused = [
            change::<u16, S>(options.clone(), seed),
            change::<u32, S>(options.clone(), seed),
            change::<u128, S>(options, seed),
        ];
        for Refused { routes, poptries } in refused {
            assert!(routes > 15 && poptries > 30, "{routes}, {poptries}");
        }
    }
}

#[test]
fn own_values() {
    all::<Own>();
}

#[test]
fn shared_values() {
    all::<Shared>();
}

/// A change without memory for the Poptrie leaves the Rib to answer; later changes bring it back.
#[test]
fn the_poptrie_comes_back() {
    let prefix = |n: u32| Prefix::new(n << 12, 20).unwrap();
    let mut map: PrefixMap<u32, u32> = (0..2000).map(|n| (prefix(n), n)).collect();
    // From the first route after those on there is room for more.
    map.insert(prefix(2000), 2000);
    let with = map.bytes();
    let answer = |map: &PrefixMap<u32, u32>, n| {
        assert_eq!(map.lookup(prefix(n).address()), Some(&n));
        map.bytes() >= with
    };
    // Until the arena is full and no other can be had.
    let mut next = 2001;
    while answer(&map, next - 1) {
        let all = Refuse::From(0);
        let (result, _) = FailingHeap::refusing(all, || map.try_insert(prefix(next), next));
        assert!(result.is_ok(), "{next} routes");
        next += 1;
    }
    map.check().unwrap();
    // One change for each 16 routes and 16 more, those included that these changes add.
    let refused = next;
    while !answer(&map, next - 1) {
        map.insert(prefix(next), next);
        next += 1;
    }
    assert_eq!(next - refused, 16 + map.len() as u32 / 16 + 1);
    map.check().unwrap();
}

/// The first lookup compiles; without the memory for that it is answered all the same, as are those after it.
#[test]
fn first_lookups() {
    let prefix = |n: u32| Prefix::new(n << 12, 20).unwrap();
    let mut refused = 0;
    for granted in 0.. {
        let mut map = PrefixMap::<u32, u32>::new();
        for n in 0..100 {
            map.insert(prefix(n), n);
        }
        let routes = map.bytes();
        let ask = || map.lookup(prefix(7).address()).copied();
        let (answer, count) = FailingHeap::refusing(Refuse::One(granted), ask);
        assert_eq!(answer, Some(7));
        assert!(map.bytes() > routes || count > 0);
        assert_eq!(map.lookup(prefix(8).address()), Some(&8));
        map.check().unwrap();
        if count == 0 {
            break;
        }
        refused += 1;
    }
    assert!(refused > 3, "{refused}");
}

/// A live map whose every allocation is refused in turn: what fails has changed nothing.
fn live<A: Address, S: Stores<u32>>(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut map = LiveMap::<A, u32, S>::default();
    let mut model = Model::new();
    let mut refusals = 0;
    for step in 0..200 {
        let prefix: Prefix<A> = random.prefix();
        let value = (random.below(4) > 0).then(|| random.below(5) as u32);
        for granted in 0.. {
            let refuse = if step % 2 == 0 {
                Refuse::One(granted)
            } else {
                Refuse::From(granted)
            };
            let change = || match value {
                Some(value) => map.announce(prefix, value),
                None => map.withdraw(prefix),
            };
            let (result, _) = FailingHeap::refusing(refuse, change);
            if result.is_ok() {
                break;
            }
            refusals += 1;
            map.check().unwrap();
            assert!(map.iter().map(|(p, v)| (p, *v)).eq(model.clone()));
        }
        match value {
            Some(value) => model.insert(prefix, value),
            None => model.remove(&prefix),
        };
        map.check().unwrap();
        assert!(map.iter().map(|(p, v)| (p, *v)).eq(model.clone()));
    }
    assert!(refusals > 30, "{refusals}");
    // Many at once: whatever was refused, the map is right, and whole after one more that is not.
    for granted in 0..60 {
        let prefixes: Vec<Prefix<A>> = (0..50).map(|_| random.prefix()).collect();
        let value = granted as u32 % 5;
        let changes: Vec<_> = prefixes.iter().map(|p| (*p, Some(value))).collect();
        let again = changes.clone();
        let (result, _) = FailingHeap::refusing(Refuse::From(granted), || map.apply(changes));
        map.check().unwrap();
        if result.is_err() {
            map.apply(again).unwrap();
            map.check().unwrap();
        }
        model.extend(prefixes.into_iter().map(|p| (p, value)));
        assert!(map.iter().map(|(p, v)| (p, *v)).eq(model.clone()));
    }
}

#[test]
fn live_maps() {
    live::<u16, Own>(1);
    live::<u32, Shared>(2);
    live::<u128, Own>(3);
}

/// What a map says that it holds is what it was given: collected, inserted one by one, after removals, and cloned.
fn bytes<A: Address, S: Stores<u32>>(count: usize, random: &mut Random) {
    let routes: Vec<(Prefix<A>, u32)> = (0..count)
        .map(|_| (random.prefix(), random.below(9) as u32))
        .collect();
    let say = |map: &PrefixMap<A, u32, S>, held: usize, what: &str| {
        let bytes = map.bytes();
        // The arrays begin at cache lines, for which a few bytes more may be asked.
        let most = bytes + 64;
        assert!(
            (bytes..=most).contains(&held),
            "{what} {count}: {bytes}, held {held}"
        );
    };
    let (map, held) = FailingHeap::held_by(|| -> PrefixMap<A, u32, S> {
        let map = routes.iter().copied();
        map.collect()
    });
    say(&map, held, "collected");
    let (clone, held) = FailingHeap::held_by(|| map.clone());
    say(&clone, held, "cloned");
    let (mut map, held) = FailingHeap::held_by(|| {
        let mut map = PrefixMap::<A, u32, S>::default();
        for (prefix, value) in &routes {
            map.insert(*prefix, *value);
        }
        map
    });
    say(&map, held, "inserted");
    let ((), more) = FailingHeap::held_by(|| {
        for (prefix, _) in routes.iter().step_by(2) {
            map.remove(*prefix);
        }
    });
    say(&map, held.wrapping_add(more), "removed");
}

#[test]
fn bytes_are_those_of_the_heap() {
    let mut random = Random(5);
    for count in [0, 1, 2, 3, 10, 50, 500, 5000] {
        bytes::<u32, Shared>(count, &mut random);
        bytes::<u32, Own>(count, &mut random);
        bytes::<u128, Shared>(count, &mut random);
        bytes::<u16, Own>(count.min(500), &mut random);
    }
}

/// Many programs hold a table for each of their tenants or rules.
#[test]
fn a_small_table_is_small() {
    let networks = (0..50).map(|n| {
        (
            Prefix::new(0x0a00_0000 + ((n * 5) << 8), 24).unwrap(),
            n % 5,
        )
    });
    let (map, held) =
        FailingHeap::held_by(|| -> PrefixMap<u32, u32, Shared> { networks.collect() });
    assert_eq!(map.len(), 50);
    assert!(held <= 1040, "{held} bytes");
}
