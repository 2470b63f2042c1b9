//! `popfib-lab bench`: lookup rates of the compiled table under several traffic patterns.
//!
//! Addresses are made beforehand, results go into a small buffer that is used
//! again, as a router's burst does, and every row carries the reference loop that
//! was measured between its passes.

use clap::Args;
use popfib::{Kernel, Rib};
use popfib_baselines::CannotBuild;
use popfib_eval::{
    Algorithm, Buffer, Compiled, Modes, Passes, ReferenceLoop, Spread, Traffic, TrafficAddress,
    cores, generate, measure, modes, pin, together,
};
use serde::Serialize;

use crate::args::{FormArgs, Selection, scalar};
use crate::program::{Failure, Verdict, note, print, print_json};
use crate::structures::build;
use crate::table::{Family, TableArgs};

/// Measure lookup rates, one row per family, traffic pattern, algorithm and direct bits.
///
/// Rates are in million lookups per second on one core: median, lowest and highest pass. The reference loop
/// is `sum += table[addr >> 14]` over a table of 1 MiB and 2^24 random addresses. It runs right before each
/// pass; the ratio is the median of pass rate / reference rate. If an algorithm cannot hold the table, its
/// row gives the reason. Algorithms other than popfib look up bursts in the way that suits each best; Tree
/// BitMap, SAIL, DIR-24-8 and DXR have direct bits of their own.
#[derive(Args)]
#[command(after_help = "\
Traffic:
  random      uniform addresses (IPv6: inside 2000::/8)
  sequential  consecutive addresses from the first of a random route on
  repeated    random, each address 16 times in a row
  routes      a random host of a uniformly chosen route
  zipf        Zipf(1.0) over 650,000 (IPv6: 200,000) such hosts
  good-cache  a random host of each route, in the order of the routes
  bad-cache   the same hosts, shuffled
  file:PATH   the addresses of a file (a list, a column, a capture), again as often as needed

Examples:
  popfib-lab bench
  popfib-lab bench --direct-bits 16,18,20 --family ipv4 --traffic random,routes,zipf
  popfib-lab bench --table routes.txt.gz --traffic file:trace.gz --runs 11 --pin 1 --json
  popfib-lab bench --algorithm all --traffic random,routes
  popfib-lab bench --algorithm sail --latency

JSON, an array of rows: algorithm, kernel, family, traffic, threads, direct_bits, bytes, build_ms,
mlps, mlps_min, mlps_max, reference_mlps, ratio, runs. With --latency also latency_ns,
throughput_ns and empty_ns. Where an algorithm cannot be built: reason, with null for what was not
measured.")]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    table: TableArgs,

    /// Leading address bits that the direct table resolves, 0 to 24; a list is measured one by one [default:
    /// by table size]
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

    /// Addresses per pass, at most 2^28 [default: 2^24 for IPv4, 2^23 for IPv6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    count: Option<u32>,

    /// Measured passes per row
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Seed of the traffic
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Threads that look up in one table at the same time, each on its own core; the rate is their sum
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,

    /// Also measure the time of a lookup, as medians in nanoseconds: if each address depends on the previous
    /// answer (latency), if not (throughput), and of the loop without lookups (empty)
    #[arg(long, conflicts_with = "threads")]
    latency: bool,

    /// Core of the first thread, counted from 0 (Linux) [default: the last]
    #[arg(long, value_name = "CPU")]
    pin: Option<usize>,

    /// Print one JSON array at the end
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
    direct_bits: Option<u8>,
    bytes: Option<usize>,
    build_ms: Option<f64>,
    mlps: Option<f64>,
    mlps_min: Option<f64>,
    mlps_max: Option<f64>,
    reference_mlps: Option<f64>,
    ratio: Option<f64>,
    runs: u32,
    #[serde(flatten)]
    times: Option<Times>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Medians of `--latency`.
#[derive(Serialize)]
struct Times {
    latency_ns: f64,
    throughput_ns: f64,
    empty_ns: f64,
}

/// A structure to measure, by each of its kernels; or why there is none.
struct Contender<A> {
    algorithm: Algorithm,
    kernels: Vec<Kernel>,
    built: Result<Compiled<A>, CannotBuild>,
}

pub(crate) fn run(args: &BenchArgs) -> Result<Verdict, Failure> {
    let cores = team(args)?;
    // Bad usage is reported before a long table is read.
    let algorithms = args.form.algorithms()?;
    let kernels = algorithms
        .iter()
        .map(|algorithm| kernels(&args.form, *algorithm))
        .collect::<Result<Vec<_>, _>>()?;
    let table = args.table.load()?;
    let mut bench = Bench {
        args,
        helpers: cores,
        algorithms: algorithms.into_iter().zip(kernels).collect(),
        reference: ReferenceLoop::new().map_err(out_of_memory)?,
        rows: Vec::new(),
    };
    for family in &args.family {
        match family {
            Family::Ipv4 => bench.family(*family, &table.ribs.ipv4, 1 << 24)?,
            Family::Ipv6 => bench.family(*family, &table.ribs.ipv6, 1 << 23)?,
        }
    }
    if bench.rows.is_empty() {
        return Err("there is nothing to measure".into());
    }
    if args.json {
        print_json(&bench.rows)?;
    }
    Ok(Verdict::Good)
}

/// The kernels to measure an algorithm by: where all are compared, popfib's
/// scalar one too, since the others have no other.
fn kernels(form: &FormArgs, algorithm: Algorithm) -> Result<Vec<Kernel>, Failure> {
    let is_compared = form.algorithm == Some(Selection::All);
    if is_compared && !matches!(algorithm, Algorithm::Popfib(_)) {
        return Ok(vec![scalar()?]);
    }
    let mut kernels = vec![form.kernel_of(algorithm)?];
    if is_compared && form.kernel.is_none() && kernels[0] != scalar()? {
        kernels.push(scalar()?);
    }
    Ok(kernels)
}

struct Bench<'a> {
    args: &'a BenchArgs,
    /// The cores of all threads but this one.
    helpers: Vec<usize>,
    algorithms: Vec<(Algorithm, Vec<Kernel>)>,
    reference: ReferenceLoop,
    rows: Vec<Row>,
}

impl Bench<'_> {
    fn family<A: TrafficAddress>(
        &mut self,
        family: Family,
        rib: &Rib<A>,
        count: u32,
    ) -> Result<(), Failure> {
        let args = self.args;
        if rib.is_empty() {
            note(format_args!("{}: the table has no routes", family.name()));
            return Ok(());
        }
        let contenders = self.contenders(rib)?;
        let count = args.count.unwrap_or(count) as usize;
        for traffic in &args.traffic {
            let Some(addresses) = generate(traffic, rib, count, args.seed)? else {
                let (family, traffic) = (family.name(), traffic.name());
                note(format_args!("{traffic}: no {family} address"));
                continue;
            };
            let addresses = Buffer::copy_of(&addresses).map_err(out_of_memory)?;
            for contender in &contenders {
                for &kernel in &contender.kernels {
                    let row = self.measured(family, traffic, contender, kernel, &addresses);
                    self.row(row)?;
                }
            }
        }
        Ok(())
    }

    /// Builds all structures for one family.
    fn contenders<A: TrafficAddress>(&self, rib: &Rib<A>) -> Result<Vec<Contender<A>>, Failure> {
        let form = &self.args.form;
        let asked: Vec<Option<u8>> = match self.args.direct_bits.as_slice() {
            [] => vec![None],
            several => several.iter().copied().map(Some).collect(),
        };
        let mut contenders = Vec::new();
        for (algorithm, kernels) in &self.algorithms {
            let asked = match algorithm {
                Algorithm::Baseline(_) => &[None][..],
                _ => &asked[..],
            };
            for direct_bits in asked {
                let built = build(rib, *direct_bits, *algorithm, form);
                if let Err(CannotBuild::Compile(error)) = built {
                    return Err(error.into());
                }
                contenders.push(Contender {
                    algorithm: *algorithm,
                    kernels: kernels.clone(),
                    built,
                });
            }
        }
        Ok(contenders)
    }

    /// Measures one contender with one kernel on one pattern.
    fn measured<A: TrafficAddress>(
        &self,
        family: Family,
        traffic: &Traffic,
        contender: &Contender<A>,
        kernel: Kernel,
        addresses: &[A],
    ) -> Row {
        let args = self.args;
        let mut row = Row {
            algorithm: algorithm_name(contender.algorithm, &args.form),
            kernel: match contender.algorithm {
                Algorithm::Baseline(_) => OWN_LOOP,
                _ => kernel.name(),
            },
            family: family.name(),
            traffic: traffic.name(),
            threads: args.threads,
            direct_bits: None,
            bytes: None,
            build_ms: None,
            mlps: None,
            mlps_min: None,
            mlps_max: None,
            reference_mlps: None,
            ratio: None,
            runs: args.runs,
            times: None,
            reason: None,
        };
        let compiled = match &contender.built {
            Ok(compiled) => compiled,
            Err(error) => {
                row.reason = Some(error.to_string());
                return row;
            }
        };
        let fib = &compiled.fib;
        row.direct_bits = Some(fib.direct_bits());
        row.bytes = Some(fib.bytes());
        row.build_ms = Some(decimals(compiled.compile_time.as_secs_f64() * 1e3, 3));
        let lookups = addresses.len() * args.threads as usize;
        let passes = measure(&self.reference, args.runs as usize, lookups, || {
            together(&self.helpers, || fib.pass(kernel, addresses));
        });
        row.rates(&passes);
        if args.latency {
            let runs = args.runs as usize;
            let chain = |addresses: &[A]| fib.chain(addresses);
            let pass = |addresses: &[A]| fib.pass(kernel, addresses);
            row.times = Some(modes(addresses, runs, chain, pass).into());
        }
        row
    }

    /// Keeps the row for the JSON array, or shows it at once.
    fn row(&mut self, row: Row) -> Result<(), Failure> {
        if !self.args.json {
            if self.rows.is_empty() {
                print(header(self.args.latency))?;
            }
            print(row.text())?;
        }
        self.rows.push(row);
        Ok(())
    }
}

impl Row {
    /// Fills in what was measured.
    fn rates(&mut self, passes: &Passes) {
        let rates = Spread::of(&passes.rates);
        let reference = Spread::of(&passes.reference).median;
        self.mlps = Some(decimals(rates.median, 3));
        self.mlps_min = Some(decimals(rates.min, 3));
        self.mlps_max = Some(decimals(rates.max, 3));
        self.reference_mlps = Some(decimals(reference, 3));
        self.ratio = passes.ratio().map(|ratio| decimals(ratio.median, 5));
    }

    /// The row as a line.
    fn text(&self) -> String {
        let named = format!(
            "{:<22} {:<8} {:<6} {:<11}",
            self.algorithm, self.kernel, self.family, self.traffic
        );
        if let Some(reason) = &self.reason {
            return format!("{named} cannot build: {reason}\n");
        }
        // Measured: there is nothing missing.
        let of = |figure: Option<f64>| figure.unwrap_or(f64::NAN);
        let mut line = format!(
            "{named} {:>2} {:>10} {:>9.3} {:>8.1} {:>8.1} {:>8.1} {:>9.1} {:>7.4}",
            self.direct_bits.unwrap_or(0),
            self.bytes.unwrap_or(0),
            of(self.build_ms),
            of(self.mlps),
            of(self.mlps_min),
            of(self.mlps_max),
            of(self.reference_mlps),
            of(self.ratio)
        );
        if let Some(times) = &self.times {
            line += &format!(
                " {:>10.2} {:>13.2} {:>8.2}",
                times.latency_ns, times.throughput_ns, times.empty_ns
            );
        }
        line + "\n"
    }
}

/// The line above the rows.
fn header(latency: bool) -> String {
    let mut line = format!(
        "{:<22} {:<8} {:<6} {:<11} {:>2} {:>10} {:>9} {:>8} {:>8} {:>8} {:>9} {:>7}",
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
        "reference",
        "ratio"
    );
    if latency {
        line += &format!(
            " {:>10} {:>13} {:>8}",
            "latency ns", "throughput ns", "empty ns"
        );
    }
    line + "\n"
}

impl From<Modes> for Times {
    fn from(modes: Modes) -> Self {
        Self {
            latency_ns: decimals(modes.dependent.median, 3),
            throughput_ns: decimals(modes.independent.median, 3),
            empty_ns: decimals(modes.empty.median, 3),
        }
    }
}

/// The kernel of a structure that is no Poptrie: the loop that suits it best.
const OWN_LOOP: &str = "own";

/// The algorithm's name, and what it was compiled without.
fn algorithm_name(algorithm: Algorithm, form: &FormArgs) -> String {
    let name = algorithm.name();
    let is_poptrie = !matches!(algorithm, Algorithm::Baseline(_));
    if form.no_aggregation && is_poptrie {
        format!("{name}-unaggregated")
    } else {
        name.to_owned()
    }
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

fn out_of_memory(error: std::io::Error) -> Failure {
    format!("memory for addresses: {error}").into()
}

/// `figure` rounded to so many decimals, for JSON that people read too.
fn decimals(figure: f64, places: i32) -> f64 {
    let scale = 10f64.powi(places);
    (figure * scale).round() / scale
}
