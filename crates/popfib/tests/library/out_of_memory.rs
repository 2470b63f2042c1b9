//! Every allocation refused in turn: what fails changes nothing, what never
//! fails does not, and all memory comes back.

use std::collections::BTreeMap;

use crate::common::failing::{Failing, Refuse};
use crate::common::random::Random;
use popfib::{Address, CompileError, Fib, NextHop, Options, Prefix, Rib, Size, longest};

type Model<A> = BTreeMap<Prefix<A>, NextHop>;

fn assert_same<A: Address>(rib: &Rib<A, &Failing>, model: &Model<A>) {
    assert_eq!(rib.len(), model.len());
    assert!(rib.iter().eq(model.iter().map(|(p, n)| (*p, *n))));
}

/// A Rib and its model, changed at random with every allocation refused.
struct Pair<'a, A: Address> {
    memory: &'a Failing,
    rib: Rib<A, &'a Failing>,
    model: Model<A>,
    failures: usize,
}

impl<'a, A: Address> Pair<'a, A> {
    fn new(memory: &'a Failing) -> Self {
        Self {
            memory,
            rib: Rib::new_in(memory),
            model: Model::new(),
            failures: 0,
        }
    }

    /// `thorough` compares all routes after each failure.
    fn insert(&mut self, prefix: Prefix<A>, next_hop: NextHop, thorough: bool) {
        let known = self.model.contains_key(&prefix);
        let model = &mut self.model;
        let (replaced, failures) = self.memory.until_it_succeeds(
            &mut self.rib,
            |rib| rib.try_insert(prefix, next_hop),
            |rib, error| {
                assert!(!known, "a route that is there needs no memory");
                assert!(error.bytes() > 0);
                assert_eq!(rib.get(prefix), None);
                assert_eq!(rib.len(), model.len());
                if thorough {
                    assert_same(rib, model);
                }
            },
        );
        assert_eq!(replaced, model.insert(prefix, next_hop));
        self.failures += failures;
    }

    fn remove(&mut self, prefix: Prefix<A>) {
        // Also with no memory at all.
        self.memory.refuse(Refuse::From(0));
        assert_eq!(self.rib.remove(prefix), self.model.remove(&prefix));
        self.memory.refuse(Refuse::Nothing);
    }

    fn try_clone(&mut self) {
        let memory = self.memory;
        let bytes = memory.bytes();
        let (clone, _) = memory.until_it_succeeds(
            &mut self.rib,
            |rib| rib.try_clone(),
            |_, _| assert_eq!(memory.bytes(), bytes),
        );
        assert_same(&clone, &self.model);
        assert_eq!(clone.next_hop_bound(), self.rib.next_hop_bound());
    }
}

fn small_tables<A: Address>(seed: u64) {
    let memory = Failing::new();
    let mut random = Random(seed);
    let mut failures = 0;
    for table in 0..20 {
        let mut pair = Pair::<A>::new(&memory);
        let pool: Vec<Prefix<A>> = (0..1 + table * 8).map(|_| random.prefix()).collect();
        for step in 1..=400 {
            let prefix = pool[random.below(pool.len())];
            // Fills first, drains later.
            if random.below(400) > step {
                pair.insert(prefix, NextHop::new(step as u32).unwrap(), true);
            } else {
                pair.remove(prefix);
            }
            assert_same(&pair.rib, &pair.model);
            if step % 50 == 0 {
                pair.try_clone();
            }
        }
        for prefix in pool {
            pair.remove(prefix);
        }
        assert!(pair.rib.is_empty());
        assert_eq!(memory.bytes(), 0, "an empty Rib holds nothing");
        failures += pair.failures;
    }
    assert!(failures > 200, "{failures} failures prove little");
}

fn large_table<A: Address>(seed: u64) {
    let memory = Failing::new();
    let mut random = Random(seed);
    let mut pair = Pair::<A>::new(&memory);
    let mut inserted = Vec::new();
    for step in 1..=20_000u32 {
        let prefix = random.prefix();
        pair.insert(prefix, NextHop::new(step).unwrap(), false);
        inserted.push(prefix);
        if step % 4000 == 0 {
            assert_same(&pair.rib, &pair.model);
            pair.try_clone();
        }
    }
    assert!(pair.failures > 10, "{} failures", pair.failures);
    let full = pair.rib.bytes();
    // Down to a hundredth without memory: nothing can be moved together.
    while inserted.len() > 200 {
        let prefix = inserted.swap_remove(random.below(inserted.len()));
        pair.remove(prefix);
    }
    assert_same(&pair.rib, &pair.model);
    assert_eq!(pair.rib.bytes(), full);
    // The first change with memory does.
    pair.rib.insert(inserted[0], NextHop::MIN);
    pair.model.insert(inserted[0], NextHop::MIN);
    assert_same(&pair.rib, &pair.model);
    assert!(
        pair.rib.bytes() < full / 10,
        "{} of {full}",
        pair.rib.bytes()
    );
    assert_eq!(memory.bytes(), pair.rib.bytes());
    drop(pair);
    assert_eq!(memory.bytes(), 0);
}

/// Compiles and clones with every allocation refused.
fn compile<A: Address>(seed: u64, routes: usize, all_direct_bits: &[u8]) {
    let memory = Failing::new();
    let mut random = Random(seed);
    let rib: Rib<A> = (1..=routes as u32)
        .map(|n| (random.prefix(), NextHop::new(n).unwrap()))
        .collect();
    let probes: Vec<A> = rib
        .iter()
        .flat_map(|(prefix, _)| [prefix.first(), prefix.last()])
        .collect();
    let asked = all_direct_bits.iter().map(|&s| Some(s)).chain([None]);
    for direct_bits in asked.filter(|&s| s <= Some(A::WIDTH)) {
        for aggregation in [false, true] {
            let options = Options::default()
                .direct_bits(direct_bits)
                .aggregation(aggregation)
                .size(if aggregation {
                    Size::Balanced
                } else {
                    Size::Smallest
                });
            let given_back = |_: &mut (), error| {
                assert!(matches!(error, CompileError::OutOfMemory(_)), "{error}");
                assert_eq!(memory.bytes(), 0);
            };
            let (fib, failures) = memory.until_it_succeeds(
                &mut (),
                |()| Fib::<A, _>::compile_in(&rib, &options, &memory),
                given_back,
            );
            // Root, arena and the finished block at the least.
            assert!(failures >= 1, "{failures} failures");
            fib.check().unwrap();
            let bytes = memory.bytes();
            let (clone, _) = memory.until_it_succeeds(
                &mut (),
                |()| fib.try_clone(),
                |(), _| assert_eq!(memory.bytes(), bytes),
            );
            // Where its huge pages were refused, a clone takes less.
            assert!(memory.bytes() >= bytes + clone.bytes());
            drop(fib);
            for &probe in &probes {
                let expected = rib.lookup(probe).map_or(0, NextHop::get);
                assert_eq!(clone.lookup(probe), expected);
            }
            drop(clone);
            let (longest, _) = memory.until_it_succeeds(
                &mut (),
                |()| longest::compile_in(&rib, &options, &memory),
                given_back,
            );
            // The copy of the routes is gone; from 1 MiB on there are whole huge pages.
            let most = match longest.bytes() {
                bytes if bytes < 1 << 20 => bytes + 256,
                bytes => bytes.next_multiple_of(2 << 20),
            };
            assert!(memory.bytes() <= most);
            for &probe in &probes {
                let found = longest::matched(probe, longest.lookup(probe));
                assert_eq!(found, rib.longest_match(probe));
            }
            drop(longest);
            assert_eq!(memory.bytes(), 0);
        }
    }
}

#[test]
fn compile_small_tables() {
    for routes in [0, 1, 10, 100] {
        compile::<u8>(11, routes, &[0, 4, 8]);
        compile::<u16>(12, routes, &[0, 6, 16]);
        compile::<u32>(13, routes, &[0, 6, 12, 18]);
        compile::<u64>(14, routes, &[0, 6, 18]);
        compile::<u128>(15, routes, &[0, 12, 17]);
    }
}

#[test]
#[ignore = "many compilations of large tables"]
fn heavy_compile_large_tables() {
    // From 1 MiB on a Fib asks for huge pages first.
    compile::<u32>(16, 30_000, &[18]);
    compile::<u128>(17, 20_000, &[24]);
}

macro_rules! for_key {
    ($($key:ident)*) => {$(
        mod $key {
            #[test]
            fn small_tables() {
                super::small_tables::<$key>(7);
            }
        }
    )*};
}
for_key!(u8 u16 u32 u64 u128);

#[test]
fn a_large_table() {
    large_table::<u32>(8);
    large_table::<u128>(9);
}

#[test]
fn errors_say_what_was_refused() {
    let memory = Failing::new();
    let mut rib = Rib::<u32, _>::new_in(&memory);
    memory.refuse(Refuse::From(0));
    let error = rib.try_insert(Prefix::DEFAULT_ROUTE, NextHop::MIN);
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "out of memory: 4 bytes were refused");
}
