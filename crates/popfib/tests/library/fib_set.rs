//! Sets of tables: what they share, what they refuse, and every allocation refused. Their answers are in `tests/proof`.

use std::iter;

use crate::common::failing::Failing;
use crate::common::random::Random;
use popfib::{Address, CompileError, FibSet, NextHop, Options, Prefix, Rib, Size};

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
