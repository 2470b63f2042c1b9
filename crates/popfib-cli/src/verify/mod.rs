//! `popfib verify`: the FIB against the RIB that it was compiled from.
//!
//! Addresses go through the FIB in blocks and each answer is compared with the
//! RIB's longest match: at every border of every route and at random, or, with
//! `--exhaustive`, at all 2^32 IPv4 addresses. The latter takes the RIB's
//! answers as intervals of one ordered walk, whose ends are in turn compared
//! with its longest match; the FIB still looks up every single address.

mod probes;

use std::fmt;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use popfib::{Address, Intervals, Kernel, NextHop, Prefix, Rib};
use popfib_baselines::Key;
use serde::Serialize;

use self::probes::probes;
use crate::Verdict;
use crate::any_fib::{AnyFib, build, compile};
use crate::args::{Algorithm, FibArgs, TableArgs, possible_value, scalar};
use crate::failure::Failure;
use crate::image::{self, Opened};
use crate::output::{Output, note};
use crate::table;

/// Addresses that go through the FIB at a time.
const BLOCK: usize = 4096;
/// Mismatches that are told, per family; all are counted.
const TOLD: u64 = 10;

/// Check the compiled FIB against the routes that it was made from.
///
/// First, last and neighbouring addresses of every route are looked up, and random ones: half of
/// them anywhere, half inside a random route. The structure of the FIB is checked as well. Exit
/// status 1 if anything is wrong, with the first mismatches on standard error.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib verify
  popfib verify --exhaustive --direct-bits 18
  popfib verify --exhaustive --algorithm sail
  popfib verify --against treebitmap-64
  popfib verify --table routes.txt.gz --no-leafvec --random 10000000 --seed 7 --json

JSON, one object: ipv4 and ipv6, each with addresses and mismatches.")]
pub(crate) struct VerifyArgs {
    /// Look up all 2^32 IPv4 addresses (IPv6 is checked as without it)
    #[arg(long)]
    exhaustive: bool,

    /// What the FIB is compared with: the RIB, or another structure built from it; a family that
    /// the other cannot hold is left out
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Against::Rib)]
    against: Against,

    /// Number of random addresses per family
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    random: u64,

    /// Seed of the random addresses
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    fib: FibArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
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

#[derive(Serialize)]
struct Report {
    ipv4: Count,
    ipv6: Count,
}

#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Serialize)]
struct Count {
    addresses: u64,
    mismatches: u64,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<Verdict, Failure> {
    let ((ipv4, ipv4_sound), (ipv6, ipv6_sound)) = match image::open(&args.table)? {
        Some(opened) => (
            image_family::<u32>("IPv4", &opened, args, args.exhaustive)?,
            image_family::<u128>("IPv6", &opened, args, false)?,
        ),
        None => {
            let table = table::load(&args.table)?;
            (
                family("IPv4", &table.ipv4, args, args.exhaustive)?,
                family("IPv6", &table.ipv6, args, false)?,
            )
        }
    };
    let report = Report { ipv4, ipv6 };
    let mut output = Output::new();
    if args.json {
        output.json(&report)?;
    } else {
        output.text(format_args!(
            "{:<6}{:>12}{:>12}\n",
            "", "addresses", "mismatches"
        ))?;
        for (name, count) in [("IPv4", ipv4), ("IPv6", ipv6)] {
            let Count {
                addresses,
                mismatches,
            } = count;
            output.text(format_args!("{name:<6}{addresses:>12}{mismatches:>12}\n"))?;
        }
    }
    output.flush()?;
    Ok(verdict(&report, ipv4_sound && ipv6_sound))
}

fn verdict(report: &Report, sound: bool) -> Verdict {
    if sound && report.ipv4.mismatches == 0 && report.ipv6.mismatches == 0 {
        Verdict::Good
    } else {
        Verdict::Bad
    }
}

/// Checks one family: the comparison, and whether the FIB's structure is sound.
fn family<A: Key>(
    name: &str,
    rib: &Rib<A>,
    args: &VerifyArgs,
    exhaustive: bool,
) -> Result<(Count, bool), Failure> {
    let fib = compile(rib, args.fib.direct_bits, &args.fib.form)?.fib;
    against(name, &*fib, rib, args, exhaustive)
}

/// Checks one family of an image against its routes.
fn image_family<A: Key>(
    name: &str,
    opened: &Opened,
    args: &VerifyArgs,
    exhaustive: bool,
) -> Result<(Count, bool), Failure> {
    let fib = opened
        .compiled::<A>(args.fib.direct_bits, &args.fib.form)?
        .fib;
    if opened.lacks_routes::<A>() {
        return Err(opened.without_routes("verify it"));
    }
    against(name, &*fib, &opened.rib(), args, exhaustive)
}

fn against<A: Key>(
    name: &str,
    fib: &dyn AnyFib<A>,
    rib: &Rib<A>,
    args: &VerifyArgs,
    exhaustive: bool,
) -> Result<(Count, bool), Failure> {
    // The lookups rely on a sound structure, so an unsound one is not asked.
    if let Err(error) = fib.check() {
        note(format_args!("{name}: the FIB is broken: {error}"));
        return Ok((Count::default(), false));
    }
    let mut comparison = Comparison::new(name, fib, args.fib.form.kernel()?);
    let probes = probes(rib, args.random, args.seed);
    match args.against {
        Against::Rib if exhaustive => comparison.every_address(rib, &progress_bar::<A>()),
        Against::Rib => {
            comparison.each_of(probes, |addresses, answers| {
                for (address, answer) in addresses.iter().zip(answers) {
                    *answer = longest_match(rib, *address);
                }
            });
        }
        Against::Algorithm(other) => {
            let judge = match build(rib, None, other, &args.fib.form) {
                Ok(compiled) => compiled.fib,
                Err(error) => {
                    note(format_args!("{name}: {}: {error}", other.name()));
                    return Ok((Count::default(), true));
                }
            };
            let scalar = scalar()?;
            comparison.judge = other.name();
            let ask = |addresses: &[A], answers: &mut [u32]| {
                judge.lookup_into(scalar, addresses, answers);
            };
            if exhaustive {
                let progress = progress_bar::<A>();
                comparison.each_of(progress.wrap_iter(all_addresses()), ask);
            } else {
                comparison.each_of(probes, ask);
            }
        }
    }
    Ok((comparison.count, true))
}

/// Every address there is, in order.
fn all_addresses<A: Address>() -> impl Iterator<Item = A> {
    std::iter::successors(Some(A::MIN), |address| address.checked_next())
}

/// A bar over all addresses, on a terminal only.
fn progress_bar<A: Address>() -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {percent:>3} %  {eta} left");
    let bar = ProgressBar::new(A::MAX.to_u128() as u64);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Answers of a FIB held against those of the RIB.
struct Comparison<'a, A> {
    name: &'a str,
    fib: &'a dyn AnyFib<A>,
    kernel: Kernel,
    addresses: Vec<A>,
    next_hops: Vec<u32>,
    count: Count,
    /// Who says what is right.
    judge: &'static str,
}

impl<'a, A: Address> Comparison<'a, A> {
    fn new(name: &'a str, fib: &'a dyn AnyFib<A>, kernel: Kernel) -> Self {
        Self {
            name,
            fib,
            kernel,
            addresses: Vec::with_capacity(BLOCK),
            next_hops: vec![0; BLOCK],
            count: Count::default(),
            judge: "RIB",
        }
    }

    /// Compares the answers for `probes` with those of `judge`.
    fn each_of(
        &mut self,
        mut probes: impl Iterator<Item = A>,
        mut judge: impl FnMut(&[A], &mut [u32]),
    ) {
        let mut expected = [0; BLOCK];
        loop {
            self.addresses.clear();
            self.addresses.extend(probes.by_ref().take(BLOCK));
            if self.addresses.is_empty() {
                return;
            }
            self.look_up();
            let expected = &mut expected[..self.addresses.len()];
            judge(&self.addresses, expected);
            for (i, &expected) in expected.iter().enumerate() {
                self.compare(self.addresses[i], self.next_hops[i], expected);
            }
        }
    }

    /// Compares the answer for every address there is.
    fn every_address(&mut self, rib: &Rib<A>, progress: &ProgressBar) {
        let mut told = 0;
        for interval in Intervals::new(rib) {
            let next_hop = interval.next_hop.map_or(0, NextHop::get);
            for end in [interval.first, interval.last] {
                let answer = longest_match(rib, end);
                if answer != next_hop {
                    self.mismatch("RIB's walk", end, next_hop, answer);
                }
            }
            let mut next = Some(interval.first);
            while let Some(first) = next {
                let left = interval.last.to_u128() - first.to_u128();
                let length = (left.min(BLOCK as u128 - 1) + 1) as usize;
                self.addresses.clear();
                self.addresses
                    .extend((first.to_u128()..first.to_u128() + length as u128).map(A::truncate));
                self.look_up();
                let answers = &self.next_hops[..length];
                // The common case in one comparison that the compiler can vectorise.
                if answers.iter().any(|&answer| answer != next_hop) {
                    for i in 0..length {
                        let (address, answer) = (self.addresses[i], self.next_hops[i]);
                        self.compare(address, answer, next_hop);
                    }
                }
                next = self.addresses.last().and_then(|last| last.checked_next());
                next = next.filter(|&address| address <= interval.last);
            }
            if self.count.addresses - told >= 1 << 24 {
                told = self.count.addresses;
                progress.set_position(told);
            }
        }
        progress.finish_and_clear();
    }

    fn look_up(&mut self) {
        let next_hops = &mut self.next_hops[..self.addresses.len()];
        self.fib
            .lookup_into(self.kernel, &self.addresses, next_hops);
        self.count.addresses += self.addresses.len() as u64;
    }

    fn compare(&mut self, address: A, answer: u32, expected: u32) {
        if answer != expected {
            self.mismatch("FIB", address, answer, expected);
        }
    }

    fn mismatch(&mut self, of: &str, address: A, answer: u32, expected: u32) {
        self.count.mismatches += 1;
        if self.count.mismatches <= TOLD {
            note(format_args!(
                "{}: {}: the {of} says {}, the {} says {}",
                self.name,
                Prefix::host(address),
                Answer(answer),
                self.judge,
                Answer(expected)
            ));
        }
    }
}

/// The RIB's answer as a FIB gives it: 0 for none.
fn longest_match<A: Address>(rib: &Rib<A>, address: A) -> u32 {
    rib.longest_match(address)
        .map_or(0, |(_, next_hop)| next_hop.get())
}

/// A next hop's number as a mismatch shows it.
struct Answer(u32);

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("no route"),
            number => write!(f, "next hop {number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::FormArgs;
    use popfib::NextHop;
    use popfib_eval::Random;

    fn rib(routes: &[(&str, u32)]) -> Rib<u16> {
        let mut rib = Rib::new();
        for &(prefix, next_hop) in routes {
            rib.insert(prefix.parse().unwrap(), NextHop::new(next_hop).unwrap());
        }
        rib
    }

    const ROUTES: &[(&str, u32)] = &[
        ("0/0", 1),
        ("0x1000/4", 2),
        ("0x1200/9", 3),
        ("0xffff/16", 4),
    ];

    fn compiled(rib: &Rib<u16>) -> Box<dyn AnyFib<u16>> {
        let form = FormArgs {
            algorithm: None,
            no_leafvec: false,
            no_aggregation: false,
            kernel: None,
        };
        compile(rib, None, &form).unwrap().fib
    }

    /// A FIB that is wrong at some addresses.
    struct Wrong {
        fib: Box<dyn AnyFib<u16>>,
        at: Vec<u16>,
    }

    impl AnyFib<u16> for Wrong {
        fn direct_bits(&self) -> u8 {
            self.fib.direct_bits()
        }
        fn node_count(&self) -> usize {
            self.fib.node_count()
        }
        fn leaf_count(&self) -> usize {
            self.fib.leaf_count()
        }
        fn bytes(&self) -> usize {
            self.fib.bytes()
        }
        fn check(&self) -> Result<(), String> {
            self.fib.check()
        }
        fn lookup(&self, address: u16) -> u32 {
            self.fib.lookup(address) + u32::from(self.at.contains(&address))
        }
        fn lookup_into(&self, kernel: Kernel, addresses: &[u16], next_hops: &mut [u32]) {
            self.fib.lookup_into(kernel, addresses, next_hops);
            for (address, next_hop) in addresses.iter().zip(next_hops) {
                if self.at.contains(address) {
                    *next_hop += 1;
                }
            }
        }
        fn pass(&self, kernel: Kernel, addresses: &[u16]) {
            self.fib.pass(kernel, addresses);
        }
        fn chain(&self, addresses: &[u16]) {
            self.fib.chain(addresses);
        }
    }

    fn every_address(fib: &dyn AnyFib<u16>, rib: &Rib<u16>) -> Count {
        let mut comparison = Comparison::new("test", fib, Kernel::best());
        comparison.every_address(rib, &ProgressBar::hidden());
        comparison.count
    }

    #[test]
    fn every_address_is_looked_up_and_right() {
        let rib = rib(ROUTES);
        let good = Count {
            addresses: 65_536,
            mismatches: 0,
        };
        assert_eq!(every_address(&*compiled(&rib), &rib), good);
        let empty = Rib::new();
        assert_eq!(every_address(&*compiled(&empty), &empty), good);
    }

    #[test]
    fn every_wrong_answer_is_found() {
        let rib = rib(ROUTES);
        let wrong = Wrong {
            fib: compiled(&rib),
            at: vec![0, 0x0fff, 0x1201, 0xfffe, 0xffff],
        };
        assert_eq!(
            every_address(&wrong, &rib),
            Count {
                addresses: 65_536,
                mismatches: 5
            }
        );
    }

    #[test]
    fn probes_find_wrong_borders() {
        let rib = rib(ROUTES);
        let wrong = Wrong {
            fib: compiled(&rib),
            // The last before 0x1200/9, its first and its last, and one inside.
            at: vec![0x11ff, 0x1200, 0x127f, 0x1210],
        };
        let mut comparison = Comparison::new("test", &wrong, Kernel::best());
        comparison.each_of(probes(&rib, 0, 1), |addresses, answers| {
            for (address, answer) in addresses.iter().zip(answers) {
                *answer = longest_match(&rib, *address);
            }
        });
        assert_eq!(comparison.count.mismatches, 3);
        // 4 routes, of which one has no neighbour and two have one or both.
        assert_eq!(comparison.count.addresses, 2 + 4 + 4 + 3);
    }

    #[test]
    fn anything_wrong_is_a_bad_verdict() {
        let count = |mismatches| Count {
            addresses: 9,
            mismatches,
        };
        for (ipv4, ipv6, sound, good) in [
            (0, 0, true, true),
            (1, 0, true, false),
            (0, 1, true, false),
            (0, 0, false, false),
        ] {
            let report = Report {
                ipv4: count(ipv4),
                ipv6: count(ipv6),
            };
            assert_eq!(verdict(&report, sound) == Verdict::Good, good);
        }
    }

    #[test]
    fn random_tables_agree() {
        let mut random = Random::new(3);
        for routes in 0..100 {
            let mut rib = Rib::<u16>::new();
            for _ in 0..routes {
                let len = random.below(17) as u8;
                let prefix = Prefix::new_masked(random.address(), len).unwrap();
                rib.insert(prefix, NextHop::new(random.below(9) as u32 + 1).unwrap());
            }
            assert_eq!(every_address(&*compiled(&rib), &rib).mismatches, 0);
        }
    }
}
