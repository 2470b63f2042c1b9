//! All structures on one table: verified first, then rates under each traffic
//! (the paper's Table 3 and 5, Fig. 9 and 12, sections 4.5 and 4.7).
//!
//! Passes of all structures take turns, so that all see the same machine: run
//! one of everybody, then run two, which begins with another structure, so that
//! none always has the same one before it.

use std::collections::BTreeMap;
use std::hint::black_box;

use popfib::Rib;
use popfib_eval::{Paired, ReferenceLoop, TrafficAddress, Xorshift, agreement, modes, stream_pass};
use serde::{Deserialize, Serialize};

use super::contender::{Built, Contender, Entry};
use super::figures::Figures;
use super::pace::{Pattern, mlps, timed};
use crate::plan::Effort;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Contest {
    pub(crate) routes: usize,
    pub(crate) rows: Vec<Entry<Measured>>,
    /// Nanoseconds an address of a pass without lookups, by traffic.
    pub(crate) overhead_ns: BTreeMap<String, f64>,
    /// Million addresses a second of the reference loop.
    pub(crate) reference: Figures,
    /// The traffic, in order.
    pub(crate) traffic: Vec<String>,
}

/// One structure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) direct_bits: u8,
    pub(crate) bytes: usize,
    pub(crate) build_ms: f64,
    pub(crate) verified: u64,
    pub(crate) mismatches: u64,
    pub(crate) first_mismatch: Option<String>,
    /// Million lookups a second, by traffic.
    pub(crate) rates: BTreeMap<String, Figures>,
    /// Nanoseconds of a lookup whose address depends on the answer before, of independent ones,
    /// and of the empty loop.
    pub(crate) latency_ns: Option<[f64; 3]>,
}

/// A structure that is measured, and its place in the rows.
type Field<A> = Vec<(usize, Built<A>)>;

/// Builds and verifies `contenders`, and measures them under `patterns`.
pub(crate) fn contest<A: TrafficAddress>(
    rib: &Rib<A>,
    contenders: &[Contender],
    patterns: &[Pattern<A>],
    reference: &ReferenceLoop,
    effort: &Effort,
    with_latency: bool,
) -> Contest {
    let mut contest = Contest {
        routes: rib.len(),
        rows: Vec::new(),
        overhead_ns: BTreeMap::new(),
        reference: Figures::default(),
        traffic: patterns.iter().map(|p| p.name().to_owned()).collect(),
    };
    let mut field = Field::new();
    for contender in contenders {
        let found = contender.build(rib).map(|built| {
            let measured = verified(rib, &built, effort);
            // Only what answers right is measured.
            if measured.mismatches == 0 {
                field.push((contest.rows.len(), built));
            }
            measured
        });
        contest.rows.push(Entry::new(&contender.name, found));
    }
    for pattern in patterns {
        contest.rates(pattern, &field, reference, effort);
    }
    if with_latency {
        contest.latency(&field, effort);
    }
    contest
}

/// Verifies a structure.
pub(crate) fn verified<A: TrafficAddress>(
    rib: &Rib<A>,
    built: &Built<A>,
    effort: &Effort,
) -> Measured {
    let fib = &built.fib;
    let batch = |addresses: &[A], to: &mut [u32]| fib.lookup_into(built.kernel, addresses, to);
    let found = agreement(
        rib,
        |address| fib.lookup(address),
        batch,
        effort.verified,
        7,
    );
    Measured {
        direct_bits: fib.direct_bits(),
        bytes: fib.bytes(),
        build_ms: built.build_ms,
        verified: found.addresses,
        mismatches: found.mismatches,
        first_mismatch: found.first,
        ..Measured::default()
    }
}

impl Contest {
    fn rates<A: TrafficAddress>(
        &mut self,
        pattern: &Pattern<A>,
        field: &Field<A>,
        reference: &ReferenceLoop,
        effort: &Effort,
    ) {
        let lengths = field.iter();
        let counts: Vec<usize> = lengths
            .map(|(_, built)| pattern.count(effort.pass, built.pass()))
            .collect();
        for run in 0..effort.runs {
            // In turn with what is set against it.
            if matches!(pattern, Pattern::Random) {
                let time = timed(|| reference.pass());
                self.reference.0.push(mlps(ReferenceLoop::ADDRESSES, time));
            }
            for turn in 0..field.len() {
                let at = (turn + run) % field.len();
                let (place, built) = &field[at];
                let rate = pattern.rate(run, counts[at], built.pass());
                if let Some(measured) = self.rows[*place].found_mut() {
                    let rates = measured.rates.entry(pattern.name().to_owned());
                    rates.or_default().0.push(rate);
                }
            }
        }
        let nothing = |burst: &[A]| {
            black_box(burst);
        };
        let count = pattern.count(effort.pass / 4, nothing);
        let rate = pattern.rate(0, count, nothing);
        self.overhead_ns
            .insert(pattern.name().to_owned(), 1e3 / rate);
    }

    fn latency<A: TrafficAddress>(&mut self, field: &Field<A>, effort: &Effort) {
        let mut addresses = Vec::new();
        stream_pass(
            &mut Xorshift::new(1),
            effort.prepared / 8,
            |burst: &[A]| {
                addresses.extend_from_slice(burst);
            },
        );
        for (place, built) in field {
            let chain = |addresses: &[A]| built.fib.chain(addresses);
            let found = modes(&addresses, effort.runs.min(5), chain, built.pass());
            if let Some(measured) = self.rows[*place].found_mut() {
                let all = [found.dependent, found.independent, found.empty];
                measured.latency_ns = Some(all.map(|spread| spread.median));
            }
        }
    }

    /// What was found of the structure of this name.
    pub(crate) fn row(&self, name: &str) -> Option<&Measured> {
        self.rows.iter().find(|row| row.name == name)?.found()
    }

    /// The rates of a structure, if it was measured under `traffic`.
    pub(crate) fn rates_of(&self, name: &str, traffic: &str) -> Option<&Figures> {
        self.row(name)?.rates.get(traffic)
    }

    /// The rate of one structure over another's, pass by pass.
    pub(crate) fn ratio(&self, ours: &str, theirs: &str, traffic: &str) -> Option<Paired> {
        let theirs = self.rates_of(theirs, traffic)?;
        self.rates_of(ours, traffic)?.over(theirs)
    }

    /// Each other structure beside the Poptries of the same s that are looked up as it is, one
    /// address after the other.
    pub(crate) fn duels(&self, traffic: &str) -> Vec<Duel<'_>> {
        let mut found = Vec::new();
        for other in &self.rows {
            let Some(row) = other.found() else { continue };
            if other.name.starts_with("Poptrie") || other.name.starts_with("popfib") {
                continue;
            }
            for own in [row.poptrie(), row.popfib()] {
                if let Some(ratio) = self.ratio(&own, &other.name, traffic) {
                    found.push(Duel {
                        other: &other.name,
                        own,
                        ratio,
                    });
                }
            }
        }
        found
    }
}

impl Measured {
    /// The Poptrie that this structure is compared with: of its own 16 direct bits, or the paper's 18.
    pub(crate) fn poptrie(&self) -> String {
        format!("Poptrie{}", if self.direct_bits == 16 { 16 } else { 18 })
    }

    /// The same in popfib's layout.
    pub(crate) fn popfib(&self) -> String {
        self.poptrie().replace("Poptrie", "popfib")
    }
}

/// A structure and a Poptrie of the same s.
pub(crate) struct Duel<'a> {
    pub(crate) other: &'a str,
    pub(crate) own: String,
    /// The Poptrie's rate over the structure's.
    pub(crate) ratio: Paired,
}
