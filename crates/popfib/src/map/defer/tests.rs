//! Changes in order and out of it, with every answer compared after each: a map whose entry is
//! marked answers as a linear scan over its routes does, and the mark is gone when it has to be.

use alloc::vec::Vec;

use super::*;
use crate::PrefixSet;
use crate::map::{Own, PrefixMap, Shared, Stores};

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }

    /// An address in a small part of the keys, so that routes meet.
    fn address<A: Address>(&mut self) -> A {
        let bits = (0..8).fold(0u128, |bits, _| bits << 16 | self.below(1 << 16) as u128);
        let dense = bits & 0xff00_ffff_ffff_ffff_ffff_ffff_ffff_ffff;
        A::truncate(dense >> (128 - A::WIDTH))
    }

    fn prefix<A: Address>(&mut self) -> Prefix<A> {
        let longest = usize::from(A::WIDTH);
        let len = match self.below(4) {
            0 => self.below(longest + 1),
            _ => longest - self.below(longest / 4 + 1),
        };
        Prefix::clamped(self.address(), len as u8)
    }
}

fn compare<A: Address, S: Stores<u32>>(
    random: &mut Random,
    map: &PrefixMap<A, u32, S>,
    near: Prefix<A>,
) {
    map.check()
        .expect("the Fib follows, but for what is marked");
    let mut addresses: Vec<A> = (0..6).map(|_| random.address()).collect();
    addresses.extend([near.first(), near.last()]);
    // Marked addresses at any place of a burst, and in any burst.
    let many = addresses.len() + random.below(600);
    let many: Vec<A> = addresses.iter().copied().cycle().take(many).collect();
    let mut batch = alloc::vec![None; many.len()];
    map.longest_match_batch(&many, &mut batch);
    for (at, in_batch) in batch.iter().enumerate() {
        assert_eq!(*in_batch, batch[at % addresses.len()]);
    }
    for (address, in_batch) in addresses.into_iter().zip(batch) {
        // Without the Fib, and in another way than the Rib's own longest match.
        let holds = map.iter().filter(|(prefix, _)| prefix.contains(address));
        let expected = holds.max_by_key(|(prefix, _)| prefix.len());
        assert_eq!(map.longest_match(address), expected);
        assert_eq!(map.lookup(address), expected.map(|(_, value)| value));
        assert_eq!(in_batch, expected);
    }
}

/// Runs of changes in order between changes anywhere; how often an entry was marked.
fn changes<A: Address, S: Stores<u32>>(options: &Options, seed: u64, rounds: usize) -> usize {
    let mut random = Random(seed);
    let mut map = PrefixMap::<A, u32, S>::with_options(options.clone());
    let mut marks = 0;
    while map.len() < 150 {
        map.insert(random.prefix(), random.below(5) as u32);
    }
    for round in 0..rounds {
        let mut run: Vec<Prefix<A>> = (0..30).map(|_| random.prefix()).collect();
        if round % 3 == 0 {
            let there = map.keys().skip(random.below(80));
            run.extend(there.take(40).collect::<Vec<_>>());
        }
        run.sort();
        run.extend((0..random.below(4)).map(|_| random.prefix()));
        for prefix in run {
            let marked = map.routes.fib.as_ref().and_then(|fib| fib.marked);
            let was = marked.is_some();
            // Now and then a change of what covers the entry, at its very address.
            let prefix = match marked {
                Some(MarkedEntry { entry, .. }) if random.below(6) == 0 => {
                    let len = random.below(usize::from(entry.len()) + 1);
                    Prefix::new_masked(entry.address(), len as u8).expect("no longer than a key")
                }
                _ => prefix,
            };
            match random.below(6) {
                0..=1 => {
                    map.remove(prefix);
                }
                2 => {
                    if let Some(mut value) = map.get_mut(prefix) {
                        *value += 1;
                    }
                }
                _ => {
                    map.insert(prefix, random.below(5) as u32);
                }
            }
            let is = map
                .routes
                .fib
                .as_ref()
                .is_some_and(|fib| fib.marked.is_some());
            marks += usize::from(is && !was);
            compare(&mut random, &map, prefix);
        }
        match random.below(5) {
            // A mark survives a copy, and a bulk change leaves none.
            0 => map = map.clone(),
            1 => {
                map.extend([(random.prefix(), 9)]);
                assert!(
                    map.routes
                        .fib
                        .as_ref()
                        .is_none_or(|fib| fib.marked.is_none())
                );
                compare(&mut random, &map, Prefix::host(A::MIN));
            }
            _ => {}
        }
    }
    marks
}

/// Runs of changes to each map.
const QUICK: usize = 1;
const HEAVY: usize = 8;

/// With and without aggregation, for these direct bits.
fn all_options<A: Address, S: Stores<u32>>(bits: &[Option<u8>], rounds: usize) {
    let mut marks = 0;
    for direct_bits in bits.iter().copied() {
        for aggregation in [true, false] {
            let options = Options::default()
                .direct_bits(direct_bits)
                .aggregation(aggregation);
            marks += changes::<A, S>(&options, 1, rounds);
        }
    }
    assert!(
        marks > 10 * bits.len() * rounds / HEAVY,
        "{marks} entries were marked"
    );
}

// Each a test of its own, so that they run side by side; with own values some direct bits, with shared ones others.

#[test]
fn keys_of_16_bits() {
    all_options::<u16, Own>(&[None, Some(6)], QUICK);
}

#[test]
fn keys_of_16_bits_with_shared_values() {
    all_options::<u16, Shared>(&[Some(3), Some(16)], QUICK);
}

#[test]
fn ipv4() {
    all_options::<u32, Own>(&[Some(3), Some(18)], QUICK);
}

#[test]
fn ipv4_with_shared_values() {
    all_options::<u32, Shared>(&[None, Some(6)], QUICK);
}

/// Pages of one bit, and of eight.
fn ipv6_pages(rounds: usize) {
    for direct_bits in [17, 24] {
        let options = Options::default().direct_bits(Some(direct_bits));
        assert!(changes::<u128, Own>(&options, 7, rounds) > 5 * rounds / HEAVY);
    }
}

#[test]
fn ipv6() {
    all_options::<u128, Own>(&[None], QUICK);
    ipv6_pages(QUICK);
}

#[test]
fn ipv6_with_shared_values() {
    all_options::<u128, Shared>(&[Some(6), Some(18)], QUICK);
}

#[test]
#[ignore = "all of them, and more changes"]
fn heavy_every_key_with_every_number_of_direct_bits() {
    let bits = [None, Some(3), Some(6), Some(16)];
    let long = [None, Some(3), Some(6), Some(16), Some(18)];
    all_options::<u16, Own>(&bits, HEAVY);
    all_options::<u16, Shared>(&bits, HEAVY);
    all_options::<u32, Own>(&long, HEAVY);
    all_options::<u32, Shared>(&long, HEAVY);
    all_options::<u128, Own>(&long, HEAVY);
    all_options::<u128, Shared>(&long, HEAVY);
    ipv6_pages(HEAVY);
}

#[test]
fn a_marked_entry_has_few_of_the_routes() {
    let prefix = |n: u32| Prefix::clamped(n << 8, 24);
    let mut map: PrefixMap<u32, u32> = (0..6400).map(|n| (prefix(n << 9), n)).collect();
    let mut marked = 0;
    for n in 0..6400 {
        map.insert(prefix(n << 9 | 0x55), n);
        let fib = map.routes.fib.as_ref().expect("there are routes");
        let Some(MarkedEntry { entry, .. }) = &fib.marked else {
            continue;
        };
        marked += 1;
        assert!(map.routes.rib.subnets(*entry).count() <= map.len() / SHARE);
    }
    assert!(marked > 1000, "{marked}");
    // Changes here and there mark nothing; the first settles what was marked.
    for n in (0..6400).map(|n| n * 2741 % 6400) {
        map.remove(prefix(n << 9 | 0x55));
        let fib = map.routes.fib.as_ref().expect("there are routes");
        assert!(fib.marked.is_none());
    }
    map.check().expect("nothing waits");
}

#[test]
fn what_a_mark_cuts_off_is_free() {
    let prefix = |n: u32| Prefix::clamped(n << 8, 24);
    let mut map: PrefixMap<u32, u32, Shared> =
        (0..6400).map(|n| (prefix(n * 2600), n % 7)).collect();
    let before = map.bytes();
    for round in 0..20 {
        for n in 0..6400 {
            map.insert(prefix(n * 2600), (n + round) % 7);
        }
        map.check().expect("the Fib follows");
        assert!(map.bytes() < before * 5 / 4, "{} of {before}", map.bytes());
    }
}

#[test]
fn numbers_that_need_more_bits_come_while_changes_wait() {
    // 64 routes below each entry: the pairs of the last entry outgrow what the Fib was compiled for.
    let mut map: PrefixMap<u32, u32> = PrefixMap::new();
    for n in 0..5000u32 {
        let prefix = Prefix::clamped(n << 8, 24);
        map.insert(prefix, n);
        if n % 16 == 0 || n.is_power_of_two() {
            map.check().expect("the Fib follows");
        }
        for near in [n, n / 2, n.saturating_sub(1)] {
            let found = map.longest_match(near << 8 | 3);
            assert_eq!(found, Some((Prefix::clamped(near << 8, 24), &near)));
        }
    }
}

/// A set answers batches by the number alone, which a marked entry does not have.
#[test]
fn sets_ask_for_marked_entries_in_batches() {
    let elsewhere = (0..2000).map(|n: u32| Prefix::clamped(n << 16, 16));
    let mut set: PrefixSet<u32> = elsewhere.collect();
    let mut marks = 0;
    for host in 0..40 {
        set.insert(Prefix::host(0xc000_0200 + 2 * host));
        let fib = set.as_map().routes.fib.as_ref();
        marks += u32::from(fib.is_some_and(|fib| fib.marked.is_some()));
        let addresses: Vec<u32> = (0..300 + host).map(|n| 0xc000_0200 + n).collect();
        let mut contained = alloc::vec![false; addresses.len()];
        set.contains_batch(&addresses, &mut contained);
        for (n, contained) in (0..).zip(contained) {
            assert_eq!(contained, n % 2 == 0 && n <= 2 * host);
        }
    }
    assert!(marks > 10);
}
