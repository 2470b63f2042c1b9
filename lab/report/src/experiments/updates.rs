//! Changes to a live table: recorded ones, and a full table route by route (the
//! paper's section 4.9).

use popfib::{CompileError, LiveFib, Options, Rib};
use popfib_eval::{TrafficAddress, Update, UpdateTimes, check_answers, churn, shuffled};
use serde::{Deserialize, Serialize};

/// Routes that are withdrawn and announced again where no changes were recorded.
const FLAPS: usize = 20_000;

/// What a stream of updates took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stream {
    pub(crate) name: String,
    pub(crate) announced: u64,
    pub(crate) withdrawn: u64,
    /// Updates that changed an answer.
    pub(crate) changed: u64,
    pub(crate) mean_us: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
    pub(crate) total_ms: f64,
    /// Answers compared with the routes afterwards, and those that were wrong.
    pub(crate) verified: u64,
    pub(crate) mismatches: u64,
}

/// Applies `updates` to the routes of `rib`, with 18 direct bits.
pub(crate) fn recorded<A: TrafficAddress>(
    name: &str,
    rib: &Rib<A>,
    updates: &[Update<A>],
) -> Result<Stream, CompileError> {
    let options = Options::default().direct_bits(Some(18));
    let mut table = LiveFib::<A>::from_rib(rib.clone(), options)?;
    stream(name, &mut table, updates)
}

/// Withdraws random routes and announces them again, one after the other.
pub(crate) fn flaps<A: TrafficAddress>(rib: &Rib<A>) -> Result<Stream, CompileError> {
    let flaps = FLAPS.min(rib.len());
    recorded("random routes down and up", rib, &churn(rib, flaps))
}

/// Inserts all routes into an empty table, in random order.
pub(crate) fn full_table<A: TrafficAddress>(rib: &Rib<A>) -> Result<Stream, CompileError> {
    let options = Options::default().direct_bits(Some(18));
    let mut table = LiveFib::<A>::new(options)?;
    stream("full table, random order", &mut table, &shuffled(rib))
}

fn stream<A: TrafficAddress>(
    name: &str,
    table: &mut LiveFib<A>,
    updates: &[Update<A>],
) -> Result<Stream, CompileError> {
    let mut times = UpdateTimes::default();
    times.apply(table, updates)?;
    let mut mismatches = 0;
    let verified = check_answers(table, |_, _, _| mismatches += 1);
    Ok(Stream {
        name: name.to_owned(),
        announced: times.announced,
        withdrawn: times.withdrawn,
        changed: times.changing.count(),
        mean_us: times.all.mean_us(),
        p50_us: times.all.percentile_us(0.5),
        p99_us: times.all.percentile_us(0.99),
        max_us: times.all.max_us(),
        total_ms: times.all.mean_us() * times.all.count() as f64 / 1e3,
        verified,
        mismatches,
    })
}
