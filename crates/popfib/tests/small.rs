//! All parts of the library on tables so small that an interpreter gets through them: what `scripts/miri` runs.
//!
//! Routes against a linear search, compiled tables against the routes, images and kernels against both, for
//! every key width.

mod common;

use common::random::Random;
use std::sync::atomic::{AtomicBool, Ordering};

use popfib::image::Keep;
use popfib::{
    Address, CompileError, Fib, FibSet, Image, ImageError, ImageWriter, Kernel, LiveFib,
    LiveFibSet, LiveMap, NextHop, Options, Prefix, PrefixMap, Rib, Size, longest as matches,
};

/// Routes of a table.
const ROUTES: usize = if cfg!(miri) { 6 } else { 40 };

/// The longest prefix that holds the address, and its next hop; the oracle.
fn longest<A: Address>(
    routes: &[(Prefix<A>, NextHop)],
    address: A,
) -> Option<(Prefix<A>, NextHop)> {
    let holds = routes.iter().filter(|(prefix, _)| prefix.contains(address));
    holds.max_by_key(|(prefix, _)| prefix.len()).copied()
}

fn search<A: Address>(routes: &[(Prefix<A>, NextHop)], address: A) -> u32 {
    longest(routes, address).map_or(0, |(_, next_hop)| next_hop.get())
}

fn routes<A: Address>(random: &mut Random) -> Vec<(Prefix<A>, NextHop)> {
    let mut routes: Vec<(Prefix<A>, NextHop)> = Vec::new();
    while routes.len() < ROUTES {
        let prefix = random.prefix();
        if routes.iter().all(|(other, _)| *other != prefix) {
            let number = if random.below(4) == 0 { 60_000 } else { 1 };
            routes.push((
                prefix,
                NextHop::MIN.saturating_add(number + random.below(3) as u32),
            ));
        }
    }
    routes
}

fn borders<A: Address>(routes: &[(Prefix<A>, NextHop)]) -> Vec<A> {
    let borders = routes
        .iter()
        .flat_map(|(prefix, _)| [prefix.first(), prefix.last()]);
    borders.chain([A::MIN, A::MAX]).collect()
}

/// Fibs, kernels and an image of the same routes.
fn agree<A: Address>(routes: &[(Prefix<A>, NextHop)], rib: &Rib<A>, options: &Options) {
    let fib: Fib<A> = Fib::compile(rib, options).expect("fits");
    assert_eq!(fib.check(), Ok(()));
    let addresses = borders(routes);
    let expected: Vec<u32> = addresses.iter().map(|a| search(routes, *a)).collect();
    let one_by_one: Vec<u32> = addresses.iter().map(|a| fib.lookup(*a)).collect();
    assert_eq!(one_by_one, expected);
    for kernel in Kernel::list() {
        let mut batch = vec![0; addresses.len()];
        fib.lookup_batch_with(kernel, &addresses, &mut batch);
        assert_eq!(batch, expected, "{kernel}");
    }
    let set = FibSet::compile([&Rib::new(), rib], options).expect("fits");
    assert_eq!(set.check(), Ok(()));
    for kernel in Kernel::list() {
        let mut batch = vec![0; addresses.len()];
        let tables = vec![1; addresses.len()];
        set.lookup_batch_with(kernel, &tables, &addresses, &mut batch);
        assert_eq!(batch, expected, "{kernel}, in a set");
    }
}

/// Matches of one address, and of as many as `count` at once.
fn matches_agree<A: Address>(
    routes: &[(Prefix<A>, NextHop)],
    rib: &Rib<A>,
    options: &Options,
    addresses: &[A],
    count: usize,
) {
    let fib = matches::compile(rib, options).expect("fits");
    let expected: Vec<_> = addresses.iter().map(|a| longest(routes, *a)).collect();
    let one_by_one = addresses
        .iter()
        .map(|a| matches::matched(*a, fib.lookup(*a)));
    assert!(one_by_one.eq(expected.iter().copied()));
    let many: Vec<A> = addresses.iter().copied().cycle().take(count).collect();
    for kernel in Kernel::list() {
        let mut found = Vec::new();
        matches::matches_with(&fib, kernel, &many, |at, route| {
            assert_eq!(at, found.len());
            found.push(route);
        });
        let expected = expected.iter().copied().cycle().take(count);
        assert!(found.into_iter().eq(expected), "{kernel}");
    }
}

#[test]
fn next_hops_too_high_for_a_length_beside_them() {
    fn limit<A: Address>(max: u32) {
        assert_eq!(matches::max_next_hop::<A>(), max);
        let prefix = Prefix::host(A::MAX);
        let mut rib = Rib::<A>::new();
        rib.insert(prefix, NextHop::new(max).expect("not 0"));
        let fib = matches::compile(&rib, &Options::default()).expect("fits");
        assert_eq!(
            matches::matched(A::MAX, fib.lookup(A::MAX)),
            rib.longest_match(A::MAX)
        );
        rib.insert(prefix, NextHop::new(max + 1).expect("not 0"));
        let error = matches::compile(&rib, &Options::default()).err();
        let next_hop = max + 1;
        assert_eq!(error, Some(CompileError::NextHop { next_hop, max }));
    }
    limit::<u8>((i32::MAX as u32) / 9 - 1);
    limit::<u32>(65_075_261);
    limit::<u128>(16_647_159);
}

fn every_part<A: Address>(seed: u64) {
    let mut random = Random(seed);
    let routes = routes::<A>(&mut random);
    let mut rib: Rib<A> = routes.iter().copied().collect();
    let (gone, kept) = routes.split_at(ROUTES / 3);
    for (prefix, next_hop) in gone {
        assert_eq!(rib.remove(*prefix), Some(*next_hop));
    }
    for address in borders(&routes) {
        let found = rib
            .longest_match(address)
            .map_or(0, |(_, next_hop)| next_hop.get());
        assert_eq!(found, search(kept, address));
    }
    for direct_bits in [0, 5] {
        for aggregation in [false, true] {
            let options = Options::default()
                .direct_bits(Some(direct_bits))
                .aggregation(aggregation);
            agree(kept, &rib, &options);
            let addresses = borders(&routes);
            // More than are looked up at a time, once: an interpreter takes half a minute for that.
            let is_long = direct_bits == 0 && aggregation;
            let count = if is_long { 600 } else { addresses.len() };
            matches_agree(kept, &rib, &options, &addresses, count);
        }
    }
    let options = Options::default().direct_bits(Some(0));
    if A::WIDTH == 8 {
        let options = Options::default().direct_bits(Some(2)).size(Size::Balanced);
        agree(kept, &rib, &options);
    }

    let mut writer = ImageWriter::new(0);
    writer.table("small", &[]).unwrap();
    writer.family(&rib, &options, Keep::Routes).expect("fits");
    let bytes = writer.to_bytes();
    if cfg!(target_endian = "big") {
        // Images are used as they lie.
        let refused = Image::from_bytes(&bytes).expect_err("another order of bytes");
        assert!(matches!(refused, ImageError::BigEndianHost));
        return;
    }
    let image = Image::from_bytes(&bytes).expect("an image");
    let table = image.table(None).unwrap().family::<A>().expect("the table");
    for address in borders(&routes) {
        assert_eq!(table.lookup(address), search(kept, address));
        assert_eq!(table.longest_match(address), rib.longest_match(address));
    }
    let mut damaged = bytes;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x55;
    assert!(Image::from_bytes(&damaged).is_err());
}

#[test]
fn every_part_agrees_on_keys_of_8_and_16_bits() {
    every_part::<u8>(1);
    every_part::<u16>(2);
}

#[test]
fn every_part_agrees_on_ipv4() {
    every_part::<u32>(3);
}

#[test]
fn every_part_agrees_on_long_keys() {
    every_part::<u64>(4);
    every_part::<u128>(5);
}

/// First lookups of many threads at once, after changes without a lookup: one of them compiles, and all are right.
#[test]
fn first_lookups_of_a_map() {
    let mut random = Random(7);
    for _ in 0..if cfg!(miri) { 2 } else { 200 } {
        let routes = routes::<u32>(&mut random);
        let mut map = PrefixMap::<u32, u32>::new();
        for (prefix, next_hop) in &routes {
            map.insert(*prefix, next_hop.get());
        }
        let addresses = borders(&routes);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for address in &addresses {
                        let found = map.lookup(*address).copied();
                        assert_eq!(found.unwrap_or(0), search(&routes, *address));
                    }
                });
            }
        });
        assert_eq!(map.check(), Ok(()));
    }
}

/// Changes of a live table.
const CHANGES: usize = if cfg!(miri) { 24 } else { 2000 };

/// A reader that comes and goes while routes change: each answer is a route's that holds the address.
#[test]
fn a_reader_beside_changes() {
    reader_beside_changes(Options::default().direct_bits(Some(0)));
    reader_beside_changes(Options::default().direct_bits(Some(4)));
}

#[test]
fn a_reader_beside_changes_of_flat_blocks() {
    reader_beside_changes(Options::default().direct_bits(Some(2)).size(Size::Balanced));
}

fn reader_beside_changes(options: Options) {
    let mut random = Random(6);
    let prefixes: Vec<Prefix<u8>> = (0..ROUTES).map(|_| random.prefix()).collect();
    let mut table: LiveFib<u8> = LiveFib::new(options).expect("fits");
    let mut reader = table.reader();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let kernel = Kernel::by_name("portable").expect("everywhere");
            while !stop.load(Ordering::Relaxed) {
                let mut guard = reader.pin();
                for prefix in &prefixes {
                    let (addresses, mut answers) = ([prefix.first(), prefix.last()], [0; 2]);
                    guard.lookup_batch_with(kernel, &addresses, &mut answers);
                    for (address, answer) in addresses.into_iter().zip(answers) {
                        let route = answer.checked_sub(1);
                        let route = route.map(|index| prefixes[index as usize]);
                        assert!(route.is_none_or(|route| route.contains(address)));
                    }
                    guard.quiescent();
                }
            }
        });
        for _ in 0..CHANGES {
            let index = random.below(prefixes.len());
            // Of equal prefixes the first one's next hop or the last one's: both hold the address.
            if random.below(3) == 0 {
                table.withdraw(prefixes[index]).expect("fits");
            } else {
                let next_hop = NextHop::MIN.saturating_add(index as u32);
                table.announce(prefixes[index], next_hop).expect("fits");
            }
            // Words are used again at once.
            table.reclaim();
        }
        stop.store(true, Ordering::Relaxed);
    });
    drop(reader);
    table.reclaim();
    assert_eq!((table.check(), table.bytes().waiting), (Ok(()), 0));
}

/// The same of tables that share blocks, and of which one goes at times.
#[test]
fn a_reader_beside_changes_of_many_tables() {
    let mut random = Random(8);
    let prefixes: Vec<Prefix<u8>> = (0..ROUTES).map(|_| random.prefix()).collect();
    let highest = NextHop::MIN.saturating_add(ROUTES as u32);
    let mut set = LiveFibSet::<u8>::new(highest, Options::default()).expect("fits");
    let mut reader = set.reader().expect("memory");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let kernel = Kernel::by_name("portable").expect("everywhere");
            while !stop.load(Ordering::Relaxed) {
                let mut guard = reader.pin();
                for prefix in &prefixes {
                    let (addresses, mut answers) = ([prefix.first(); 4], [0; 4]);
                    guard.lookup_batch_with(kernel, &[0, 1, 2, 3], &addresses, &mut answers);
                    for answer in answers {
                        let route = answer.checked_sub(1);
                        let route = route.map(|index| prefixes[index as usize]);
                        assert!(route.is_none_or(|route| route.contains(addresses[0])));
                    }
                    guard.quiescent();
                }
            }
        });
        for change in 0..CHANGES {
            let index = random.below(prefixes.len());
            let next_hop = NextHop::MIN.saturating_add(index as u32);
            for table in [0, 1, 2 + change as u32 / 8 % 2] {
                if random.below(4) == 0 {
                    set.withdraw(table, prefixes[index]).expect("fits");
                } else {
                    set.announce(table, prefixes[index], next_hop)
                        .expect("fits");
                }
            }
            if change % 5 == 0 {
                let copy = set.rib(0).cloned().unwrap_or_default();
                set.insert(random.below(4) as u32, copy).expect("fits");
                set.remove(random.below(4) as u32).expect("memory");
            }
            // Words are used again at once.
            set.reclaim();
        }
        stop.store(true, Ordering::Relaxed);
    });
    drop(reader);
    set.reclaim();
    assert_eq!((set.check(), set.bytes().waiting), (Ok(()), 0));
}

/// The same of a live map: each value is its prefix's, alive, whatever was dropped and written meanwhile.
#[test]
fn a_reader_of_values_beside_changes() {
    let mut random = Random(7);
    let prefixes: Vec<Prefix<u8>> = (0..ROUTES).map(|_| random.prefix()).collect();
    let mut map: LiveMap<u8, Box<(Prefix<u8>, usize)>> = LiveMap::new();
    let mut reader = map.reader();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let mut guard = reader.pin();
                for prefix in &prefixes {
                    if let Some((found, value)) = guard.longest_match(prefix.last()) {
                        assert_eq!((value.0, prefixes[value.1]), (found, found));
                        assert!(found.contains(prefix.last()));
                    }
                    guard.quiescent();
                }
            }
        });
        for change in 0..CHANGES {
            let index = random.below(prefixes.len());
            let prefix = prefixes[index];
            match random.below(3) {
                0 => drop(map.withdraw(prefix).expect("fits")),
                _ => drop(
                    map.announce(prefix, Box::new((prefix, index)))
                        .expect("fits"),
                ),
            }
            if change % 9 == 8 {
                let all = (0..).zip(&prefixes);
                let all = all.map(|(index, prefix)| (*prefix, Some(Box::new((*prefix, index)))));
                map.apply(all).expect("fits");
            }
            // Slots are used again at once.
            map.reclaim();
        }
        stop.store(true, Ordering::Relaxed);
    });
    drop(reader);
    map.reclaim();
    assert_eq!((map.check(), map.waiting()), (Ok(()), 0));
}
