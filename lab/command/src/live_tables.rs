//! `popfib-lab many`: the same tables in a set whose routes change, beside a thread that looks up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use popfib::{LiveFibSet, NextHop, Options, Rib, Size};
use popfib_eval::{BURST, Latencies, Random, TrafficAddress, pin};

use crate::program::{Failure, print};

/// Changes that are timed, and tables that are made.
const CHANGES: usize = 300_000;
const INSERTS: usize = 300;

fn set_of<'r, A: TrafficAddress>(
    ribs: impl Iterator<Item = &'r Rib<A>>,
    highest: u32,
    size: Size,
) -> Result<LiveFibSet<A>, Failure> {
    let highest = NextHop::new(highest).expect("not 0");
    let mut set = LiveFibSet::new(highest, Options::default().size(size))?;
    for (table, rib) in ribs.enumerate() {
        set.insert(table as u32, rib.clone())?;
    }
    Ok(set)
}

/// Bytes of pointers and blocks in use.
fn used<A: TrafficAddress>(set: &mut LiveFibSet<A>) -> usize {
    set.reclaim();
    let bytes = set.bytes();
    bytes.arrays - bytes.free - bytes.waiting
}

/// Times changes of routes of tables drawn at random, and tables that are replaced by others.
pub(crate) fn changes<A: TrafficAddress>(
    ribs: &[Rib<A>],
    next_hops: usize,
    other: Option<usize>,
    random: &mut Random,
) -> Result<(), Failure> {
    let highest = ribs.iter().map(Rib::next_hop_bound).max().unwrap_or(1);
    // The whole table is not changed, and its next hops are more.
    let small: Vec<usize> = (0..ribs.len())
        .filter(|at| ribs[*at].len() < 1 << 16)
        .collect();
    if small.is_empty() {
        return Ok(());
    }
    for size in [Size::Smallest, Size::Balanced] {
        let mut set = set_of(ribs.iter(), highest.max(next_hops as u32), size)?;
        let (used, all) = (used(&mut set), set.bytes());
        let name = format!("{size:?}").to_lowercase();
        print(format!(
            "live, {name}: {used} bytes used of {}, {} beside\n",
            all.arrays, all.writer
        ))?;
        let routes: Vec<Vec<_>> = ribs
            .iter()
            .map(|rib| rib.iter().map(|(p, _)| p).collect())
            .collect();
        let stop = AtomicBool::new(false);
        let mut reader = set.reader()?;
        std::thread::scope(|scope| -> Result<(), Failure> {
            let (stop, addresses) = (&stop, vec![A::MIN; BURST]);
            scope.spawn(move || {
                let _ = other.map(pin);
                let tables: Vec<u32> = (0..BURST as u32).collect();
                let mut to = vec![0; BURST];
                let mut guard = reader.pin();
                while !stop.load(Ordering::Relaxed) {
                    guard.lookup_batch(&tables, &addresses, &mut to);
                    guard.quiescent();
                }
            });
            let result = timed(&mut set, &name, &small, &routes, next_hops, random);
            stop.store(true, Ordering::Relaxed);
            result
        })?;
        set.check()?;
    }
    Ok(())
}

fn timed<A: TrafficAddress>(
    set: &mut LiveFibSet<A>,
    name: &str,
    small: &[usize],
    routes: &[Vec<popfib::Prefix<A>>],
    next_hops: usize,
    random: &mut Random,
) -> Result<(), Failure> {
    let draws: Vec<_> = (0..CHANGES)
        .map(|at| {
            let table = random.pick(small);
            let next_hop = NextHop::new(1 + random.below(next_hops) as u32);
            (
                table as u32,
                random.pick(&routes[table]),
                next_hop.filter(|_| at % 3 > 0),
            )
        })
        .collect();
    let (mut times, mut growths) = (Latencies::new(), Latencies::new());
    let mut bytes = set.bytes().arrays;
    let mut add = |set: &LiveFibSet<A>, times: &mut Latencies, took| {
        times.add(took);
        if std::mem::replace(&mut bytes, set.bytes().arrays) != bytes {
            growths.add(took);
        }
    };
    for (table, prefix, next_hop) in draws {
        let start = Instant::now();
        match next_hop {
            Some(next_hop) => set.announce(table, prefix, next_hop)?,
            None => set.withdraw(table, prefix)?,
        };
        let took = start.elapsed();
        add(set, &mut times, took);
    }
    line("a change", name, &times)?;
    let mut times = Latencies::new();
    let (mut made, mut dropped) = (Vec::new(), Vec::new());
    for _ in 0..INSERTS {
        let table = random.pick(small) as u32;
        let mut rib = Rib::new();
        for _ in 0..1000 {
            let from = random.pick(small);
            let next_hop = NextHop::new(1 + random.below(next_hops) as u32);
            rib.insert(random.pick(&routes[from]), next_hop.expect("not 0"));
        }
        made.push((table, rib));
    }
    for (table, rib) in made {
        let start = Instant::now();
        dropped.push(set.insert(table, rib)?);
        let took = start.elapsed();
        add(set, &mut times, took);
    }
    line("a table of 1000 routes in place of another", name, &times)?;
    line("those where the memory of all grew", name, &growths)
}

fn line(what: &str, name: &str, times: &Latencies) -> Result<(), Failure> {
    let (mean, max) = (times.mean_us(), times.max_us());
    let [median, high] = [0.5, 0.99].map(|share| times.percentile_us(share));
    print(format!(
        "live, {name}: {what}: mean {mean:.3} us, median {median:.3}, 99 % {high:.3}, longest {max:.1}\n"
    ))
}

/// Prints what copies of a table take that are made and then changed.
pub(crate) fn copies<A: TrafficAddress>(
    whole: &Rib<A>,
    random: &mut Random,
) -> Result<(), Failure> {
    let routes: Vec<_> = whole.iter().collect();
    for size in [Size::Smallest, Size::Balanced] {
        let mut set = set_of(std::iter::once(whole), whole.next_hop_bound(), size)?;
        let one = used(&mut set);
        for changed in [100, routes.len() / 100] {
            for table in 1..=4 {
                set.insert(table, whole.clone())?;
                for _ in 0..changed {
                    set.announce(table, random.pick(&routes).0, random.pick(&routes).1)?;
                }
            }
            let bytes = (used(&mut set) - one) / 4;
            let share = bytes as f64 / one as f64;
            print(format!(
                "live: a copy with {changed} routes changed, {size:?}: {bytes} bytes, {share:.4} of {one}\n"
            ))?;
        }
    }
    Ok(())
}
