//! The live table against its Rib and against a fresh compile, after every change.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::fib::arrays::FibView;
use crate::fib::encode::{BlockEncoding, block_len};
use crate::fib::flat_block::{FlatBlock, runs_and_leaves};
use crate::fib::layout::{NODE, PLACE};
use crate::rounds::rounds;
use crate::{Address, CompileError, Fib, LiveFib, NextHop, Options, Prefix, Rib, Size};
use core::sync::atomic::Ordering;

mod mirror;

/// A generator of the tests' own: what it draws must be the same forever.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.0 >> 33
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Nodes, and words of blocks and pages, that can be reached.
fn reachable(view: FibView<'_>) -> (usize, usize) {
    fn block(view: FibView<'_>, pointer: u32, found: &mut (usize, usize)) {
        if pointer & NODE == 0 {
            return;
        }
        let word = |at: u32| view.arena[at as usize].load(Ordering::Relaxed);
        let place = pointer & PLACE;
        let runs = u64::from(word(place)) | u64::from(word(place + 1)) << 32;
        found.0 += 1;
        found.1 += block_len(pointer, view.value_bits, runs);
        let slots = BlockEncoding::read(pointer, view.value_bits, word).slots();
        for (slot, pointer) in slots.iter().enumerate() {
            if runs >> slot & 1 != 0 {
                block(view, *pointer, found);
            }
        }
    }
    let mut found = (0, 0);
    if view.is_flat {
        let root = view.root.iter();
        let blocks: BTreeSet<u32> = root.map(|entry| entry.load(Ordering::Relaxed)).collect();
        for pointer in blocks {
            let flat = FlatBlock::read(pointer, |at| view.arena[at].load(Ordering::Relaxed));
            found.0 += usize::from(runs_and_leaves(&flat.entries()).0 > 1);
            found.1 += flat.words().len();
            for entry in flat.entries() {
                block(view, entry, &mut found);
            }
        }
        return found;
    }
    for entry in view.root {
        let entry = entry.load(Ordering::Relaxed);
        if view.page_bits == 0 || entry & NODE == 0 {
            block(view, entry, &mut found);
            continue;
        }
        found.1 += 1 << view.page_bits;
        for at in 0..1u32 << view.page_bits {
            let entry = view.arena[((entry & PLACE) + at) as usize].load(Ordering::Relaxed);
            block(view, entry, &mut found);
        }
    }
    found
}

/// Holds `table` against its Rib at `probes`, and against what a fresh compile would be.
fn hold<A: Address>(table: &LiveFib<A>, probes: impl Iterator<Item = A>, context: &str) {
    assert_eq!(table.check(), Ok(()), "{context}");
    for address in probes {
        let expected = table.rib.lookup(address).map_or(0, u32::from);
        assert_eq!(table.lookup(address), expected, "{address:?} {context}");
    }
    let options = table
        .fib
        .options
        .clone()
        .direct_bits(Some(table.direct_bits()));
    let fresh: Fib<A> = Fib::compile(&table.rib, &options).expect("compiles");
    let found = reachable(table.view());
    assert_eq!(found.0, fresh.node_count(), "nodes, {context}");
    // Of a small table, less than a line before a block that would cross its end.
    let (lost, from_compile) = (lost(table), 15 + table.view().arena.len() / 4);
    assert!(lost <= from_compile, "{lost} words lost, {context}");
}

/// Words that are neither reachable nor free nor waiting: lost until the table is made again.
fn lost<A: Address>(table: &LiveFib<A>) -> usize {
    let bytes = table.bytes();
    let root = size_of_val(table.view().root);
    (bytes.arrays - root - bytes.free - bytes.waiting) / 4 - reachable(table.view()).1
}

fn options<A: Address>() -> impl Iterator<Item = Options> {
    [
        None,
        Some(0),
        Some(1),
        Some(5),
        Some(6),
        Some(7),
        Some(8),
        Some(13),
        Some(rounds(17, 18)),
    ]
    .into_iter()
    .filter(|bits: &Option<u8>| bits.is_none_or(|bits| bits <= A::WIDTH))
    .map(|bits| Options::default().direct_bits(bits))
    // Flat, and, with direct bits for long keys, not flat.
    .chain([Options::default()
        .direct_bits(Some(A::WIDTH.min(24) - 6))
        .size(Size::Balanced)])
    .flat_map(|options| [true, false].map(|on| options.clone().aggregation(on)))
}

fn random_prefix<A: Address>(random: &mut Random, near: u32) -> Prefix<A> {
    let len = random.below(u64::from(A::WIDTH) + 1) as u8;
    // Few different addresses, so that prefixes nest.
    let bits = A::from_leading(random.next() as u32 & near, A::WIDTH.min(31));
    let more = A::truncate(u128::from(random.next() & 7)) & !A::mask(31);
    Prefix::clamped(bits | more, len)
}

fn random_changes<A: Address>(
    seed: u64,
    changes: usize,
    probes: impl Fn(&LiveFib<A>, &mut Random) -> Vec<A>,
) {
    for options in options::<A>() {
        let mut random = Random(seed);
        let mut table: LiveFib<A> = LiveFib::new(options.clone()).expect("direct bits fit");
        let near = if random.below(2) == 0 {
            0x7000_00f1
        } else {
            u32::MAX
        };
        for change in 0..changes {
            let prefix = random_prefix(&mut random, near);
            let context = format!("seed {seed}, change {change}: {prefix:?}, {options:?}");
            // Growing first, shrinking later.
            if random.below(changes as u64) > change as u64 / 2 * 2 - change as u64 / 3 {
                let next_hop = NextHop::new(1 + random.below(3) as u32 * random.below(9) as u32)
                    .expect("not 0");
                let model = table.rib.get(prefix);
                assert_eq!(table.announce(prefix, next_hop), Ok(model), "{context}");
            } else {
                let victim = table.rib.next(prefix).map_or(prefix, |(prefix, _)| prefix);
                let model = table.rib.get(victim);
                assert_eq!(table.withdraw(victim), Ok(model), "{context}");
            }
            let addresses = probes(&table, &mut random);
            hold(&table, addresses.into_iter(), &context);
        }
        let all: Vec<_> = table.rib.iter().collect();
        for (prefix, next_hop) in all {
            assert_eq!(table.withdraw(prefix), Ok(Some(next_hop)));
        }
        table.reclaim();
        hold(
            &table,
            probes(&table, &mut random).into_iter(),
            "all withdrawn",
        );
        // Of a flat table the block of no answer is left.
        let words = if table.view().is_flat { 32 } else { 0 };
        assert_eq!(reachable(table.view()), (0, words));
    }
}

#[test]
fn every_address_of_8_bits_after_every_change() {
    for seed in 0..rounds(5, 20) {
        random_changes::<u8>(seed, 60, |_, _| (0..=u8::MAX).collect());
    }
}

#[test]
fn every_address_of_16_bits_after_every_change() {
    random_changes::<u16>(1, rounds(25, 100), |_, _| (0..=u16::MAX).collect());
}

/// The borders of some routes, and addresses at random.
fn borders<A: Address>(table: &LiveFib<A>, random: &mut Random) -> Vec<A> {
    let mut addresses = vec![A::MIN, A::MAX];
    for (prefix, _) in table.rib.iter() {
        addresses.extend([prefix.address(), prefix.address() | !A::mask(prefix.len())]);
    }
    for _ in 0..10 {
        addresses.push(random_prefix::<A>(random, u32::MAX).address());
    }
    addresses
}

#[test]
fn borders_of_long_keys_after_every_change() {
    // Fewer than 100 miss a patch that leaves a node too many.
    random_changes::<u32>(2, rounds(120, 200), borders);
    random_changes::<u64>(3, rounds(20, 200), borders);
    random_changes::<u128>(4, rounds(20, 200), borders);
}

#[test]
fn a_flat_table_that_becomes_too_large_has_runs() {
    let mut table: LiveFib<u32> =
        LiveFib::new(Options::default().size(Size::Balanced)).expect("no direct bits");
    let mut random = Random(40);
    let mut sizes = Vec::new();
    let mut announce = |table: &mut LiveFib<u32>, count, len| {
        for n in 0..count {
            let prefix = Prefix::clamped(random.next() as u32 * 2, len);
            let next_hop = NextHop::MIN.saturating_add(n % 50);
            table.announce(prefix, next_hop).expect("fits");
        }
        assert_eq!(table.check(), Ok(()));
        for _ in 0..10_000 {
            let address = random.next() as u32 * 2;
            let expected = table.rib.lookup(address).map_or(0, u32::from);
            assert_eq!(table.lookup(address), expected);
        }
        sizes.push(table.view().size());
    };
    announce(&mut table, 900, 24);
    announce(&mut table, 70_000, 24);
    // Each of these needs a whole block and one below it.
    announce(&mut table, 100_000, 28);
    assert_eq!(sizes, [Size::Smallest, Size::Balanced, Size::Smallest]);
    let routes: Vec<_> = table.rib.iter().map(|(prefix, _)| prefix).collect();
    for prefix in routes.into_iter().filter(|prefix| prefix.len() == 28) {
        table.withdraw(prefix).expect("memory");
    }
    assert_eq!(table.check(), Ok(()));
}

#[test]
fn no_words_are_lost_where_routes_come_and_go() {
    for (bits, size) in [
        (6, Size::Smallest),
        (8, Size::Smallest),
        (10, Size::Smallest),
        (10, Size::Balanced),
    ] {
        let options = Options::default().direct_bits(Some(bits)).size(size);
        let mut table: LiveFib<u16> = LiveFib::new(options).expect("fits");
        let mut random = Random(u64::from(bits));
        let mut reader = table.reader();
        let mut stayed = 0;
        for change in 0..5_000 {
            // Short ones, and long ones in few places.
            let (place, len) = match random.below(3) {
                0 => (random.next() as u16, random.below(4)),
                _ => (random.next() as u16 & 0xe001, 9 + random.below(8)),
            };
            let prefix = Prefix::clamped(place, len as u8);
            // Who is inside keeps the arrays, and others have another address.
            let guard = reader.pin();
            let before = (table.view().arena.as_ptr(), lost(&table));
            match random.below(2) {
                0 => drop(table.withdraw(prefix).expect("memory")),
                _ => {
                    let next_hop = NextHop::MIN.saturating_add(random.below(3) as u32);
                    table.announce(prefix, next_hop).expect("memory");
                }
            }
            drop(guard);
            table.reclaim();
            // Compiling leaves some between blocks.
            if table.view().arena.as_ptr() == before.0 {
                assert_eq!(
                    lost(&table),
                    before.1,
                    "{bits} bits, {size:?}, change {change}"
                );
                stayed += 1;
            }
        }
        assert!(stayed > 4_000, "{bits} bits, {size:?}");
    }
}

#[test]
fn a_table_grows_and_gives_memory_back() {
    let mut table: LiveFib<u32> = LiveFib::new(Options::default()).expect("no options");
    let empty = table.bytes();
    let mut random = Random(5);
    let prefixes: Vec<Prefix<u32>> = (0..100_000)
        .map(|_| Prefix::clamped(random.next() as u32 * 2, 12 + random.below(17) as u8))
        .collect();
    for (n, prefix) in prefixes.iter().enumerate() {
        let next_hop = NextHop::MIN.saturating_add(n as u32 % 500);
        table.announce(*prefix, next_hop).expect("fits");
    }
    assert_eq!(table.direct_bits(), 18);
    assert_eq!(table.check(), Ok(()));
    let full = table.bytes();
    let fresh: Fib<u32> = Fib::compile(table.rib(), &Options::default()).expect("fits");
    assert!(
        full.arrays < fresh.bytes() * 115 / 100,
        "{full:?} {}",
        fresh.bytes()
    );
    for prefix in &prefixes {
        table.withdraw(*prefix).expect("fits");
    }
    table.reclaim();
    assert_eq!(table.bytes().waiting, 0);
    assert!(
        table.bytes().arrays <= empty.arrays + 1024,
        "{:?}",
        table.bytes()
    );
    assert!(table.rib().is_empty());
}

#[test]
fn wrong_changes_change_nothing() {
    let mut table: LiveFib<u32> = LiveFib::new(Options::default()).expect("no options");
    let prefix = "10.0.0.0/8".parse().expect("a prefix");
    assert_eq!(table.withdraw(prefix), Ok(None));
    let seven = NextHop::new(7).expect("not 0");
    assert_eq!(table.announce(prefix, seven), Ok(None));
    let before = table.bytes();
    assert_eq!(table.announce(prefix, seven), Ok(Some(seven)));
    assert_eq!(
        table.bytes(),
        before,
        "a route announced twice is no change"
    );
    let high = NextHop::new(1 << 31).expect("not 0");
    assert_eq!(
        table.announce(prefix, high),
        Err(CompileError::NextHop {
            next_hop: 1 << 31,
            max: (1 << 31) - 1
        })
    );
    assert_eq!(table.lookup(0x0a00_0001), 7);
    assert_eq!(table.rib().len(), 1);
    assert!(LiveFib::<u8>::new(Options::default().direct_bits(Some(9))).is_err());
}

#[test]
fn readers_and_writer_may_go_in_any_order() {
    let mut table: LiveFib<u16> = LiveFib::new(Options::default()).expect("no options");
    let mut reader = table.reader();
    let prefix = Prefix::new(0x1200, 8).expect("no host bits");
    table.announce(prefix, NextHop::MIN).expect("fits");
    let mut other = reader.clone();
    assert_eq!(reader.lookup(0x1234), 1);
    let mut next_hops = [9; 3];
    table.lookup_batch(&[0x1200, 0x12ff, 0x1300], &mut next_hops);
    assert_eq!(next_hops, [1, 1, 0], "the writer sees the same");
    drop(table);
    assert_eq!(reader.lookup(0x1234), 1);
    drop(reader);
    assert_eq!(other.lookup(0x1334), 0);
    let guard = other.pin();
    let mut next_hops = [9; 3];
    guard.lookup_batch(&[0x1200, 0x12ff, 0x1300], &mut next_hops);
    assert_eq!(next_hops, [1, 1, 0]);
}

#[test]
fn what_a_reader_may_see_is_kept() {
    let mut table: LiveFib<u32> =
        LiveFib::new(Options::default().direct_bits(Some(0))).expect("fits");
    let mut reader = table.reader();
    let mut guard = reader.pin();
    for n in 1..10_000u32 {
        let prefix = Prefix::clamped((n % 64) << 26 | n << 8, 24);
        table
            .announce(prefix, NextHop::MIN.saturating_add(n % 9))
            .expect("fits");
        assert_eq!(guard.lookup(prefix.address()), 1 + n % 9);
    }
    table.reclaim();
    assert!(table.fib.home.shared.has_older() || table.bytes().waiting > 0);
    guard.quiescent();
    table.reclaim();
    guard.quiescent();
    table.reclaim();
    assert!(!table.fib.home.shared.has_older());
    assert_eq!(table.bytes().waiting, 0);
}

#[test]
fn changes_that_belong_together_leave_what_the_last_of_each_prefix_says() {
    let mut random = Random(9);
    let mut table: LiveFib<u32> = LiveFib::new(Options::default()).expect("no routes");
    let mut reader = table.reader();
    let mut model = Rib::<u32>::new();
    for (round, count) in [1, 3, 400, 7, 60, 9, 700, 2, 0, 30].into_iter().enumerate() {
        let changes: Vec<_> = (0..count)
            .map(|_| {
                let prefix = random_prefix(&mut random, 0x7000_00f1);
                (prefix, NextHop::new(random.below(5) as u32))
            })
            .collect();
        for (prefix, next_hop) in &changes {
            match next_hop {
                Some(next_hop) => model.insert(*prefix, *next_hop),
                None => model.remove(*prefix),
            };
        }
        table.apply(changes).expect("fits");
        assert!(table.rib().iter().eq(model.iter()), "round {round}");
        let probes = (0..500).map(|_| random.next() as u32 & 0x7000_00ff);
        let probes: Vec<_> = probes.collect();
        for address in &probes {
            assert_eq!(reader.lookup(*address), table.lookup(*address));
        }
        hold(&table, probes.into_iter(), "after a batch of changes");
    }
    // A next hop that does not fit: nothing has changed.
    let prefix = Prefix::DEFAULT_ROUTE;
    let wrong = table.apply([(prefix, None), (Prefix::host(1), NextHop::new(1 << 31))]);
    assert!(matches!(
        wrong,
        Err(CompileError::NextHop {
            next_hop: 0x8000_0000,
            ..
        })
    ));
    assert!(table.rib().iter().eq(model.iter()));
}

/// Neighbouring prefixes through one gateway have few blocks: the words to spare are as many as routes or root entries allow, or each change
/// would move or compile the table again.
#[test]
fn single_changes_of_a_table_that_compresses_well_are_patches() {
    let hop = |n| NextHop::new(n).expect("not 0");
    for direct_bits in [None, Some(0), Some(18)] {
        for count in [256u32, 4096, 16_384, 65_536] {
            let options = Options::default().direct_bits(direct_bits);
            let mut table: LiveFib<u32> = LiveFib::new(options).expect("direct bits fit");
            let prefix = |n: u32| Prefix::new_masked(0x0a00_0000 + (n << 8), 24).expect("24 bits");
            let all = (0..count).map(|n| (prefix(n), Some(hop(1))));
            table.apply(all).expect("routes fit");
            let changes = 400;
            let (mut reader, mut moves) = (table.reader(), 0);
            for n in 0..changes {
                // Who is inside keeps the arrays, and others have another address.
                let guard = reader.pin();
                let before = table.view().arena.as_ptr();
                let at = (n * 2 % count).wrapping_mul(if n < 200 { 1 } else { 997 }) % count;
                table
                    .announce(prefix(at), hop(2 - n / 100 % 2))
                    .expect("a change");
                moves += u32::from(table.view().arena.as_ptr() != before);
                drop(guard);
            }
            let work = moves * count.max(1 << table.direct_bits());
            assert!(work / changes < 2048, "{count} {moves}");
            assert!(table.bytes().free < 70_000 + 4 * count as usize);
        }
    }
}
