//! Sets of tables: what they share, what they refuse, and every allocation refused. Their answers are in `tests/proof`.

use std::iter;

use crate::common::failing::Failing;
use crate::common::random::Random;
use popfib::{Address, CompileError, FibSet, LiveFibSet, NextHop, Options, Prefix, Rib, Size};

fn rib<A: Address>(random: &mut Random, routes: usize) -> Rib<A> {
    (0..routes)
        .map(|_| {
            let next_hop = NextHop::new(1 + random.below(16) as u32);
            (random.prefix(), next_hop.expect("not 0"))
        })
        .collect()
}

fn compile<A: Address>(ribs: &[Rib<A>], size: Size) -> FibSet<A> {
    let set = FibSet::compile(ribs, &Options::default().size(size)).expect("fits");
    set.check().expect("a compiled set is whole");
    set
}

fn what_is_equal_is_stored_once<A: Address>(size: Size) {
    let mut random = Random(1);
    let whole = rib::<A>(&mut random, 20_000);
    let one = compile(std::slice::from_ref(&whole), size);
    let mut ribs = vec![whole; 16];
    for (at, rib) in ribs.iter_mut().enumerate() {
        let next_hop = NextHop::new(1 + at as u32).expect("not 0");
        rib.insert(random.prefix(), next_hop);
    }
    let set = compile(&ribs, size);
    let (more, one) = (set.bytes() - one.bytes(), one.bytes());
    assert!(more < one / 10, "{more} bytes for 16 copies of {one}");
    let below: usize = (0..16).map(|table| set.table_bytes(table)).sum();
    assert!(below > 15 * one, "each leads to all of its own");
}

#[test]
fn what_is_equal_is_stored_once_in_both_families() {
    for size in [Size::Smallest, Size::Balanced] {
        what_is_equal_is_stored_once::<u32>(size);
        what_is_equal_is_stored_once::<u128>(size);
    }
}

#[test]
fn no_tables_and_no_routes() {
    let none = compile::<u32>(&[], Size::Smallest);
    assert!(none.is_empty());
    assert_eq!(none.lookup(0, 1), 0);
    let default = [("0.0.0.0/0".parse().expect("valid"), NextHop::MIN)];
    let two = compile::<u32>(&[Rib::new(), default.into_iter().collect()], Size::Smallest);
    assert_eq!(two.len(), 2);
    assert_eq!(
        [0, 1, 2, u32::MAX].map(|table| two.lookup(table, 1)),
        [0, 1, 0, 0]
    );
    assert_eq!([0, 1, 2].map(|table| two.table_bytes(table)), [0; 3]);
}

#[test]
fn a_next_hop_too_high_is_refused() {
    let mut high = Rib::<u32>::new();
    high.insert(
        "0.0.0.0/0".parse().expect("valid"),
        NextHop::new(1 << 31).expect("not 0"),
    );
    let refused = FibSet::compile([&Rib::new(), &high], &Options::default());
    let expected = CompileError::NextHop {
        next_hop: 1 << 31,
        max: (1 << 31) - 1,
    };
    assert_eq!(refused.err(), Some(expected));
}

#[test]
#[should_panic(expected = "one table for each address")]
fn slices_of_other_lengths_are_a_panic() {
    compile::<u32>(&[], Size::Smallest).lookup_batch(&[0], &[1, 2], &mut [0, 0]);
}

#[test]
#[ignore = "heavy: 2^24 tables"]
fn heavy_too_many_tables_are_refused() {
    let (empty, max) = (Rib::<u8>::new(), FibSet::<u8>::MAX_TABLES);
    let refused = FibSet::compile(iter::repeat_n(&empty, max + 1), &Options::default());
    assert_eq!(
        refused.err(),
        Some(CompileError::Tables { max: max as u32 })
    );
    let set = FibSet::compile(iter::repeat_n(&empty, max), &Options::default());
    assert_eq!(set.expect("fits").len(), max);
}

#[test]
fn memory_refused_at_any_point_is_given_back() {
    let memory = Failing::new();
    let mut random = Random(3);
    let ribs = [
        rib::<u32>(&mut random, 300),
        rib(&mut random, 40),
        Rib::new(),
    ];
    let mut all = 0;
    // Every second time only one request is refused.
    for size in [
        Size::Smallest,
        Size::Smallest,
        Size::Balanced,
        Size::Balanced,
    ] {
        let options = Options::default().size(size);
        let (set, failures) = memory.until_it_succeeds(
            &mut (),
            |()| FibSet::compile_in(&ribs, &options, &memory),
            |(), error| {
                assert!(matches!(error, CompileError::OutOfMemory(_)), "{error}");
                assert_eq!(memory.bytes(), 0, "all is given back");
            },
        );
        all += failures;
        assert!(memory.bytes() >= set.bytes());
        drop(set);
        assert_eq!(memory.bytes(), 0);
    }
    assert!(all > 10, "{all}");
}

#[test]
fn a_large_table_of_equal_blocks() {
    let routes = (0..1u32 << 17).map(|n| {
        let prefix = Prefix::new(n << 8, 24).expect("no host bits");
        (prefix, NextHop::new(1 + n % 2).expect("not 0"))
    });
    let rib: Rib<u32> = routes.collect();
    let set = compile(std::slice::from_ref(&rib), Size::Balanced);
    for address in (0..1 << 26).step_by(0x4321) {
        let expected = rib.lookup(address).map_or(0, NextHop::get);
        assert_eq!(set.lookup(0, address), expected, "{address:#x}");
    }
}

/// Each way to change live tables, with each of its allocations refused: all tables stay as they were.
#[test]
fn memory_refused_leaves_live_tables_as_they_were() {
    let memory = Failing::new();
    let mut failures = 0;
    for size in [Size::Smallest, Size::Balanced] {
        let highest = NextHop::new(16).expect("not 0");
        let options = Options::default().size(size);
        let make = |(): &mut ()| LiveFibSet::<u32, _>::new_in(highest, options.clone(), &memory);
        let (mut set, failed) = memory.until_it_succeeds(&mut (), make, |(), _| {
            assert_eq!(memory.bytes(), 0, "all is given back");
        });
        failures += failed;
        let mut random = Random(9);
        let addresses: Vec<u32> = (0..200).map(|_| random.next() as u32).collect();
        let all = |set: &LiveFibSet<u32, _>| -> Vec<u32> {
            let pairs = (0..6).flat_map(|table| addresses.iter().map(move |a| (table, *a)));
            pairs
                .map(|(table, address)| set.lookup(table, address))
                .collect()
        };
        for round in 0..60 {
            let table = random.below(5) as u32;
            let prefix = random.prefix();
            let next_hop = NextHop::new(1 + random.below(16) as u32).expect("not 0");
            let (before, lens) = (
                all(&set),
                (0..6)
                    .map(|at| set.rib(at).map(Rib::len))
                    .collect::<Vec<_>>(),
            );
            let routes = rib::<u32>(&mut random, 40);
            let change = |set: &mut LiveFibSet<u32, _>| match round % 5 {
                0 => {
                    let mut copy = Rib::new_in(&memory);
                    for (prefix, next_hop) in routes.iter() {
                        copy.try_insert(prefix, next_hop)?;
                    }
                    set.insert(table, copy).map(drop)
                }
                1 => {
                    let first = set.rib(table).and_then(Rib::first);
                    first.map_or(Ok(()), |(prefix, _)| set.withdraw(table, prefix).map(drop))
                }
                2 if round % 4 == 0 => set.remove(table).map(drop).map_err(CompileError::from),
                _ => set.announce(table, prefix, next_hop).map(drop),
            };
            let ((), failed) = memory.until_it_succeeds(&mut set, change, |set, error| {
                assert!(matches!(error, CompileError::OutOfMemory(_)), "{error}");
                assert_eq!(set.check(), Ok(()));
                assert_eq!(all(set), before);
                assert!(
                    (0..6)
                        .map(|at| set.rib(at).map(Rib::len))
                        .eq(lens.iter().copied())
                );
            });
            failures += failed;
            for (at, address) in (0..5).flat_map(|at| addresses.iter().map(move |a| (at, *a))) {
                let expected = set.rib(at).and_then(|rib| rib.lookup(address));
                assert_eq!(set.lookup(at, address), expected.map_or(0, NextHop::get));
            }
        }
        drop(set);
        assert_eq!(memory.bytes(), 0, "all is given back");
    }
    assert!(failures > 300, "{failures}");
}

#[test]
fn live_tables_refuse_what_they_cannot_hold() {
    let highest = |number| NextHop::new(number).expect("not 0");
    let too_high = |next_hop, max| CompileError::NextHop { next_hop, max };
    let refused = LiveFibSet::<u32>::new(highest(1 << 31), Options::default());
    assert_eq!(refused.err(), Some(too_high(1 << 31, (1 << 31) - 1)));
    let mut set = LiveFibSet::<u32>::new(highest(9), Options::default()).expect("fits");
    let prefix: Prefix<u32> = "10.0.0.0/8".parse().expect("valid");
    let refused = set.announce(0, prefix, highest(10));
    assert_eq!(refused, Err(too_high(10, 9)));
    let rib: Rib<u32> = [(prefix, highest(10))].into_iter().collect();
    assert_eq!(set.insert(0, rib).map(drop), Err(too_high(10, 9)));
    let max = FibSet::<u32>::MAX_TABLES as u32;
    let refused = set.announce(max, prefix, highest(1));
    assert_eq!(refused, Err(CompileError::Tables { max }));
    assert!(set.rib(0).is_none() && matches!(set.remove(0), Ok(None)));
    assert_eq!(set.withdraw(5, prefix), Ok(None));
    // A route that is gone is none too high.
    let mut rib = Rib::new();
    rib.insert(prefix, highest(10));
    rib.insert(prefix, highest(9));
    assert_eq!(set.insert(3, rib).map(drop), Ok(()));
    assert_eq!((set.lookup(3, 10 << 24), set.len()), (9, 4));
    assert_eq!(set.announce(3, prefix, highest(8)), Ok(Some(highest(9))));
    // A reader sees the last state when the writer is gone.
    let mut reader = set.reader().expect("memory").try_clone().expect("memory");
    drop(set);
    assert_eq!(reader.pin().lookup(3, 10 << 24), 8);
}
