//! `popfib-lab replay`: a stream of updates against a live table, with readers looking up meanwhile.
//!
//! Updates are read in stretches and then applied one after the other as fast
//! as the table takes them; only that is timed. At the end the FIB is compared
//! with the RIB at both ends of every stretch of addresses with one answer, and against
//! a fresh compilation in size.

mod family;
mod readers;
mod stream;

use std::fmt::Display;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::ValueEnum;
use popfib::Size;
use popfib_eval::Latencies;
use popfib_formats::{
    OutputFile, PeerFilter, RouteTable, UpdateFormat, WriteFormat, WriteOptions, write_table,
};
use popfib_table::Records;
use serde::Serialize;

use self::family::Family;
use self::readers::{Reading, Team};
use self::stream::Stream;
use crate::program::{Failure, Verdict, print, print_json};
use crate::table::{TableArgs, is_stdin, texts};

/// Apply a stream of updates to a table as fast as possible, and report how long each takes.
///
/// A time is that of one update of RIB and FIB together, and includes reading the clock (about 25 ns). At the
/// end every answer is checked: exit status 1 if one is wrong.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib-lab replay --table rib.mrt.gz --updates updates.mrt.gz
  popfib-lab replay --table routes.txt --updates updates.txt --readers 1 --json
  popfib-lab replay --table routes.txt --updates updates.txt --write-table after.txt.gz
  popfib-lab replay --table routes.txt --churn 100000
  popfib-lab replay --empty --updates updates.mrt.gz --write-table after.txt.gz

JSON, one object: updates, announced, withdrawn, mean_us, p50_us, p99_us, max_us, mismatches and more.")]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    what: What,

    /// Format of the updates; `popfib formats` lists them [default: recognised by content]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["churn", "fill"])]
    updates_format: Option<UpdateFormat>,

    /// Apply the updates of this peer only: index, address or AS (AS64500)
    #[arg(long, value_name = "PEER", conflicts_with_all = ["churn", "fill"])]
    updates_peer: Option<PeerFilter>,

    /// Threads that look up bursts of 64 addresses at the same time, each on its own core
    #[arg(long, value_name = "N", default_value_t = 0)]
    readers: usize,

    /// Also check every answer after each N updates, not only at the end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    check_every: Option<u64>,

    /// Leading address bits that the direct table resolves, 0 to 24 [default: by table size]
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u8).range(0..=24))]
    direct_bits: Option<u8>,

    /// Keep every route as it is, without route aggregation (paper, section 3)
    #[arg(long)]
    no_aggregation: bool,

    /// How much memory the table may take for fewer steps of a lookup
    #[arg(long, value_name = "SIZE", value_enum, default_value = "smallest")]
    size: SizeArg,

    /// Write the final table to this file, as text; compressed if its name ends in .gz, .bz2 or .zst
    #[arg(long, value_name = "FILE")]
    write_table: Option<PathBuf>,

    /// Start without routes instead of a table
    #[arg(long, conflicts_with_all = ["table", "churn", "fill"])]
    empty: bool,

    #[command(flatten)]
    table: TableArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// [`Size`] by its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SizeArg {
    Smallest,
    Balanced,
}

impl From<SizeArg> for Size {
    fn from(size: SizeArg) -> Self {
        match size {
            SizeArg::Smallest => Self::Smallest,
            SizeArg::Balanced => Self::Balanced,
        }
    }
}

/// Where updates come from.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct What {
    /// Updates to apply, compressed or not; `-` is standard input
    #[arg(long, value_name = "FILE")]
    updates: Option<PathBuf>,

    /// Withdraw N random routes of the table and announce each again before the next
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    churn: Option<u32>,

    /// Start without routes and announce those of the table in random order
    #[arg(long, conflicts_with = "readers")]
    fill: bool,
}

impl ReplayArgs {
    fn options(&self) -> popfib::Options {
        popfib::Options::default()
            .direct_bits(self.direct_bits)
            .aggregation(!self.no_aggregation)
            .size(self.size.into())
    }
}

/// What is reported. Times are in microseconds.
#[derive(Serialize)]
struct Report {
    updates: u64,
    announced: u64,
    withdrawn: u64,
    /// Withdrawals of routes that were not there.
    absent: u64,
    /// Announcements of a route that was there with the same next hop.
    repeated: u64,
    /// Updates older than one before them.
    out_of_order: u64,
    mean_us: f64,
    p50_us: f64,
    p99_us: f64,
    max_us: f64,
    /// Updates that changed an answer, by the RIB.
    changed: u64,
    changed_mean_us: f64,
    changed_p99_us: f64,
    /// The longest of all updates, without the time that the thread waited for its core.
    longest_run_us: f64,
    routes: usize,
    fib_bytes: usize,
    /// Bytes of a FIB compiled from the routes as they are in the end.
    fresh_bytes: usize,
    #[serde(flatten)]
    readers: Option<Readers>,
    mismatches: u64,
}

#[derive(Serialize)]
struct Readers {
    readers: usize,
    /// Bursts of 64 lookups, alone and while updates are applied.
    alone: Bursts,
    meanwhile: Bursts,
    /// The rate meanwhile, as a part of that alone.
    rate_kept: f64,
}

#[derive(Serialize)]
struct Bursts {
    mlps: f64,
    p50_us: f64,
    p99_us: f64,
    p999_us: f64,
    max_us: f64,
}

pub(crate) fn run(args: &ReplayArgs) -> Result<Verdict, Failure> {
    if args.table.table.as_deref().is_some_and(is_stdin)
        && args.what.updates.as_deref().is_some_and(is_stdin)
    {
        return Err("standard input is the table, so the updates have to be a file".into());
    }
    let cores = readers::cores(args.readers)?;
    // Before the work, which an error here would waste.
    let destination = match &args.write_table {
        Some(path) => Some((
            path,
            OutputFile::create(path).map_err(|error| at(path, error))?,
        )),
        None => None,
    };
    let mut table = match args.empty {
        true => RouteTable::default(),
        false => args.table.load()?,
    };
    let mut names = texts(&table);
    let mut stream = Stream::open(args)?;
    let mut ipv4 = Family::new(std::mem::take(&mut table.ribs.ipv4), args.options())?;
    let mut ipv6 = Family::new(std::mem::take(&mut table.ribs.ipv6), args.options())?;
    let reading = std::thread::scope(|scope| -> Result<_, Failure> {
        let mut team = None;
        loop {
            let more = stream.next_stretch(&mut names, &mut ipv4, &mut ipv6)?;
            let team = match &mut team {
                Some(team) => team,
                // Readers ask for the family that has more to do.
                none => none.insert(match (ipv4.waiting(), ipv6.waiting()) {
                    (0, 0) => {
                        return Err(format!("{}: there is no update in it", stream.name()).into());
                    }
                    (of_4, of_6) if of_4 >= of_6 => Team::start(scope, &ipv4, &cores)?,
                    _ => Team::start(scope, &ipv6, &cores)?,
                }),
            };
            team.meanwhile(|| -> Result<(), Failure> {
                ipv4.apply(args.check_every)?;
                ipv6.apply(args.check_every)
            })?;
            if !more {
                return Ok(team.stop());
            }
        }
    })?;
    stream.note();
    let report = report(stream.out_of_order(), &mut ipv4, &mut ipv6, reading)?;
    if let Some((path, mut file)) = destination {
        table.ribs.ipv4 = ipv4.into_rib();
        table.ribs.ipv6 = ipv6.into_rib();
        table.records = Records::of_texts_or_none(None, names);
        let options = WriteOptions::default();
        let form: WriteFormat = "text".parse()?;
        write_table(&table, form, &options, &mut file).map_err(|error| at(path, error))?;
        file.finish().map_err(|error| at(path, error))?;
    }
    match args.json {
        true => print_json(&report)?,
        false => print(text(&report))?,
    }
    Ok(if report.mismatches == 0 {
        Verdict::Good
    } else {
        Verdict::Bad
    })
}

fn at(path: &Path, error: impl Display) -> Failure {
    format!("{}: {error}", path.display()).into()
}

fn report(
    out_of_order: u64,
    ipv4: &mut Family<u32>,
    ipv6: &mut Family<u128>,
    reading: Reading,
) -> Result<Report, Failure> {
    let mismatches = ipv4.check() + ipv6.check();
    let mut counts = ipv4.counts.clone();
    counts.append(&ipv6.counts);
    Ok(Report {
        updates: counts.all.count(),
        announced: counts.announced,
        withdrawn: counts.withdrawn,
        absent: counts.absent,
        repeated: counts.repeated,
        out_of_order,
        mean_us: decimals(counts.all.mean_us()),
        p50_us: decimals(counts.all.percentile_us(0.5)),
        p99_us: decimals(counts.all.percentile_us(0.99)),
        max_us: decimals(counts.all.max_us()),
        changed: counts.changing.count(),
        changed_mean_us: decimals(counts.changing.mean_us()),
        changed_p99_us: decimals(counts.changing.percentile_us(0.99)),
        longest_run_us: decimals(counts.longest_run.as_secs_f64() * 1e6),
        routes: ipv4.routes() + ipv6.routes(),
        fib_bytes: ipv4.fib_bytes() + ipv6.fib_bytes(),
        fresh_bytes: ipv4.fresh_bytes()? + ipv6.fresh_bytes()?,
        readers: (reading.readers > 0).then(|| Readers {
            readers: reading.readers,
            rate_kept: decimals(reading.meanwhile.mlps() / reading.alone.mlps()),
            alone: bursts(&reading.alone),
            meanwhile: bursts(&reading.meanwhile),
        }),
        mismatches,
    })
}

fn bursts(of: &readers::Phase) -> Bursts {
    let times: &Latencies = &of.bursts;
    Bursts {
        mlps: decimals(of.mlps()),
        p50_us: decimals(times.percentile_us(0.5)),
        p99_us: decimals(times.percentile_us(0.99)),
        p999_us: decimals(times.percentile_us(0.999)),
        max_us: decimals(times.max_us()),
    }
}

/// Three decimals: what is after them is noise.
fn decimals(figure: f64) -> f64 {
    (figure * 1e3).round() / 1e3
}

fn text(report: &Report) -> String {
    let Report {
        updates,
        announced,
        withdrawn,
        absent,
        repeated,
        changed,
        ..
    } = report;
    let mut text = format!(
        "{updates} updates: {announced} announced ({repeated} of them repeated), \
         {withdrawn} withdrawn ({absent} of them absent)\n\
         each        mean {:.3} us, median {:.3}, 99 % within {:.3}, longest {:.3} ({:.3} without waiting for the core)\n\
         {changed} changed an answer\n\
         each        mean {:.3} us, 99 % within {:.3}\n\
         table       {} routes, FIB of {} bytes, {:.3} of a fresh one\n",
        report.mean_us,
        report.p50_us,
        report.p99_us,
        report.max_us,
        report.longest_run_us,
        report.changed_mean_us,
        report.changed_p99_us,
        report.routes,
        report.fib_bytes,
        report.fib_bytes as f64 / report.fresh_bytes as f64,
    );
    if let Some(readers) = &report.readers {
        for (name, of) in [("alone", &readers.alone), ("meanwhile", &readers.meanwhile)] {
            text += &format!(
                "{} readers, {name:<9} {:.1} M/s; bursts of 64: median {:.3} us, 99 % {:.3}, 99.9 % {:.3}, longest {:.3}\n",
                readers.readers, of.mlps, of.p50_us, of.p99_us, of.p999_us, of.max_us
            );
        }
        text += &format!("rate kept   {:.3}\n", readers.rate_kept);
    }
    text + &format!("mismatches  {}\n", report.mismatches)
}
