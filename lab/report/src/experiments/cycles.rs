//! The time of single lookups: distribution, percentiles, and quartiles by the
//! binary radix depth of the address (the paper's Fig. 10, Table 4, Fig. 11).

use popfib::Rib;
use popfib_draw::Depths;
use popfib_eval::{Counter, Distribution, TrafficAddress, Xorshift, stream_pass};
use serde::{Deserialize, Serialize};

use super::contender::{Contender, Entry, each};
use crate::plan::Effort;

/// Lookups of fewer addresses at a depth tell nothing of it.
const FEW: u64 = 20;

/// The times of all structures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cycles {
    /// Why there are none, where the counter cannot be relied on.
    pub(crate) unavailable: Option<String>,
    pub(crate) lookups: usize,
    /// Ticks in a microsecond, and of a measured lookup that does nothing.
    pub(crate) megahertz: f64,
    pub(crate) overhead: u32,
    pub(crate) rows: Vec<Entry<Times>>,
}

/// The times of one structure, in ticks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Times {
    pub(crate) mean: f64,
    /// 50, 75, 95, 99 %.
    pub(crate) percentiles: [u32; 4],
    /// Lookups beyond the ticks that are distinguished.
    pub(crate) clipped: u64,
    /// Ticks, and the share of lookups that took no more.
    pub(crate) cdf: Vec<(u32, f64)>,
    pub(crate) by_depth: Vec<AtDepth>,
}

/// The times of addresses of one depth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AtDepth {
    pub(crate) depth: u8,
    pub(crate) lookups: u64,
    /// 5, 25, 50, 75, 95 %.
    pub(crate) percentiles: [u32; 5],
}

/// Times `effort.timed` random lookups of each contender, the same for all.
pub(crate) fn cycles<A: TrafficAddress>(
    rib: &Rib<A>,
    contenders: &[Contender],
    effort: &Effort,
) -> Cycles {
    let mut result = Cycles {
        unavailable: None,
        lookups: effort.timed,
        megahertz: 0.0,
        overhead: 0,
        rows: Vec::new(),
    };
    let counter = match Counter::new() {
        Ok(counter) => counter,
        Err(reason) => {
            result.unavailable = Some(reason.to_owned());
            return result;
        }
    };
    result.megahertz = counter.megahertz();
    result.overhead = counter.overhead();
    let mut addresses = Vec::with_capacity(effort.timed);
    stream_pass(&mut Xorshift::new(1), effort.timed, |burst: &[A]| {
        addresses.extend_from_slice(burst);
    });
    let depths = Depths::new(rib);
    let depths: Vec<u8> = addresses.iter().map(|a| depths.depth(*a)).collect();
    result.rows = each(rib, contenders, |built| {
        let mut all = Distribution::new();
        let mut by_depth = vec![Distribution::new(); usize::from(A::WIDTH) + 1];
        let lookup = |address| built.fib.lookup(address);
        // What comes first only brings the table in.
        counter.each(&addresses[..addresses.len() / 8], lookup, |_, _| ());
        counter.each(&addresses, lookup, |place, ticks| {
            all.add(ticks);
            by_depth[usize::from(depths[place])].add(ticks);
        });
        Times {
            mean: all.mean(),
            percentiles: [0.5, 0.75, 0.95, 0.99].map(|share| all.percentile(share)),
            clipped: all.clipped(),
            cdf: all.cumulative(),
            by_depth: (0..=A::WIDTH)
                .zip(&by_depth)
                .filter(|(_, times)| times.count() >= FEW)
                .map(|(depth, times)| AtDepth {
                    depth,
                    lookups: times.count(),
                    percentiles: [0.05, 0.25, 0.5, 0.75, 0.95].map(|share| times.percentile(share)),
                })
                .collect(),
        }
    });
    result
}
