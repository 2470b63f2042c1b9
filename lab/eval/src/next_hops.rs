//! Next hops for tables that have only prefixes, as skewed as a router's.
//!
//! A router at the edge sends most of its routes to a few neighbours. Here
//! each route draws its next hop by Zipf's law with exponent 2: of 500, the
//! first gets 61 % of the routes, the tenth 0.6 %, the last ones hardly any.
//! Draws do not depend on the neighbouring routes, which is harder than the
//! real thing: routes of one origin mostly leave the same way and merge.

use popfib::{Address, NextHop, Rib};

use crate::random::Random;
use crate::zipf::Zipf;

/// The exponent of the law that next hops are drawn by.
const EXPONENT: f64 = 2.0;

/// The routes of `rib` with next hops drawn again from `1..=count`.
///
/// Routes draw in the order of [`Rib::iter`], so the result follows from the
/// prefixes, `count` and `seed`. Linear in routes and in `count`.
///
/// # Panics
/// If `count` is 0.
pub fn skewed_next_hops<A: Address>(rib: &Rib<A>, count: u32, seed: u64) -> Rib<A> {
    assert!(count > 0, "routes need a next hop to lead to");
    let zipf = Zipf::new(count as usize, EXPONENT);
    let mut random = Random::new(seed);
    let mut skewed = Rib::new();
    for (prefix, _) in rib.iter() {
        let rank = zipf.rank(&mut random) as u32;
        skewed.insert(prefix, NextHop::MIN.saturating_add(rank));
    }
    skewed
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::Prefix;

    #[test]
    fn most_routes_lead_to_few_next_hops() {
        let mut rib = Rib::<u32>::new();
        for i in 0..50_000u32 {
            rib.insert(Prefix::new(i << 8, 24).unwrap(), NextHop::MAX);
        }
        let skewed = skewed_next_hops(&rib, 500, 1);
        assert_eq!(skewed.len(), rib.len());
        assert!(skewed.iter().eq(skewed_next_hops(&rib, 500, 1).iter()));
        assert!(!skewed.iter().eq(skewed_next_hops(&rib, 500, 2).iter()));
        let mut times = [0; 500];
        for ((prefix, next_hop), (original, _)) in skewed.iter().zip(rib.iter()) {
            assert_eq!(prefix, original);
            times[next_hop.get() as usize - 1] += 1;
        }
        // The sum of 1/k^2 to 500 is 1.6429: 60.9 %, 15.2 %, 0.61 % of 50,000.
        for (k, expected) in [(0, 30_434), (1, 7_608), (9, 304)] {
            let times: i32 = times[k];
            assert!(
                times.abs_diff(expected) < expected as u32 / 10,
                "{k}: {times}"
            );
        }
    }
}
