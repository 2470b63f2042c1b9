//! Mirrors in plain memory, read by a reader of the tests' own after each word.

mod slow_readers;

use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use super::{Random, options, random_prefix};
use crate::address::STRIDE;
use crate::fib::FibWords;
use crate::fib::layout::{FLAT, FLAT_PLACE, HALF, HALF_END, NODE, PLACE, WIDE};
use crate::live::Mirror;
use crate::rounds::rounds;
use crate::{Address, LiveFib, NextHop, Options, Prefix, Rib};

/// The arrays of one load.
struct Arrays {
    root: Vec<Cell<u32>>,
    arena: Vec<Cell<u32>>,
    form: (u8, u8, u8),
    /// By number, of a map.
    values: RefCell<Vec<u32>>,
}

impl Arrays {
    fn of(words: FibWords<'_>) -> Self {
        Self {
            root: words.root().map(Cell::new).collect(),
            arena: words.arena().map(Cell::new).collect(),
            form: (words.root_bits(), words.page_bits(), words.value_bits()),
            values: RefCell::default(),
        }
    }

    /// What a reader finds, at once.
    fn lookup<A: Address>(&self, address: A) -> Option<u32> {
        let mut lookup = SlowLookup::new(address);
        loop {
            if let Some(end) = lookup.step(self) {
                return end;
            }
        }
    }
}

/// A lookup that loads one pointer at a time.
struct SlowLookup<A> {
    address: A,
    depth: u8,
    pointer: Option<u32>,
}

impl<A: Address> SlowLookup<A> {
    fn new(address: A) -> Self {
        Self {
            address,
            depth: 0,
            pointer: None,
        }
    }

    /// One step; at the end the answer, or `None` for what no table has.
    fn step(&mut self, arrays: &Arrays) -> Option<Option<u32>> {
        self.load(arrays).map_or(Some(None), |next| {
            self.pointer = Some(next);
            (next & NODE == 0).then_some(Some(next))
        })
    }

    /// Loads the next pointer; `None` for what no table has.
    fn load(&mut self, arrays: &Arrays) -> Option<u32> {
        let (root_bits, page_bits, value_bits) = arrays.form;
        let (address, depth) = (self.address, self.depth);
        let word = |at: u32| arrays.arena.get(at as usize).map(Cell::get);
        let Some(pointer) = self.pointer else {
            self.depth = root_bits;
            let at = address.leading(root_bits) as usize;
            return arrays.root.get(at).map(Cell::get);
        };
        if depth >= A::WIDTH {
            return None;
        }
        if page_bits > 0 && depth == root_bits {
            self.depth += page_bits;
            return word((pointer & PLACE) + address.extract(depth, page_bits));
        }
        self.depth += STRIDE;
        let slot = address.extract(depth, STRIDE);
        if A::WIDTH <= 32 && pointer & FLAT != 0 {
            let place = pointer & FLAT_PLACE;
            if pointer & HALF == 0 {
                return word(place + slot);
            }
            let half = word(place + slot / 2)? >> (slot % 2 * 16) & 0xffff;
            return (half < HALF_END).then_some(half);
        }
        let place = pointer & PLACE;
        let runs = u64::from(word(place)?) | u64::from(word(place + 1)?) << 32;
        let count = (0..=slot).filter(|slot| runs >> slot & 1 != 0).count() as u32;
        if pointer & WIDE != 0 {
            return word(place + 1 + count);
        }
        let first = count.checked_sub(1)? * u32::from(value_bits);
        let bits = (first..first + u32::from(value_bits)).rev();
        bits.map(|bit| Some(word(place + 2 + bit / 32)? >> (bit % 32) & 1))
            .try_fold(0, |value, bit| Some(value << 1 | bit?))
    }
}

/// Makes a random change; growing first, shrinking later.
fn change<A: Address>(
    table: &mut LiveFib<A>,
    random: &mut Random,
    grows: bool,
    near: u32,
) -> Prefix<A> {
    let prefix = random_prefix(random, near);
    if grows {
        let next_hop = 1 + random.below(3) as u32 * random.below(9) as u32;
        let next_hop = NextHop::new(next_hop).expect("not 0");
        table.announce(prefix, next_hop).expect("fits");
        return prefix;
    }
    let next = table.rib.next(prefix);
    let victim = next.map_or(prefix, |(prefix, _)| prefix);
    table.withdraw(victim).expect("fits");
    victim
}

fn answer<A: Address>(rib: &Rib<A>, address: A) -> u32 {
    rib.lookup(address).map_or(0, NextHop::get)
}

/// A mirror whose every word is followed by all lookups: each finds the answer before or after the change.
struct WatchedMirror<A> {
    arrays: Option<Arrays>,
    /// Addresses, and their answers before and after.
    probes: Vec<(A, [u32; 2])>,
    loads: usize,
    words: usize,
}

impl<A: Address> WatchedMirror<A> {
    fn watch(&self, allowed: impl Fn([u32; 2], u32) -> bool) {
        let arrays = self.arrays.as_ref().expect("loaded");
        for (address, answers) in &self.probes {
            let found = arrays.lookup(*address).expect("a table");
            assert!(
                allowed(*answers, found),
                "{address:?}: {found}, not one of {answers:?}"
            );
        }
    }
}

impl<A: Address> Mirror for WatchedMirror<A> {
    type Error = core::convert::Infallible;

    fn load(&mut self, words: FibWords<'_>) -> Result<(), Self::Error> {
        self.arrays = Some(Arrays::of(words));
        self.loads += 1;
        Ok(())
    }

    fn store_root(&mut self, index: usize, word: u32) {
        self.arrays.as_ref().expect("loaded").root[index].set(word);
        self.words += 1;
        self.watch(|answers, found| answers.contains(&found));
    }

    fn store_arena(&mut self, index: usize, word: u32) {
        self.arrays.as_ref().expect("loaded").arena[index].set(word);
        self.words += 1;
        self.watch(|answers, found| answers.contains(&found));
    }

    fn wait(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

fn words_of_changes<A: Address>(seed: u64, changes: usize) {
    for options in options::<A>() {
        let mut random = Random(seed);
        let near = [0x7000_00f1, u32::MAX][random.below(2) as usize];
        let mut table: LiveFib<A> = LiveFib::new(options.clone()).expect("direct bits fit");
        let mut mirror = WatchedMirror {
            arrays: None,
            probes: Vec::new(),
            loads: 0,
            words: 0,
        };
        for number in 0..changes {
            let before = table.rib.clone();
            let grows = random.below(changes as u64) > number as u64 / 3;
            let changed = change(&mut table, &mut random, grows, near);
            let addresses = if A::WIDTH == 8 {
                (0..=u32::from(u8::MAX))
                    .map(|bits| A::from_leading(bits, 8))
                    .collect()
            } else {
                borders_of_few(&table, changed, &mut random)
            };
            let answers = |at| [answer(&before, at), answer(&table.rib, at)];
            let probes = addresses.into_iter().map(|at| (at, answers(at)));
            mirror.probes = probes.collect();
            let Ok(()) = table.mirror(&mut mirror);
            mirror.watch(|[_, after], found| found == after);
        }
        assert!(mirror.words > 0, "{options:?}");
        // Not a load for each change.
        assert!(
            mirror.loads < 3 + changes / 5,
            "{} loads, {options:?}",
            mirror.loads
        );
    }
}

/// The borders of the prefix that has changed, and of some others.
fn borders_of_few<A: Address>(
    table: &LiveFib<A>,
    changed: Prefix<A>,
    random: &mut Random,
) -> Vec<A> {
    let near = table.rib.range(changed..).take(6).map(|(prefix, _)| prefix);
    let above = table.rib.supernets(changed).map(|(prefix, _)| prefix);
    let mut addresses = vec![A::MIN, A::MAX];
    for prefix in near.chain(above).chain([changed]) {
        addresses.extend([prefix.address(), prefix.address() | !A::mask(prefix.len())]);
    }
    for _ in 0..4 {
        addresses.push(random_prefix::<A>(random, u32::MAX).address());
    }
    addresses
}

#[test]
fn after_each_word_an_answer_is_that_before_or_after_the_change() {
    for seed in 0..rounds(1, 8) {
        words_of_changes::<u8>(seed, 60);
    }
    words_of_changes::<u16>(1, rounds(30, 200));
    words_of_changes::<u32>(2, rounds(30, 200));
    words_of_changes::<u64>(3, rounds(20, 150));
    words_of_changes::<u128>(4, rounds(20, 150));
}

/// A mirror with room for so many words, whose readers can or cannot be waited for.
struct SmallMirror {
    arrays: Option<Arrays>,
    room: usize,
    can_wait: bool,
    waits: usize,
}

impl Mirror for SmallMirror {
    type Error = &'static str;

    fn load(&mut self, words: FibWords<'_>) -> Result<(), Self::Error> {
        if words.arena().len() > self.room {
            return Err("too large");
        }
        self.arrays = Some(Arrays::of(words));
        Ok(())
    }

    fn store_root(&mut self, index: usize, word: u32) {
        self.arrays.as_ref().expect("loaded").root[index].set(word);
    }

    fn store_arena(&mut self, index: usize, word: u32) {
        self.arrays.as_ref().expect("loaded").arena[index].set(word);
    }

    fn wait(&mut self) -> Result<(), Self::Error> {
        self.waits += 1;
        self.can_wait.then_some(()).ok_or("nobody knows")
    }
}

/// A route to one of `count` hosts, by number.
fn host(number: u32, count: u32) -> (Prefix<u32>, Option<NextHop>) {
    let prefix = Prefix::host((number % count).wrapping_mul(0x9e37_79b1));
    (prefix, NextHop::new((number ^ number >> 9) % 1000))
}

#[test]
fn a_mirror_that_is_too_small_keeps_the_last_state_that_fits() {
    let mut table: LiveFib<u32> = LiveFib::new(Options::default()).expect("no options");
    let mut mirror = SmallMirror {
        arrays: None,
        room: 30_000,
        can_wait: true,
        waits: 0,
    };
    let mut fitting = Rib::<u32>::new();
    let mut refused = 0;
    for number in 1..6000 {
        let change = host(number, u32::MAX);
        table.apply([change]).expect("fits");
        match table.mirror(&mut mirror) {
            Ok(()) => fitting = table.rib.clone(),
            Err("too large") => refused += 1,
            Err(error) => panic!("{error}"),
        }
        if number % 100 == 0 {
            let arrays = mirror.arrays.as_ref().expect("small at first");
            for number in 1..6000 {
                let (prefix, _) = host(number, u32::MAX);
                let found = arrays.lookup(prefix.address());
                assert_eq!(found, Some(answer(&fitting, prefix.address())));
            }
        }
    }
    assert!(refused > 1000, "{refused}");
    // It keeps nobody else's memory.
    assert!(table.fib.home.journal_bytes() < 1 << 16);
    table.reclaim();
    assert_eq!(table.bytes().waiting, 0);
    mirror.room = usize::MAX;
    assert_eq!(table.mirror(&mut mirror), Ok(()));
    let arrays = mirror.arrays.as_ref().expect("loaded");
    for number in 1..6000 {
        let (prefix, _) = host(number, u32::MAX);
        let found = arrays.lookup(prefix.address());
        assert_eq!(found, Some(answer(&table.rib, prefix.address())));
    }
}

/// Many changes that nobody mirrors, or whose readers nobody can wait for, take no more memory than the table.
#[test]
fn a_mirror_that_lags_behind_takes_bounded_memory() {
    for (every, can_wait) in [(u32::MAX, true), (1, false)] {
        let mut table: LiveFib<u32> = LiveFib::new(Options::default()).expect("no options");
        table
            .apply((1..5000).map(|number| host(number, 5000)))
            .expect("fits");
        let mut mirror = SmallMirror {
            arrays: None,
            room: usize::MAX,
            can_wait,
            waits: 0,
        };
        assert_eq!(table.mirror(&mut mirror), Ok(()));
        let mut most = 0;
        for number in 1..rounds(100_000, 1_000_000) {
            table.apply([host(number * 7, 5000)]).expect("fits");
            if number % every == 0 {
                let _ = table.mirror(&mut mirror);
            }
            let bytes = table.bytes();
            most = most.max(bytes.writer + bytes.arrays + bytes.older);
        }
        let compiled: crate::Fib<u32> =
            crate::Fib::compile(&table.rib, &Options::default()).expect("fits");
        assert!(most < 4 * compiled.bytes() + (1 << 18), "{most} bytes");
        assert!(can_wait || mirror.waits > 0);
        table.end_mirror();
        table.reclaim();
        assert_eq!((table.bytes().waiting, table.bytes().writer), (0, 0));
        assert_eq!(table.check(), Ok(()));
    }
}
