//! Runs the parts of a plan, one after the other, and keeps each result at once.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use popfib::Rib;
use popfib::family::ByFamily;
use popfib_eval::{ReferenceLoop, TrafficAddress, cores, pin};

use crate::error::ReportError;
use crate::machine::Machine;
use crate::parts::{Bench, Part, parts};
use crate::plan::{Plan, Table};
use crate::results::{Finished, Outcome, Results, TableFacts};
use crate::store::Store;

/// Is told how far a run has come.
pub trait Watcher {
    /// There are so many parts, of which some were measured earlier; the rest takes about `estimate`.
    fn planned(&mut self, parts: usize, reused: usize, estimate: Duration);

    /// The part `title` begins; it and what comes after it take about `remaining`.
    fn begins(&mut self, title: &str, remaining: Duration);

    /// Something that the user should know, in one line.
    fn note(&mut self, line: &str);
}

/// Measures what `plan` asks for and is not in `output` yet.
pub(crate) fn run(
    plan: &Plan,
    output: &Path,
    watcher: &mut dyn Watcher,
) -> Result<Results, ReportError> {
    if plan.tables.is_empty() {
        return Err(ReportError::Nothing);
    }
    let start = Instant::now();
    let store = Store::open(output)?;
    let bench = bench(plan)?;
    let mut results = Results {
        effort: plan.effort.name.to_owned(),
        runs: plan.effort.runs,
        pass_ms: plan.effort.pass.as_secs_f64() * 1e3,
        tables: plan.tables.iter().map(facts).collect(),
        parts: Vec::new(),
        notes: notes(plan),
        machine: Machine::this(),
    };
    for note in &results.notes {
        watcher.note(note);
    }
    let parts = self::parts(plan).into_iter().map(|part| {
        let key = key(&results.machine, plan, &part);
        let stored = store.get::<Outcome>(&part.name, &key);
        (part, key, stored)
    });
    let parts: Vec<_> = parts.collect();
    let missing = parts.iter().filter(|(_, _, stored)| stored.is_none());
    let reused = parts.len() - missing.clone().count();
    let mut remaining: Duration = missing.map(|(part, _, _)| part.estimate).sum();
    let budget = plan.effort.budget.unwrap_or(Duration::MAX);
    watcher.planned(parts.len(), reused, remaining.min(budget));
    for (part, key, stored) in parts {
        let (outcome, seconds) = match stored {
            Some(stored) => stored,
            None => {
                let left = remaining.min(budget.saturating_sub(start.elapsed()));
                remaining = remaining.saturating_sub(part.estimate);
                if start.elapsed() + part.estimate > budget {
                    let note = format!("left out, for time: {}", part.title);
                    watcher.note(&note);
                    results.notes.push(note);
                    continue;
                }
                watcher.begins(&part.title, left);
                let begin = Instant::now();
                let outcome = (part.work)(&bench)?;
                let seconds = begin.elapsed().as_secs_f64();
                store.put(&part.name, &key, seconds, &outcome)?;
                (outcome, seconds)
            }
        };
        results.parts.push(Finished {
            table: part.table,
            family: part.family,
            seconds,
            outcome,
        });
    }
    Ok(results)
}

/// Pins this thread.
fn bench(plan: &Plan) -> Result<Bench, ReportError> {
    // Where threads cannot be pinned they run where the system likes.
    let cores = cores().unwrap_or_default();
    if let Some(first) = cores.first() {
        let _ = pin(*first);
    }
    Ok(Bench {
        effort: plan.effort.clone(),
        reference: ReferenceLoop::new().map_err(ReportError::Memory)?,
        cores,
    })
}

/// What a result was measured under.
fn key(machine: &Machine, plan: &Plan, part: &Part<'_>) -> String {
    let Machine {
        cpu,
        cores,
        kernel,
        version,
        commit,
        compiler,
        ..
    } = machine;
    let (digest, effort) = (part.digest, &plan.effort);
    format!("{digest:016x} {effort:?} {cpu} {cores} {kernel} {version} {commit} {compiler}")
}

fn facts(table: &Table) -> TableFacts {
    fn next_hops<A: TrafficAddress>(rib: &Rib<A>) -> usize {
        let hops: BTreeSet<_> = rib.iter().map(|(_, next_hop)| next_hop).collect();
        hops.len()
    }
    let routes = &table.routes;
    TableFacts {
        name: table.name.clone(),
        routes: [routes.ribs.ipv4.len(), routes.ribs.ipv6.len()],
        next_hops: [next_hops(&routes.ribs.ipv4), next_hops(&routes.ribs.ipv6)],
    }
}

/// What is to be known of recorded traffic.
fn notes(plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    for trace in &plan.traces {
        let (name, trace) = (&trace.name, &trace.trace);
        let ByFamily { ipv4, ipv6 } = &trace.addresses;
        for (family, count) in [("IPv4", ipv4.len()), ("IPv6", ipv6.len())] {
            if count == 0 {
                notes.push(format!("trace {name}: no {family} address"));
            }
        }
        if trace.excluded > 0 {
            let excluded = trace.excluded;
            notes.push(format!(
                "trace {name}: {excluded} packets left out by source"
            ));
        }
    }
    notes
}
