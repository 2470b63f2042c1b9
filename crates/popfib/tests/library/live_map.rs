//! Live maps beside a model: answers by linear scan, values that count their drops, transactions, sweeps.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

use popfib::live::{IpMapSweep, MapGuard, Sweep};
use popfib::map::{Own, Shared, Stores};
use popfib::{Address, IpPrefix, LiveIpMap, LiveMap, Options, Prefix, Size};

use crate::common::model::{self, Wide, longest, narrow, same, wide};
use crate::common::random::Random;
use crate::common::rounds::rounds;

type Model = model::Model<u32>;

/// A value that is counted while it lives.
#[derive(Debug)]
struct Counted(u32, Arc<AtomicIsize>);

impl Counted {
    fn new(value: u32, count: &Arc<AtomicIsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(value, count.clone())
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Self::new(self.0, &self.1)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

fn expected<A: Address>(model: &Model, address: A) -> Option<(Wide, u32)> {
    longest(model, address).map(|(prefix, value)| (prefix, *value))
}

fn plain<A: Address>((prefix, value): (Prefix<A>, &Counted)) -> (Wide, u32) {
    (wide(prefix), value.0)
}

/// Guard and batches answer for the ends of `prefix` and its neighbours as the model does.
fn answers<A: Address>(guard: &MapGuard<'_, A, Counted>, model: &Model, prefix: Prefix<A>) {
    let (first, last) = (prefix.first(), prefix.last());
    let around = [first.checked_previous(), last.checked_next()];
    let addresses: Vec<A> = [first, last]
        .into_iter()
        .chain(around.into_iter().flatten())
        .collect();
    let (mut values, mut matches) = (vec![None; addresses.len()], vec![None; addresses.len()]);
    guard.lookup_batch(&addresses, &mut values);
    guard.longest_match_batch(&addresses, &mut matches);
    for (at, address) in addresses.iter().enumerate() {
        let expected = expected(model, *address);
        assert_eq!(guard.longest_match(*address).map(plain), expected);
        assert_eq!(matches[at].map(plain), expected);
        let value = expected.map(|(_, value)| value);
        assert_eq!(guard.lookup(*address).map(|value| value.0), value);
        assert_eq!(values[at].map(|value| value.0), value);
    }
}

/// Changes a map at random.
fn change<A: Address, S: Stores<Counted>>(steps: usize, seed: u64, options: Options) {
    let count = Arc::new(AtomicIsize::new(0));
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut map = LiveMap::<A, Counted, S>::with_options(options).unwrap();
    let mut reader = map.reader();
    let mut model = Model::new();
    for step in 0..steps {
        let prefix = if model.is_empty() || random.below(3) == 0 {
            random.prefix::<A>()
        } else {
            narrow(*model.keys().nth(random.below(model.len())).unwrap())
        };
        let key = wide(prefix);
        let mut value = || random.below(7) as u32;
        match step % 16 {
            0..10 => {
                let value = value();
                let was_there = map.announce(prefix, Counted::new(value, &count)).unwrap();
                assert_eq!(was_there, model.insert(key, value).is_some());
            }
            10..14 => assert_eq!(map.withdraw(prefix).unwrap(), model.remove(&key).is_some()),
            14 => {
                let changes: Vec<_> = (0..random.below(40))
                    .map(|_| {
                        let prefix = random.prefix();
                        let value = (random.below(3) > 0).then(|| random.below(7) as u32);
                        (prefix, value)
                    })
                    .collect();
                let mut last = BTreeMap::new();
                for (prefix, value) in &changes {
                    last.insert(wide(*prefix), *value);
                }
                for (prefix, value) in last {
                    match value {
                        Some(value) => model.insert(prefix, value),
                        None => model.remove(&prefix),
                    };
                }
                let counted = |value: u32| Counted::new(value, &count);
                map.apply(changes.into_iter().map(|(p, v)| (p, v.map(counted))))
                    .unwrap();
            }
            _ => {
                let mut sweep = Sweep::new();
                let kept = model.keys().copied().filter(|_| random.below(8) > 0);
                let kept: Vec<_> = kept.collect();
                kept.iter()
                    .for_each(|prefix| sweep.confirm(narrow(*prefix)));
                let others = |value: u32| value >= 3;
                let step = 1 + random.below(9);
                while !map.sweep(&mut sweep, step, |_, v| others(v.0)).unwrap() {}
                let is_swept = |(prefix, value): (&Wide, &u32)| {
                    (!kept.contains(prefix) && others(*value)).then_some(*prefix)
                };
                let swept: Vec<_> = model.iter().filter_map(is_swept).collect();
                for prefix in swept {
                    model.remove(&prefix);
                }
            }
        }
        map.check().unwrap();
        assert_eq!(map.len(), model.len());
        let all = model.iter().map(|(p, v)| (*p, *v)).collect();
        same(map.iter().map(plain), all);
        assert_eq!(map.get(prefix).map(|v| v.0), model.get(&key).copied());
        answers(&reader.pin(), &model, prefix);
    }
    map.reclaim();
    assert_eq!(map.waiting(), 0);
    map.check().unwrap();
    // The reader alone keeps what is left.
    let left = map.iter().count();
    drop(map);
    answers(&reader.pin(), &model, Prefix::DEFAULT_ROUTE);
    assert!(count.load(Ordering::Relaxed) <= left as isize);
    drop(reader);
    assert_eq!(
        count.load(Ordering::Relaxed),
        0,
        "each value is dropped once"
    );
}

fn all<A: Address>(steps: usize) {
    for (seed, options) in [
        (1, Options::default()),
        (2, Options::default().direct_bits(Some(0))),
        (
            3,
            Options::default().direct_bits(Some(7)).aggregation(false),
        ),
        // Flat, if the key is of 32 bits.
        (
            4,
            Options::default()
                .direct_bits(Some(18))
                .size(Size::Balanced),
        ),
    ] {
        change::<A, Own>(steps, seed, options.clone());
        change::<A, Shared>(steps, seed, options);
    }
}

#[test]
fn live_maps_answer_as_the_model() {
    let steps = rounds(80, 600);
    // As in `walks`, not of all widths; `proof` has those of 8 and 16 bits.
    all::<u32>(steps);
    all::<u64>(steps);
    all::<u128>(steps);
}

/// What a guard found stays until it is dropped or quiescent, whatever the writer does.
#[test]
fn values_wait_for_guards() {
    let count = Arc::new(AtomicIsize::new(0));
    let mut map: LiveMap<u32, Counted> = LiveMap::new();
    let prefix: Prefix<u32> = "10.0.0.0/8".parse().unwrap();
    map.announce(prefix, Counted::new(1, &count)).unwrap();
    let mut reader = map.reader();
    let mut guard = reader.pin();
    let found = guard.lookup(0x0a00_0001_u32).unwrap();
    for value in 2..1000 {
        map.announce(prefix, Counted::new(value, &count)).unwrap();
    }
    map.withdraw(prefix).unwrap();
    map.reclaim();
    assert_eq!(found.0, 1);
    assert!(map.waiting() > 0 && count.load(Ordering::Relaxed) > 0);
    // Once for what was retired before the guard came in, and once for the rest.
    for _ in 0..2 {
        guard.quiescent();
        map.reclaim();
    }
    assert!(guard.lookup(0x0a00_0001_u32).is_none());
    assert_eq!((map.waiting(), count.load(Ordering::Relaxed)), (0, 0));
    drop(guard);
    // A reader that is outside holds nothing up.
    map.announce(prefix, Counted::new(1, &count)).unwrap();
    map.withdraw(prefix).unwrap();
    map.reclaim();
    assert_eq!(count.load(Ordering::Relaxed), 0);
}

/// Numbers are given out again, so a table that only changes does not grow.
#[test]
fn changes_do_not_grow() {
    let mut map: LiveMap<u32, u64> = LiveMap::new();
    let prefix = |n: u32| Prefix::new(n << 12, 20).unwrap();
    map.apply((0..1000).map(|n| (prefix(n), Some(u64::from(n)))))
        .unwrap();
    let after = |map: &mut LiveMap<u32, u64>, turns: u64| {
        for turn in 0..turns {
            for n in 0..1000 {
                map.announce(prefix(n), turn << 32 | u64::from(n)).unwrap();
            }
        }
        map.reclaim();
        map.check().unwrap();
        map.bytes()
    };
    let first = after(&mut map, 5);
    let later = after(&mut map, 50);
    assert!(later <= first + first / 8, "{first} bytes, then {later}");
}

/// A value whose drop or hash panics leaves a table that is right.
#[test]
fn panics_of_values() {
    static IS_ARMED: AtomicBool = AtomicBool::new(false);
    #[derive(Clone, PartialEq, Eq)]
    struct Angry(u32);
    impl Hash for Angry {
        fn hash<H: Hasher>(&self, state: &mut H) {
            assert!(self.0 != 13, "hash");
            self.0.hash(state);
        }
    }
    impl Drop for Angry {
        fn drop(&mut self) {
            let panics = self.0 == 7 && IS_ARMED.load(Ordering::Relaxed);
            assert!(!panics || std::thread::panicking(), "drop");
        }
    }
    let prefix = |n: u32| Prefix::new(n << 16, 16).unwrap();
    let mut map: LiveMap<u32, Angry, Shared> = LiveMap::shared();
    for n in 0..100 {
        map.announce(prefix(n), Angry(n % 12)).unwrap();
    }
    let hash = catch_unwind(AssertUnwindSafe(|| map.announce(prefix(3), Angry(13))));
    assert!(hash.is_err());
    map.check().unwrap();
    let hash = catch_unwind(AssertUnwindSafe(|| {
        map.apply((0..50).map(|n| (prefix(n), Some(Angry(if n == 20 { 13 } else { 1 })))))
    }));
    assert!(hash.is_err());
    map.check().unwrap();
    // What could not be published is, with the next change.
    map.announce(prefix(200), Angry(1)).unwrap();
    assert_eq!(map.lookup(10u32 << 16).unwrap().0, 1);
    map.check().unwrap();
    for n in 50..100 {
        map.announce(prefix(n), Angry(n % 12)).unwrap();
    }
    let mut panics = 0;
    IS_ARMED.store(true, Ordering::Relaxed);
    for n in 0..100 {
        panics += u32::from(catch_unwind(AssertUnwindSafe(|| map.withdraw(prefix(n)))).is_err());
    }
    while catch_unwind(AssertUnwindSafe(|| map.reclaim())).is_err() {
        panics += 1;
        assert!(panics < 200);
    }
    assert!(panics > 0);
    map.check().unwrap();
    assert_eq!(map.len(), 1);
}

#[test]
fn tables_of_both_families() {
    let mut table: LiveIpMap<u32, Shared> = LiveIpMap::shared();
    let mut reader = table.reader();
    let routes: Vec<(IpPrefix, Option<u32>)> = [
        ("10.0.0.0/8", 1),
        ("10.1.0.0/16", 2),
        ("2001:db8::/32", 3),
        ("::/0", 4),
    ]
    .map(|(prefix, value)| (prefix.parse().unwrap(), Some(value)))
    .into();
    table.apply(routes.clone()).unwrap();
    table.check().unwrap();
    let addresses = ["10.1.2.3", "192.0.2.1", "::ffff:10.1.2.3", "2001:db8::1"];
    let addresses: Vec<IpAddr> = addresses.map(|a| a.parse().unwrap()).into();
    let (mut values, mut matches) = ([None; 4], [None; 4]);
    let guard = reader.pin();
    guard.lookup_batch(&addresses, &mut values);
    guard.longest_match_batch(&addresses, &mut matches);
    assert_eq!(values, [Some(&2), None, Some(&4), Some(&3)]);
    for (at, address) in addresses.iter().enumerate() {
        assert_eq!(guard.lookup(*address), values[at]);
        assert_eq!(guard.longest_match(*address), matches[at]);
        assert_eq!(table.longest_match(*address), matches[at]);
    }
    drop(guard);
    let mut sweep = IpMapSweep::new();
    sweep.confirm(routes[0].0);
    sweep.confirm(routes[2].0);
    sweep.forget(routes[2].0);
    while !table.sweep(&mut sweep, 1, |_, _| true).unwrap() {}
    assert!(table.iter().eq([(routes[0].0, &1)]));
    assert_eq!(table.withdraw(routes[0].0), Ok(true));
    assert_eq!(table.withdraw(routes[0].0), Ok(false));
    assert!(table.is_empty() && reader.pin().lookup(addresses[0]).is_none());
}

/// A value stays where it is while the table grows.
#[test]
fn values_with_locks_inside_are_not_copied() {
    let mut map: LiveMap<u32, std::sync::Mutex<u64>> = LiveMap::new();
    let prefix = |n: u32| Prefix::new(n << 8, 24).unwrap();
    map.announce(prefix(0), std::sync::Mutex::new(0)).unwrap();
    let mut reader = map.reader();
    let guard = reader.pin();
    let counter = guard.lookup(0u32).unwrap();
    for n in 1..5000 {
        map.announce(prefix(n), std::sync::Mutex::new(0)).unwrap();
        *counter.lock().unwrap() += 1;
    }
    assert_eq!(*map.get(prefix(0)).unwrap().lock().unwrap(), 4999);
}
