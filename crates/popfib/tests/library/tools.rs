//! Intervals, differences and aggregation of Ribs, against answers asked for one
//! by one, and the size of aggregated tables against every table there is.

use std::collections::HashMap;

use crate::common::random::Random;
use crate::common::rounds::rounds;
use popfib::diff::{AnswerChange, RouteChange};
use popfib::intervals::Intervals;
use popfib::{Address, NextHop, Prefix, Rib, aggregate, diff};

fn hop(number: u32) -> NextHop {
    NextHop::new(number).unwrap()
}

fn rib<A: Address>(routes: &[(&str, u32)]) -> Rib<A> {
    routes
        .iter()
        .map(|&(prefix, n)| (prefix.parse().unwrap(), hop(n)))
        .collect()
}

fn same(a: NextHop, b: NextHop) -> bool {
    a == b
}

/// A Rib of `routes` routes to few next hops, often with a default route.
fn random_rib<A: Address>(random: &mut Random, routes: usize, next_hops: usize) -> Rib<A> {
    let mut rib = Rib::new();
    for _ in 0..routes {
        let next_hop = hop(1 + random.below(next_hops) as u32);
        rib.insert(random.prefix(), next_hop);
    }
    rib
}

/// A Rib and another made from it by a few changes.
fn random_pair<A: Address>(
    random: &mut Random,
    routes: usize,
    next_hops: usize,
) -> (Rib<A>, Rib<A>) {
    let old = random_rib(random, routes, next_hops);
    let mut new = old.clone();
    for _ in 0..random.below(8) {
        let there = old.iter().nth(random.below(routes));
        let prefix = match there {
            Some((prefix, _)) if random.below(2) == 0 => prefix,
            _ => random.prefix(),
        };
        if random.below(2) == 0 {
            new.remove(prefix);
        } else {
            new.insert(prefix, hop(1 + random.below(next_hops) as u32));
        }
    }
    (old, new)
}

/// Addresses that between them meet every answer of the Ribs: all of them for
/// narrow keys, else both sides of every boundary.
fn witnesses<A: Address>(ribs: &[&Rib<A>]) -> Vec<A> {
    if A::WIDTH <= 16 {
        return (0..1u128 << A::WIDTH).map(A::truncate).collect();
    }
    let mut all = vec![A::MIN, A::MAX];
    for (prefix, _) in ribs.iter().flat_map(|rib| rib.iter()) {
        let (first, last) = (prefix.first(), prefix.last());
        all.extend([first, last]);
        all.extend(first.checked_previous());
        all.extend(last.checked_next());
    }
    all
}

#[track_caller]
fn same_answers<A: Address>(old: &Rib<A>, new: &Rib<A>) {
    for address in witnesses(&[old, new]) {
        assert_eq!(
            old.lookup(address),
            new.lookup(address),
            "{address:?}: {old:?} became {new:?}"
        );
    }
}

// ---------------------------------------------------------------- intervals

fn intervals_agree<A: Address>(rib: &Rib<A>) {
    let mut next = Some(A::MIN);
    let mut count = 0;
    let mut answers = HashMap::new();
    for interval in Intervals::new(rib) {
        count += 1;
        assert_eq!(Some(interval.first), next, "no gap");
        assert!(interval.first <= interval.last);
        next = interval.last.checked_next();
        for end in [interval.first, interval.last] {
            assert_eq!(interval.next_hop, rib.lookup(end), "{end:?} in {rib:?}");
        }
        if A::WIDTH <= 16 {
            for address in interval.first.to_u128()..=interval.last.to_u128() {
                answers.insert(A::truncate(address), interval.next_hop);
            }
        }
    }
    assert_eq!(next, None, "the last interval ends at the last address");
    assert!(count <= 2 * rib.len() + 1);
    for (address, answer) in answers {
        assert_eq!(answer, rib.lookup(address), "{address:?} in {rib:?}");
    }
}

#[test]
fn intervals_are_the_longest_matches() {
    intervals_agree(&Rib::<u8>::new());
    intervals_agree(&rib::<u8>(&[
        ("0/0", 1),
        ("0/1", 2),
        ("0/8", 3),
        ("128/1", 4),
    ]));
    intervals_agree(&rib::<u8>(&[("255/8", 1), ("254/7", 2), ("127/8", 3)]));
    let mut random = Random(42);
    for round in 0..500 {
        intervals_agree(&random_rib::<u8>(&mut random, round % 40, 5));
    }
    for routes in [1, 3, 30, 300] {
        intervals_agree(&random_rib::<u16>(&mut random, routes, 5));
        intervals_agree(&random_rib::<u32>(&mut random, routes, 5));
        intervals_agree(&random_rib::<u128>(&mut random, routes, 5));
    }
}

// ---------------------------------------------------------------- differences

fn differences_are_right<A: Address>(old: &Rib<A>, new: &Rib<A>) {
    // Applied to the old table, the changes give the new one.
    let mut changed = old.clone();
    let mut before = None;
    for RouteChange { prefix, old, new } in diff::routes(old, new, same) {
        assert_ne!(old, new);
        assert!(before < Some(prefix), "in order");
        before = Some(prefix);
        let was = match new {
            Some(next_hop) => changed.insert(prefix, next_hop),
            None => changed.remove(prefix),
        };
        assert_eq!(was, old);
    }
    assert_eq!(&changed, new);

    let changes: Vec<_> = diff::answers(old, new, same).collect();
    for change in &changes {
        assert!(change.first <= change.last);
        assert_ne!(change.old, change.new);
    }
    for pair in changes.windows(2) {
        assert!(pair[0].last < pair[1].first, "in order, none twice");
        let touch = pair[0].last.checked_next() == Some(pair[1].first);
        let alike = (pair[0].old, pair[0].new) == (pair[1].old, pair[1].new);
        assert!(!(touch && alike), "merged: {pair:?}");
    }
    for address in witnesses(&[old, new]) {
        let told = changes
            .iter()
            .find(|change| change.first <= address && address <= change.last)
            .map(|change| (change.old, change.new));
        let (was, is) = (old.lookup(address), new.lookup(address));
        assert_eq!(told, (was != is).then_some((was, is)), "{address:?}");
    }
}

#[test]
fn differences_of_changed_tables() {
    let mut random = Random(7);
    for round in 0..400 {
        let (old, new) = random_pair::<u8>(&mut random, 1 + round % 30, 3);
        differences_are_right(&old, &new);
        differences_are_right(&new, &old);
    }
    for _ in 0..20 {
        let (old, new) = random_pair::<u16>(&mut random, 60, 3);
        differences_are_right(&old, &new);
        let (old, new) = random_pair::<u32>(&mut random, 60, 3);
        differences_are_right(&old, &new);
        let (old, new) = random_pair::<u128>(&mut random, 60, 3);
        differences_are_right(&old, &new);
    }
    // Nothing in common.
    for _ in 0..50 {
        let (old, new) = (
            random_rib::<u8>(&mut random, 20, 3),
            random_rib::<u8>(&mut random, 20, 3),
        );
        differences_are_right(&old, &new);
        differences_are_right(&old, &Rib::new());
        differences_are_right(&Rib::new(), &new);
    }
}

#[test]
fn next_hops_are_the_same_if_the_caller_says_so() {
    let old = rib::<u8>(&[("0/1", 1), ("128/1", 2)]);
    let new = rib::<u8>(&[("0/1", 11), ("128/1", 13)]);
    let plus_ten = |a: NextHop, b: NextHop| a.get() + 10 == b.get();
    let routes: Vec<_> = diff::routes(&old, &new, plus_ten).collect();
    assert_eq!(
        routes,
        [RouteChange {
            prefix: "128/1".parse().unwrap(),
            old: Some(hop(2)),
            new: Some(hop(13)),
        }]
    );
    let answers: Vec<_> = diff::answers(&old, &new, plus_ten).collect();
    assert_eq!(
        answers,
        [AnswerChange {
            first: 128,
            last: 255,
            old: Some(hop(2)),
            new: Some(hop(13)),
        }]
    );
}

// ---------------------------------------------------------------- aggregation

/// The fewest routes with these answers, by trying at every vertex to set no
/// route or any: exponential choices, shared by remembering what is below.
/// `answers` are those of the addresses below, `inherited` the next hop above.
fn fewest(answers: &[u32], inherited: u32) -> Option<usize> {
    if let [answer] = *answers {
        return match answer == inherited {
            true => Some(0),
            // No route says "no route".
            false => (answer != 0).then_some(1),
        };
    }
    let (low, high) = answers.split_at(answers.len() / 2);
    let mut choices = answers.to_vec();
    choices.sort_unstable();
    choices.dedup();
    choices.retain(|&choice| choice != 0 && choice != inherited);
    let with = |next_hop| Some(fewest(low, next_hop)? + fewest(high, next_hop)?);
    let set = choices
        .into_iter()
        .filter_map(|choice| with(choice).map(|routes| routes + 1));
    set.chain(with(inherited)).min()
}

/// All prefixes of at most `bits` bits.
fn prefixes(bits: u8) -> Vec<Prefix<u8>> {
    (0..=bits)
        .flat_map(|len| (0..1u16 << len).map(move |n| ((n << (8 - len)) as u8, len)))
        .map(|(address, len)| Prefix::new(address, len).unwrap())
        .collect()
}

/// What the addresses of `bits` bits get.
fn answers(rib: &Rib<u8>, bits: u8) -> Vec<u32> {
    (0..1u16 << bits)
        .map(|n| rib.lookup((n << (8 - bits)) as u8).map_or(0, NextHop::get))
        .collect()
}

/// Every table over keys of `bits` bits and `next_hops` next hops: none has
/// fewer routes than the aggregated table of the same answers.
fn no_table_is_smaller(bits: u8, next_hops: u32) {
    let prefixes = prefixes(bits);
    let mut smallest: HashMap<Vec<u32>, usize> = HashMap::new();
    // The routes of all tables, as the digits of a number.
    let mut digits = vec![0; prefixes.len()];
    let mut slots = vec![0; 1 << bits];
    loop {
        // The prefixes come by length, so longer ones overwrite shorter ones.
        slots.fill(0);
        for (prefix, &next_hop) in prefixes.iter().zip(&digits) {
            if next_hop != 0 {
                let first = usize::from(prefix.first()) >> (8 - bits);
                let last = usize::from(prefix.last()) >> (8 - bits);
                slots[first..=last].fill(next_hop);
            }
        }
        let routes = digits.iter().filter(|&&next_hop| next_hop != 0).count();
        match smallest.get_mut(&slots) {
            Some(known) => *known = routes.min(*known),
            None => {
                smallest.insert(slots.clone(), routes);
            }
        }
        // Counts up; ends after the last number.
        let Some(place) = digits.iter().position(|&digit| digit < next_hops) else {
            break;
        };
        digits[place] += 1;
        digits[..place].fill(0);
    }
    // Every way to answer has a table.
    assert_eq!(smallest.len(), (next_hops as usize + 1).pow(1 << bits));
    for (wanted, routes) in smallest {
        // One route for each answer: what is to be made smaller.
        let table: Rib<u8> = (0u8..)
            .zip(&wanted)
            .filter(|(_, next_hop)| **next_hop != 0)
            .map(|(n, &next_hop)| (Prefix::new(n << (8 - bits), bits).unwrap(), hop(next_hop)))
            .collect();
        let aggregated = aggregate::ortc(&table);
        assert_eq!(answers(&aggregated, bits), wanted);
        assert_eq!(aggregated.len(), routes, "{wanted:?}: {aggregated:?}");
        assert_eq!(fewest(&wanted, 0), Some(routes), "{wanted:?}");
        let simple = aggregate::simple(&table);
        assert_eq!(answers(&simple, bits), wanted);
        assert!(simple.len() >= routes && simple.len() <= table.len());
    }
}

#[test]
fn ortc_is_minimal_among_all_tables_of_few_bits() {
    no_table_is_smaller(1, 4);
    no_table_is_smaller(2, 3);
    no_table_is_smaller(3, 2);
}

fn aggregation_is_right<A: Address>(table: &Rib<A>) -> (usize, usize) {
    let (optimal, simple) = (aggregate::ortc(table), aggregate::simple(table));
    for aggregated in [&optimal, &simple] {
        same_answers(table, aggregated);
        assert_eq!(diff::answers(table, aggregated, same).next(), None);
    }
    assert!(optimal.len() <= simple.len() && simple.len() <= table.len());
    // Nothing is left to do, for either.
    assert_eq!(aggregate::ortc(&optimal).len(), optimal.len());
    assert_eq!(aggregate::ortc(&simple).len(), optimal.len());
    assert_eq!(aggregate::simple(&simple), simple);
    // The simple one has no prefix that the table's own do not make up.
    for (prefix, _) in &simple {
        let whole = |p: &Prefix<A>| table.subnets(*p).next().is_some();
        assert!(whole(&prefix), "{prefix} in {table:?}");
    }
    (optimal.len(), simple.len())
}

#[test]
fn aggregated_tables_answer_the_same() {
    let mut random = Random(3);
    aggregation_is_right(&Rib::<u8>::new());
    let (mut saved, mut saved_more) = (0, 0);
    for round in 0..rounds(500, 2000) {
        let mut table = random_rib::<u8>(&mut random, round % 50, 1 + round % 4);
        if round % 3 == 0 {
            table.insert(Prefix::DEFAULT_ROUTE, hop(1));
        }
        let (optimal, simple) = aggregation_is_right(&table);
        let wanted: Vec<u32> = answers(&table, 8);
        if round % 10 == 0 {
            assert_eq!(fewest(&wanted, 0), Some(optimal), "{table:?}");
        }
        saved += usize::from(simple < table.len());
        saved_more += usize::from(optimal < simple);
    }
    assert!(
        saved > rounds(250, 1000) && saved_more > rounds(50, 200),
        "{saved}, {saved_more}"
    );
    for round in 0..rounds(10, 40) {
        aggregation_is_right(&random_rib::<u16>(&mut random, 200, 1 + round % 4));
        aggregation_is_right(&random_rib::<u32>(&mut random, 200, 1 + round % 4));
        aggregation_is_right(&random_rib::<u64>(&mut random, 200, 1 + round % 4));
        aggregation_is_right(&random_rib::<u128>(&mut random, 200, 1 + round % 4));
    }
}

/// Prefix and next hop.
type Route = (&'static str, u32);

#[test]
fn aggregation_of_small_tables() {
    // (what, table, ORTC's size, the simple aggregation)
    let cases: [(&str, &[Route], usize, &[Route]); 9] = [
        (
            "a repeated next hop",
            &[("0/1", 1), ("0/3", 1)],
            1,
            &[("0/1", 1)],
        ),
        ("two halves", &[("0/2", 1), ("64/2", 1)], 1, &[("0/1", 1)]),
        (
            "four quarters under another route",
            &[
                ("0/1", 9),
                ("0/3", 1),
                ("32/3", 1),
                ("64/3", 1),
                ("96/3", 1),
            ],
            1,
            &[("0/1", 1)],
        ),
        (
            "a route of which longer ones leave nothing",
            &[("0/1", 9), ("0/2", 1), ("64/2", 2)],
            2,
            &[("0/2", 1), ("64/2", 2)],
        ),
        (
            "the next hop of a route of which nothing is left, below it",
            &[
                ("0/1", 1),
                ("0/3", 1),
                ("32/3", 2),
                ("64/3", 1),
                ("96/3", 2),
            ],
            3,
            &[("0/1", 1), ("32/3", 2), ("96/3", 2)],
        ),
        (
            "the route above a route that goes",
            &[("0/1", 1), ("0/2", 9), ("0/3", 1), ("32/3", 1)],
            1,
            &[("0/1", 1)],
        ),
        (
            "a hole stays",
            &[("0/3", 1), ("64/2", 1)],
            2,
            &[("0/3", 1), ("64/2", 1)],
        ),
        (
            "ORTC finds what no prefix of the table says",
            &[("0/0", 1), ("0/2", 2), ("128/2", 2), ("192/2", 3)],
            3,
            &[("0/0", 1), ("0/2", 2), ("128/2", 2), ("192/2", 3)],
        ),
        (
            "the majority moves up",
            &[
                ("0/3", 2),
                ("32/3", 1),
                ("64/3", 2),
                ("96/3", 3),
                ("128/3", 2),
            ],
            4,
            &[
                ("0/3", 2),
                ("32/3", 1),
                ("64/3", 2),
                ("96/3", 3),
                ("128/3", 2),
            ],
        ),
    ];
    for (what, table, optimal, simple) in cases {
        let table = rib::<u8>(table);
        aggregation_is_right(&table);
        assert_eq!(aggregate::simple(&table), rib(simple), "{what}");
        assert_eq!(aggregate::ortc(&table).len(), optimal, "{what}");
    }
}

#[test]
fn aggregation_of_every_length() {
    // One prefix inside the other down to the last bit, all next hops different,
    // and on both sides of each: the deepest tree, and the largest sets.
    fn comb<A: Address>() {
        let mut table = Rib::<A>::new();
        for len in 0..=A::WIDTH {
            let prefix = Prefix::new_masked(A::MAX, len).unwrap();
            table.insert(prefix, hop(1 + u32::from(len)));
        }
        let (optimal, _) = aggregation_is_right(&table);
        assert_eq!(optimal, usize::from(A::WIDTH) + 1);
        let alike: Rib<A> = table.iter().map(|(prefix, _)| (prefix, hop(7))).collect();
        assert_eq!(aggregation_is_right(&alike), (1, 1));
    }
    comb::<u8>();
    comb::<u16>();
    comb::<u32>();
    comb::<u64>();
    comb::<u128>();
}

#[test]
fn next_hops_may_be_any_number() {
    let table = rib::<u32>(&[("10.0.0.0/9", u32::MAX), ("10.128.0.0/9", u32::MAX)]);
    let joined = rib::<u32>(&[("10.0.0.0/8", u32::MAX)]);
    assert_eq!(aggregate::ortc(&table), joined);
    assert_eq!(aggregate::simple(&table), joined);
}
