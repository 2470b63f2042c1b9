//! Maps beside other maps: what a user calls, one process, one core, passes in turn.
//!
//! Each table is measured twice: with the values that it has (`shared`), and with a value of
//! its own for each route (`own`). All maps hold `u32`; every answer is used, and all maps
//! have to answer alike, or the program fails. A ratio is the median over the passes of
//! ours over the peer's in the same pass: of rates, or of times and bytes where the row says so.

mod contestants;
pub(crate) mod peak;

use std::hint::black_box;
use std::net::IpAddr;
use std::path::Path;
use std::time::Instant;

use popfib::family::ByFamily;
use popfib::live::MapReader;
use popfib::map::{Own, Shared, Stores};
use popfib::{IpMap, LiveMap, Prefix, PrefixMap};
use popfib_eval::{Random, Spread, Traffic, generate};
use popfib_formats::{Input, LoadOptions, RouteTable, load};
use rustix::time::{ClockId, clock_gettime};

use crate::algorithms::PeerFamily;
use crate::exchange::Failure;
use contestants::{Bitmap, Map, Trie, answering, filled, used};

/// Addresses a burst.
const BURST: usize = 256;

/// Lookups between two changes.
const LOOKUPS_A_CHANGE: usize = 100;

/// Changes of a mixed pass.
const CHANGES: usize = 20_000;

/// Changes without a lookup between them, and how often.
const CHANGES_AT_ONCE: usize = 1000;
const BATCHES: usize = 200;

/// Addresses that are timed together.
const PART: usize = 8192;

/// The peers as rows name them.
const PEERS: [&str; 2] = ["prefix-trie", "treebitmap"];

/// How often each map is built.
const BUILDS: usize = 5;

pub(crate) fn maps(table: &str, count: usize, passes: usize) -> Result<(), Failure> {
    let (name, table) = if table == "default" {
        let table: RouteTable = load(Input::built_in(), &LoadOptions::new())?;
        (table.name.clone(), table)
    } else {
        let path = Path::new(table);
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        (name, load(Input::open(path)?, &LoadOptions::new())?)
    };
    let ByFamily { ipv4, ipv6 } = table.content.ribs;
    if !ipv4.is_empty() {
        let addresses = generate(&Traffic::Routes, &ipv4, count, 1)?.unwrap_or_default();
        family(
            &name,
            &ipv4.iter().map(|(p, n)| (p, n.get())).collect::<Vec<_>>(),
            &addresses,
            passes,
        )?;
    }
    if !ipv6.is_empty() {
        let addresses = generate(&Traffic::Routes, &ipv6, count, 1)?.unwrap_or_default();
        family(
            &name,
            &ipv6.iter().map(|(p, n)| (p, n.get())).collect::<Vec<_>>(),
            &addresses,
            passes,
        )?;
    }
    Ok(())
}

type Routes<A> = [(Prefix<A>, u32)];

fn family<A: PeerFamily>(
    table: &str,
    routes: &Routes<A>,
    addresses: &[A],
    passes: usize,
) -> Result<(), Failure> {
    let own: Vec<_> = (0..)
        .zip(routes)
        .map(|(n, (prefix, _))| (*prefix, n))
        .collect();
    println!(
        "### {table}: {}, {} routes, {} addresses",
        A::FOLDER,
        routes.len(),
        addresses.len()
    );
    println!();
    println!("| values | what | popfib | beside | ratio [lowest-highest pass] |");
    println!("|---|---|---|---|---|");
    storage::<A, Shared>("shared", routes, addresses, passes)?;
    storage::<A, Own>("own", &own, addresses, passes)?;
    println!();
    Ok(())
}

fn storage<A: PeerFamily, S: Stores<u32>>(
    values: &str,
    routes: &Routes<A>,
    addresses: &[A],
    passes: usize,
) -> Result<(), Failure> {
    let mut random_order = routes.to_vec();
    Random::new(7).shuffle(&mut random_order);
    let (sorted, shuffled) = (routes, &random_order[..]);
    let row = |what: &str, ours: &[f64], peer: &str, theirs: &[f64]| {
        let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a / b).collect();
        let (a, b, ratio) = (Spread::of(ours), Spread::of(theirs), Spread::of(&ratios));
        println!(
            "| {values} | {what} | {:.1} | {peer}: {:.1} | {:.2} [{:.2}-{:.2}] |",
            a.median, b.median, ratio.median, ratio.min, ratio.max
        );
    };
    let against = |what: &str, ours: &[f64], [trie, bitmap]: [&[f64]; 2]| {
        row(what, ours, PEERS[0], trie);
        row(what, ours, PEERS[1], bitmap);
    };

    // Building until the first answer, for which popfib compiles: milliseconds; less is better.
    for (what, routes) in [("sorted", sorted), ("random", shuffled)] {
        let (mut collect, mut insert) = (vec![], vec![]);
        let (mut trie, mut bitmap) = (vec![], vec![]);
        for _ in 0..BUILDS {
            collect.push(millis(|| {
                routes.iter().copied().collect::<PrefixMap<A, u32, S>>()
            }));
            trie.push(millis(|| answering::<A, Trie<A>>(routes)));
            insert.push(millis(|| answering::<A, PrefixMap<A, u32, S>>(routes)));
            bitmap.push(millis(|| answering::<A, Bitmap<A>>(routes)));
        }
        against(&format!("collect, {what}: ms"), &collect, [&trie, &bitmap]);
        against(&format!("insert, {what}: ms"), &insert, [&trie, &bitmap]);
    }

    let mut map: PrefixMap<A, u32, S> = routes.iter().copied().collect();
    let (mut trie, mut bitmap) = (filled::<A, Trie<A>>(routes), filled::<A, Bitmap<A>>(routes));
    let a_route = |bytes: usize| [bytes as f64 / routes.len() as f64];
    against(
        "bytes a route",
        &a_route(Map::<A>::heap_bytes(&map)),
        [
            &a_route(Map::<A>::heap_bytes(&trie)),
            &a_route(Map::<A>::heap_bytes(&bitmap)),
        ],
    );

    let mut peaks = [0.0; peak::BUILDS.len()];
    for (peak, build) in peaks.iter_mut().zip(peak::BUILDS) {
        *peak = peak::ask(routes, values, build)? / routes.len() as f64;
    }
    let [collect, insert, trie_peak, bitmap_peak] = peaks;
    for (what, peak) in [("collect", collect), ("insert", insert)] {
        let what = format!("{what}, then changes: peak bytes a route");
        against(&what, &[peak], [&[trie_peak], &[bitmap_peak]]);
    }

    // One by one and in bursts.
    let mut rates = [const { Vec::new() }; 8];
    for pass in 0..=passes {
        let results = [
            rate(addresses, |part| value_each(&map, part)),
            rate(addresses, |part| value_each(&trie, part)),
            rate(addresses, |part| value_each(&bitmap, part)),
            rate(addresses, |part| value_batches(&map, part)),
            rate(addresses, |part| match_each(&map, part)),
            rate(addresses, |part| match_each(&trie, part)),
            rate(addresses, |part| match_each(&bitmap, part)),
            rate(addresses, |part| match_batches(&map, part)),
        ];
        let sums = results.map(|(sum, _)| sum);
        if sums[..4] != [sums[0]; 4] || sums[4..] != [sums[4]; 4] {
            return Err(format!("answers differ: {sums:?}").into());
        }
        // The first brings tables and pages in.
        if pass > 0 {
            for (rates, (_, rate)) in rates.iter_mut().zip(results) {
                rates.push(rate);
            }
        }
    }
    let [value, trie_value, bitmap_value, value_batch, rates @ ..] = &rates;
    let [matched, trie_match, bitmap_match, match_batch] = rates;
    against("value, one by one", value, [trie_value, bitmap_value]);
    against("match, one by one", matched, [trie_match, bitmap_match]);
    against("value, batches", value_batch, [trie_value, bitmap_value]);
    against("match, batches", match_batch, [trie_match, bitmap_match]);

    // Both families' map, addresses as they are parsed.
    let both = routes.iter().map(|(p, value)| (A::ip_prefix(*p), *value));
    let table: IpMap<u32, S> = both.collect();
    let mixed: Vec<IpAddr> = addresses.iter().copied().map(A::ip).collect();
    let (mut one, mut batch) = (Vec::new(), Vec::new());
    for _ in 0..passes {
        one.push(rate(&mixed, |part| table_match_each(&table, part)).1);
        batch.push(rate(&mixed, |part| table_match_batches(&table, part)).1);
    }
    row("IpMap match, one by one", &one, PEERS[0], trie_match);
    row("IpMap match, batches", &batch, PEERS[0], trie_match);

    // The reader of a live map, beside the map.
    let mut live = LiveMap::<A, u32, S>::default();
    live.apply(routes.iter().map(|(prefix, value)| (*prefix, Some(*value))))?;
    let mut reader = live.reader();
    let mut rates = [const { Vec::new() }; 4];
    for _ in 0..passes {
        let results = [
            rate(addresses, |part| match_each(&map, part)),
            rate(addresses, |part| live_match_each(&mut reader, part)),
            rate(addresses, |part| match_batches(&map, part)),
            rate(addresses, |part| live_match_batches(&mut reader, part)),
        ];
        let sums = results.map(|(sum, _)| sum);
        if sums != [sums[0]; 4] {
            return Err(format!("live answers differ: {sums:?}").into());
        }
        for (rates, (_, rate)) in rates.iter_mut().zip(results) {
            rates.push(rate);
        }
    }
    let [each, live_each, batches, live_batches] = &rates;
    row("live match, one by one", live_each, "map", each);
    row("live match, batches", live_batches, "map", batches);

    // Changes between lookups, and the same without changes.
    let (mut still, mut moving, mut change) = (vec![], vec![], vec![]);
    let (mut still_all, mut moving_all) = (vec![], vec![]);
    let (mut trie_change, mut bitmap_change) = (vec![], vec![]);
    for pass in 0..=passes {
        let seed = pass as u64 + 1;
        let (quiet, ours) = mixed_passes(&mut map, routes, addresses, seed);
        let (trie_quiet, trie) = mixed_passes(&mut trie, routes, addresses, seed);
        let (bitmap_quiet, bitmap) = mixed_passes(&mut bitmap, routes, addresses, seed);
        if pass > 0 {
            still.push(quiet.rate());
            moving.push(ours.rate());
            still_all.push(quiet.rate_of_all());
            moving_all.push(ours.rate_of_all());
            change.push(ours.change_ns(&quiet));
            trie_change.push(trie.change_ns(&trie_quiet));
            bitmap_change.push(bitmap.change_ns(&bitmap_quiet));
        }
    }
    row("mixed: lookups", &moving, "no changes", &still);
    let what = "mixed: lookups, time of changes counted";
    row(what, &moving_all, "no changes", &still_all);
    against(
        "mixed: a change: ns",
        &change,
        [&trie_change, &bitmap_change],
    );

    // What changes leave behind: the first batch after many, in other places than theirs.
    let (mut first, mut usual) = (vec![], vec![]);
    let mut random = Random::new(3);
    for burst in addresses.chunks_exact(BURST).take(BATCHES) {
        for _ in 0..CHANGES_AT_ONCE / 2 {
            let (route, other) = (random.below(routes.len()), random.below(routes.len()));
            map.remove(routes[route].0);
            map.insert(routes[route].0, routes[other].1);
        }
        for times in [&mut first, &mut usual] {
            let start = Instant::now();
            black_box(match_batches(&map, burst));
            times.push(start.elapsed().as_nanos() as f64 / 1e3);
        }
    }
    let what = format!("first batch after {CHANGES_AT_ONCE} changes: us");
    row(&what, &first, "the second", &usual);
    Ok(())
}

fn millis<T>(build: impl FnOnce() -> T) -> f64 {
    let start = cpu_seconds();
    let built = black_box(build());
    let time = cpu_seconds() - start;
    drop(built);
    time * 1e3
}

/// Seconds that this thread has run.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// What a pass made of the answers, and its rate in million a second: that of the fastest
/// quarter of its parts. On a machine with other work the rest have caches to fill again.
fn rate<K>(addresses: &[K], mut part: impl FnMut(&[K]) -> u64) -> (u64, f64) {
    let mut sum = 0u64;
    let mut rates = Vec::with_capacity(addresses.len() / PART + 1);
    for addresses in addresses.chunks(PART) {
        let start = Instant::now();
        sum = sum.wrapping_add(black_box(part(black_box(addresses))));
        rates.push(addresses.len() as f64 / start.elapsed().as_secs_f64() / 1e6);
    }
    rates.sort_unstable_by(f64::total_cmp);
    (sum, rates[rates.len() - 1 - rates.len() / 4])
}

#[inline(never)]
fn value_each<A: PeerFamily, M: Map<A>>(map: &M, addresses: &[A]) -> u64 {
    let mut sum = 0u64;
    for address in addresses {
        sum = sum.wrapping_add(map.value(*address));
    }
    sum
}

#[inline(never)]
fn match_each<A: PeerFamily, M: Map<A>>(map: &M, addresses: &[A]) -> u64 {
    let mut sum = 0u64;
    for address in addresses {
        sum = sum.wrapping_add(map.matched(*address));
    }
    sum
}

/// A guard for each burst, as a reader does that others wait for.
#[inline(never)]
fn live_match_each<A: PeerFamily>(reader: &mut MapReader<A, u32>, addresses: &[A]) -> u64 {
    let mut sum = 0u64;
    for burst in addresses.chunks(BURST) {
        let guard = reader.pin();
        for address in burst {
            if let Some((prefix, value)) = guard.longest_match(*address) {
                sum = sum.wrapping_add(used(prefix.address(), prefix.len(), *value));
            }
        }
    }
    sum
}

#[inline(never)]
fn live_match_batches<A: PeerFamily>(reader: &mut MapReader<A, u32>, addresses: &[A]) -> u64 {
    let mut sum = 0u64;
    for burst in addresses.chunks(BURST) {
        let guard = reader.pin();
        let mut matches = [None; BURST];
        guard.longest_match_batch(burst, &mut matches[..burst.len()]);
        for (prefix, value) in matches.iter().flatten() {
            sum = sum.wrapping_add(used(prefix.address(), prefix.len(), **value));
        }
    }
    sum
}

#[inline(never)]
fn value_batches<A: PeerFamily, S: Stores<u32>>(
    map: &PrefixMap<A, u32, S>,
    addresses: &[A],
) -> u64 {
    let mut sum = 0u64;
    let mut values = [None; BURST];
    for burst in addresses.chunks(BURST) {
        let values = &mut values[..burst.len()];
        map.lookup_batch(burst, values);
        for value in values.iter().flatten() {
            sum = sum.wrapping_add(u64::from(**value));
        }
    }
    sum
}

#[inline(never)]
fn match_batches<A: PeerFamily, S: Stores<u32>>(
    map: &PrefixMap<A, u32, S>,
    addresses: &[A],
) -> u64 {
    let mut sum = 0u64;
    let mut matches = [None; BURST];
    for burst in addresses.chunks(BURST) {
        let matches = &mut matches[..burst.len()];
        map.longest_match_batch(burst, matches);
        for (prefix, value) in matches.iter().flatten() {
            sum = sum.wrapping_add(used(prefix.address(), prefix.len(), **value));
        }
    }
    sum
}

#[inline(never)]
fn table_match_each<S: Stores<u32>>(table: &IpMap<u32, S>, addresses: &[IpAddr]) -> u64 {
    let mut sum = 0u64;
    for address in addresses {
        if let Some((prefix, value)) = table.longest_match(*address) {
            sum = sum.wrapping_add(u64::from(prefix.len()) ^ u64::from(*value));
        }
    }
    sum
}

#[inline(never)]
fn table_match_batches<S: Stores<u32>>(table: &IpMap<u32, S>, addresses: &[IpAddr]) -> u64 {
    let mut sum = 0u64;
    let mut matches = [None; BURST];
    for burst in addresses.chunks(BURST) {
        let matches = &mut matches[..burst.len()];
        table.longest_match_batch(burst, matches);
        for (prefix, value) in matches.iter().flatten() {
            sum = sum.wrapping_add(u64::from(prefix.len()) ^ u64::from(**value));
        }
    }
    sum
}

/// Nanoseconds of a burst of lookups, the median, and of the whole pass.
struct Mixed {
    burst_ns: f64,
    pass_ns: f64,
}

/// One random route is withdrawn after each [`LOOKUPS_A_CHANGE`] lookups, and the one
/// withdrawn before comes back with another route's value.
///
/// Bursts are timed by the wall clock, as asking for the thread's takes longer than they do;
/// their median leaves out those in which the thread was stopped.
fn mixed_pass<A: PeerFamily, M: Map<A>>(
    map: &mut M,
    routes: &Routes<A>,
    addresses: &[A],
    seed: u64,
    changes: bool,
) -> Mixed {
    let mut random = Random::new(seed);
    let mut gone: Option<usize> = None;
    let mut times = Vec::with_capacity(CHANGES);
    let start = cpu_seconds();
    for burst in addresses
        .chunks_exact(LOOKUPS_A_CHANGE)
        .cycle()
        .take(CHANGES)
    {
        let (route, other) = (random.below(routes.len()), random.below(routes.len()));
        let start = Instant::now();
        let mut sum = 0u64;
        for address in burst {
            sum = sum.wrapping_add(map.matched(*address));
        }
        black_box(sum);
        times.push(start.elapsed().as_nanos() as f64);
        match gone.take() {
            _ if !changes => {}
            Some(route) => map.insert(routes[route].0, routes[other].1),
            None => {
                map.remove(routes[route].0);
                gone = Some(route);
            }
        }
    }
    let pass_ns = (cpu_seconds() - start) * 1e9;
    if let Some(route) = gone {
        map.insert(routes[route].0, routes[route].1);
    }
    let burst_ns = Spread::of(&times).median;
    Mixed { burst_ns, pass_ns }
}

impl Mixed {
    /// Lookups in million a second.
    fn rate(&self) -> f64 {
        LOOKUPS_A_CHANGE as f64 * 1e3 / self.burst_ns
    }

    /// The same, if the changes' time counts as that of lookups.
    fn rate_of_all(&self) -> f64 {
        (LOOKUPS_A_CHANGE * CHANGES) as f64 * 1e3 / self.pass_ns
    }

    /// Nanoseconds that each change adds to a pass without changes, whatever it slows down.
    fn change_ns(&self, quiet: &Self) -> f64 {
        (self.pass_ns - quiet.pass_ns) / CHANGES as f64
    }
}

/// A pass without changes and the same with them.
fn mixed_passes<A: PeerFamily, M: Map<A>>(
    map: &mut M,
    routes: &Routes<A>,
    addresses: &[A],
    seed: u64,
) -> (Mixed, Mixed) {
    let quiet = mixed_pass(map, routes, addresses, seed, false);
    (quiet, mixed_pass(map, routes, addresses, seed, true))
}
