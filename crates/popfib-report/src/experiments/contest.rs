//! All structures on one table: verified first, then rates under each traffic
//! (the paper's Table 3 and 5, Fig. 9 and 12, sections 4.5 and 4.7).
//!
//! Passes of all structures take turns, so that all see the same machine: run
//! one of everybody, then run two.

use std::collections::BTreeMap;
use std::hint::black_box;

use popfib::Rib;
use popfib_eval::{
    Compiled, Empty, Modes, Traveller, Xorshift, Yardstick, agreement, build, modes, stream_pass,
};
use serde::{Deserialize, Serialize};

use super::entrant::Entrant;
use super::pace::{Figures, Pattern, mlps, timed};
use crate::plan::Effort;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Contest {
    pub(crate) routes: usize,
    pub(crate) rows: Vec<Row>,
    /// Nanoseconds an address of a pass without lookups, by traffic.
    pub(crate) overhead_ns: BTreeMap<String, f64>,
    /// Million addresses a second of the yardstick.
    pub(crate) yardstick: Figures,
    /// The traffic, in order.
    pub(crate) traffic: Vec<String>,
}

/// One structure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) direct_bits: u8,
    pub(crate) bytes: usize,
    pub(crate) build_ms: f64,
    /// Why there is nothing else.
    pub(crate) cannot_build: Option<String>,
    pub(crate) verified: u64,
    pub(crate) mismatches: u64,
    pub(crate) first_mismatch: Option<String>,
    /// Million lookups a second, by traffic.
    pub(crate) rates: BTreeMap<String, Figures>,
    /// Nanoseconds of a lookup whose address depends on the answer before, of independent ones,
    /// and of the empty loop.
    pub(crate) latency_ns: Option<[f64; 3]>,
}

/// Builds and verifies `entrants`, and measures them under `patterns`.
pub(crate) fn contest<A: Traveller>(
    rib: &Rib<A>,
    entrants: &[Entrant],
    patterns: &[Pattern<A>],
    yardstick: &Yardstick,
    effort: &Effort,
    with_latency: bool,
) -> Contest {
    let (mut rows, mut field) = (Vec::new(), Vec::new());
    for entrant in entrants {
        let (row, compiled) = admitted(rib, entrant, effort);
        if let Some(compiled) = compiled {
            field.push((rows.len(), entrant, compiled));
        }
        rows.push(row);
    }
    let mut overhead_ns = BTreeMap::new();
    let mut yardsticks = Figures::default();
    for pattern in patterns {
        let counts: Vec<usize> = field
            .iter()
            .map(|(_, entrant, compiled)| {
                pattern.count(&*compiled.fib, entrant.kernel, effort.pass)
            })
            .collect();
        for run in 0..effort.runs {
            // In turn with what is set against it.
            if matches!(pattern, Pattern::Random) {
                let time = timed(|| yardstick.pass());
                yardsticks.0.push(mlps(Yardstick::ADDRESSES, time));
            }
            for ((place, entrant, compiled), &count) in field.iter().zip(&counts) {
                let time = timed(|| pattern.pass(&*compiled.fib, entrant.kernel, run, count));
                let rates = &mut rows[*place].rates;
                let rates = rates.entry(pattern.name().to_owned()).or_default();
                rates.0.push(mlps(count, time));
            }
        }
        let kernel = popfib::Kernel::best();
        let empty = black_box(&Empty);
        let count = pattern.count(empty, kernel, effort.pass / 4);
        let time = timed(|| pattern.pass(empty, kernel, 0, count));
        overhead_ns.insert(
            pattern.name().to_owned(),
            time.as_secs_f64() * 1e9 / count as f64,
        );
    }
    if with_latency {
        let mut addresses = Vec::new();
        stream_pass(
            &mut Xorshift::new(1),
            effort.prepared / 8,
            |burst: &[A]| {
                addresses.extend_from_slice(burst);
            },
        );
        for (place, entrant, compiled) in &field {
            let Modes {
                dependent,
                independent,
                empty,
            } = modes(
                &addresses,
                effort.runs.min(5),
                |addresses| compiled.fib.chain(addresses),
                |addresses| compiled.fib.pass(entrant.kernel, addresses),
            );
            rows[*place].latency_ns = Some([dependent.median, independent.median, empty.median]);
        }
    }
    Contest {
        routes: rib.len(),
        rows,
        overhead_ns,
        yardstick: yardsticks,
        traffic: patterns.iter().map(|p| p.name().to_owned()).collect(),
    }
}

/// Builds and verifies; only what answers right is there to be measured.
pub(crate) fn admitted<A: Traveller>(
    rib: &Rib<A>,
    entrant: &Entrant,
    effort: &Effort,
) -> (Row, Option<Compiled<A>>) {
    let mut row = Row {
        name: entrant.name.clone(),
        ..Row::default()
    };
    let compiled = match build(rib, entrant.algorithm, &entrant.options) {
        Ok(compiled) => compiled,
        Err(reason) => {
            row.cannot_build = Some(reason.to_string());
            return (row, None);
        }
    };
    row.direct_bits = compiled.fib.direct_bits();
    row.bytes = compiled.fib.bytes();
    row.build_ms = compiled.compile_time.as_secs_f64() * 1e3;
    let found = agreement(rib, &*compiled.fib, entrant.kernel, effort.verified, 7);
    row.verified = found.addresses;
    row.mismatches = found.mismatches;
    row.first_mismatch = found.first;
    (row, (found.mismatches == 0).then_some(compiled))
}

impl Row {
    /// Mean million lookups a second under `traffic`.
    pub(crate) fn rate(&self, traffic: &str) -> Option<f64> {
        self.rates.get(traffic).map(Figures::mean)
    }

    /// The direct bits of the Poptrie that this structure is held against: its own 16, or the paper's 18.
    pub(crate) fn opponents_bits(&self) -> u8 {
        if self.direct_bits == 16 { 16 } else { 18 }
    }
}

impl Contest {
    /// The row of this name.
    pub(crate) fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Where a Poptrie that is looked up as its opponents are, one address after the other, does not
    /// outrun one under `traffic`.
    pub(crate) fn losses(&self, traffic: &str) -> Vec<Loss<'_>> {
        let mut found = Vec::new();
        for other in &self.rows {
            if other.name.starts_with("Poptrie") || other.name.starts_with("popfib") {
                continue;
            }
            let bits = other.opponents_bits();
            for name in [format!("Poptrie{bits}"), format!("popfib{bits}")] {
                let Some(own) = self.row(&name) else { continue };
                // Medians: a pass that something disturbed must not decide.
                let rates = (own.rates.get(traffic), other.rates.get(traffic));
                if let (Some(ours), Some(theirs)) = rates {
                    let ratio = ours.median() / theirs.median();
                    if ratio < 1.0 {
                        found.push(Loss { other, own, ratio });
                    }
                }
            }
        }
        found
    }
}

/// A structure that is ahead of a Poptrie of the same s.
pub(crate) struct Loss<'a> {
    pub(crate) other: &'a Row,
    pub(crate) own: &'a Row,
    /// The Poptrie's rate over the structure's, by medians.
    pub(crate) ratio: f64,
}
