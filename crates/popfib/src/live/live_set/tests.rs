//! Live sets against a scan of each table's routes, and their counts against those made from scratch.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

use super::LiveFibSet;
use crate::fib::arrays::{FibView, IDLE_BLOCK, words};
use crate::fib::layout::{NODE, place};
use crate::fib::lookup::lookup_in_table;
use crate::fib_set::block::{first_pointer, len};
use crate::rounds::rounds;
use crate::{Address, FibSet, Kernel, NextHop, Options, Prefix, Rib, Size};

/// A generator of the tests' own: what it draws must be the same forever.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }

    /// A prefix of keys of `width` bits, in which runs of equal bits are common.
    fn prefix<A: Address>(&mut self, width: u8) -> Prefix<A> {
        let len = self.below(u64::from(width) + 1) as u8;
        let mut bits = (0..5).fold(0, |bits, _| bits << 31 | u128::from(self.below(1 << 31)));
        if self.below(2) == 0 {
            bits &= 0x8208_2082_0820_8208_2082_0820_8208_2082;
        }
        let bits = A::truncate(bits >> (128 - u32::from(A::WIDTH)));
        Prefix::new_masked(bits, len).expect("short enough")
    }
}

fn hop(number: u32) -> NextHop {
    NextHop::new(number).expect("not 0")
}

/// By pointer to a block that can be reached: how many pointers lead there, and its words.
fn reachable(view: FibView<'_>) -> BTreeMap<u32, (u32, usize)> {
    let mut found = BTreeMap::new();
    let root = view.root.iter().map(|word| word.load(Relaxed));
    let mut todo: Vec<u32> = root.collect();
    while let Some(pointer) = todo.pop() {
        if pointer & NODE == 0 {
            continue;
        }
        let rest = &view.arena[place(pointer)..];
        let len = len(pointer, view.value_bits, |at| rest[at].load(Relaxed));
        let (count, _) = found.entry(pointer).or_insert((0, len));
        *count += 1;
        if *count == 1 {
            let below = &rest[first_pointer(pointer, len)..len];
            todo.extend(below.iter().map(|word| word.load(Relaxed)));
        }
    }
    found
}

/// Counts from scratch, and where everything is.
fn verify_counts<A: Address>(set: &mut LiveFibSet<A>) {
    assert_eq!(set.check(), Ok(()));
    set.reclaim();
    let view = FibSet::view(set);
    let found = reachable(view);
    for (pointer, (count, len)) in &found {
        let counted = view.arena[place(*pointer) + len].load(Relaxed);
        assert_eq!(counted, *count, "pointers to {pointer:#x}");
    }
    let words_in_use: usize = found.values().map(|(_, len)| len + 1).sum();
    let bytes = set.bytes();
    let used = bytes.arrays - bytes.free - 4 * (view.root.len() + IDLE_BLOCK.len());
    assert_eq!((bytes.waiting, bytes.older), (0, 0), "nobody looks");
    assert_eq!(used, 4 * words_in_use, "no word is lost");
}

/// These, and with aggregation that the blocks are those that a compilation makes.
fn verify<A: Address>(set: &mut LiveFibSet<A>) {
    verify_counts(set);
    let view = FibSet::view(set);
    let found = reachable(view);
    if set.options.is_aggregating() {
        let none = Rib::new();
        let ribs = set.ribs.iter().map(|rib| rib.as_deref().unwrap_or(&none));
        let compiled = FibSet::compile(ribs, &set.options).expect("fits");
        // Narrow values of the same bits, so that blocks are as long.
        if compiled.view().value_bits == view.value_bits {
            let (mut ours, mut theirs): (Vec<usize>, Vec<usize>) = (vec![], vec![]);
            ours.extend(found.values().map(|(_, len)| len));
            theirs.extend(reachable(compiled.view()).values().map(|(_, len)| len));
            ours.sort_unstable();
            theirs.sort_unstable();
            assert!(
                ours == theirs,
                "blocks of a compiled set: {} and {}",
                ours.len(),
                theirs.len()
            );
        }
    }
}

type Routes<A> = BTreeMap<Prefix<A>, NextHop>;

fn scan<A: Address>(routes: &Routes<A>, address: A) -> u32 {
    let holds = routes.iter().filter(|(prefix, _)| prefix.contains(address));
    let longest = holds.max_by_key(|(prefix, _)| prefix.len());
    longest.map_or(0, |(_, next_hop)| next_hop.get())
}

/// Holds lookups of all kinds against a scan of each table.
fn compare<A: Address>(set: &LiveFibSet<A>, tables: &[Routes<A>], addresses: &[A]) {
    let numbers = 0..tables.len() as u32 + 1;
    let pairs = numbers.flat_map(|table| addresses.iter().map(move |address| (table, *address)));
    let (numbers, addresses): (Vec<u32>, Vec<A>) = pairs.unzip();
    let expected: Vec<u32> = core::iter::zip(&numbers, &addresses)
        .map(|(table, address)| {
            tables
                .get(*table as usize)
                .map_or(0, |routes| scan(routes, *address))
        })
        .collect();
    for ((table, address), expected) in numbers.iter().zip(&addresses).zip(&expected) {
        assert_eq!(
            set.lookup(*table, *address),
            *expected,
            "{table} {address:?}"
        );
    }
    for kernel in Kernel::list() {
        let mut found = vec![u32::MAX; expected.len()];
        set.lookup_batch_with(kernel, &numbers, &addresses, &mut found);
        assert_eq!(found, expected, "{kernel}");
    }
}

/// Changes of four tables at random, some of which become copies of others, go and come again.
fn changes_at_random<A: Address>(width: u8, size: Size, aggregation: bool, steps: usize) {
    let mut random = Random(u64::from(width) * 4 + u64::from(size == Size::Balanced) * 2 + 1);
    let options = Options::default().size(size).aggregation(aggregation);
    let mut set = LiveFibSet::<A>::new(hop(7), options).expect("fits");
    let mut tables = vec![Routes::new(); 4];
    let prefixes = (0..12).flat_map(|_| {
        let prefix = random.prefix::<A>(width);
        // The same in the next slot of the first block, of keys that have two.
        let next = prefix.address() ^ A::truncate(1 << (u32::from(A::WIDTH).max(6) - 6));
        [
            prefix,
            Prefix::new_masked(next, prefix.len()).expect("as long"),
        ]
    });
    let prefixes: Vec<Prefix<A>> = prefixes.collect();
    let ends = prefixes
        .iter()
        .flat_map(|prefix| [prefix.first(), prefix.last()]);
    let addresses: Vec<A> = ends.collect();
    let mut reader = set.reader().expect("memory");
    for step in 0..steps {
        let guard = reader.pin();
        let table = random.below(4) as u32;
        let at = table as usize;
        let at_prefix = random.below(24) as usize;
        let prefix = prefixes[at_prefix];
        match random.below(12) {
            0 => {
                let old = core::mem::take(&mut tables[at]);
                let removed = set.remove(table).expect("memory");
                assert!(removed.is_some() || old.is_empty());
                assert!(removed.unwrap_or_default().iter().eq(old));
            }
            1 => {
                tables[at] = tables[random.below(4) as usize].clone();
                let rib = tables[at].iter().map(|(prefix, hop)| (*prefix, *hop));
                set.insert(table, rib.collect()).expect("fits");
            }
            2..5 => assert_eq!(set.withdraw(table, prefix), Ok(tables[at].remove(&prefix))),
            draw => {
                // Two tables change alike, mostly, and two parts of a table that are side by side.
                for (table, prefix) in [
                    (table, prefix),
                    (table, prefixes[at_prefix ^ usize::from(draw % 2 == 0)]),
                    (table ^ u32::from(draw < 10), prefix),
                ] {
                    let next_hop = hop(1 + random.below(7) as u32);
                    let next_hop = if draw < 8 { hop(7) } else { next_hop };
                    let old = tables[table as usize].insert(prefix, next_hop);
                    assert_eq!(set.announce(table, prefix, next_hop), Ok(old));
                }
            }
        }
        for address in &addresses {
            assert_eq!(guard.lookup(table, *address), scan(&tables[at], *address));
        }
        drop(guard);
        if step % 16 == 0 {
            compare(&set, &tables, &addresses);
            verify(&mut set);
        }
    }
    compare(&set, &tables, &addresses);
    (0..4).for_each(|table| drop(set.remove(table).expect("memory")));
    verify(&mut set);
    assert!(reachable(FibSet::view(&set)).is_empty());
}

#[test]
fn tables_of_every_width_answer_as_a_scan() {
    let steps = rounds(60, 1000);
    for width in 1..=128 {
        for size in [Size::Smallest, Size::Balanced] {
            let aggregation = width % 3 != 0;
            match width {
                ..=8 => changes_at_random::<u8>(width, size, aggregation, steps),
                9..=16 => changes_at_random::<u16>(width, size, aggregation, steps),
                17..=32 => changes_at_random::<u32>(width, size, aggregation, steps),
                33..=64 => changes_at_random::<u64>(width, size, aggregation, steps),
                _ => changes_at_random::<u128>(width, size, aggregation, steps),
            }
        }
    }
}

/// A lookup that begins at a table's pointer of earlier and goes on as slowly as a guard allows finds what its table says at some time
/// since, and nothing of another table.
fn lookups_that_began_earlier<A: Address>(seed: u64, size: Size) {
    let mut random = Random(seed);
    let options = Options::default().size(size);
    let mut set = LiveFibSet::<A>::new(hop(200), options).expect("fits");
    let mut reader = set.reader().expect("memory");
    let prefixes: Vec<Prefix<A>> = (0..20).map(|_| random.prefix(A::WIDTH)).collect();
    let ends = prefixes
        .iter()
        .flat_map(|prefix| [prefix.first(), prefix.last()]);
    let addresses: Vec<A> = ends.collect();
    for _ in 0..rounds(40, 400) {
        let guard = reader.pin();
        let view = FibSet::view(&guard);
        let known = view.root.len().min(3) as u32;
        let roots: Vec<u32> = view.root.iter().map(|word| word.load(Relaxed)).collect();
        let began: Vec<_> = roots
            .into_iter()
            .map(|pointer| words(vec![pointer]))
            .collect();
        let pairs = (0..known).flat_map(|table| addresses.iter().map(move |a| (table, *a)));
        let pairs: Vec<(u32, A)> = pairs.collect();
        let mut said: Vec<Vec<u32>> = vec![vec![]; pairs.len()];
        for _ in 0..24 {
            for ((table, address), said) in pairs.iter().zip(&mut said) {
                said.push(set.lookup(*table, *address));
                let root = &began[*table as usize][..];
                let earlier = FibView {
                    root,
                    root_bits: 0,
                    ..view
                };
                let found = lookup_in_table(earlier, 0, *address);
                assert!(said.contains(&found), "{table} {address:?} {found}");
            }
            let table = random.below(3) as u32;
            let prefix = prefixes[random.below(20) as usize];
            match random.below(8) {
                0 => {
                    let copy = set.rib(random.below(3) as u32).cloned();
                    set.insert(table, copy.unwrap_or_default()).expect("fits");
                }
                1 => drop(set.remove(table).expect("memory")),
                2 | 3 => drop(set.withdraw(table, prefix).expect("fits")),
                // Few, so that blocks are equal, or any.
                4 | 5 => drop(set.announce(table, prefix, hop(1)).expect("fits")),
                _ => {
                    let next_hop = hop(1 + random.below(200) as u32);
                    set.announce(table, prefix, next_hop).expect("fits");
                }
            }
        }
        drop(guard);
        verify(&mut set);
    }
}

#[test]
fn readers_of_one_table_see_no_other() {
    for size in [Size::Smallest, Size::Balanced] {
        lookups_that_began_earlier::<u8>(3, size);
        lookups_that_began_earlier::<u16>(4, size);
        lookups_that_began_earlier::<u32>(5, size);
        lookups_that_began_earlier::<u128>(6, size);
    }
}

/// Each pair of routes in the same table or in two, withdrawn in either order.
#[test]
fn two_small_tables_with_every_pair_of_routes() {
    let all =
        (0..=8).flat_map(|len| (0..=255u8).filter_map(move |bits| Prefix::new(bits, len).ok()));
    // At both ends and in the middle of blocks.
    let some: Vec<Prefix<u8>> = all
        .filter(|prefix| prefix.address() & 0b0111_1010 == 0)
        .collect();
    let addresses: Vec<u8> = (0..=255).collect();
    for first in &some {
        for (second, table, hops) in some
            .iter()
            .flat_map(|second| [(second, 0, 2), (second, 1, 1)])
        {
            let mut set = LiveFibSet::<u8>::new(hop(2), Options::default()).expect("fits");
            let mut tables = vec![Routes::new(); 2];
            let routes = [(0, *first, 1), (table, *second, hops)];
            for (table, prefix, number) in routes {
                let old = tables[table as usize].insert(prefix, hop(number));
                assert_eq!(set.announce(table, prefix, hop(number)), Ok(old));
            }
            let check = |set: &LiveFibSet<u8>, tables: &[Routes<u8>]| {
                for (table, address) in
                    (0..2).flat_map(|at| addresses.iter().map(move |a| (at, *a)))
                {
                    assert_eq!(
                        set.lookup(table, address),
                        scan(&tables[table as usize], address)
                    );
                }
            };
            check(&set, &tables);
            for (table, prefix, _) in routes {
                let old = tables[table as usize].remove(&prefix);
                assert_eq!(set.withdraw(table, prefix), Ok(old));
                check(&set, &tables);
            }
            verify(&mut set);
        }
    }
}

/// What was a table's first block becomes its second: it must not be changed to lead to itself.
#[test]
fn a_block_that_is_found_below_itself() {
    let mut set = LiveFibSet::<u32>::new(hop(1), Options::default()).expect("fits");
    for len in [12, 18] {
        let prefix = Prefix::new(0, len).expect("no host bits");
        set.announce(0, prefix, hop(1)).expect("fits");
    }
    set.withdraw(0, Prefix::new(0, 12).expect("no host bits"))
        .expect("fits");
    assert_eq!(
        [0, 1 << 14, 1 << 20].map(|address| set.lookup(0, address)),
        [1, 0, 0]
    );
    verify(&mut set);
}

/// A block below the route that changes is found below the one that takes its place.
#[test]
fn a_block_that_is_found_below_its_successor() {
    let mut set = LiveFibSet::<u32>::new(hop(2), Options::default()).expect("fits");
    // All slots but the second, and all but the first, of a block that ends there.
    let around = |end: u8| (1..6).map(move |bit| (1 << bit << (32 - end), end - bit));
    let rest = around(30).chain([(0, 30)]).map(|route| (route, 1));
    let first = around(18).chain([(1 << 14, 18)]).map(|route| (route, 2));
    let all = [((0, 12), 1), ((1 << 8, 24), 2)];
    for ((bits, len), number) in all.into_iter().chain(rest).chain(first) {
        let prefix = Prefix::new(bits, len).expect("no host bits");
        set.announce(0, prefix, hop(number)).expect("fits");
    }
    verify(&mut set);
    set.announce(0, Prefix::new(0, 12).expect("no host bits"), hop(2))
        .expect("fits");
    let rib = set.rib(0).expect("there");
    for address in (0..1 << 20).step_by(3) {
        let expected = rib.lookup(address).map_or(0, NextHop::get);
        assert_eq!(set.lookup(0, address), expected);
    }
    verify(&mut set);
}

/// Equal parts of a table side by side are one run of one block: a change of one part leaves the other as it is.
#[test]
fn equal_parts_side_by_side_change_apart() {
    let mut set = LiveFibSet::<u32>::new(hop(1), Options::default()).expect("fits");
    for part in [0, 1 << 26] {
        let prefix = Prefix::new(part | 1 << 8, 24).expect("no host bits");
        set.announce(0, prefix, hop(1)).expect("fits");
    }
    // What was replaced counts no longer: one pointer leads to the block of both.
    set.reclaim();
    set.announce(0, Prefix::new(2 << 8, 24).expect("no host bits"), hop(1))
        .expect("fits");
    assert_eq!(
        [2 << 8, 1 << 26 | 2 << 8].map(|address| set.lookup(0, address)),
        [1, 0]
    );
    verify(&mut set);
}

/// Large tables have flat blocks where these are asked for, and keep them.
#[test]
fn large_tables_stay_flat() {
    let options = Options::default().size(Size::Balanced);
    let mut set = LiveFibSet::<u32>::new(hop(15), options).expect("fits");
    let mut random = Random(5);
    let routes = (0..1u32 << 17).map(|n| {
        let prefix = Prefix::new(n << 8, 24).expect("no host bits");
        (prefix, hop(1 + random.below(15) as u32))
    });
    let rib: Rib<u32> = routes.collect();
    set.insert(0, rib.clone()).expect("fits");
    set.insert(1, rib).expect("fits");
    verify(&mut set);
    for _ in 0..300 {
        let (table, prefix) = (random.below(2) as u32, random.prefix(24));
        if random.below(3) == 0 {
            set.withdraw(table, prefix).expect("fits");
        } else if prefix.len() > 6 {
            set.announce(table, prefix, hop(1 + random.below(15) as u32))
                .expect("fits");
        }
    }
    for address in (0..1 << 26).step_by(0x4321) {
        for table in 0..2 {
            let expected = set.rib(table).and_then(|rib| rib.lookup(address));
            assert_eq!(set.lookup(table, address), expected.map_or(0, NextHop::get));
        }
    }
    // Where routes came to a part that had none, blocks are not flat.
    verify_counts(&mut set);
    let ribs = [0, 1].map(|table| set.rib(table).expect("there"));
    let compiled = FibSet::compile(ribs, &set.options).expect("fits").bytes();
    let bytes = set.bytes();
    let used = bytes.arrays - bytes.free;
    assert!(
        used < compiled + compiled / 8,
        "{used} bytes, {compiled} compiled"
    );
}

/// Tables that come and go, with readers in them all the time: each answer is one that the table has had.
#[test]
fn tables_go_while_readers_look() {
    let mut set = LiveFibSet::<u32>::new(hop(64), Options::default()).expect("fits");
    let route = |at: u32| Prefix::new(at << 8 & 0x3f_ff00, 24).expect("no host bits");
    let rib = |table: u32| {
        (0..200)
            .map(move |at| (route(at * 7), hop(table + 1)))
            .collect::<Rib<u32>>()
    };
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let (mut reader, stop) = (set.reader().expect("memory"), &stop);
                scope.spawn(move || {
                    let (mut looks, mut found) = (0, [0; 64]);
                    let tables: Vec<u32> = (0..64).map(|at| at % 8).collect();
                    let addresses: Vec<u32> = (0..64).map(|at| route(at * 7).address()).collect();
                    while !stop.load(Relaxed) || looks < 100 {
                        let mut guard = reader.pin();
                        for _ in 0..10 {
                            guard.lookup_batch(&tables, &addresses, &mut found);
                            for (table, found) in tables.iter().zip(found) {
                                assert!(found == 0 || found == table + 1, "{found} of {table}");
                            }
                            guard.quiescent();
                        }
                        looks += 10;
                    }
                })
            })
            .collect();
        for round in 0..rounds(300, 10_000) as u32 {
            let table = round * 5 % 8;
            match round % 3 {
                0 => drop(set.remove(table).expect("memory")),
                1 => drop(set.insert(table, rib(table)).expect("fits")),
                _ => drop(
                    set.announce(table, route(round), hop(table + 1))
                        .expect("fits"),
                ),
            }
        }
        stop.store(true, Relaxed);
        for reader in readers {
            reader.join().expect("each answer is the table's");
        }
    });
    verify(&mut set);
}
