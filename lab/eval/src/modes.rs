//! How long a lookup takes, in three ways.
//!
//! *Dependent*: an address is only known once the answer before it is, so that
//! nothing overlaps: the latency of one lookup. *Independent*: the lookups
//! overlap as the CPU or the kernel can make them: the inverse of the rate.
//! *Empty*: the dependent loop without a lookup, which is what the loop itself
//! takes. It is shown beside the others and not subtracted.

use std::hint::black_box;
use std::time::Instant;

use popfib::Address;
use popfib_baselines::empty;

use crate::measure::Spread;

/// Nanoseconds an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    /// Each address depends on the answer before it.
    pub dependent: Spread,
    /// No address depends on an answer.
    pub independent: Spread,
    /// The dependent loop, without lookups.
    pub empty: Spread,
}

/// Times `runs` passes over `addresses` in each mode, in turn, on this thread.
///
/// # Panics
/// If there are no runs or no addresses.
pub fn modes<A: Address>(
    addresses: &[A],
    runs: usize,
    mut dependent: impl FnMut(&[A]),
    mut independent: impl FnMut(&[A]),
) -> Modes {
    assert!(!addresses.is_empty(), "a pass needs addresses");
    let mut nothing = |addresses: &[A]| {
        black_box(empty(black_box(addresses)));
    };
    let mut times = [const { Vec::new() }; 3];
    // One more that does not count brings tables and pages in.
    for run in 0..=runs {
        let this = [
            time(addresses, &mut dependent),
            time(addresses, &mut independent),
            time(addresses, &mut nothing),
        ];
        if run > 0 {
            for (times, time) in times.iter_mut().zip(this) {
                times.push(time);
            }
        }
    }
    let [dependent, independent, empty] = times.map(|times| Spread::of(&times));
    Modes {
        dependent,
        independent,
        empty,
    }
}

/// Nanoseconds an address of one pass.
fn time<A>(addresses: &[A], pass: &mut impl FnMut(&[A])) -> f64 {
    let start = Instant::now();
    pass(addresses);
    // A clock too coarse for a tiny pass must not make it nothing.
    start.elapsed().as_secs_f64().max(1e-9) * 1e9 / addresses.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::Rib;
    use popfib_baselines::{Lpm, Radix};

    #[test]
    fn each_mode_runs_as_often() {
        let addresses: Vec<u32> = (0..1_000).collect();
        let (mut chains, mut passes) = (0, 0);
        let modes = modes(&addresses, 3, |_| chains += 1, |_| passes += 1);
        assert_eq!((chains, passes), (4, 4), "one more brings pages in");
        assert!(modes.empty.min > 0.0 && modes.empty.max.is_finite());
    }

    #[test]
    fn a_lookup_takes_longer_than_none() {
        let mut rib = Rib::<u32>::new();
        for prefix in ["10.0.0.0/8", "10.128.0.0/9", "10.64.0.1/32"] {
            rib.insert(prefix.parse().unwrap(), popfib::NextHop::MIN);
        }
        let radix = Radix::build(&rib).unwrap();
        // Deep in the tree: some thirty steps an address.
        let addresses = vec![0x0a40_0001u32; 100_000];
        let mut next_hops = vec![0; addresses.len()];
        let modes = modes(
            &addresses,
            5,
            |addresses| {
                black_box(radix.lookup_chain(addresses));
            },
            |addresses| radix.lookup_batch(addresses, &mut next_hops),
        );
        assert!(modes.dependent.min > modes.empty.min, "{modes:?}");
        assert!(next_hops.iter().all(|next_hop| *next_hop == 1));
    }
}
