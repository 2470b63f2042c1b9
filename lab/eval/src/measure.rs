//! Times passes over addresses against the reference loop, pass by pass in turn.
//!
//! A shared machine changes its speed from second to second; a pass and the
//! reference loop's right before it see the same machine, and are compared.

use std::time::Instant;

use crate::paired::Paired;
use crate::reference_loop::ReferenceLoop;

/// What was measured, in million lookups a second; a pass of the reference loop
/// came right before the pass with the same index.
#[derive(Clone, Debug, PartialEq)]
pub struct Passes {
    /// The rate of each pass.
    pub rates: Vec<f64>,
    /// The rate of the reference loop before each.
    pub reference: Vec<f64>,
}

impl Passes {
    /// The rates over the reference loop, each over that right before it; `None` if there were no passes.
    pub fn ratio(&self) -> Option<Paired> {
        Paired::of(&self.rates, &self.reference)
    }
}

/// Times `runs` calls of `pass`, each over `count` addresses and after a pass of the reference loop.
pub fn measure(
    reference: &ReferenceLoop,
    runs: usize,
    count: usize,
    mut pass: impl FnMut(),
) -> Passes {
    // One pass of each that does not count brings tables and pages in.
    reference.pass();
    pass();
    let mut passes = Passes {
        rates: Vec::with_capacity(runs),
        reference: Vec::with_capacity(runs),
    };
    for _ in 0..runs {
        let before = rate(ReferenceLoop::ADDRESSES, || reference.pass());
        passes.reference.push(before);
        passes.rates.push(rate(count, &mut pass));
    }
    passes
}

/// Million lookups a second of a pass over `count` addresses.
fn rate(count: usize, pass: impl FnOnce()) -> f64 {
    let start = Instant::now();
    pass();
    // A clock too coarse for a tiny pass must not divide by zero.
    count as f64 / start.elapsed().as_secs_f64().max(1e-9) / 1e6
}

/// How figures spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The lowest.
    pub min: f64,
    /// The one in the middle, or the mean of the two there.
    pub median: f64,
    /// The highest.
    pub max: f64,
}

impl Spread {
    /// The spread of at least one figure.
    ///
    /// # Panics
    /// If there is none.
    pub fn of(figures: &[f64]) -> Self {
        assert!(!figures.is_empty(), "no figure has no median");
        let mut sorted = figures.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let last = sorted.len() - 1;
        Self {
            min: sorted[0],
            median: (sorted[last / 2] + sorted[sorted.len() / 2]) / 2.0,
            max: sorted[last],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_of_few_and_many() {
        for (figures, (min, median, max)) in [
            (&[3.0][..], (3.0, 3.0, 3.0)),
            (&[4.0, 2.0], (2.0, 3.0, 4.0)),
            (&[5.0, 1.0, 2.0], (1.0, 2.0, 5.0)),
            (&[5.0, 1.0, 2.0, 4.0], (1.0, 3.0, 5.0)),
        ] {
            assert_eq!(Spread::of(figures), Spread { min, median, max });
        }
    }

    #[test]
    fn the_ratio_is_that_of_neighbours() {
        // The machine was four times as slow for the last two: medians of each side say 0.4.
        let passes = Passes {
            rates: vec![200.0, 50.0, 50.0],
            reference: vec![800.0, 200.0, 125.0],
        };
        assert_eq!(passes.ratio().map(|ratio| ratio.median), Some(0.25));
    }

    #[test]
    fn every_pass_has_its_reference() {
        let reference = ReferenceLoop::new().unwrap();
        let mut calls = 0;
        let passes = measure(&reference, 3, 1_000, || calls += 1);
        assert_eq!((passes.rates.len(), passes.reference.len()), (3, 3));
        assert_eq!(calls, 4, "one more brings pages in");
        let all = passes.rates.iter().chain(&passes.reference);
        assert!(all.copied().all(|rate| rate > 0.0 && rate.is_finite()));
    }
}
