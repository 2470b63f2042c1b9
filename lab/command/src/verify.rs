//! `popfib-lab verify`: any structure against the routes that it was built from, or against another.

use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use popfib::intervals::Intervals;
use popfib::{NextHop, Prefix, Rib};
use popfib_eval::{Algorithm, Random, TrafficAddress};
use serde::Serialize;

use crate::args::{FibArgs, possible_value, scalar};
use crate::program::{Failure, Verdict, note, print, print_json};
use crate::structures::{build, compile};
use crate::table::TableArgs;

/// Addresses that are looked up at a time.
const BLOCK: usize = 4_096;
/// Mismatches that are printed for each family; all are counted.
const TOLD: u64 = 10;

/// Check a structure against the routes that it was made from, or against another structure.
///
/// First, last and neighbouring addresses of every route are looked up, and random ones: half of
/// them anywhere, half inside a random route. The layout of a Poptrie is checked as well. Exit
/// status 1 if anything is wrong, with the first mismatches on standard error.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib-lab verify --exhaustive --algorithm sail
  popfib-lab verify --against treebitmap-64
  popfib-lab verify --exhaustive --direct-bits 18 --kernel scalar
  popfib-lab verify --table routes.txt.gz --no-leafvec --random 10000000 --seed 7 --json

JSON, one object: ipv4 and ipv6, each with addresses and mismatches.")]
pub(crate) struct VerifyArgs {
    /// What to compare the structure with: the RIB, or another structure built from it. A family that the
    /// other structure cannot hold is left out
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Against::Rib)]
    against: Against,

    /// Look up all 2^32 IPv4 addresses (IPv6 is checked as usual)
    #[arg(long)]
    exhaustive: bool,

    /// Number of random addresses per family
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    random: u64,

    /// Seed of the random addresses
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    fib: FibArgs,
}

/// What the FIB can be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Against {
    /// Longest match in the route store
    Rib,
    /// Another structure
    Algorithm(Algorithm),
}

impl ValueEnum for Against {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Against>> = LazyLock::new(|| {
            let others = Algorithm::all().map(Against::Algorithm);
            [Against::Rib].into_iter().chain(others).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Rib => PossibleValue::new("rib").help("Longest match in the route store"),
            Self::Algorithm(algorithm) => possible_value(*algorithm),
        })
    }
}

/// Looks up addresses and stores the answers.
type Ask<'a, A> = Box<dyn FnMut(&[A], &mut [u32]) + 'a>;

/// How many addresses of a family were looked up, and how many answers were wrong.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Count {
    addresses: u64,
    mismatches: u64,
    /// Whether the structure itself was wrong, so that it was not asked.
    #[serde(skip)]
    is_broken: bool,
}

#[derive(Serialize)]
struct Report {
    ipv4: Count,
    ipv6: Count,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<Verdict, Failure> {
    let table = args.table.load()?;
    let report = Report {
        ipv4: family("IPv4", &table.ribs.ipv4, args)?,
        ipv6: family("IPv6", &table.ribs.ipv6, args)?,
    };
    if args.json {
        print_json(&report)?;
    } else {
        print(format_args!(
            "{:<6}{:>12}{:>12}\n",
            "", "addresses", "mismatches"
        ))?;
        for (name, count) in [("IPv4", &report.ipv4), ("IPv6", &report.ipv6)] {
            print(format_args!(
                "{name:<6}{:>12}{:>12}\n",
                count.addresses, count.mismatches
            ))?;
        }
    }
    let is_good = |count: &Count| count.mismatches == 0 && !count.is_broken;
    Ok(match is_good(&report.ipv4) && is_good(&report.ipv6) {
        true => Verdict::Good,
        false => Verdict::Bad,
    })
}

fn family<A: TrafficAddress>(
    name: &str,
    rib: &Rib<A>,
    args: &VerifyArgs,
) -> Result<Count, Failure> {
    let form = &args.fib.form;
    let fib = compile(rib, args.fib.direct_bits, form)?.fib;
    // The lookups rely on a sound structure, so an unsound one is not asked.
    if let Err(error) = fib.check() {
        note(format_args!("{name}: the FIB is broken: {error}"));
        let is_broken = true;
        return Ok(Count {
            is_broken,
            ..Count::default()
        });
    }
    let (kernel, scalar) = (form.kernel()?, scalar()?);
    let is_exhaustive = args.exhaustive && A::WIDTH <= 32;
    let addresses: Box<dyn Iterator<Item = A>> = match is_exhaustive {
        true => Box::new(every_address()),
        false => Box::new(probes(rib, args.random, args.seed)),
    };
    let judge: Ask<'_, A> = match args.against {
        Against::Rib if is_exhaustive => Box::new(walk(rib)),
        Against::Rib => Box::new(|addresses, answers| {
            for (address, answer) in addresses.iter().zip(answers) {
                *answer = rib.lookup(*address).map_or(0, NextHop::get);
            }
        }),
        Against::Algorithm(other) => match build(rib, None, other, form) {
            Ok(judge) => Box::new(move |addresses, answers| {
                judge.fib.lookup_into(scalar, addresses, answers);
            }),
            Err(error) => {
                note(format_args!("{name}: {}: {error}", other.name()));
                return Ok(Count::default());
            }
        },
    };
    Ok(compare(name, addresses, judge, |addresses, answers| {
        fib.lookup_into(kernel, addresses, answers);
    }))
}

/// Asks both for each of `addresses`.
fn compare<A: TrafficAddress>(
    name: &str,
    mut addresses: impl Iterator<Item = A>,
    mut judge: impl FnMut(&[A], &mut [u32]),
    asked: impl Fn(&[A], &mut [u32]),
) -> Count {
    let mut count = Count::default();
    let (mut answers, mut expected) = ([0; BLOCK], [0; BLOCK]);
    loop {
        let block: Vec<A> = addresses.by_ref().take(BLOCK).collect();
        if block.is_empty() {
            return count;
        }
        let (answers, expected) = (&mut answers[..block.len()], &mut expected[..block.len()]);
        asked(&block, answers);
        judge(&block, expected);
        count.addresses += block.len() as u64;
        if answers == expected {
            continue;
        }
        let answers = answers.iter().zip(expected);
        for (address, (answer, expected)) in block.iter().zip(answers) {
            if answer != expected {
                count.mismatches += 1;
                if count.mismatches <= TOLD {
                    let host = Prefix::host(*address);
                    note(format_args!(
                        "{name}: {host}: next hop {answer}, not {expected} (0 is no route)"
                    ));
                }
            }
        }
    }
}

/// Every address there is, in order.
fn every_address<A: TrafficAddress>() -> impl Iterator<Item = A> {
    std::iter::successors(Some(A::MIN), |address| address.checked_next())
}

/// The routes' answers for addresses in order, each interval of one answer found once.
fn walk<A: TrafficAddress>(rib: &Rib<A>) -> impl FnMut(&[A], &mut [u32]) {
    let mut intervals = Intervals::new(rib).peekable();
    move |addresses, answers| {
        for (address, answer) in addresses.iter().zip(answers) {
            while intervals.next_if(|at| at.last < *address).is_some() {}
            let next_hop = intervals.peek().and_then(|at| at.next_hop);
            *answer = next_hop.map_or(0, NextHop::get);
        }
    }
}

/// First and last address of every route, the neighbours outside them, and `random` more: half of those anywhere,
/// half inside a random route.
fn probes<A: TrafficAddress>(rib: &Rib<A>, random: u64, seed: u64) -> impl Iterator<Item = A> {
    let prefixes: Vec<Prefix<A>> = rib.iter().map(|(prefix, _)| prefix).collect();
    let borders = rib.iter().flat_map(|(prefix, _)| {
        let (first, last) = (prefix.first(), prefix.last());
        let before = first.checked_previous();
        [before, Some(first), Some(last), last.checked_next()]
    });
    let mut numbers = Random::new(seed);
    let random = (0..random).map(move |i| match prefixes.is_empty() || i % 2 == 0 {
        true => numbers.address(),
        false => {
            let prefix = numbers.pick(&prefixes);
            numbers.host(prefix)
        }
    });
    borders.flatten().chain(random)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_answers_are_found_by_each_way_of_asking() {
        let mut rib = Rib::<u32>::new();
        for (prefix, next_hop) in [("0.0.0.0/0", 1), ("10.0.0.0/8", 2), ("10.1.2.3/32", 3)] {
            rib.insert(prefix.parse().unwrap(), NextHop::new(next_hop).unwrap());
        }
        let right = |addresses: &[u32], answers: &mut [u32]| {
            for (address, answer) in addresses.iter().zip(answers) {
                *answer = rib.longest_match(*address).map_or(0, |(_, hop)| hop.get());
            }
        };
        // Borders, of which that of the longest route is asked twice, and one that is no border.
        let wrong = |addresses: &[u32], answers: &mut [u32]| {
            right(addresses, answers);
            for (address, answer) in addresses.iter().zip(answers) {
                *answer ^= u32::from([0x0a00_0000, 0x0a01_0203, 0x0aff_fff0].contains(address));
            }
        };
        let asked = compare("test", probes(&rib, 0, 1), right, wrong);
        assert_eq!((asked.addresses, asked.mismatches), (2 + 4 + 4, 3));
        let some = || (0x09ff_f000..0x0b00_1000).chain([u32::MAX]);
        assert_eq!(compare("test", some(), walk(&rib), right).mismatches, 0);
        assert_eq!(compare("test", some(), walk(&rib), wrong).mismatches, 3);
        assert_eq!(every_address::<u32>().take(3).last(), Some(2));
    }
}
