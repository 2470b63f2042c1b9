//! The rate of several threads in one table (the paper's Fig. 8).

use popfib::Rib;
use popfib_eval::{TrafficAddress, together};

use super::contender::{Contender, Entry, Group, each};
use super::figures::Figures;
use super::pace::{Pattern, mlps, timed};
use crate::plan::Effort;

/// Million random lookups a second of all threads together, by their number from one on.
pub(crate) type Scaling = Vec<Figures>;

/// Measures with one thread on the first of `cores`, then with two, and so on, in turn.
pub(crate) fn threads<A: TrafficAddress>(
    rib: &Rib<A>,
    cores: &[usize],
    effort: &Effort,
) -> Vec<Entry<Scaling>> {
    let pattern = Pattern::<A>::Random;
    each(rib, &Contender::of(Group::Threads), |built| {
        let count = pattern.count(effort.pass, built.pass());
        // Where threads cannot be pinned there is one, this.
        let mut rates = vec![Figures::default(); cores.len().max(1)];
        for run in 0..effort.runs {
            for (helpers, rates) in rates.iter_mut().enumerate() {
                let others = cores.get(1..=helpers).unwrap_or_default();
                let time = timed(|| together(others, || pattern.pass(run, count, built.pass())));
                rates.0.push(mlps(count * (helpers + 1), time));
            }
        }
        rates
    })
}
