//! What changes of a live map cost, with values: a day of updates one by one, a default route and a /8 until every
//! address has the new answer, and the memory of a thousand small maps.
//!
//!     cargo run --release -p popfib-eval --example live_map [TABLE [UPDATES]]

use std::env;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use popfib::map::Shared;
use popfib::{IpPrefix, LiveIpMap, Prefix};
use popfib_eval::{Latencies, Spread, cores, pin, shuffled};
use popfib_formats::{Change, Input, LoadOptions, RouteTable, UpdateOptions, load, open_updates};

/// How often what takes long is changed.
const RUNS: usize = 21;

/// Small maps, and the routes of each.
const MAPS: usize = 1000;
const ROUTES: usize = 50;

/// Updates that are read before they are applied.
const STRETCH: usize = 1 << 16;

/// Microseconds that `work` takes.
fn micros(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}

fn told(what: &str, times: &[f64]) {
    let Spread { median, min, max } = Spread::of(times);
    println!("{what:<44} median {median:.1} us [{min:.1} to {max:.1}]");
}

/// Bytes of memory that this process has, where the system says so.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split(' ').nth(1)?.parse::<usize>().ok()? * 4096)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = env::args_os().skip(1);
    let input = match args.next() {
        Some(path) => Input::open(Path::new(&path))?,
        None => Input::built_in(),
    };
    let routes: RouteTable = load(input, &LoadOptions::new())?;
    if let Some(core) = cores()?.last() {
        pin(*core)?;
    }

    if routes.ribs.ipv4.len() < ROUTES {
        return Err("the table has too few IPv4 routes".into());
    }

    // Before all else, which would leave memory to use again. Random routes, as a customer's are.
    let some = shuffled(&routes.ribs.ipv4);
    let before = resident();
    let mut maps = Vec::with_capacity(MAPS);
    for routes in some.chunks_exact(ROUTES).cycle().take(MAPS) {
        let mut map: LiveIpMap<u32, Shared> = LiveIpMap::shared();
        for (prefix, next_hop) in routes {
            map.announce(*prefix, next_hop.map_or(0, |next_hop| next_hop.get()))?;
        }
        maps.push(map);
    }
    let each =
        |bytes: fn(&LiveIpMap<u32, Shared>) -> usize| maps.iter().map(bytes).sum::<usize>() / MAPS;
    let (all, ipv6) = (each(LiveIpMap::bytes), each(|table| table.ipv6().bytes()));
    let fib = each(|table| table.ipv4().fib_bytes().arrays);
    let grown = resident().zip(before).map(|(now, before)| now - before);
    let grown = grown.map_or(String::new(), |grown| {
        format!("; the process grew by {} each", grown / MAPS)
    });
    println!(
        "{MAPS} tables of {ROUTES} routes: {all} bytes each, {fib} of them the Poptrie, {ipv6} the empty IPv6 map{grown}"
    );
    drop(maps);

    let names: Vec<Arc<str>> = routes.records.values().map(Arc::from).collect();
    let ipv4 = routes.ribs.ipv4.iter().map(|(p, n)| (IpPrefix::from(p), n));
    let ipv6 = routes.ribs.ipv6.iter().map(|(p, n)| (IpPrefix::from(p), n));
    let value = |(prefix, number): (IpPrefix, popfib::NextHop)| {
        (prefix, Some(Arc::clone(&names[number.get() as usize - 1])))
    };
    let all: Vec<_> = ipv4.chain(ipv6).map(value).collect();
    let mut table: LiveIpMap<Arc<str>, Shared> = LiveIpMap::shared();
    let mut reader = table.reader();
    let start = Instant::now();
    table.apply(all)?;
    println!(
        "{} routes loaded in {:.0} ms",
        table.len(),
        start.elapsed().as_secs_f64() * 1e3
    );

    if let Some(path) = args.next() {
        let mut source = open_updates(Input::open(Path::new(&path))?, &UpdateOptions::default())?;
        let mut known: std::collections::HashMap<String, Arc<str>> = Default::default();
        let mut times = Latencies::default();
        let mut is_over = false;
        while !is_over {
            let mut updates = Vec::new();
            while updates.len() < STRETCH {
                let Some(update) = source.next_update()? else {
                    is_over = true;
                    break;
                };
                let value = match update.change {
                    Change::Announce(name) => Some(match known.get(name) {
                        Some(value) => Arc::clone(value),
                        None => {
                            let value: Arc<str> = Arc::from(name);
                            known.insert(name.to_owned(), Arc::clone(&value));
                            value
                        }
                    }),
                    Change::Withdraw => None,
                };
                updates.push((update.prefix, value));
            }
            let mut start = Instant::now();
            for (prefix, value) in updates {
                match value {
                    Some(value) => table.announce(prefix, value)?,
                    None => table.withdraw(prefix)?,
                };
                let end = Instant::now();
                times.add(end - start);
                start = end;
            }
        }
        table.check()?;
        println!(
            "{} updates: mean {:.3} us, median {:.3}, 99 % within {:.2}, longest {:.0}",
            times.count(),
            times.mean_us(),
            times.percentile_us(0.5),
            times.percentile_us(0.99),
            times.max_us()
        );
    }

    let (one, other): (Arc<str>, Arc<str>) = (Arc::from("one"), Arc::from("other"));
    for text in ["0.0.0.0/0", "16.0.0.0/8"] {
        let prefix: Prefix<u32> = text.parse()?;
        let mut times = Vec::new();
        for run in 0..RUNS {
            let value = Arc::clone(if run % 2 == 0 { &one } else { &other });
            let mut result = Ok(false);
            times.push(micros(|| result = table.announce(prefix, value)));
            result?;
        }
        told(&format!("{text} has another value everywhere"), &times);
    }

    drop(reader.pin());
    Ok(())
}
