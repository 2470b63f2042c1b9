//! `popfib verify`: a table in, counts of wrong answers out: those of its FIB, compared with its RIB.
//!
//! Addresses are looked up in the FIB in batches, and each answer is compared with the RIB's longest match: at both ends of every
//! route and at random, or, with `--exhaustive`, at all 2^32 IPv4 addresses. Longest matches of so many addresses would take too
//! long. So the RIB's answers then are the intervals of one walk in order, and only the ends of these are compared with its longest
//! match. The FIB still looks up every single address.

pub(crate) mod probes;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use popfib::family::Family;
use popfib::intervals::Intervals;
use popfib::{Address, NextHop, Prefix, Rib};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::progress;
use popfib_table::Table;
use serde::Serialize;

use self::probes::ProbeArgs;
use crate::args::{FileArgs, kernel};
use crate::forms::FormArgs;
use crate::image::with_routes;
use crate::output::{StandardOutput, note};
use crate::rows::{Alignment, RowForm};
use crate::table;

/// The number of addresses that are looked up at a time.
const BATCH: usize = 4096;
/// The number of mismatches that are printed for each family; all are counted.
const PRINTED: u64 = 10;

/// Check compiled tables against the routes they were made from.
///
/// Looks up the first, last and adjacent addresses of every route, and random addresses: half of them
/// anywhere, half inside a random route. Also checks the structure of the FIB. Exit status 1 if anything is
/// wrong; the first mismatches are printed on standard error.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib verify
  popfib verify --exhaustive
  popfib verify routes.fib
  popfib verify routes.txt.gz --random 10000000 --seed 7 --json")]
#[command(after_long_help = "
JSON, one object: ipv4 and ipv6, each with addresses and mismatches.")]
pub(crate) struct VerifyArgs {
    /// Look up all 2^32 IPv4 addresses (IPv6 is checked as usual)
    #[arg(long)]
    exhaustive: bool,

    #[command(flatten)]
    probes: ProbeArgs,

    #[command(flatten)]
    form: FormArgs,

    #[command(flatten)]
    table: FileArgs,
}

#[derive(Serialize)]
struct VerifyReport {
    ipv4: VerifyCount,
    ipv6: VerifyCount,
}

/// How many addresses of a family were looked up, and how many answers were wrong.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct VerifyCount {
    addresses: u64,
    mismatches: u64,
    /// Whether the structure itself was wrong, so that nothing was looked up.
    #[serde(skip)]
    is_broken: bool,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<Verdict, Failure> {
    let asked = args.table.or_stdin(false);
    let loaded = table::load(&asked, asked.read.options())?;
    let table = with_routes(loaded, "verify it")?;
    let ipv4 = family::<u32>(&table, args)?;
    let ipv6 = family::<u128>(&table, args)?;
    print(ipv4, ipv6, args.form)
}

/// Checks one family of a table against its routes.
fn family<A: Family>(table: &Table, args: &VerifyArgs) -> Result<VerifyCount, Failure> {
    let (name, table) = (A::NAME, table.family::<A>());
    let (fib, rib) = (table.fib()?, &*table.rib()?);
    let kernel = kernel()?;
    // Lookups rely on a sound structure, so nothing is looked up in an unsound one.
    if let Err(error) = fib.check() {
        return Ok(VerifyCount::broken(name, error));
    }
    // All addresses, of which IPv6 has too many.
    let is_every = args.exhaustive && A::WIDTH <= 32;
    let total = match is_every {
        true => A::MAX.to_u128() as u64,
        // At most: there are no neighbours at the ends.
        false => args.probes.most(rib),
    };
    let (bar, done) = progress::counted("verifying", total);
    let mut comparison = Comparison::new(name, done, |addresses: &[A], answers: &mut [u32]| {
        fib.lookup_batch_with(kernel, addresses, answers);
    });
    if is_every {
        comparison.every_address(rib);
    } else {
        comparison.each_of(rib, args.probes.of(rib));
    }
    drop(bar);
    Ok(comparison.count)
}

impl VerifyCount {
    /// Reports a structure that breaks its own rules.
    pub(crate) fn broken(name: &str, error: impl fmt::Display) -> Self {
        note!("{name}: the FIB is broken: {error}");
        Self {
            is_broken: true,
            ..Self::default()
        }
    }

    fn is_good(self) -> bool {
        self.mismatches == 0 && !self.is_broken
    }
}

/// Prints the counts of both families.
pub(crate) fn print(
    ipv4: VerifyCount,
    ipv6: VerifyCount,
    form: FormArgs,
) -> Result<Verdict, Failure> {
    let columns = &[
        Alignment::Left(6),
        Alignment::Right(10),
        Alignment::Right(10),
    ];
    let names = "ipv4.addresses ipv4.mismatches ipv6.addresses ipv6.mismatches";
    let mut output = StandardOutput::of_form(RowForm::fixed(columns), form, names)?;
    if !output.is_text() {
        output.record(&VerifyReport { ipv4, ipv6 })?;
    } else {
        output.heading(&["", "addresses", "mismatches"])?;
        for (name, count) in [("IPv4", ipv4), ("IPv6", ipv6)] {
            output.cells(&[&name, &count.addresses, &count.mismatches])?;
        }
    }
    output.end(verdict(ipv4, ipv6))
}

fn verdict(ipv4: VerifyCount, ipv6: VerifyCount) -> Verdict {
    Verdict::good_if(ipv4.is_good() && ipv6.is_good())
}

/// Answers of a FIB compared with those of the RIB.
pub(crate) struct Comparison<'a, A, F> {
    name: &'a str,
    fib: F,
    addresses: Vec<A>,
    next_hops: Vec<u32>,
    pub(crate) count: VerifyCount,
    /// The number of addresses so far, for the progress bar.
    done: Arc<AtomicU64>,
}

impl<'a, A: Address, F: FnMut(&[A], &mut [u32])> Comparison<'a, A, F> {
    pub(crate) fn new(name: &'a str, done: Arc<AtomicU64>, fib: F) -> Self {
        Self {
            done,
            name,
            fib,
            addresses: Vec::with_capacity(BATCH),
            next_hops: vec![0; BATCH],
            count: VerifyCount::default(),
        }
    }

    /// Compares the answers for `probes` with the longest matches in `rib`.
    pub(crate) fn each_of(&mut self, rib: &Rib<A>, mut probes: impl Iterator<Item = A>) {
        loop {
            self.addresses.clear();
            self.addresses.extend(probes.by_ref().take(BATCH));
            if self.addresses.is_empty() {
                return;
            }
            self.look_up();
            for i in 0..self.addresses.len() {
                let (address, answer) = (self.addresses[i], self.next_hops[i]);
                self.compare(address, answer, longest_match(rib, address));
            }
        }
    }

    /// Compares the answer for every address there is.
    fn every_address(&mut self, rib: &Rib<A>) {
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
                let length = (left.min(BATCH as u128 - 1) + 1) as usize;
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
        }
    }

    fn look_up(&mut self) {
        let next_hops = &mut self.next_hops[..self.addresses.len()];
        (self.fib)(&self.addresses, next_hops);
        self.count.addresses += self.addresses.len() as u64;
        self.done.store(self.count.addresses, Ordering::Relaxed);
    }

    fn compare(&mut self, address: A, answer: u32, expected: u32) {
        if answer != expected {
            self.mismatch("FIB", address, answer, expected);
        }
    }

    fn mismatch(&mut self, of: &str, address: A, answer: u32, expected: u32) {
        self.count.mismatches += 1;
        if self.count.mismatches <= PRINTED {
            let shown = |next_hop| match next_hop {
                0 => "no route".to_owned(),
                number => format!("next hop {number}"),
            };
            let (name, prefix) = (self.name, Prefix::host(address));
            let (answer, expected) = (shown(answer), shown(expected));
            note!("{name}: {prefix}: the {of} says {answer}, the RIB says {expected}");
        }
    }
}

/// The RIB's answer as a FIB gives it: 0 for none.
fn longest_match<A: Address>(rib: &Rib<A>, address: A) -> u32 {
    rib.longest_match(address)
        .map_or(0, |(_, next_hop)| next_hop.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use popfib::NextHop;

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

    fn compiled(rib: &Rib<u16>) -> impl FnMut(&[u16], &mut [u32]) {
        let fib = popfib::Fib::<u16>::compile(rib, &popfib::Options::default()).unwrap();
        move |addresses, next_hops| fib.lookup_batch(addresses, next_hops)
    }

    /// A FIB that is wrong `at` some addresses.
    fn wrong(rib: &Rib<u16>, at: &[u16]) -> impl FnMut(&[u16], &mut [u32]) {
        let mut fib = compiled(rib);
        move |addresses, next_hops| {
            fib(addresses, next_hops);
            for (address, next_hop) in addresses.iter().zip(next_hops) {
                *next_hop += u32::from(at.contains(address));
            }
        }
    }

    fn every_address(fib: impl FnMut(&[u16], &mut [u32]), rib: &Rib<u16>) -> VerifyCount {
        let mut comparison = Comparison::new("test", Arc::default(), fib);
        comparison.every_address(rib);
        comparison.count
    }

    #[test]
    fn every_address_is_looked_up_and_right() {
        let rib = rib(ROUTES);
        let good = VerifyCount {
            addresses: 65_536,
            ..VerifyCount::default()
        };
        assert_eq!(every_address(compiled(&rib), &rib), good);
        let empty = Rib::new();
        assert_eq!(every_address(compiled(&empty), &empty), good);
    }

    #[test]
    fn every_wrong_answer_is_found() {
        let rib = rib(ROUTES);
        let wrong = wrong(&rib, &[0, 0x0fff, 0x1201, 0xfffe, 0xffff]);
        let count = every_address(wrong, &rib);
        assert_eq!((count.addresses, count.mismatches), (65_536, 5));
    }

    #[test]
    fn probes_find_wrong_borders() {
        let rib = rib(ROUTES);
        // The last before 0x1200/9, its first and its last, and one inside.
        let wrong = wrong(&rib, &[0x11ff, 0x1200, 0x127f, 0x1210]);
        let mut comparison = Comparison::new("test", Arc::default(), wrong);
        comparison.each_of(&rib, probes::probes(&rib, 0, 1));
        assert_eq!(comparison.count.mismatches, 3);
        // 4 routes, of which one has no neighbour and two have one or both.
        assert_eq!(comparison.count.addresses, 2 + 4 + 4 + 3);
    }

    #[test]
    fn anything_wrong_is_a_bad_verdict() {
        let count = |mismatches, is_broken| VerifyCount {
            addresses: 9,
            mismatches,
            is_broken,
        };
        let good = count(0, false);
        assert_eq!(verdict(good, good), Verdict::Good);
        for bad in [count(1, false), count(0, true)] {
            assert_eq!(verdict(bad, good), Verdict::Bad);
            assert_eq!(verdict(good, bad), Verdict::Bad);
        }
    }

    #[test]
    fn random_tables_agree() {
        let mut random = Rng::with_seed(3);
        for routes in 0..100 {
            let mut rib = Rib::<u16>::new();
            for _ in 0..routes {
                let len = random.u8(..17);
                let prefix = Prefix::new_masked(random.u16(..), len).unwrap();
                rib.insert(prefix, NextHop::new(random.u32(1..10)).unwrap());
            }
            assert_eq!(every_address(compiled(&rib), &rib).mismatches, 0);
        }
    }
}
