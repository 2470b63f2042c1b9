//! What the CPU counts for a lookup: cycles, instructions, cache misses and
//! mispredicted branches, where the machine gives them to programs.

use popfib::Rib;
use popfib_eval::{AnyFib, Counters, Empty, Event, Traveller, build};
use serde::{Deserialize, Serialize};

use super::entrant::Entrant;
use super::pace::Pattern;
use crate::plan::Effort;

/// The counts of all structures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counted {
    /// Why there are none.
    pub(crate) unavailable: Option<String>,
    /// What is counted, in order.
    pub(crate) events: Vec<String>,
    pub(crate) rows: Vec<Counts>,
}

/// The counts of one structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) name: String,
    pub(crate) cannot_build: Option<String>,
    pub(crate) lookups: usize,
    /// For each lookup, by event; `None` where the CPU does not count it.
    pub(crate) each: Vec<Option<f64>>,
}

/// Counts the hardware's events for random lookups of each entrant.
pub(crate) fn counters<A: Traveller>(
    rib: &Rib<A>,
    entrants: &[Entrant],
    effort: &Effort,
) -> Counted {
    match Counters::new(&Event::HARDWARE) {
        Ok(mut counters) => counted(rib, entrants, effort, &Event::HARDWARE, |work| {
            counters.count(work)
        }),
        Err(reason) => Counted {
            unavailable: Some(reason),
            events: Vec::new(),
            rows: Vec::new(),
        },
    }
}

/// The same, of `events` as `count` counts them.
fn counted<A: Traveller>(
    rib: &Rib<A>,
    entrants: &[Entrant],
    effort: &Effort,
    events: &[Event],
    mut count: impl FnMut(&mut dyn FnMut()) -> Vec<Option<f64>>,
) -> Counted {
    let pattern = Pattern::<A>::Random;
    let mut row = |name: &str, fib: &dyn AnyFib<A>, kernel| {
        // What is timed to find the length brings the table in.
        let lookups = pattern.count(fib, kernel, effort.pass);
        let mut all = vec![Some(0.0); events.len()];
        for run in 0..effort.runs {
            let counts = count(&mut || pattern.pass(fib, kernel, run, lookups));
            for (all, count) in all.iter_mut().zip(counts) {
                *all = all.zip(count).map(|(all, count)| all + count);
            }
        }
        let lookups = lookups * effort.runs;
        let each = all.into_iter().map(|all| Some(all? / lookups as f64));
        Counts {
            name: name.to_owned(),
            cannot_build: None,
            lookups,
            each: each.collect(),
        }
    };
    let mut rows = vec![row("no lookup", &Empty, popfib::Kernel::best())];
    for entrant in entrants {
        rows.push(match build(rib, entrant.algorithm, &entrant.options) {
            Ok(compiled) => row(&entrant.name, &*compiled.fib, entrant.kernel),
            Err(reason) => Counts {
                name: entrant.name.clone(),
                cannot_build: Some(reason.to_string()),
                lookups: 0,
                each: Vec::new(),
            },
        });
    }
    Counted {
        unavailable: None,
        events: events.iter().map(|event| event.name().to_owned()).collect(),
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::NextHop;
    use popfib_baselines::Baseline;

    fn rib<A: Traveller>(prefix: &str) -> Rib<A> {
        let mut rib = Rib::new();
        rib.insert(prefix.parse().ok().unwrap(), NextHop::MIN);
        rib
    }

    #[test]
    fn counts_are_of_each_lookup() {
        let entrants = [Entrant::poptrie(18), Entrant::baseline(Baseline::Sail)];
        let effort = Effort::tiny();
        let mut calls = 0;
        // Two events: one counts nothing, the other a thousand a pass.
        let events = [Event::L1Misses, Event::Cycles];
        let found = counted(
            &rib::<u32>("10.0.0.0/8"),
            &entrants,
            &effort,
            &events,
            |work| {
                work();
                calls += 1;
                vec![None, Some(1_000.0)]
            },
        );
        assert_eq!(calls, 3 * effort.runs);
        assert_eq!(found.events, ["L1 misses", "cycles"]);
        let names: Vec<&str> = found.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["no lookup", "Poptrie18", "SAIL"]);
        for row in &found.rows {
            let each = 1_000.0 * effort.runs as f64 / row.lookups as f64;
            assert_eq!(row.each, [None, Some(each)]);
        }
    }

    #[test]
    fn what_cannot_be_built_has_its_reason() {
        let entrants = [Entrant::baseline(Baseline::Sail)];
        let found = counted(
            &rib::<u128>("2001:db8::/32"),
            &entrants,
            &Effort::tiny(),
            &[],
            |work| {
                work();
                Vec::new()
            },
        );
        assert!(found.rows[1].cannot_build.is_some());
    }

    #[test]
    fn this_machine_counts_or_says_why_not() {
        let found = counters(&rib::<u32>("10.0.0.0/8"), &[], &Effort::tiny());
        assert_eq!(found.unavailable.is_some(), found.rows.is_empty());
    }
}
