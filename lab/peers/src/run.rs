//! Measures one algorithm on the files of one family: builds the table,
//! compares every answer, times passes over each stream, prints JSON lines.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use popfib::CompileError;
use popfib_eval::{BURST, Passes, ReferenceLoop, measure};
use serde::Serialize;

use crate::algorithms::{self, Algorithm, Kind, Lookup, PeerFamily, Routes};
use crate::exchange::Failure;
use crate::exchange::{self, Stream};
use crate::planb::PlanB;

/// What every program prints for each stream, one JSON line.
#[derive(Serialize)]
struct Line<'a> {
    algorithm: &'a str,
    kernel: &'a str,
    traffic: &'a str,
    bytes: usize,
    build_s: f64,
    /// Routes that the table would not take.
    refused: u64,
    /// Addresses whose answer is not the right one.
    wrong: u64,
    mlps: Vec<f64>,
    reference: Vec<f64>,
    /// Memory of the process that lies on huge pages, and all of it.
    huge_mib: u64,
    resident_mib: u64,
}

pub(crate) fn run<A: PeerFamily>(
    algorithm: &Algorithm,
    folder: &Path,
    passes: usize,
) -> Result<(), Failure> {
    let routes: Vec<_> = exchange::read_table::<A>(folder)?;
    let job = Job {
        algorithm,
        routes: &routes,
        streams: exchange::read_streams(folder)?,
        passes,
    };
    match &algorithm.kind {
        Kind::Popfib { options, kernel } => {
            job.measure(|routes| algorithms::popfib(routes, options, *kernel))
        }
        Kind::Matches(options) => job.measure(|routes| algorithms::matches(routes, options)),
        Kind::PlanB => job.measure(|routes| Ok(PlanB::build(routes))),
        Kind::PrefixTrie => job.measure(|routes| Ok(algorithms::prefix_trie(routes))),
        Kind::TreeBitmap => job.measure(|routes| Ok(algorithms::tree_bitmap(routes))),
    }
}

struct Job<'a, A> {
    algorithm: &'a Algorithm,
    routes: &'a Routes<A>,
    streams: Vec<Stream<A>>,
    passes: usize,
}

impl<A: PeerFamily> Job<'_, A> {
    fn measure<L, B>(&self, build: B) -> Result<(), Failure>
    where
        L: Lookup<A>,
        B: FnOnce(&Routes<A>) -> Result<L, CompileError>,
    {
        let start = Instant::now();
        let table = build(self.routes)?;
        let build_s = start.elapsed().as_secs_f64();
        let reference = ReferenceLoop::new()?;
        for stream in &self.streams {
            let wrong = wrong(&table, stream);
            let count = stream.addresses.len();
            let Passes {
                rates,
                reference: references,
            } = measure(&reference, self.passes, count, || {
                pass(&table, &stream.addresses)
            });
            let line = Line {
                algorithm: &self.algorithm.name,
                kernel: self.algorithm.kernel,
                traffic: stream.name,
                bytes: table.bytes(),
                build_s,
                refused: 0,
                wrong,
                mlps: rates,
                reference: references,
                huge_mib: memory_mib("AnonHugePages:"),
                resident_mib: memory_mib("Rss:"),
            };
            println!("{}", serde_json::to_string(&line)?);
        }
        Ok(())
    }
}

/// Answers of `table` that are not those of the stream.
fn wrong<A, L: Lookup<A>>(table: &L, stream: &Stream<A>) -> u64
where
    A: PeerFamily,
{
    let mut burst = [0; BURST];
    let mut wrong = 0;
    let blocks = stream.addresses.chunks(BURST);
    for (addresses, answers) in blocks.zip(stream.answers.chunks(BURST)) {
        let next_hops = &mut burst[..addresses.len()];
        table.lookup(addresses, next_hops);
        for (&next_hop, &answer) in next_hops.iter().zip(answers) {
            wrong += u64::from(next_hop != answer);
        }
    }
    wrong
}

/// The measured loop.
fn pass<A, L: Lookup<A>>(table: &L, addresses: &[A]) {
    let mut burst = [0; BURST];
    for block in addresses.chunks(BURST) {
        table.lookup(block, &mut burst[..block.len()]);
        // Every burst counts as read, so no lookup can be dropped.
        black_box(&mut burst);
    }
}

/// A line of the kernel's account of this process, 0 where there is none.
fn memory_mib(name: &str) -> u64 {
    let account = fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    account
        .lines()
        .find_map(|line| {
            line.strip_prefix(name)?
                .trim()
                .strip_suffix(" kB")?
                .parse()
                .ok()
        })
        .map_or(0, |kib: u64| kib / 1024)
}
