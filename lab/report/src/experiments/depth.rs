//! How deep a table has to be searched: for all addresses (the paper's Fig. 7),
//! and for those of recorded traffic (section 4.7).

use popfib::{Address, Rib};
use popfib_draw::Depths;
use serde::{Deserialize, Serialize};

/// Addresses by the length of their longest match and their binary radix depth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Heat {
    /// Length of the match (`None` without one), depth, addresses.
    pub(crate) cells: Vec<(Option<u8>, u8, u64)>,
    pub(crate) deeper_than_18: f64,
    pub(crate) deeper_than_24: f64,
    /// Traffic, and the shares of its addresses.
    pub(crate) traffic: Vec<TrafficDepth>,
}

/// How deep recorded addresses are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrafficDepth {
    pub(crate) name: String,
    pub(crate) addresses: usize,
    pub(crate) distinct: usize,
    pub(crate) deeper_than_18: f64,
    pub(crate) deeper_than_24: f64,
}

/// The heat map of a table, and the depths of `traffic` in it.
pub(crate) fn heat(rib: &Rib<u32>, traffic: &[(&str, &[u32])]) -> Heat {
    let depths = Depths::new(rib);
    let map = depths.map();
    let cells = map.cells.iter();
    Heat {
        cells: cells.map(|(l, d, count)| (*l, *d, *count as u64)).collect(),
        deeper_than_18: map.share_deeper(18),
        deeper_than_24: map.share_deeper(24),
        traffic: traffic
            .iter()
            .map(|(name, addresses)| of_traffic(name, addresses, &depths))
            .collect(),
    }
}

fn of_traffic<A: Address>(name: &str, addresses: &[A], depths: &Depths<A>) -> TrafficDepth {
    let mut distinct = addresses.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let all: Vec<u8> = addresses.iter().map(|a| depths.depth(*a)).collect();
    let share =
        |depth: u8| all.iter().filter(|one| **one > depth).count() as f64 / all.len().max(1) as f64;
    TrafficDepth {
        name: name.to_owned(),
        addresses: addresses.len(),
        distinct: distinct.len(),
        deeper_than_18: share(18),
        deeper_than_24: share(24),
    }
}
