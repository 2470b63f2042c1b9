//! What the CPU counts for a lookup: cycles, instructions, cache misses and
//! mispredicted branches, where the machine gives them to programs.

use std::hint::black_box;

use popfib::Rib;
use popfib_eval::{Counters, Event, TrafficAddress};
use serde::{Deserialize, Serialize};

use super::contender::{Contender, Entry, each};
use super::pace::Pattern;
use crate::plan::Effort;

/// The counts of all structures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counted {
    /// Why there are none.
    pub(crate) unavailable: Option<String>,
    /// What is counted, in order.
    pub(crate) events: Vec<String>,
    /// For each lookup, by event; `None` where the CPU does not count it.
    pub(crate) rows: Vec<Entry<Vec<Option<f64>>>>,
}

/// Counts the hardware's events for random lookups of each contender.
pub(crate) fn counters<A: TrafficAddress>(
    rib: &Rib<A>,
    contenders: &[Contender],
    effort: &Effort,
) -> Counted {
    match Counters::new(&Event::HARDWARE) {
        Ok(mut counters) => counted(rib, contenders, effort, &Event::HARDWARE, |work| {
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
fn counted<A: TrafficAddress>(
    rib: &Rib<A>,
    contenders: &[Contender],
    effort: &Effort,
    events: &[Event],
    mut count: impl FnMut(&mut dyn FnMut()) -> Vec<Option<f64>>,
) -> Counted {
    let pattern = Pattern::<A>::Random;
    let mut of = |lookup: &dyn Fn(&[A])| -> Vec<Option<f64>> {
        // What is timed to find the length brings the table in.
        let lookups = pattern.count(effort.pass, lookup);
        let mut all = vec![Some(0.0); events.len()];
        for run in 0..effort.runs {
            let counts = count(&mut || pattern.pass(run, lookups, lookup));
            for (all, count) in all.iter_mut().zip(counts) {
                *all = all.zip(count).map(|(all, count)| all + count);
            }
        }
        let lookups = lookups * effort.runs;
        let each = all.into_iter().map(|all| Some(all? / lookups as f64));
        each.collect()
    };
    let nothing = of(&|burst| {
        black_box(burst);
    });
    let mut rows = vec![Entry::new("no lookup", Ok(nothing))];
    rows.extend(each(rib, contenders, |built| of(&built.pass())));
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
    use popfib_eval::Algorithm;

    fn rib<A: TrafficAddress>(prefix: &str) -> Rib<A> {
        let mut rib = Rib::new();
        rib.insert(prefix.parse().ok().unwrap(), NextHop::MIN);
        rib
    }

    fn sail() -> Contender {
        Contender::new(Algorithm::Baseline(Baseline::Sail), None)
    }

    #[test]
    fn counts_are_of_each_lookup() {
        let contenders = [Contender::new(Algorithm::Poptrie, Some(18)), sail()];
        let effort = Effort::tiny();
        let mut calls = 0;
        // Two events: one counts nothing, the other a thousand a pass.
        let events = [Event::L1Misses, Event::Cycles];
        let rib = rib::<u32>("10.0.0.0/8");
        let found = counted(&rib, &contenders, &effort, &events, |work| {
            work();
            calls += 1;
            vec![None, Some(1_000.0)]
        });
        assert_eq!(calls, 3 * effort.runs);
        assert_eq!(found.events, ["L1 misses", "cycles"]);
        let names: Vec<&str> = found.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["no lookup", "Poptrie18", "SAIL"]);
        for row in &found.rows {
            let counts = row.found().unwrap();
            // A pass has 2,048 addresses or more.
            assert_eq!(counts[0], None);
            assert!(counts[1].is_some_and(|each| each > 0.0 && each <= 1_000.0 / 2_048.0));
        }
        // What cannot be built has its reason.
        let found = counted(
            &self::rib::<u128>("2001:db8::/32"),
            &[sail()],
            &effort,
            &[],
            |work| {
                work();
                Vec::new()
            },
        );
        assert!(
            found.rows[1]
                .result()
                .is_err_and(|why| why.contains("IPv4 only"))
        );
    }

    #[test]
    fn this_machine_counts_or_says_why_not() {
        let found = counters(&rib::<u32>("10.0.0.0/8"), &[], &Effort::tiny());
        assert_eq!(found.unavailable.is_some(), found.rows.is_empty());
    }
}
