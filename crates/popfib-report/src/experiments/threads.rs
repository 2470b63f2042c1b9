//! The rate of several threads in one table (the paper's Fig. 8).

use popfib::Rib;
use popfib_eval::{Traveller, build, together};
use serde::{Deserialize, Serialize};

use super::entrant::Entrant;
use super::pace::{Figures, Pattern, mlps, timed};
use crate::plan::Effort;

/// Rates of one structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scaling {
    pub(crate) name: String,
    /// Million random lookups a second of all threads together, by their number from one on.
    pub(crate) mlps: Vec<Figures>,
    pub(crate) cannot_build: Option<String>,
}

/// Measures with one thread on each of `cores`, then with two, and so on.
pub(crate) fn threads<A: Traveller>(
    rib: &Rib<A>,
    cores: &[usize],
    effort: &Effort,
) -> Vec<Scaling> {
    let entrants = [
        Entrant::poptrie(18),
        Entrant::popfib(18),
        Entrant::popfib_batch(),
    ];
    entrants
        .iter()
        .map(|entrant| scaling(rib, entrant, cores, effort))
        .collect()
}

fn scaling<A: Traveller>(
    rib: &Rib<A>,
    entrant: &Entrant,
    cores: &[usize],
    effort: &Effort,
) -> Scaling {
    let mut scaling = Scaling {
        name: entrant.name.clone(),
        mlps: Vec::new(),
        cannot_build: None,
    };
    let fib = match build(rib, entrant.algorithm, &entrant.options) {
        Ok(compiled) => compiled.fib,
        Err(reason) => {
            scaling.cannot_build = Some(reason.to_string());
            return scaling;
        }
    };
    let pattern = Pattern::<A>::Random;
    let count = pattern.count(&*fib, entrant.kernel, effort.pass);
    // Where threads cannot be pinned there is one, this.
    for number in 1..=cores.len().max(1) {
        let helpers = cores.get(1..number).unwrap_or_default();
        let mut rates = Figures::default();
        for run in 0..effort.runs {
            let time = timed(|| {
                together(helpers, || pattern.pass(&*fib, entrant.kernel, run, count));
            });
            rates.0.push(mlps(count * number, time));
        }
        scaling.mlps.push(rates);
    }
    scaling
}
