//! `popfib bench`: lookup rates of the compiled table under several traffic patterns.
//!
//! Addresses are made beforehand, results go into a small buffer that is used
//! again, as a router's burst does, and every row carries the yardstick that
//! was measured between its passes.

use clap::Args;
use popfib::{Kernel, Rib};
use popfib_eval::{
    Buffer, Passes, Spread, Traffic, Traveller, Yardstick, cores, generate, measure, pin,
};
use popfib_formats::RouteTable;
use serde::Serialize;

use crate::Verdict;
use crate::any_fib::{Compiled, compile, milliseconds};
use crate::args::{Family, FormArgs, TableArgs};
use crate::failure::Failure;
use crate::image::{self, Opened};
use crate::output::{Output, note};
use crate::table;

/// Measure lookup rates, one row per family, traffic pattern and direct bits.
///
/// Rates are in million lookups per second on one core: median, lowest and highest pass. The
/// yardstick is the loop `sum += table[addr >> 14]` over a table of 1 MiB and 2^24 random
/// addresses, measured in turn with the passes; the ratio is the median rate over it.
#[derive(Args)]
#[command(after_help = "\
Traffic:
  random      uniform addresses (IPv6: inside 2000::/8)
  sequential  consecutive addresses from the first of a random route on
  repeated    random, each address 16 times in a row
  routes      a random host of a uniformly chosen route
  zipf        Zipf(1.0) over 650,000 (IPv6: 200,000) such hosts
  file:PATH   the addresses of a file, one a line, from the start again as often as needed

Examples:
  popfib bench
  popfib bench --direct-bits 16,18,20 --family ipv4 --traffic random,routes,zipf
  popfib bench --table routes.txt.gz --traffic file:trace.gz --runs 11 --pin 1 --json

JSON, an array of rows: algorithm, kernel, family, traffic, threads, direct_bits, bytes, build_ms,
mlps, mlps_min, mlps_max, yardstick_mlps, ratio, runs.")]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    table: TableArgs,

    /// Leading address bits that the direct table resolves, 0 to 24; several are measured one
    /// after the other [default: by table size]
    #[arg(long, value_name = "BITS", value_delimiter = ',',
        value_parser = clap::value_parser!(u8).range(0..=24))]
    direct_bits: Vec<u8>,

    #[command(flatten)]
    form: FormArgs,

    /// Families to measure
    #[arg(long, value_name = "NAME", value_enum, value_delimiter = ',',
        default_values_t = [Family::Ipv4, Family::Ipv6])]
    family: Vec<Family>,

    /// Traffic patterns, described below
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "random,sequential,repeated,routes,zipf"
    )]
    traffic: Vec<Traffic>,

    /// Addresses of a pass, at most 2^28 [default: 2^24 for IPv4, 2^23 for IPv6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    count: Option<u32>,

    /// Passes that are measured for each row
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Seed of the traffic
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Threads that look up at the same time in one table, each on a core of its own; the rate is
    /// that of all together
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,

    /// Core of the first thread, counted from 0 (Linux) [default: the last]
    #[arg(long, value_name = "CPU")]
    pin: Option<usize>,

    /// Print one JSON array when all is measured
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    algorithm: String,
    kernel: &'static str,
    family: &'static str,
    traffic: String,
    threads: u32,
    direct_bits: u8,
    bytes: usize,
    build_ms: f64,
    mlps: f64,
    mlps_min: f64,
    mlps_max: f64,
    yardstick_mlps: f64,
    ratio: f64,
    runs: u32,
}

pub(crate) fn run(args: &BenchArgs) -> Result<Verdict, Failure> {
    let cores = team(args)?;
    // An image is looked up as it is; what its routes are for is the traffic.
    let source = match image::open(&args.table)? {
        Some(opened) => Source::Image(opened),
        None => Source::Table(Box::new(table::load(&args.table)?)),
    };
    let mut bench = Bench {
        args,
        helpers: cores,
        algorithm: algorithm(&args.form)?,
        kernel: args.form.kernel()?,
        yardstick: Yardstick::new().map_err(out_of_memory)?,
        output: Output::new(),
        rows: Vec::new(),
    };
    for family in &args.family {
        match (family, &source) {
            (Family::Ipv4, Source::Table(table)) => {
                bench.family(*family, &table.ipv4, None, 1 << 24)?;
            }
            (Family::Ipv6, Source::Table(table)) => {
                bench.family(*family, &table.ipv6, None, 1 << 23)?;
            }
            (Family::Ipv4, Source::Image(opened)) => {
                bench.family::<u32>(*family, &opened.rib(), Some(opened), 1 << 24)?;
            }
            (Family::Ipv6, Source::Image(opened)) => {
                bench.family::<u128>(*family, &opened.rib(), Some(opened), 1 << 23)?;
            }
        }
    }
    if bench.rows.is_empty() {
        return Err("there is nothing to measure".into());
    }
    if args.json {
        bench.output.json(&bench.rows)?;
    }
    bench.output.flush()?;
    Ok(Verdict::Good)
}

enum Source {
    Table(Box<RouteTable>),
    Image(Opened),
}

struct Bench<'a> {
    args: &'a BenchArgs,
    /// The cores of all threads but this one.
    helpers: Vec<usize>,
    algorithm: String,
    kernel: Kernel,
    yardstick: Yardstick,
    output: Output,
    rows: Vec<Row>,
}

impl Bench<'_> {
    fn family<A: Traveller>(
        &mut self,
        family: Family,
        rib: &Rib<A>,
        image: Option<&Opened>,
        count: u32,
    ) -> Result<(), Failure> {
        let args = self.args;
        // An image may have routes in its Fib that are not told.
        let routes = image
            .and_then(|opened| opened.image.table::<A>())
            .map_or(rib.len(), |table| table.route_count());
        if routes == 0 {
            note(format_args!("{}: the table has no routes", family.name()));
            return Ok(());
        }
        let direct_bits: Vec<Option<u8>> = match args.direct_bits.as_slice() {
            [] => vec![None],
            several => several.iter().copied().map(Some).collect(),
        };
        let fibs = direct_bits
            .into_iter()
            .map(|bits| match image {
                Some(opened) => opened.compiled(bits, &args.form),
                None => compile(rib, bits, &args.form),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let count = args.count.unwrap_or(count) as usize;
        let kernel = self.kernel;
        for traffic in &args.traffic {
            let Some(addresses) = generate(traffic, rib, count, args.seed)? else {
                let (family, traffic) = (family.name(), traffic.name());
                note(format_args!("{traffic}: no {family} address"));
                continue;
            };
            let addresses = Buffer::copy_of(&addresses).map_err(out_of_memory)?;
            for compiled in &fibs {
                let pass = || compiled.fib.pass(kernel, &addresses);
                let lookups = count * args.threads as usize;
                let passes = measure(&self.yardstick, args.runs as usize, lookups, || {
                    together(&self.helpers, pass);
                });
                self.row(self.describe(family, traffic, compiled, &passes))?;
            }
        }
        Ok(())
    }

    fn describe<A>(
        &self,
        family: Family,
        traffic: &Traffic,
        compiled: &Compiled<A>,
        passes: &Passes,
    ) -> Row {
        let rates = Spread::of(&passes.rates);
        let yardstick = Spread::of(&passes.yardstick).median;
        Row {
            algorithm: self.algorithm.clone(),
            kernel: self.kernel.name(),
            family: family.name(),
            traffic: traffic.name(),
            threads: self.args.threads,
            direct_bits: compiled.fib.direct_bits(),
            bytes: compiled.fib.bytes(),
            build_ms: milliseconds(compiled.compile_time),
            mlps: decimals(rates.median, 3),
            mlps_min: decimals(rates.min, 3),
            mlps_max: decimals(rates.max, 3),
            yardstick_mlps: decimals(yardstick, 3),
            ratio: decimals(rates.median / yardstick, 5),
            runs: self.args.runs,
        }
    }

    /// Keeps the row for the JSON array, or shows it at once.
    fn row(&mut self, row: Row) -> Result<(), Failure> {
        if !self.args.json {
            if self.rows.is_empty() {
                self.output.text(format_args!(
                    "{:<22} {:<8} {:<6} {:<11} {:>2} {:>10} {:>9} {:>8} {:>8} {:>8} {:>9} {:>7}\n",
                    "algorithm",
                    "kernel",
                    "family",
                    "traffic",
                    "s",
                    "bytes",
                    "build ms",
                    "Mlps",
                    "min",
                    "max",
                    "yardstick",
                    "ratio"
                ))?;
            }
            self.output.text(format_args!(
                "{:<22} {:<8} {:<6} {:<11} {:>2} {:>10} {:>9.3} {:>8.1} {:>8.1} {:>8.1} {:>9.1} \
                 {:>7.4}\n",
                row.algorithm,
                row.kernel,
                row.family,
                row.traffic,
                row.direct_bits,
                row.bytes,
                row.build_ms,
                row.mlps,
                row.mlps_min,
                row.mlps_max,
                row.yardstick_mlps,
                row.ratio
            ))?;
            self.output.flush()?;
        }
        self.rows.push(row);
        Ok(())
    }
}

/// The algorithm's name, and what it was compiled without.
fn algorithm(form: &FormArgs) -> Result<String, Failure> {
    let name = form.algorithm()?.name();
    Ok(if form.no_aggregation {
        format!("{name}-unaggregated")
    } else {
        name.to_owned()
    })
}

/// Pins this thread; returns the cores of the others.
fn team(args: &BenchArgs) -> Result<Vec<usize>, Failure> {
    let mut cores = cores().map_err(|error| error.to_string())?;
    if let Some(first) = args.pin {
        cores.retain(|core| *core != first);
        cores.insert(0, first);
    }
    let threads = args.threads as usize;
    if threads > 1 && threads > cores.len() {
        let reason = format!(
            "{threads} threads on {} cores would measure the scheduler",
            cores.len()
        );
        return Err(reason.into());
    }
    if let Some(core) = cores.first() {
        pin(*core).map_err(|error| error.to_string())?;
    }
    Ok(cores.into_iter().take(threads).skip(1).collect())
}

/// Runs `pass` here and on each of the other cores at the same time.
fn together(helpers: &[usize], pass: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for core in helpers {
            scope.spawn(|| {
                // The cores are those that this process may run on.
                pin(*core).expect("a core of the team");
                pass();
            });
        }
        pass();
    });
}

fn out_of_memory(error: std::io::Error) -> Failure {
    format!("memory for addresses: {error}").into()
}

/// `figure` rounded to so many decimals, for JSON that people read too.
fn decimals(figure: f64, places: i32) -> f64 {
    let scale = 10f64.powi(places);
    (figure * scale).round() / scale
}
