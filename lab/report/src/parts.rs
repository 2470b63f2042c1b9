//! The parts of a plan: what each measures, what its result depends on, and how
//! long it takes.

use std::time::Duration;

use popfib::Rib;
use popfib_eval::datasets::syn::Syn;
use popfib_eval::datasets::synthetic::Synthetic;
use popfib_eval::{Counters, Event, ReferenceLoop, Traffic, Update};

use crate::error::ReportError;
use crate::experiments::{
    Contender, Group, Pattern, contest, counters, cycles, depth, forms, series, threads, updates,
};
use crate::plan::{Effort, NamedUpdates, Plan, digest, digest_of};
use crate::results::{Family, Outcome};

/// What all parts measure with.
pub(crate) struct Bench {
    pub(crate) effort: Effort,
    pub(crate) reference: ReferenceLoop,
    pub(crate) cores: Vec<usize>,
}

type Work<'a> = Box<dyn FnOnce(&Bench) -> Result<Outcome, ReportError> + 'a>;

/// A part that is kept and used again as a whole.
pub(crate) struct Part<'a> {
    /// The name of its file.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) table: usize,
    pub(crate) family: Family,
    /// What it depends on, beyond what all do.
    pub(crate) digest: u64,
    pub(crate) estimate: Duration,
    pub(crate) work: Work<'a>,
}

/// A family, and what of a plan is of it.
trait OfFamily: Synthetic {
    const FAMILY: Family;
    fn updates(updates: &NamedUpdates) -> &[Update<Self>];
    fn largest(effort: &Effort) -> usize;
}

macro_rules! of_family {
    ($key:ty, $family:ident, $field:ident, $place:tt) => {
        impl OfFamily for $key {
            const FAMILY: Family = Family::$family;

            fn updates(updates: &NamedUpdates) -> &[Update<Self>] {
                &updates.$field
            }

            fn largest(effort: &Effort) -> usize {
                effort.largest.$place
            }
        }
    };
}

of_family!(u32, Ipv4, ipv4, 0);
of_family!(u128, Ipv6, ipv6, 1);

/// A table's routes of one family, and what is asked of them.
#[derive(Clone)]
struct Site<'a, A> {
    place: usize,
    name: &'a str,
    rib: &'a Rib<A>,
    digest: u64,
    /// Recorded addresses that there are.
    traces: Vec<(&'a str, &'a [A])>,
    /// Whether it is looked at closely.
    is_close: bool,
}

impl<'a, A: OfFamily> Site<'a, A> {
    /// `None` where there is no route.
    fn new(plan: &'a Plan, place: usize) -> Option<Self> {
        let table = &plan.tables[place];
        let rib = A::of(&table.routes.ribs);
        let traces = plan.traces.iter();
        let mut traces: Vec<_> = traces
            .map(|trace| {
                (
                    trace.name.as_str(),
                    A::of(&trace.trace.addresses).as_slice(),
                )
            })
            .collect();
        traces.retain(|(_, addresses)| !addresses.is_empty());
        (!rib.is_empty()).then(|| Self {
            place,
            name: &table.name,
            rib,
            digest: digest(rib),
            traces,
            is_close: place == 0 || plan.effort.is_thorough,
        })
    }

    /// What a part depends on that looks up traces.
    fn digest_with_traces(&self) -> u64 {
        let addresses = self.traces.iter().flat_map(|(_, addresses)| *addresses);
        self.digest ^ digest_of(addresses.map(|address| address.to_u128())).rotate_left(1)
    }

    /// Seconds to build `number` structures and to verify them: measured, about a microsecond
    /// and a half a route.
    fn building(&self, number: usize) -> f64 {
        number as f64 * self.rib.len() as f64 * 1.5e-6
    }
}

/// The parts of `plan`: the first table as a whole before the others, so that an interrupted run has that.
pub(crate) fn parts(plan: &Plan) -> Vec<Part<'_>> {
    let mut parts = Parts {
        effort: &plan.effort,
        parts: Vec::new(),
    };
    for place in 0..plan.tables.len() {
        let (ipv4, ipv6) = (
            Site::<u32>::new(plan, place),
            Site::<u128>::new(plan, place),
        );
        if let Some(ipv4) = &ipv4 {
            parts.contest(ipv4);
            parts.closely(ipv4);
            parts.heat(ipv4);
        }
        if let Some(ipv6) = &ipv6 {
            parts.contest(ipv6);
            parts.closely(ipv6);
        }
        if let Some(ipv4) = &ipv4 {
            parts.changes(plan, ipv4);
        }
        if let Some(ipv6) = &ipv6 {
            parts.changes(plan, ipv6);
        }
        if let Some(ipv4) = &ipv4 {
            parts.syn(ipv4);
        }
    }
    parts.series::<u32>();
    parts.series::<u128>();
    parts.parts
}

/// The parts while they are put together.
struct Parts<'a> {
    effort: &'a Effort,
    parts: Vec<Part<'a>>,
}

impl<'a> Parts<'a> {
    fn push(
        &mut self,
        (experiment, title): (&str, String),
        (table, family): (usize, Family),
        digest: u64,
        seconds: f64,
        work: impl FnOnce(&Bench) -> Result<Outcome, ReportError> + 'a,
    ) {
        let family_name = family.name().to_lowercase();
        self.parts.push(Part {
            name: format!("{experiment}-{family_name}-{table}"),
            title,
            table,
            family,
            digest,
            estimate: Duration::from_secs_f64(seconds),
            work: Box::new(work),
        });
    }

    /// A part of a table.
    fn of<A: OfFamily>(
        &mut self,
        site: &Site<'a, A>,
        (experiment, what): (&str, &str),
        digest: u64,
        seconds: f64,
        work: impl FnOnce(&Bench) -> Result<Outcome, ReportError> + 'a,
    ) {
        let title = format!("{}, {}: {what}", site.name, A::FAMILY.name());
        let at = (site.place, A::FAMILY);
        self.push((experiment, title), at, digest, seconds, work);
    }

    /// Seconds of passes, and of the warming up before them.
    fn passes(&self, number: usize) -> f64 {
        let passes = number as f64 * (self.effort.runs as f64 + 0.6);
        self.effort.pass.as_secs_f64() * passes
    }

    /// What is asked of every table.
    fn contest<A: OfFamily>(&mut self, site: &Site<'a, A>) {
        use Traffic::{BadCache, GoodCache, Random, Repeated, Routes, Sequential, Zipf};
        let kinds: &[Traffic] = match (site.is_close, self.effort.is_thorough) {
            (false, _) => &[Random, Routes],
            (true, false) => &[Random, Sequential, Repeated, Routes, Zipf],
            (true, true) => &[
                Random, Sequential, Repeated, Routes, Zipf, GoodCache, BadCache,
            ],
        };
        let contenders = Contender::all();
        let number = contenders.len();
        let seconds =
            self.passes(number * (kinds.len() + site.traces.len())) + site.building(number) + 1.0;
        let digest = site.digest_with_traces();
        let what = ("contest", "all structures, verified and timed");
        let Site {
            rib,
            traces,
            is_close,
            ..
        } = site.clone();
        self.of(site, what, digest, seconds, move |bench| {
            let effort = &bench.effort;
            let mut patterns = Vec::new();
            for kind in kinds {
                patterns.extend(Pattern::of(kind, rib, effort.runs, effort.prepared)?);
            }
            for (name, addresses) in traces {
                patterns.push(Pattern::prepared(format!("trace {name}"), addresses)?);
            }
            let reference = &bench.reference;
            let found = contest::contest(rib, &contenders, &patterns, reference, effort, is_close);
            Ok(Outcome::Contest(found))
        });
    }

    /// What is asked of tables that are looked at closely.
    fn closely<A: OfFamily>(&mut self, site: &Site<'a, A>) {
        if !site.is_close {
            return;
        }
        let (rib, digest) = (site.rib, site.digest);
        let seconds = self.passes(13) + site.building(3 * self.effort.builds) / 4.0;
        let what = ("forms", "what leafvec, aggregation and direct bits bring");
        self.of(site, what, digest, seconds, move |bench| {
            Ok(Outcome::Forms(forms::forms(rib, &bench.effort)))
        });
        let seconds = site.building(3) + self.effort.timed as f64 * 6.0 * 1.5e-7;
        let what = ("cycles", "lookups one by one");
        self.of(site, what, digest, seconds, move |bench| {
            let found = cycles::cycles(rib, &Contender::of(Group::Cycles), &bench.effort);
            Ok(Outcome::Cycles(found))
        });
        let contenders = Contender::all();
        // That there are none takes no time; and builds are but a small part of builds and verification.
        let seconds = match Counters::new(&Event::HARDWARE) {
            Ok(_) => self.passes(contenders.len()) + site.building(contenders.len()) / 5.0,
            Err(_) => 0.0,
        };
        let what = ("counters", "hardware counters");
        self.of(site, what, digest, seconds, move |bench| {
            let found = counters::counters(rib, &contenders, &bench.effort);
            Ok(Outcome::Counters(found))
        });
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let seconds = self.passes(3 * cores) + site.building(1);
        let what = ("threads", "several threads");
        self.of(site, what, digest, seconds, move |bench| {
            let found = threads::threads(rib, &bench.cores, &bench.effort);
            Ok(Outcome::Threads(found))
        });
    }

    fn heat(&mut self, site: &Site<'a, u32>) {
        if !site.is_close {
            return;
        }
        let (rib, traces) = (site.rib, site.traces.clone());
        let addresses: usize = traces.iter().map(|(_, addresses)| addresses.len()).sum();
        let seconds = rib.len() as f64 * 1e-6 + addresses as f64 * 4e-7;
        let what = ("heat", "depths of all addresses");
        let digest = site.digest_with_traces();
        self.of(site, what, digest, seconds, move |_| {
            Ok(Outcome::Heat(depth::heat(rib, &traces)))
        });
    }

    /// Changes of the first table.
    fn changes<A: OfFamily>(&mut self, plan: &'a Plan, site: &Site<'a, A>) {
        if site.place > 0 {
            return;
        }
        let streams = plan.updates.iter();
        let mut streams: Vec<(&str, &[Update<A>])> = streams
            .map(|named| (named.name.as_str(), A::updates(named)))
            .collect();
        streams.retain(|(_, updates)| !updates.is_empty());
        let updates = || streams.iter().flat_map(|(_, updates)| *updates);
        let numbers =
            updates().map(|(prefix, hop)| (prefix.address().to_u128(), prefix.len(), hop));
        let digest = site.digest ^ digest_of(numbers).rotate_left(1);
        let rib = site.rib;
        let seconds = (updates().count() + rib.len() + 40_000) as f64 * 1.5e-6;
        let what = ("updates", "changes of a live table");
        self.of(site, what, digest, seconds, move |_| {
            let mut found = Vec::new();
            for (name, updates) in streams {
                found.push(updates::recorded(name, rib, updates)?);
            }
            found.push(updates::flaps(rib)?);
            found.push(updates::full_table(rib)?);
            Ok(Outcome::Updates(found))
        });
    }

    fn syn(&mut self, site: &Site<'a, u32>) {
        if !site.is_close {
            return;
        }
        let rib = site.rib;
        for syn in [Syn::Syn1, Syn::Syn2] {
            let contenders = Contender::of(Group::Syn);
            let seconds = self.passes(contenders.len()) + site.building(contenders.len() + 1) * 1.5;
            let what = format!("a table of tomorrow, {}", syn.name());
            let what = (&*syn.name().to_lowercase(), &*what);
            self.of(site, what, site.digest, seconds, move |bench| {
                let (rib, patterns) = (syn.of(rib), [Pattern::Random]);
                let (reference, effort) = (&bench.reference, &bench.effort);
                let found =
                    contest::contest(&rib, &contenders, &patterns, reference, effort, false);
                Ok(Outcome::Syn(syn.name().to_owned(), found))
            });
        }
    }

    fn series<A: OfFamily>(&mut self) {
        let largest = A::largest(self.effort);
        if largest == 0 {
            return;
        }
        // Sizes about double, so that all together are twice the largest.
        let seconds = largest as f64 * 2.0 * 6.0 * 1.2e-6 + self.passes(12);
        let title = format!(
            "{}: synthetic tables of up to {largest} routes",
            A::FAMILY.name()
        );
        let at = (0, A::FAMILY);
        self.push(("series", title), at, 0, seconds, move |bench| {
            Ok(Outcome::Series(series::series::<A>(largest, &bench.effort)))
        });
    }
}
