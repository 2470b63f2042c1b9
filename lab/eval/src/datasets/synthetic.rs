//! Tables made from a seed: prefix lengths as on the Internet of the 2020s,
//! nested and clustered as there, next hops by Zipf's law.
//!
//! For those without a real table, and for tables larger than any real one:
//! the Poptrie paper (section 5) projects that its structure holds a hundred
//! million IPv4 routes and seven million IPv6 routes. IPv4 has room for 2^24
//! prefixes of /24 only, so from 2^21 routes on each doubling makes all new
//! prefixes one bit longer. A table that grows keeps its routes: the larger
//! ones of a series hold the smaller ones.

use popfib::{NextHop, Prefix, Rib};

use crate::random::Random;
use crate::traffic::TrafficAddress;
use crate::zipf::Zipf;

/// Routes from which on new prefixes become longer.
const CROWDED: usize = 1 << 21;

/// Prefixes remembered for others to be inside of.
const PARENTS: usize = 4_096;

/// A family with what its tables look like.
pub trait Synthetic: TrafficAddress {
    /// The sizes of the scale series, up to the most routes a table can be made of.
    const SERIES: &'static [usize];

    /// Prefix lengths and how many routes of 10,000 have each.
    const LENGTHS: &'static [(u8, u32)];

    /// The longest prefixes that others are drawn inside of. Those that are
    /// nearly as long as most would fill up, and shift the shares of lengths.
    const LONGEST_PARENT: u8;

    /// Where routes outside of others are drawn from, with their length.
    fn blocks() -> Vec<Prefix<Self>>;
}

impl Synthetic for u32 {
    #[rustfmt::skip]
    const SERIES: &'static [usize] = &[
        1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000,
    ];

    #[rustfmt::skip]
    const LENGTHS: &'static [(u8, u32)] = &[
        (8, 1), (9, 1), (10, 4), (11, 10), (12, 30), (13, 60), (14, 110), (15, 190), (16, 130),
        (17, 85), (18, 140), (19, 250), (20, 450), (21, 500), (22, 1_100), (23, 1_000),
        (24, 5_919), (25, 5), (26, 4), (28, 3), (30, 3), (32, 5),
    ];

    const LONGEST_PARENT: u8 = 20;

    fn blocks() -> Vec<Prefix<u32>> {
        // Unicast but for the first and the loopback network.
        let is_used = |byte: &u32| *byte != 127;
        let block = |byte| Prefix::new(byte << 24, 8).expect("a /8");
        (1..224).filter(is_used).map(block).collect()
    }
}

impl Synthetic for u128 {
    const SERIES: &'static [usize] =
        &[250_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 7_000_000];

    #[rustfmt::skip]
    const LENGTHS: &'static [(u8, u32)] = &[
        (20, 2), (24, 5), (28, 20), (29, 330), (30, 60), (31, 40), (32, 1_400), (33, 130),
        (34, 110), (35, 90), (36, 500), (38, 150), (40, 850), (42, 200), (44, 900), (45, 120),
        (46, 250), (47, 250), (48, 4_563), (56, 10), (64, 15), (128, 5),
    ];

    const LONGEST_PARENT: u8 = 40;

    fn blocks() -> Vec<Prefix<u128>> {
        // What the five registries hand out, and the older 2001::/16.
        [
            "2001::/16",
            "2400::/12",
            "2600::/12",
            "2800::/12",
            "2a00::/12",
            "2c00::/12",
        ]
        .map(|text| text.parse().expect("a prefix"))
        .to_vec()
    }
}

/// A table that grows.
#[derive(Debug)]
pub struct Growing<A: Synthetic> {
    rib: Rib<A>,
    random: Random,
    zipf: Zipf,
    blocks: Vec<Prefix<A>>,
    /// The last short prefixes, in no order.
    parents: Vec<Prefix<A>>,
}

impl<A: Synthetic> Growing<A> {
    /// An empty table whose routes lead to next hops from `1..=next_hops`. All follows from the seed.
    ///
    /// # Panics
    /// If `next_hops` is 0.
    pub fn new(next_hops: u32, seed: u64) -> Self {
        assert!(next_hops > 0, "routes need a next hop to lead to");
        Self {
            rib: Rib::new(),
            random: Random::new(seed),
            zipf: Zipf::new(next_hops as usize, 1.0),
            blocks: A::blocks(),
            parents: Vec::new(),
        }
    }

    /// Adds routes until there are `routes`, and returns the table. Linear in what it adds.
    ///
    /// # Panics
    /// If there are to be more than the largest of [`Synthetic::SERIES`].
    pub fn grow_to(&mut self, routes: usize) -> &Rib<A> {
        let most = A::SERIES.last().copied().unwrap_or(0);
        assert!(
            routes <= most,
            "{routes} routes: at most {most} can be made"
        );
        while self.rib.len() < routes {
            let prefix = self.prefix();
            if self.rib.contains_key(prefix) {
                continue;
            }
            let rank = self.zipf.rank(&mut self.random) as u32;
            self.rib.insert(prefix, NextHop::MIN.saturating_add(rank));
        }
        &self.rib
    }

    /// The table as it is.
    pub fn rib(&self) -> &Rib<A> {
        &self.rib
    }

    /// The table as it is, alone.
    pub fn into_rib(self) -> Rib<A> {
        self.rib
    }

    /// A prefix: half of them inside one that was drawn before, the others anywhere.
    fn prefix(&mut self) -> Prefix<A> {
        let len = self.len();
        let within = if self.parents.is_empty() || self.random.below(2) == 0 {
            self.random.pick(&self.blocks)
        } else {
            self.random.pick(&self.parents)
        };
        let within = if within.len() <= len {
            within
        } else {
            self.random.pick(&self.blocks)
        };
        let len = len.max(within.len());
        let prefix = Prefix::new_masked(self.random.host(within), len)
            .expect("no length is longer than the key");
        if len <= A::LONGEST_PARENT {
            if self.parents.len() < PARENTS {
                self.parents.push(prefix);
            } else {
                let at = self.random.below(PARENTS);
                self.parents[at] = prefix;
            }
        }
        prefix
    }

    /// A length by its share, longer where the table is crowded.
    fn len(&mut self) -> u8 {
        let total: u32 = A::LENGTHS.iter().map(|(_, share)| share).sum();
        let mut at = self.random.below(total as usize) as u32;
        let mut len = A::WIDTH;
        for (this, share) in A::LENGTHS {
            if at < *share {
                len = *this;
                break;
            }
            at -= share;
        }
        let doublings = (self.rib.len() / CROWDED)
            .checked_ilog2()
            .map_or(0, |log| log as u8 + 1);
        (len + doublings).min(A::WIDTH)
    }
}

/// A table of `routes` routes; see [`Growing`].
///
/// # Panics
/// As [`Growing::new`] and [`Growing::grow_to`].
pub fn synthetic<A: Synthetic>(routes: usize, next_hops: u32, seed: u64) -> Rib<A> {
    let mut table = Growing::new(next_hops, seed);
    table.grow_to(routes);
    table.into_rib()
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::{Fib, Options};

    fn share<A: Synthetic>(rib: &Rib<A>, len: u8) -> f64 {
        let count = rib.iter().filter(|(prefix, _)| prefix.len() == len).count();
        count as f64 / rib.len() as f64
    }

    fn is_plausible<A: Synthetic>(routes: usize, usual: u8, usual_share: f64) {
        let rib = synthetic::<A>(routes, 64, 1);
        assert_eq!(rib.len(), routes);
        assert!(rib.iter().eq(synthetic::<A>(routes, 64, 1).iter()));
        assert!(!rib.iter().eq(synthetic::<A>(routes, 64, 2).iter()));
        let found = share(&rib, usual);
        assert!((found - usual_share).abs() < 0.03, "/{usual}: {found}");
        assert!(rib.iter().all(|(_, next_hop)| next_hop.get() <= 64));
        let blocks = A::blocks();
        let nested = rib
            .iter()
            .filter(|(prefix, _)| rib.supernets(*prefix).count() > 1)
            .count();
        assert!(
            nested * 4 > routes,
            "{nested} of {routes} are inside another"
        );
        let inside = |prefix: Prefix<A>| blocks.iter().any(|block| block.covers(&prefix));
        assert!(rib.iter().all(|(prefix, _)| inside(prefix)));
    }

    #[test]
    fn tables_are_plausible_and_the_same_for_a_seed() {
        is_plausible::<u32>(50_000, 24, 0.592);
        is_plausible::<u128>(50_000, 48, 0.456);
    }

    #[test]
    fn shares_are_of_ten_thousand() {
        let total = |lengths: &[(u8, u32)]| lengths.iter().map(|(_, share)| share).sum::<u32>();
        assert_eq!(total(u32::LENGTHS), 10_000);
        assert_eq!(total(u128::LENGTHS), 10_000);
        assert_eq!(u32::SERIES.last(), Some(&100_000_000));
        assert_eq!(u128::SERIES.last(), Some(&7_000_000));
    }

    #[test]
    fn a_growing_table_keeps_its_routes() {
        let mut growing = Growing::<u128>::new(8, 3);
        let before: Vec<_> = growing.grow_to(1_000).iter().collect();
        let after = growing.grow_to(3_000);
        assert_eq!(after.len(), 3_000);
        assert!(before.iter().all(|(p, n)| after.get(*p) == Some(*n)));
        assert_eq!(growing.into_rib().len(), 3_000);
    }

    #[test]
    #[should_panic(expected = "at most 7000000 can be made")]
    fn no_more_than_the_projection() {
        Growing::<u128>::new(1, 1).grow_to(7_000_001);
    }

    /// The series up to ten million routes, built for real. The hundred million of its end
    /// take too much memory for every machine that runs the tests.
    #[test]
    #[ignore = "10 million routes"]
    fn heavy_the_papers_projection() {
        fn build<A: Synthetic>() {
            let mut growing = Growing::<A>::new(64, 1);
            for routes in A::SERIES.iter().filter(|routes| **routes <= 10_000_000) {
                let rib = growing.grow_to(*routes);
                match Fib::<A>::compile(rib, &Options::default()) {
                    Ok(fib) => println!("{routes} routes: {} bytes", fib.bytes()),
                    Err(error) => panic!("{routes} routes: {error}"),
                }
            }
        }
        build::<u128>();
        build::<u32>();
    }
}
