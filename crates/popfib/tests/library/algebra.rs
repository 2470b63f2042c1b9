//! Set algebra against sets of addresses, one by one: every address of narrow keys, both sides of
//! every boundary of wide ones; the fewest prefixes against a count by halves, and against ipnet's.

use std::collections::BTreeSet;

use crate::common::random::Random;
use crate::common::rounds::rounds;
use popfib::algebra::{self, Coverage};
use popfib::{Address, IpPrefix, IpSet, Prefix, PrefixSet};

fn random_set<A: Address>(random: &mut Random) -> PrefixSet<A> {
    let count = random.below(12);
    (0..count).map(|_| random.prefix()).collect()
}

/// All addresses of narrow keys, else both sides of every boundary.
fn witnesses<A: Address>(sets: &[&PrefixSet<A>]) -> Vec<A> {
    if A::WIDTH <= 8 {
        return (0..1u128 << A::WIDTH).map(A::truncate).collect();
    }
    let mut all = vec![A::MIN, A::MAX];
    for prefix in sets.iter().flat_map(|set| set.iter()) {
        all.extend([prefix.first(), prefix.last()]);
        all.extend(prefix.first().checked_previous());
        all.extend(prefix.last().checked_next());
    }
    all
}

/// How many prefixes it takes to cover exactly the addresses of `set` inside `prefix`, by halves.
fn count_by_halves<A: Address>(set: &PrefixSet<A>, prefix: Prefix<A>) -> usize {
    if set.covers_all(prefix) {
        return 1;
    }
    if !set.overlaps(prefix) {
        return 0;
    }
    let half = |address| Prefix::new_masked(address, prefix.len() + 1).unwrap();
    [prefix.first(), prefix.last()]
        .map(|address| count_by_halves(set, half(address)))
        .iter()
        .sum()
}

/// That `found` has the addresses that `holds` wants, in order, without overlaps, as few as possible.
#[track_caller]
fn check<A: Address>(
    found: impl Iterator<Item = Prefix<A>>,
    witnesses: &[A],
    holds: impl Fn(A) -> bool,
) {
    let found: Vec<_> = found.collect();
    for pair in found.windows(2) {
        assert!(pair[0].last() < pair[1].first(), "{pair:?}");
    }
    let set: PrefixSet<A> = found.iter().copied().collect();
    for &address in witnesses {
        assert_eq!(set.contains_address(address), holds(address), "{address:?}");
    }
    assert_eq!(found.len(), count_by_halves(&set, Prefix::DEFAULT_ROUTE));
}

fn operations_hold_for_every_address<A: Address>(rounds: usize) {
    let mut random = Random(u64::from(A::WIDTH) << 32 | 0x5e75);
    for _ in 0..rounds {
        let (one, other) = (random_set::<A>(&mut random), random_set(&mut random));
        let all = witnesses(&[&one, &other]);
        let in_one = |address| one.contains_address(address);
        let in_other = |address| other.contains_address(address);
        check(one.fewest(), &all, in_one);
        check(one.complement(), &all, |a| !in_one(a));
        check(one.union(&other), &all, |a| in_one(a) || in_other(a));
        check(one.intersection(&other), &all, |a| in_one(a) && in_other(a));
        check(one.difference(&other), &all, |a| in_one(a) && !in_other(a));
        check(one.symmetric_difference(&other), &all, |a| {
            in_one(a) != in_other(a)
        });
        let subset = all.iter().all(|&a| !in_one(a) || in_other(a));
        assert_eq!(one.is_subset(&other), subset);
        assert_eq!(other.is_superset(&one), subset);
        let disjoint = !all.iter().any(|&a| in_one(a) && in_other(a));
        assert_eq!(one.is_disjoint(&other), disjoint);
        for (prefix, how) in one.compare(&other) {
            let wanted = match (other.covers_all(prefix), other.overlaps(prefix)) {
                (true, _) => Coverage::Whole,
                (false, true) => Coverage::Part,
                (false, false) => Coverage::None,
            };
            assert_eq!(how, wanted, "{prefix} of {one:?} in {other:?}");
        }
        assert!(one.compare(&other).map(|(prefix, _)| prefix).eq(&one));
        let sum = |prefixes: &mut dyn Iterator<Item = Prefix<A>>| {
            prefixes.fold(0, |sum, prefix| {
                let hosts = prefix.last().to_u128() - prefix.first().to_u128();
                u128::saturating_add(sum, hosts.saturating_add(1))
            })
        };
        assert_eq!(one.address_count(), sum(&mut one.fewest()));
        let ranges: Vec<_> = algebra::ranges(&one).collect();
        let touch = |pair: &[(A, A)]| {
            pair[0]
                .1
                .checked_next()
                .is_none_or(|next| next >= pair[1].0)
        };
        assert!(!ranges.windows(2).any(touch), "{ranges:?}");
        let prefixes = ranges.iter();
        let prefixes = prefixes.flat_map(|&(first, last)| algebra::range(first, last));
        assert!(prefixes.eq(one.fewest()));
    }
}

#[test]
fn operations_are_those_of_sets_of_addresses() {
    operations_hold_for_every_address::<u8>(rounds(600, 3000));
    operations_hold_for_every_address::<u16>(rounds(200, 1000));
    operations_hold_for_every_address::<u32>(rounds(200, 1000));
    operations_hold_for_every_address::<u128>(rounds(100, 500));
}

fn laws_hold<A: Address>(rounds: usize) {
    let mut random = Random(u64::from(A::WIDTH) << 32 | 0x1a35);
    let everything = PrefixSet::from([Prefix::<A>::DEFAULT_ROUTE]);
    let nothing = PrefixSet::new();
    for _ in 0..rounds {
        let [a, b, c] = [(); 3].map(|()| random_set::<A>(&mut random));
        let not = |set: &PrefixSet<A>| -> PrefixSet<A> { set.complement().collect() };
        // De Morgan.
        assert_eq!(not(&(&a | &b)), &not(&a) & &not(&b));
        assert_eq!(not(&(&a & &b)), &not(&a) | &not(&b));
        assert_eq!(not(&not(&a)), a.fewest().collect());
        // Commutative, associative, distributive.
        assert_eq!(&a | &b, &b | &a);
        assert_eq!(&a & &b, &b & &a);
        assert_eq!(&(&a ^ &b) ^ &c, &a ^ &(&b ^ &c));
        assert_eq!(&a & &(&b | &c), &(&a & &b) | &(&a & &c));
        assert_eq!(&a | &(&b & &c), &(&a | &b) & &(&a | &c));
        // By each other.
        assert_eq!(&a - &b, &a & &not(&b));
        assert_eq!(&a ^ &b, &(&a | &b) - &(&a & &b));
        // Ends.
        assert_eq!(&a | &not(&a), everything);
        assert_eq!(&a & &not(&a), nothing);
        assert!(a.difference(&a).next().is_none());
        assert!(a.is_subset(&everything) && nothing.is_subset(&a) && a.is_disjoint(&nothing));
    }
    assert_eq!(not_of(&nothing), everything);
    assert_eq!(not_of(&everything), nothing);
}

fn not_of<A: Address>(set: &PrefixSet<A>) -> PrefixSet<A> {
    set.complement().collect()
}

#[test]
fn the_laws_of_sets_hold() {
    laws_hold::<u8>(rounds(100, 500));
    laws_hold::<u32>(rounds(60, 300));
    laws_hold::<u128>(rounds(40, 200));
}

/// Every set of addresses of the last three bits, with every other one; one in four by default.
#[test]
fn every_pair_of_sets_of_eight_addresses() {
    let sets: Vec<PrefixSet<u8>> = (0u32..256)
        .map(|bits| {
            let addresses = (0..8u8).filter(|n| bits >> n & 1 == 1);
            addresses.map(|n| Prefix::host(0xf8 | n)).collect()
        })
        .collect();
    let addresses = |prefixes: &mut dyn Iterator<Item = Prefix<u8>>| -> BTreeSet<u8> {
        prefixes.flat_map(|p| p.first()..=p.last()).collect()
    };
    let of: Vec<BTreeSet<u8>> = sets.iter().map(|s| addresses(&mut s.iter())).collect();
    for (one, a) in sets.iter().zip(&of).step_by(rounds(4, 1)) {
        for (other, b) in sets.iter().zip(&of) {
            assert_eq!(addresses(&mut one.union(other)), a | b);
            assert_eq!(addresses(&mut one.intersection(other)), a & b);
            assert_eq!(addresses(&mut one.difference(other)), a - b);
            assert_eq!(addresses(&mut one.symmetric_difference(other)), a ^ b);
            assert_eq!(one.is_subset(other), a.is_subset(b));
            assert_eq!(one.is_disjoint(other), a.is_disjoint(b));
        }
    }
}

#[test]
fn both_families_go_for_themselves() {
    let set = |text: &str| -> IpSet { text.split(' ').map(|p| p.parse().unwrap()).collect() };
    let one = set("10.0.0.0/9 10.128.0.0/9 ::/1");
    let other = set("10.0.0.0/16 8000::/1 ::ffff:10.0.0.0/104");
    let text = |prefixes: &mut dyn Iterator<Item = IpPrefix>| -> Vec<String> {
        prefixes.map(|p| p.to_string()).collect()
    };
    assert_eq!(text(&mut one.fewest()), ["10.0.0.0/8", "::/1"]);
    assert_eq!(text(&mut one.union(&other)), ["10.0.0.0/8", "::/0"]);
    assert_eq!(
        text(&mut one.intersection(&other)),
        ["10.0.0.0/16", "::ffff:10.0.0.0/104"]
    );
    assert_eq!(
        text(&mut set("128.0.0.0/1").complement()),
        ["0.0.0.0/1", "::/0"]
    );
    assert_eq!((&one - &one).len(), 0);
    assert_eq!(&one ^ &other, &(&one | &other) - &(&one & &other));
    let how: Vec<_> = one.compare(&other).map(|(_, how)| how).collect();
    assert_eq!(how, [Coverage::Part, Coverage::None, Coverage::Part]);
    assert!(set("10.1.0.0/16").is_subset(&one) && one.is_superset(&set("::1")));
    assert!(!one.is_disjoint(&other) && one.is_disjoint(&set("8000::/1 11.0.0.0/8")));
}

/// Prefixes of a Rib or any other source will do.
#[test]
fn prefixes_twice_and_none() {
    let host = Prefix::host(7u8);
    assert!(algebra::fewest([host, host]).eq([host]));
    assert!(algebra::complement::<u8>([]).eq([Prefix::DEFAULT_ROUTE]));
    assert!(algebra::union::<u8>([], []).next().is_none());
}

#[cfg(feature = "ipnet")]
#[test]
fn as_few_as_ipnet() {
    use ipnet::{Ipv4Net, Ipv6Net};

    let mut random = Random(0x1b7e7);
    for _ in 0..500 {
        let set = random_set::<u32>(&mut random);
        let nets: Vec<Ipv4Net> = set.iter().map(Ipv4Net::from).collect();
        let mut wanted = Ipv4Net::aggregate(&nets);
        wanted.sort_unstable();
        assert!(set.fewest().map(Ipv4Net::from).eq(wanted));
        let set = random_set::<u128>(&mut random);
        let nets: Vec<Ipv6Net> = set.iter().map(Ipv6Net::from).collect();
        let mut wanted = Ipv6Net::aggregate(&nets);
        wanted.sort_unstable();
        assert!(set.fewest().map(Ipv6Net::from).eq(wanted));
    }
}

/// prefix-trie finds the prefixes that no prefix of another list covers. Of a list whose neighbours are
/// joined these are all that are not entirely in it.
#[test]
fn prefix_trie_agrees_on_what_lies_in_a_list() {
    use prefix_trie::{AsView, PrefixMap, TrieView};

    let mut random = Random(0x7e1e);
    // Of few bits, so that they meet.
    let mut near = || -> PrefixSet<u32> {
        let prefixes = random_set::<u32>(&mut random);
        let prefixes = prefixes.iter().map(|prefix| {
            let length = 20 + prefix.len() % 13;
            Prefix::new_masked(prefix.address() >> 20, length).unwrap()
        });
        prefixes.collect()
    };
    let of = |prefixes: &mut dyn Iterator<Item = Prefix<u32>>| -> PrefixMap<(u32, u8), ()> {
        prefixes
            .map(|prefix| ((prefix.address(), prefix.len()), ()))
            .collect()
    };
    let mut whole = 0;
    for _ in 0..2000 {
        let (one, other) = (near(), near());
        let (theirs, joined) = (of(&mut one.iter()), of(&mut other.fewest()));
        let wanted: Vec<(u32, u8)> = theirs
            .view()
            .covering_difference(&joined)
            .iter()
            .map(|(prefix, ())| prefix)
            .collect();
        let found = one
            .compare(&other)
            .filter(|(_, how)| *how != Coverage::Whole);
        let found: Vec<_> = found.map(|(p, _)| (p.address(), p.len())).collect();
        assert_eq!(found, wanted, "{one:?} in {other:?}");
        whole += one.len() - found.len();
    }
    assert!(whole > 500, "{whole}");
}

fn overlaps_are_those_of_each_pair<A: Address>(rounds: usize) {
    let mut random = Random(u64::from(A::WIDTH) << 32 | 0x0e41);
    for _ in 0..rounds {
        let lists: Vec<PrefixSet<A>> = (0..random.below(6))
            .map(|_| random_set(&mut random))
            .collect();
        let overlaps = algebra::overlaps(&lists);
        for (one, list) in lists.iter().enumerate() {
            let others = lists.iter().enumerate().filter(|(other, _)| *other != one);
            let others: PrefixSet<A> = others.flat_map(|(_, other)| other.iter()).collect();
            let unique = algebra::address_count(list.difference(&others));
            assert_eq!(overlaps.unique(one), unique, "{lists:?}");
            for (other, theirs) in lists.iter().enumerate() {
                let shared = algebra::address_count(list.intersection(theirs));
                assert_eq!(overlaps.shared(one, other), shared, "{lists:?}");
            }
        }
    }
}

#[test]
fn overlaps_of_several_lists() {
    overlaps_are_those_of_each_pair::<u8>(rounds(600, 3000));
    overlaps_are_those_of_each_pair::<u32>(rounds(200, 1000));
    overlaps_are_those_of_each_pair::<u64>(rounds(200, 1000));
    overlaps_are_those_of_each_pair::<u128>(rounds(200, 1000));
}
