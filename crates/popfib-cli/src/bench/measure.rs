//! Measures a FIB against the yardstick, pass by pass in turn.
//!
//! A shared machine changes its speed from second to second; passes of both
//! loops in turn see the same machine, and the median of each is compared.

use std::time::Instant;

use super::yardstick::{self, Yardstick};
use crate::any_fib::AnyFib;
use crate::args::Kernel;

/// Rates in million lookups a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) yardstick: f64,
}

/// Times `runs` passes over `addresses`, each behind a pass of the yardstick.
pub(crate) fn measure<A>(
    fib: &dyn AnyFib<A>,
    kernel: Kernel,
    addresses: &[A],
    yardstick: &Yardstick,
    runs: u32,
) -> Rates {
    // One pass of each that does not count brings tables and pages in.
    yardstick.pass();
    fib.pass(kernel, addresses);
    let (mut rates, mut yardsticks) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        yardsticks.push(rate(yardstick::ADDRESSES, || yardstick.pass()));
        rates.push(rate(addresses.len(), || fib.pass(kernel, addresses)));
    }
    let (min, median, max) = spread(&mut rates);
    let (_, yardstick, _) = spread(&mut yardsticks);
    Rates {
        median,
        min,
        max,
        yardstick,
    }
}

/// Million lookups a second of a pass over `count` addresses.
fn rate(count: usize, pass: impl FnOnce()) -> f64 {
    let start = Instant::now();
    pass();
    // A clock too coarse for a tiny pass must not divide by zero.
    count as f64 / start.elapsed().as_secs_f64().max(1e-9) / 1e6
}

/// Minimum, median and maximum of at least one figure.
fn spread(figures: &mut [f64]) -> (f64, f64, f64) {
    figures.sort_unstable_by(f64::total_cmp);
    let (first, last) = (0, figures.len() - 1);
    // The mean of the two in the middle where there are two.
    let median = (figures[last / 2] + figures[figures.len() / 2]) / 2.0;
    (figures[first], median, figures[last])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_of_few_and_many() {
        assert_eq!(spread(&mut [3.0]), (3.0, 3.0, 3.0));
        assert_eq!(spread(&mut [4.0, 2.0]), (2.0, 3.0, 4.0));
        assert_eq!(spread(&mut [5.0, 1.0, 2.0]), (1.0, 2.0, 5.0));
        assert_eq!(spread(&mut [5.0, 1.0, 2.0, 4.0]), (1.0, 3.0, 5.0));
    }
}
