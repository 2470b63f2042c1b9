//! `popfib-lab many`: many tables in one set, beside tables of their own.
//!
//! The tables are drawn at random from the routes of one, which is among them as a whole. Traffic is Zipf over the tables (exponent 1),
//! and in each a random host of a random route. All contenders get the same addresses in turn, round by round.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use popfib::{Fib, FibSet, NextHop, Options, Prefix, Rib, Size};
use popfib_eval::{BURST, Random, Spread, TrafficAddress, Zipf, cores, pin, skewed_next_hops};

use crate::live_tables;
use crate::program::{Failure, Verdict, print};
use crate::table::{Family, TableArgs};

/// Measure lookups in many tables of one set, and the bytes that they take.
///
/// Rates are in million lookups per second on one core: median, lowest and highest round; the ratio is to the whole
/// table alone. Answers are compared before anything is measured. Then changes of the same tables are timed, while another
/// core looks up.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib-lab many
  popfib-lab many --tables 10000 --routes 50 --without-whole
  popfib-lab many --family ipv6 --rounds 9 --pin 1
lab/bench/peers --vrfs measures DPDK's rte_fib with the same tables.")]
pub(crate) struct ManyArgs {
    #[command(flatten)]
    table: TableArgs,

    /// Family to measure
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Family::Ipv4)]
    family: Family,

    /// Small tables
    #[arg(long, value_name = "N", default_value_t = 1000)]
    tables: usize,

    /// Routes of each small table, drawn at random from the whole one
    #[arg(long, value_name = "N", default_value_t = 1000)]
    routes: usize,

    /// Next hops of each small table
    #[arg(long, value_name = "N", default_value_t = 16)]
    next_hops: usize,

    /// Leave the whole table out
    #[arg(long)]
    without_whole: bool,

    /// Measure lookups alone
    #[arg(long)]
    rates: bool,

    /// Write routes and lookups of IPv4 to this folder, for programs that do the same
    #[arg(long, value_name = "FOLDER")]
    files: Option<PathBuf>,

    /// Lookups of a round
    #[arg(long, value_name = "N", default_value_t = 1 << 22)]
    count: usize,

    /// Measured rounds
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,

    /// Core to run on, counted from 0 (Linux) [default: the last]
    #[arg(long, value_name = "CPU")]
    pin: Option<usize>,
}

pub(crate) fn run(args: &ManyArgs) -> Result<Verdict, Failure> {
    let table = args.table.load()?;
    let cores = cores()?;
    let core = args.pin.or(cores.last().copied());
    core.map_or(Ok(()), pin)?;
    let other = cores.into_iter().find(|other| Some(*other) != core);
    match args.family {
        Family::Ipv4 => compare(args, &skewed_next_hops(&table.ribs.ipv4, 500, 1), other)?,
        Family::Ipv6 => compare(args, &skewed_next_hops(&table.ribs.ipv6, 500, 1), other)?,
    }
    Ok(Verdict::Good)
}

/// Writes the answers of all lookups.
type Pass<'a> = Box<dyn Fn(&mut [u32]) + 'a>;

/// A way to look up, and what it takes.
struct Contender<'a> {
    name: String,
    bytes: usize,
    pass: Pass<'a>,
    /// Million lookups a second of each round.
    rates: Vec<f64>,
}

impl<'a> Contender<'a> {
    fn new(name: &str, size: Size, bytes: usize, pass: impl Fn(&mut [u32]) + 'a) -> Self {
        Self {
            name: format!("{name}, {}", format!("{size:?}").to_lowercase()),
            bytes,
            pass: Box::new(pass),
            rates: Vec::new(),
        }
    }
}

/// Hosts of the tables in Zipf's order, the number of each host's table beside it.
fn traffic<A: TrafficAddress>(
    routes: &[Vec<Prefix<A>>],
    count: usize,
    random: &mut Random,
) -> (Vec<u32>, Vec<A>) {
    let zipf = Zipf::new(routes.len(), 1.0);
    (0..count)
        .map(|_| {
            let table = zipf.rank(random);
            let route = random.pick(&routes[table]);
            (table as u32, random.host(route))
        })
        .unzip()
}

fn compare<A: TrafficAddress>(
    args: &ManyArgs,
    whole: &Rib<A>,
    other: Option<usize>,
) -> Result<(), Failure> {
    let all: Vec<Prefix<A>> = whole.iter().map(|(prefix, _)| prefix).collect();
    if all.is_empty() {
        return Err("the table has no routes of this family".into());
    }
    let mut random = Random::new(1);
    let (mut routes, mut ribs) = (Vec::new(), Vec::new());
    if !args.without_whole {
        routes.push(all.clone());
        ribs.push(whole.clone());
    }
    for _ in 0..args.tables {
        let drawn: Vec<_> = (0..args.routes).map(|_| random.pick(&all)).collect();
        let next_hop = |random: &mut Random| 1 + random.below(args.next_hops) as u32;
        let hops = drawn
            .iter()
            .map(|_| NextHop::new(next_hop(&mut random)).expect("not 0"));
        ribs.push(drawn.iter().copied().zip(hops).collect());
        routes.push(drawn);
    }
    let (zeros, hosts) = traffic(&[all], args.count, &mut random);
    let (tables, addresses) = traffic(&routes, args.count, &mut random);
    if let Some(folder) = &args.files {
        write_files(folder, &ribs, &tables, &addresses)?;
    }
    let mut contenders: Vec<Contender<'_>> = Vec::new();
    for size in [Size::Smallest, Size::Balanced] {
        let options = Options::default().size(size);
        let fib = Fib::compile(whole, &options)?;
        let hosts = &hosts;
        contenders.push(Contender::new(
            "whole alone",
            size,
            fib.bytes(),
            move |to| {
                for (hosts, to) in hosts.chunks(BURST).zip(to.chunks_mut(BURST)) {
                    fib.lookup_batch(hosts, to);
                }
            },
        ));
        for (name, ribs, tables, addresses) in [
            ("whole in a set", std::slice::from_ref(whole), &zeros, hosts),
            ("all in a set", &ribs[..], &tables, &addresses),
        ] {
            let set = FibSet::compile(ribs, &options)?;
            contenders.push(Contender::new(name, size, set.bytes(), move |to| {
                let bursts = tables.chunks(BURST).zip(addresses.chunks(BURST));
                for ((tables, addresses), to) in bursts.zip(to.chunks_mut(BURST)) {
                    set.lookup_batch(tables, addresses, to);
                }
            }));
        }
        let own = ribs.iter().map(|rib| Fib::compile(rib, &options));
        let own = own.collect::<Result<Vec<_>, _>>()?;
        let (tables, addresses) = (&tables, &addresses);
        let bytes = own.iter().map(Fib::bytes).sum();
        contenders.push(Contender::new("all, one by one", size, bytes, move |to| {
            for ((table, address), to) in tables.iter().zip(addresses).zip(to) {
                *to = own[*table as usize].lookup(*address);
            }
        }));
    }
    measure(args, &mut contenders)?;
    print(format!(
        "{} tables, {} routes\n",
        ribs.len(),
        ribs.iter().map(Rib::len).sum::<usize>()
    ))?;
    if args.rates {
        return Ok(());
    }
    copies(whole, &mut random)?;
    live_tables::changes(&ribs, args.next_hops, other, &mut random)?;
    live_tables::copies(whole, &mut random)
}

/// Writes the routes (table, address, length, next hop) and the lookups (table, address, next hop), 32 bits each as the machine has
/// them.
fn write_files<A: TrafficAddress>(
    folder: &Path,
    ribs: &[Rib<A>],
    tables: &[u32],
    addresses: &[A],
) -> Result<(), Failure> {
    let write = |name: &str, numbers: &mut dyn Iterator<Item = u32>| {
        let mut file = BufWriter::new(File::create(folder.join(name))?);
        for number in numbers {
            file.write_all(&number.to_ne_bytes())?;
        }
        file.flush()
    };
    let short = |address: A| address.to_u128() as u32;
    let mut routes = (0..).zip(ribs).flat_map(|(table, rib)| {
        let words = move |(prefix, next_hop): (Prefix<A>, NextHop)| {
            let (address, len) = (short(prefix.address()), prefix.len());
            [table, address, len.into(), next_hop.get()]
        };
        rib.iter().flat_map(words)
    });
    write("routes", &mut routes)?;
    let mut lookups = tables.iter().zip(addresses).flat_map(|(table, address)| {
        let next_hop = ribs[*table as usize].lookup(*address);
        [*table, short(*address), next_hop.map_or(0, NextHop::get)]
    });
    Ok(write("lookups", &mut lookups)?)
}

/// Measures all in turn, round by round, and prints a line for each.
fn measure(args: &ManyArgs, contenders: &mut [Contender<'_>]) -> Result<(), Failure> {
    let (mut to, mut expected) = (vec![0; args.count], [const { Vec::new() }; 2]);
    for contender in contenders.iter() {
        (contender.pass)(&mut to);
        let expected = &mut expected[usize::from(contender.name.starts_with("all"))];
        if expected.is_empty() {
            expected.clone_from(&to);
        }
        if *expected != to {
            return Err(format!("{}: wrong answers", contender.name).into());
        }
    }
    for _ in 0..args.rounds {
        for contender in contenders.iter_mut() {
            let start = Instant::now();
            (contender.pass)(&mut to);
            let seconds = start.elapsed().as_secs_f64();
            contender.rates.push(args.count as f64 / seconds / 1e6);
        }
    }
    let first = Spread::of(&contenders[0].rates).median;
    print("contender                          Mlps     min     max  ratio      bytes\n")?;
    for contender in contenders {
        let Spread { min, median, max } = Spread::of(&contender.rates);
        let (name, bytes, ratio) = (&contender.name, contender.bytes, median / first);
        print(format!(
            "{name:<31} {median:>7.1} {min:>7.1} {max:>7.1} {ratio:>6.3} {bytes:>10}\n"
        ))?;
    }
    Ok(())
}

/// Prints what copies of a table take in which some routes have another next hop.
fn copies<A: TrafficAddress>(whole: &Rib<A>, random: &mut Random) -> Result<(), Failure> {
    let routes: Vec<_> = whole.iter().collect();
    for size in [Size::Smallest, Size::Balanced] {
        let options = Options::default().size(size);
        let one = FibSet::compile([whole], &options)?.bytes();
        for changed in [100, routes.len() / 100] {
            let mut ribs = vec![whole.clone()];
            for _ in 0..4 {
                let mut copy = whole.clone();
                for _ in 0..changed {
                    copy.insert(random.pick(&routes).0, random.pick(&routes).1);
                }
                ribs.push(copy);
            }
            let bytes = (FibSet::compile(&ribs, &options)?.bytes() - one) / 4;
            let share = bytes as f64 / one as f64;
            print(format!(
                "a copy with {changed} routes changed, {size:?}: {bytes} bytes, {share:.4} of {one}\n"
            ))?;
        }
    }
    Ok(())
}
