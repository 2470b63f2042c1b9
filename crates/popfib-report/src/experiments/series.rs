//! Tables of a size that nobody has yet (the paper's section 5 projects a
//! hundred million IPv4 routes and seven million IPv6 routes).

use std::time::Instant;

use popfib::Rib;
use popfib_baselines::Baseline;
use popfib_eval::datasets::synthetic::{Growing, Synthetic};
use serde::{Deserialize, Serialize};

use super::contest::{Row, admitted};
use super::entrant::Entrant;
use super::pace::{Figures, Pattern, mlps, timed};
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Size {
    pub(crate) routes: usize,
    pub(crate) rib_bytes: usize,
    /// The most memory that the process has taken until then, if the system says so.
    pub(crate) peak_bytes: Option<u64>,
    /// To make the table, route by route.
    pub(crate) rib_ms: f64,
    /// Why it was left out.
    pub(crate) left_out: Option<String>,
    pub(crate) rows: Vec<Row>,
}

/// Builds, verifies and measures each size of the series, up to `largest` and to what memory there is.
pub(crate) fn series<A: Synthetic>(largest: usize, effort: &Effort) -> Vec<Size> {
    let others: &[Baseline] = match A::WIDTH {
        32 => &[Baseline::Sail, Baseline::Dxr18Modified, Baseline::Dir24x8],
        // Those are for IPv4 only.
        _ => &[Baseline::Dxr18, Baseline::TreeBitmap64],
    };
    let mut entrants = vec![
        Entrant::popfib(18),
        Entrant::popfib_batch(),
        Entrant::poptrie(18),
    ];
    entrants.extend(others.iter().copied().map(Entrant::baseline));
    let mut growing = Growing::<A>::new(NEXT_HOPS, 1);
    let mut sizes = Vec::new();
    let mut rib_ms = 0.0;
    for &routes in A::SERIES.iter().filter(|routes| **routes <= largest) {
        let needed = routes as u64 * bytes_a_route::<A>();
        if machine::available_bytes().is_some_and(|available| available < needed) {
            sizes.push(Size {
                routes,
                rib_bytes: 0,
                peak_bytes: None,
                rib_ms: 0.0,
                left_out: Some(format!(
                    "needs {:.1} GiB of memory, which are not free",
                    needed as f64 / f64::from(1 << 30)
                )),
                rows: Vec::new(),
            });
            continue;
        }
        let start = Instant::now();
        growing.grow_to(routes);
        rib_ms += start.elapsed().as_secs_f64() * 1e3;
        let rib = growing.rib();
        let rows = entrants
            .iter()
            .map(|entrant| row(rib, entrant, effort))
            .collect();
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

/// One structure at a time: several of this size might not fit.
fn row<A: Synthetic>(rib: &Rib<A>, entrant: &Entrant, effort: &Effort) -> Row {
    let (mut row, compiled) = admitted(rib, entrant, effort);
    if let Some(compiled) = compiled {
        let pattern = Pattern::<A>::Random;
        let count = pattern.count(&*compiled.fib, entrant.kernel, effort.pass);
        let mut rates = Figures::default();
        for run in 0..effort.runs {
            let time = timed(|| pattern.pass(&*compiled.fib, entrant.kernel, run, count));
            rates.0.push(mlps(count, time));
        }
        row.rates.insert("random".to_owned(), rates);
    }
    row
}
