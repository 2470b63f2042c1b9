//! Runs the parts of a plan, one after the other, and keeps each result at once.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use popfib::Rib;
use popfib_eval::datasets::syn::Syn;
use popfib_eval::{Counters, Event, Traffic, Traveller, Yardstick, cores, pin};

use crate::error::ReportError;
use crate::experiments::{
    Entrant, Pattern, contest, counters, cycles, depth, forms, series, threads, updates,
};
use crate::machine::Machine;
use crate::plan::{Effort, Plan, digest, digest_of};
use crate::results::{Family, Finished, Outcome, Results, TableFacts};
use crate::store::Store;

/// Is told how far a run has come.
pub trait Watcher {
    /// There are so many parts, of which some were measured earlier; the rest takes about `estimate`.
    fn planned(&mut self, parts: usize, reused: usize, estimate: Duration);

    /// The part `title` begins; it and what comes behind it take about `remaining`.
    fn begins(&mut self, title: &str, remaining: Duration);

    /// Something that the user should know, in one line.
    fn note(&mut self, line: &str);
}

type Work<'a> = Box<dyn FnOnce(&Bench) -> Result<Outcome, ReportError> + 'a>;

/// A part that is kept and used again as a whole.
struct Part<'a> {
    /// The name of its file.
    name: String,
    title: String,
    table: usize,
    family: Family,
    /// What it depends on, beyond what all do.
    digest: u64,
    estimate: Duration,
    work: Work<'a>,
}

/// What all parts measure with.
struct Bench {
    effort: Effort,
    yardstick: Yardstick,
    cores: Vec<usize>,
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
    let machine = Machine::this();
    // Where threads cannot be pinned they run where the system likes.
    let cores = cores().unwrap_or_default();
    if let Some(first) = cores.first() {
        let _ = pin(*first);
    }
    let bench = Bench {
        effort: plan.effort.clone(),
        yardstick: Yardstick::new().map_err(ReportError::Memory)?,
        cores,
    };
    let mut results = Results {
        effort: plan.effort.name.to_owned(),
        runs: plan.effort.runs,
        pass_ms: plan.effort.pass.as_secs_f64() * 1e3,
        tables: plan.tables.iter().map(facts).collect(),
        parts: Vec::new(),
        notes: Vec::new(),
        machine,
    };
    let parts = Parts::of(plan, &mut results.notes).parts;
    for note in &results.notes {
        watcher.note(note);
    }
    let key = |part: &Part<'_>| {
        let Machine {
            cpu,
            cores,
            kernel,
            version,
            commit,
            compiler,
            ..
        } = &results.machine;
        let effort = &plan.effort;
        format!(
            "{:016x} {effort:?} {cpu} {cores} {kernel} {version} {commit} {compiler}",
            part.digest
        )
    };
    let stored: Vec<Option<(Outcome, f64)>> = parts
        .iter()
        .map(|part| store.get(&part.name, &key(part)))
        .collect();
    let reused = stored.iter().flatten().count();
    let missing = || parts.iter().zip(&stored).filter(|(_, s)| s.is_none());
    let mut remaining: Duration = missing().map(|(part, _)| part.estimate).sum();
    let budget = plan.effort.budget.unwrap_or(Duration::MAX);
    watcher.planned(parts.len(), reused, remaining.min(budget));
    let keys: Vec<String> = parts.iter().map(key).collect();
    for ((part, stored), key) in parts.into_iter().zip(stored).zip(keys) {
        let (outcome, seconds) = match stored {
            Some(stored) => stored,
            None => {
                let estimate = part.estimate;
                let left = remaining.min(budget.saturating_sub(start.elapsed()));
                remaining = remaining.saturating_sub(estimate);
                if start.elapsed() + estimate > budget {
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

fn facts(table: &crate::plan::Table) -> TableFacts {
    fn next_hops<A: Traveller>(rib: &Rib<A>) -> usize {
        let hops: BTreeSet<_> = rib.iter().map(|(_, next_hop)| next_hop).collect();
        hops.len()
    }
    let routes = &table.routes;
    TableFacts {
        name: table.name.clone(),
        routes: [routes.ipv4.len(), routes.ipv6.len()],
        next_hops: [next_hops(&routes.ipv4), next_hops(&routes.ipv6)],
    }
}

/// The parts of a plan as they are put together.
struct Parts<'a> {
    effort: &'a Effort,
    /// Whether the machine has hardware counters: if not, finding that out takes no time.
    has_counters: bool,
    parts: Vec<Part<'a>>,
}

impl<'a> Parts<'a> {
    fn of(plan: &'a Plan, notes: &mut Vec<String>) -> Self {
        let mut parts = Self {
            effort: &plan.effort,
            has_counters: Counters::new(&Event::HARDWARE).is_ok(),
            parts: Vec::new(),
        };
        for trace in &plan.traces {
            let (name, trace) = (&trace.name, &trace.trace);
            for (family, count) in [("IPv4", trace.ipv4.len()), ("IPv6", trace.ipv6.len())] {
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
        // The first table as a whole before the others: an interrupted run has that.
        for (place, table) in plan.tables.iter().enumerate() {
            let (ipv4, ipv6) = (&table.routes.ipv4, &table.routes.ipv6);
            let of_4 = |trace: &'a crate::plan::NamedTrace| {
                (trace.name.as_str(), trace.trace.ipv4.as_slice())
            };
            let of_6 = |trace: &'a crate::plan::NamedTrace| {
                (trace.name.as_str(), trace.trace.ipv6.as_slice())
            };
            let traces_4: Vec<_> = plan.traces.iter().map(of_4).collect();
            let traces_6: Vec<_> = plan.traces.iter().map(of_6).collect();
            let is_close = place == 0 || plan.effort.is_thorough;
            parts.table(place, &table.name, Family::Ipv4, ipv4, traces_4.clone());
            if is_close && !ipv4.is_empty() {
                parts.heat(place, &table.name, ipv4, traces_4);
            }
            parts.table(place, &table.name, Family::Ipv6, ipv6, traces_6);
            if place == 0 {
                parts.changes(plan, &table.name, Family::Ipv4, ipv4, |named| &named.ipv4);
                parts.changes(plan, &table.name, Family::Ipv6, ipv6, |named| &named.ipv6);
            }
            if is_close && !ipv4.is_empty() {
                parts.syn(place, &table.name, ipv4);
            }
        }
        parts.series(Family::Ipv4, plan.effort.largest.0, |bench| {
            series::series::<u32>(bench.effort.largest.0, &bench.effort)
        });
        parts.series(Family::Ipv6, plan.effort.largest.1, |bench| {
            series::series::<u128>(bench.effort.largest.1, &bench.effort)
        });
        parts
    }

    fn push(
        &mut self,
        (experiment, title): (&str, String),
        (table, family): (usize, Family),
        digest: u64,
        estimate: Duration,
        work: impl FnOnce(&Bench) -> Result<Outcome, ReportError> + 'a,
    ) {
        let family_name = family.name().to_lowercase();
        self.parts.push(Part {
            name: format!("{experiment}-{family_name}-{table}"),
            title,
            table,
            family,
            digest,
            estimate,
            work: Box::new(work),
        });
    }

    /// Passes and the warming up before them.
    fn passes(&self, number: usize) -> Duration {
        let passes = number as f64 * (self.effort.runs as f64 + 0.6);
        self.effort.pass.mul_f64(passes)
    }

    /// What is asked of every table, and what is asked of those that are looked at closely.
    fn table<A: Traveller>(
        &mut self,
        place: usize,
        name: &str,
        family: Family,
        rib: &'a Rib<A>,
        traces: Vec<(&'a str, &'a [A])>,
    ) {
        if rib.is_empty() {
            return;
        }
        let family_name = family.name();
        let at = (place, family);
        let is_close = place == 0 || self.effort.is_thorough;
        let kinds: &[Traffic] = match (is_close, self.effort.is_thorough) {
            (false, _) => &[Traffic::Random, Traffic::Routes],
            (true, false) => &[
                Traffic::Random,
                Traffic::Sequential,
                Traffic::Repeated,
                Traffic::Routes,
                Traffic::Zipf,
            ],
            (true, true) => &[
                Traffic::Random,
                Traffic::Sequential,
                Traffic::Repeated,
                Traffic::Routes,
                Traffic::Zipf,
                Traffic::GoodCache,
                Traffic::BadCache,
            ],
        };
        let entrants = Entrant::all();
        let of_traces = traces.iter().flat_map(|(_, addresses)| addresses.iter());
        let numbers = of_traces.map(|address| address.to_u128());
        let table_digest = digest(rib);
        let contest_digest = table_digest ^ digest_of(numbers).rotate_left(1);
        let routes = rib.len() as f64;
        // Builds and verification: measured, about a microsecond and a half a route.
        let building = |number: usize| Duration::from_secs_f64(number as f64 * routes * 1.5e-6);
        let estimate = self.passes(entrants.len() * (kinds.len() + traces.len()))
            + building(entrants.len())
            + Duration::from_secs(1);
        self.push(
            (
                "contest",
                format!("{name}, {family_name}: all structures, verified and timed"),
            ),
            at,
            contest_digest,
            estimate,
            move |bench| {
                let effort = &bench.effort;
                let mut patterns = Vec::new();
                for kind in kinds {
                    patterns.extend(Pattern::of(kind, rib, effort.runs, effort.prepared)?);
                }
                for (name, addresses) in traces.iter().filter(|(_, a)| !a.is_empty()) {
                    patterns.push(Pattern::prepared(format!("trace {name}"), addresses)?);
                }
                let found = contest::contest(
                    rib,
                    &entrants,
                    &patterns,
                    &bench.yardstick,
                    effort,
                    is_close,
                );
                Ok(Outcome::Contest(found))
            },
        );
        if !is_close {
            return;
        }
        let runs = self.effort.runs;
        let estimate = self.passes(13) + building(3 * runs) / 4;
        self.push(
            (
                "forms",
                format!("{name}, {family_name}: what leafvec, aggregation and direct bits bring"),
            ),
            at,
            table_digest,
            estimate,
            move |bench| Ok(Outcome::Forms(forms::forms(rib, &bench.effort))),
        );
        let timed = self.effort.timed as f64 * 6.0 * 1.5e-7;
        let estimate = building(3) + Duration::from_secs_f64(timed);
        self.push(
            (
                "cycles",
                format!("{name}, {family_name}: lookups one by one"),
            ),
            at,
            table_digest,
            estimate,
            move |bench| {
                let effort = &bench.effort;
                let found = cycles::cycles(rib, &Entrant::of_cycles(), effort);
                Ok(Outcome::Cycles(found))
            },
        );
        let counted = Entrant::all();
        let estimate = match self.has_counters {
            // Builds are but a small part of builds and verification.
            true => self.passes(counted.len()) + building(counted.len()) / 5,
            false => Duration::ZERO,
        };
        self.push(
            (
                "counters",
                format!("{name}, {family_name}: hardware counters"),
            ),
            at,
            table_digest,
            estimate,
            move |bench| {
                let found = counters::counters(rib, &counted, &bench.effort);
                Ok(Outcome::Counters(found))
            },
        );
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let estimate = self.passes(3 * cores) + building(1);
        self.push(
            ("threads", format!("{name}, {family_name}: several threads")),
            at,
            table_digest,
            estimate,
            move |bench| {
                let found = threads::threads(rib, &bench.cores, &bench.effort);
                Ok(Outcome::Threads(found))
            },
        );
    }

    fn heat(
        &mut self,
        place: usize,
        name: &str,
        rib: &'a Rib<u32>,
        traces: Vec<(&'a str, &'a [u32])>,
    ) {
        let addresses = || traces.iter().flat_map(|(_, addresses)| addresses.iter());
        let digest = digest(rib) ^ digest_of(addresses().map(|a| u128::from(*a))).rotate_left(1);
        let estimate =
            Duration::from_secs_f64(rib.len() as f64 * 1e-6 + addresses().count() as f64 * 4e-7);
        self.push(
            ("heat", format!("{name}, IPv4: depths of all addresses")),
            (place, Family::Ipv4),
            digest,
            estimate,
            move |_| {
                let mut traffic = traces;
                traffic.retain(|(_, addresses)| !addresses.is_empty());
                Ok(Outcome::Heat(depth::heat(rib, &traffic)))
            },
        );
    }

    fn changes<A: Traveller>(
        &mut self,
        plan: &'a Plan,
        name: &str,
        family: Family,
        rib: &'a Rib<A>,
        of: impl Fn(&'a crate::plan::NamedUpdates) -> &'a Vec<popfib_eval::Update<A>>,
    ) {
        if rib.is_empty() {
            return;
        }
        let mut streams: Vec<_> = plan
            .updates
            .iter()
            .map(|named| (named.name.as_str(), of(named).as_slice()))
            .collect();
        streams.retain(|(_, updates)| !updates.is_empty());
        let updates = || streams.iter().flat_map(|(_, updates)| updates.iter());
        let numbers = updates().flat_map(|(prefix, next_hop)| {
            let next_hop = next_hop.map_or(0, |next_hop| next_hop.get());
            let rest = u128::from(next_hop) << 8 | u128::from(prefix.len());
            [prefix.address().to_u128(), rest]
        });
        let digest = digest(rib) ^ digest_of(numbers).rotate_left(1);
        let changes = updates().count() + rib.len() + 40_000;
        let estimate = Duration::from_secs_f64(changes as f64 * 1.5e-6);
        self.push(
            (
                "updates",
                format!("{name}, {}: changes of a live table", family.name()),
            ),
            (0, family),
            digest,
            estimate,
            move |_| {
                let mut found = Vec::new();
                for (name, updates) in streams {
                    found.push(updates::recorded(name, rib, updates)?);
                }
                found.push(updates::flaps(rib)?);
                found.push(updates::full_table(rib)?);
                Ok(Outcome::Updates(found))
            },
        );
    }

    fn syn(&mut self, place: usize, name: &str, rib: &'a Rib<u32>) {
        let digest = digest(rib);
        for syn in [Syn::Syn1, Syn::Syn2] {
            let entrants = Entrant::of_scalability();
            let building = rib.len() as f64 * (entrants.len() + 1) as f64 * 2.2e-6;
            let estimate = self.passes(entrants.len()) + Duration::from_secs_f64(building);
            self.push(
                (
                    &syn.name().to_lowercase(),
                    format!("{name}, IPv4: a table of tomorrow, {}", syn.name()),
                ),
                (place, Family::Ipv4),
                digest,
                estimate,
                move |bench| {
                    let rib = syn.of(rib);
                    let found = contest::contest(
                        &rib,
                        &entrants,
                        &[Pattern::Random],
                        &bench.yardstick,
                        &bench.effort,
                        false,
                    );
                    Ok(Outcome::Syn(syn.name().to_owned(), found))
                },
            );
        }
    }

    fn series(
        &mut self,
        family: Family,
        largest: usize,
        work: impl FnOnce(&Bench) -> Vec<series::Size> + 'a,
    ) {
        if largest == 0 {
            return;
        }
        // Sizes about double, so that all together are twice the largest.
        let building = Duration::from_secs_f64(largest as f64 * 2.0 * 6.0 * 1.2e-6);
        let estimate = building + self.passes(12);
        self.push(
            (
                "series",
                format!(
                    "{}: synthetic tables of up to {largest} routes",
                    family.name()
                ),
            ),
            (0, family),
            0,
            estimate,
            move |bench| Ok(Outcome::Series(work(bench))),
        );
    }
}
