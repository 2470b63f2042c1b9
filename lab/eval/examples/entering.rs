//! What it costs to come into a live table: bursts of 64 lookups in a compiled table; in a live
//! one whose reader stays inside; in one whose reader says after each burst that it is
//! quiescent; and in one that the reader enters and leaves for each burst.
//!
//!     cargo run --release -p popfib-eval --example entering [TABLE]

use std::env;
use std::hint::black_box;
use std::path::Path;

use popfib::{Fib, LiveFib, Options};
use popfib_eval::{ReferenceLoop, Spread, Traffic, cores, generate, measure, pin};
use popfib_formats::{Input, LoadOptions, RouteTable, load};

const BURST: usize = 64;
const ADDRESSES: usize = 1 << 20;
/// Passes over the addresses that make one run, and runs.
const REPEATS: usize = 16;
const RUNS: usize = 21;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let input = match env::args_os().nth(1) {
        Some(path) => Input::open(Path::new(&path))?,
        None => Input::built_in(),
    };
    let table: RouteTable = load(input, &LoadOptions::new())?;
    if let Some(core) = cores()?.last() {
        pin(*core)?;
    }
    let fib: Fib<u32> = Fib::compile(&table.ribs.ipv4, &Options::default())?;
    let addresses = generate(&Traffic::Routes, &table.ribs.ipv4, ADDRESSES, 1)?
        .ok_or("the table has no IPv4 route")?;
    let live: LiveFib<u32> = LiveFib::from_rib(table.content.ribs.ipv4, Options::default())?;
    let mut next_hops = [0; BURST];
    let reference = ReferenceLoop::new()?;

    let mut compiled = Vec::new();
    let mut inside = Vec::new();
    let mut quiescent = Vec::new();
    let mut entered = Vec::new();
    let mut reader = live.reader();
    for _ in 0..RUNS {
        // One run of each in turn, so that all see the same machine.
        let run = |pass: &mut dyn FnMut()| {
            let passes = measure(&reference, 1, ADDRESSES * REPEATS, || {
                (0..REPEATS).for_each(|_| pass());
            });
            passes.rates[0] / passes.reference[0]
        };
        compiled.push(run(&mut || {
            for burst in addresses.chunks_exact(BURST) {
                fib.lookup_batch(burst, &mut next_hops);
                black_box(&mut next_hops);
            }
        }));
        let mut guard = reader.pin();
        inside.push(run(&mut || {
            for burst in addresses.chunks_exact(BURST) {
                guard.lookup_batch(burst, &mut next_hops);
                black_box(&mut next_hops);
            }
        }));
        quiescent.push(run(&mut || {
            for burst in addresses.chunks_exact(BURST) {
                guard.lookup_batch(burst, &mut next_hops);
                guard.quiescent();
                black_box(&mut next_hops);
            }
        }));
        drop(guard);
        entered.push(run(&mut || {
            for burst in addresses.chunks_exact(BURST) {
                reader.pin().lookup_batch(burst, &mut next_hops);
                black_box(&mut next_hops);
            }
        }));
    }
    let base = Spread::of(&compiled).median;
    println!("bursts of {BURST}      of the reference loop           of the compiled table");
    for (name, figures) in [
        ("compiled", &compiled),
        ("live, inside", &inside),
        ("live, quiescent", &quiescent),
        ("live, entered", &entered),
    ] {
        let Spread { min, median, max } = Spread::of(figures);
        println!(
            "{name:<17} {median:.3} ({min:.3} to {max:.3})     {:.3}",
            median / base
        );
    }
    Ok(())
}
