//! Tables of a size that nobody has yet (the paper's section 5 projects a
//! hundred million IPv4 routes and seven million IPv6 routes).

use std::time::Instant;

use popfib_eval::datasets::synthetic::{Growing, Synthetic};
use serde::{Deserialize, Serialize};

use super::contender::{Contender, Entry, Group, each};
use super::contest::{Measured, verified};
use super::figures::Figures;
use super::pace::Pattern;
use crate::machine;
use crate::plan::Effort;

/// Next hops of the synthetic tables.
const NEXT_HOPS: u32 = 64;

/// Bytes that a route takes while a table is built, at most: Rib, the largest structure and
/// what it is made from. Measured: 74 (10 million IPv4 routes), 193 (7 million IPv6 routes).
fn bytes_a_route<A: Synthetic>() -> u64 {
    if A::WIDTH == 32 { 100 } else { 240 }
}

/// One size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Size {
    pub(crate) routes: usize,
    pub(crate) rib_bytes: usize,
    /// The most memory that the process has taken until then, if the system says so.
    pub(crate) peak_bytes: Option<u64>,
    /// To make the table, route by route.
    pub(crate) rib_ms: f64,
    /// Why it was left out.
    pub(crate) left_out: Option<String>,
    pub(crate) rows: Vec<Entry<Measured>>,
}

/// Builds, verifies and measures each size of the series, up to `largest` and to what memory there is.
pub(crate) fn series<A: Synthetic>(largest: usize, effort: &Effort) -> Vec<Size> {
    let group = match A::WIDTH {
        32 => Group::Series4,
        _ => Group::Series6,
    };
    let contenders = Contender::of(group);
    let mut growing = Growing::<A>::new(NEXT_HOPS, 1);
    let mut sizes = Vec::new();
    let mut rib_ms = 0.0;
    for &routes in A::SERIES.iter().filter(|routes| **routes <= largest) {
        let needed = routes as u64 * bytes_a_route::<A>();
        if machine::available_bytes().is_some_and(|available| available < needed) {
            let gib = needed as f64 / f64::from(1 << 30);
            sizes.push(Size {
                routes,
                left_out: Some(format!("needs {gib:.1} GiB of memory, which are not free")),
                ..Size::default()
            });
            continue;
        }
        let start = Instant::now();
        growing.grow_to(routes);
        rib_ms += start.elapsed().as_secs_f64() * 1e3;
        let rib = growing.rib();
        // One structure at a time: several of this size might not fit.
        let rows = each(rib, &contenders, |built| {
            let mut measured = verified(rib, &built, effort);
            if measured.mismatches == 0 {
                let pattern = Pattern::<A>::Random;
                let count = pattern.count(effort.pass, built.pass());
                let rates = (0..effort.runs).map(|run| pattern.rate(run, count, built.pass()));
                let rates = Figures(rates.collect());
                measured.rates.insert("random".to_owned(), rates);
            }
            measured
        });
        sizes.push(Size {
            routes,
            rib_bytes: rib.bytes(),
            peak_bytes: machine::peak_bytes(),
            rib_ms,
            left_out: None,
            rows,
        });
    }
    sizes
}
