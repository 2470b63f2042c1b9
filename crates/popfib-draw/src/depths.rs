//! A RIB in, the binary radix depth of its addresses out: how many bits of an address have to be looked at until its longest match is
//! certain (Poptrie paper, section 4.1).
//!
//! That is the length of the largest block around the address in which no longer prefix begins or ends: the largest aligned block inside
//! the stretch of addresses that have the same longest match. It is often more than the length of the matching prefix: an address in a
//! /8, right beside a /24 inside it, has to be followed for 24 bits.

use popfib::intervals::Intervals;
use popfib::{Address, Rib};

/// The places where the longest match changes, each as the address after it.
#[derive(Clone, Debug)]
pub struct Depths<A> {
    /// The first address of each stretch, in order; the first is 0.
    firsts: Vec<A>,
    /// The length of the longest match of each stretch.
    lengths: Vec<Option<u8>>,
}

/// How many addresses have each longest match and depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepthMap {
    /// Length of the longest match, depth, and number of addresses.
    pub cells: Vec<(Option<u8>, u8, u128)>,
}

impl<A: Address> Depths<A> {
    /// The depths of all addresses in `rib`. O(routes * key width / 6).
    pub fn new(rib: &Rib<A>) -> Self {
        let (firsts, lengths) = Intervals::new(rib)
            .map(|interval| {
                let route = rib.longest_match(interval.first);
                (interval.first, route.map(|(prefix, _)| prefix.len()))
            })
            .unzip();
        Self { firsts, lengths }
    }

    /// The depth of `address`. O(log routes).
    pub fn depth(&self, address: A) -> u8 {
        let behind = self.firsts.partition_point(|first| *first <= address);
        let before = self.firsts[behind - 1].checked_previous();
        let next = self.firsts.get(behind).copied();
        let bits = |other: Option<A>| other.map_or(0, |other| shared(address, other) + 1);
        bits(before).max(bits(next))
    }

    /// All addresses by longest match and depth. O(routes * key width).
    pub fn map(&self) -> DepthMap {
        let width = usize::from(A::WIDTH);
        let mut counts = vec![vec![0u128; width + 1]; width + 2];
        for (place, first) in self.firsts.iter().enumerate() {
            let row = self.lengths[place].map_or(width + 1, usize::from);
            let last = match self.firsts.get(place + 1) {
                Some(next) => next.to_u128() - 1,
                None => A::MAX.to_u128(),
            };
            let mut at = first.to_u128();
            loop {
                // The largest block that begins here and ends inside the stretch.
                let aligned = at.trailing_zeros().min(u32::from(A::WIDTH));
                let room = last - at;
                let free = match room.checked_add(1) {
                    Some(count) => aligned.min(count.ilog2()),
                    None => aligned,
                };
                let block = 1u128.checked_shl(free);
                // All of a key's 2^128 addresses are one more than can be counted.
                counts[row][width - free as usize] += block.unwrap_or(u128::MAX);
                match block.filter(|block| room >= *block) {
                    Some(block) => at += block,
                    None => break,
                }
            }
        }
        let mut cells = Vec::new();
        for (row, counts) in counts.iter().enumerate() {
            let length = (row <= width).then_some(row as u8);
            for (depth, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                cells.push((length, depth as u8, *count));
            }
        }
        DepthMap { cells }
    }
}

impl DepthMap {
    /// The addresses in all cells.
    pub fn total(&self) -> u128 {
        let counts = self.cells.iter().map(|(_, _, count)| *count);
        counts.fold(0, u128::saturating_add)
    }

    /// The share of all addresses that are deeper than `depth`.
    pub fn share_deeper(&self, depth: u8) -> f64 {
        let deep = self.cells.iter().filter(|cell| cell.1 > depth);
        // A sum of nothing would be minus zero.
        let deep = deep.fold(0.0, |sum, (_, _, count)| sum + *count as f64);
        deep / self.total() as f64
    }
}

/// Leading bits that two addresses have in common.
fn shared<A: Address>(a: A, b: A) -> u8 {
    let differing = (a ^ b).to_u128();
    (differing.leading_zeros() as u8) - (128 - A::WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use popfib::{NextHop, Prefix};

    fn rib<A: Address>(prefixes: &[Prefix<A>]) -> Rib<A> {
        let mut rib = Rib::new();
        for prefix in prefixes {
            rib.insert(*prefix, NextHop::MIN);
        }
        rib
    }

    /// The depth by its definition: walk down until no route is longer inside.
    fn walked(prefixes: &[Prefix<u16>], address: u16) -> u8 {
        let longer = |depth: u8| {
            let block = Prefix::new(address & u16::mask(depth), depth).unwrap();
            let inside =
                |prefix: &&Prefix<u16>| prefix.len() > depth && block.contains(prefix.address());
            prefixes.iter().find(inside).is_some()
        };
        (0..=16).find(|depth| !longer(*depth)).unwrap()
    }

    #[test]
    fn depths_are_those_of_a_walk_down_the_tree() {
        let mut random = Rng::with_seed(5);
        for routes in [0, 1, 2, 7, 40, 300] {
            let prefixes: Vec<Prefix<u16>> = (0..routes)
                .map(|_| {
                    let len = random.u8(..17);
                    Prefix::new(random.u16(..) & u16::mask(len), len).unwrap()
                })
                .collect();
            let rib = rib(&prefixes);
            let depths = Depths::new(&rib);
            let mut counted = vec![vec![0u128; 17]; 18];
            for address in 0..=u16::MAX {
                let depth = depths.depth(address);
                if address % 37 == 0 {
                    assert_eq!(depth, walked(&prefixes, address), "{address:#x}");
                }
                let length = rib.longest_match(address).map_or(17, |(p, _)| p.len());
                counted[usize::from(length)][usize::from(depth)] += 1;
            }
            let map = depths.map();
            assert_eq!(map.total(), 1 << 16);
            for (length, depth, count) in map.cells {
                let row = length.map_or(17, usize::from);
                assert_eq!(count, counted[row][usize::from(depth)]);
                counted[row][usize::from(depth)] = 0;
            }
            assert!(counted.iter().flatten().all(|count| *count == 0));
        }
    }

    #[test]
    fn all_of_ipv4_and_next_to_all_of_ipv6() {
        let depths = Depths::new(&rib::<u32>(&[
            "10.0.0.0/8".parse().unwrap(),
            "10.1.2.0/24".parse().unwrap(),
        ]));
        let map = depths.map();
        assert_eq!(map.total(), 1 << 32);
        assert_eq!(depths.depth(0x0a01_0300), 24);
        assert_eq!(depths.depth(0x0a80_0000), 9);
        assert_eq!(map.share_deeper(32), 0.0);
        assert!((map.share_deeper(8) - 1.0 / 256.0).abs() < 1e-12);
        let map = Depths::new(&Rib::<u128>::new()).map();
        assert_eq!(map.cells, [(None, 0, u128::MAX)]);
        let map = Depths::new(&rib::<u128>(&["::/1".parse().unwrap()])).map();
        assert_eq!(map.cells, [(Some(1), 1, 1 << 127), (None, 1, 1 << 127)]);
    }
}
