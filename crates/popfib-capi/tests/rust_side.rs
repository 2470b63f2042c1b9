//! The same tables asked in Rust: what the tests and the benchmark in C are compared with.
//!
//!     rust_side answers DIR      writes routes, addresses, answers and an image of a real table to DIR
//!     rust_side bench DIR        rates of bulk lookups, as `bench.c` prints them
//!
//! Files, by family F (4 or 6), numbers in the order of this machine:
//! `routes-F` (records of 24 bytes: prefix, padded to 16 bytes; length; three bytes of 0; next hop),
//! `addresses-F` (bytes in network order), `answers-F` (next hops of 32 bits), `lengths-F` (of the matching
//! prefix, one byte each; 255 for none), and `image` with both families.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use popfib::{Address, ImageWriter, LiveFib, NextHop, Options, Rib};

/// Addresses that `bench` looks up in a pass.
const BENCH_ADDRESSES: usize = 1 << 20;
const BURSTS: [usize; 4] = [64, 256, 1024, 4096];
const PASSES: usize = 25;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let table = popfib_formats::default_table();
    let (ipv4, ipv6) = (narrow(&table.ipv4), narrow(&table.ipv6));
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["answers", dir] => {
            let dir = Path::new(dir);
            answers(dir, &ipv4, 4)?;
            answers(dir, &ipv6, 6)?;
            let mut image = ImageWriter::new("", 0);
            image.table(&ipv4, &Options::default(), true)?;
            image.table(&ipv6, &Options::default(), true)?;
            image.save(dir.join("image"))?;
        }
        ["bench", dir] => {
            bench(Path::new(dir), &ipv4, 4)?;
            bench(Path::new(dir), &ipv6, 6)?;
        }
        _ => return Err("rust_side answers DIR | rust_side bench DIR".into()),
    }
    Ok(())
}

/// The routes with next hops of 16 bits, so that tables of both widths can hold them.
fn narrow<A: Address>(rib: &Rib<A>) -> Rib<A> {
    rib.iter()
        .map(|(prefix, next_hop)| {
            let number = next_hop.get() % u32::from(u16::MAX);
            (prefix, NextHop::MIN.saturating_add(number))
        })
        .collect()
}

/// Numbers that look random: xorshift64*.
fn random(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d)
}

fn random_address<A: Address>(state: &mut u64) -> A {
    A::truncate(u128::from(random(state)) << 64 | u128::from(random(state)))
}

/// The borders of every third route, random addresses inside of routes, and random ones.
fn addresses<A: Address>(rib: &Rib<A>) -> Vec<A> {
    let mut state = 1;
    let mut addresses = vec![A::MIN, A::MAX];
    for (prefix, _) in rib.iter().step_by(3) {
        let inside = random_address::<A>(&mut state) & !A::mask(prefix.len()) | prefix.address();
        addresses.extend([prefix.first(), prefix.last(), inside]);
        addresses.extend(prefix.last().checked_next());
        addresses.push(random_address(&mut state));
    }
    addresses
}

fn answers<A: Address>(dir: &Path, rib: &Rib<A>, family: u8) -> Result<(), Box<dyn Error>> {
    let file = |name| dir.join(format!("{name}-{family}"));
    let mut routes = Vec::new();
    for (prefix, next_hop) in rib.iter() {
        let bytes = prefix.address().to_be_bytes();
        let bytes = bytes.as_ref();
        routes.extend(bytes);
        routes.resize(routes.len() + 16 - bytes.len(), 0);
        routes.extend([prefix.len(), 0, 0, 0]);
        routes.extend(next_hop.get().to_ne_bytes());
    }
    fs::write(file("routes"), routes)?;
    let (mut asked, mut next_hops, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for address in addresses(rib) {
        // The Rib shares no code with what C asks, the Fib.
        let route = rib.longest_match(address);
        asked.extend(address.to_be_bytes().as_ref());
        next_hops.extend(
            route
                .map_or(0, |(_, next_hop)| next_hop.get())
                .to_ne_bytes(),
        );
        lengths.push(route.map_or(255, |(prefix, _)| prefix.len()));
    }
    fs::write(file("addresses"), asked)?;
    fs::write(file("answers"), next_hops)?;
    fs::write(file("lengths"), lengths)?;
    Ok(())
}

/// Rates of a reader's bulk lookups, the best of some passes.
fn bench<A: Address>(dir: &Path, rib: &Rib<A>, family: u8) -> Result<(), Box<dyn Error>> {
    let bytes = fs::read(dir.join(format!("addresses-{family}")))?;
    let width = usize::from(A::WIDTH / 8);
    let mut addresses: Vec<A> = bytes
        .chunks_exact(width)
        .map(|bytes| {
            A::truncate(
                bytes
                    .iter()
                    .fold(0, |value, byte| value << 8 | u128::from(*byte)),
            )
        })
        .cycle()
        .take(BENCH_ADDRESSES)
        .collect();
    shuffle(&mut addresses);
    let turned: Vec<A::Bytes> = addresses
        .iter()
        .map(|address| address.to_be_bytes())
        .collect();
    // Route by route, as C does: the table then lies in memory alike.
    let mut live: LiveFib<A, u32> = LiveFib::new(Options::default())?;
    let start = Instant::now();
    for (prefix, next_hop) in rib.iter() {
        live.announce(prefix, next_hop)?;
    }
    eprintln!(
        "ipv{family}: {} routes in {:.2} s",
        rib.len(),
        start.elapsed().as_secs_f64()
    );
    let mut reader = live.reader();
    let guard = reader.pin();
    for burst in BURSTS {
        let mut next_hops = vec![0; burst];
        let host = best(|| {
            for addresses in addresses.chunks_exact(burst) {
                guard.lookup_batch(addresses, &mut next_hops);
                black_box(&mut next_hops);
            }
        });
        println!("ipv{family} host {burst} {host:.1}");
        let network = best(|| {
            for addresses in turned.chunks_exact(burst) {
                guard.lookup_batch_be(addresses, &mut next_hops);
                black_box(&mut next_hops);
            }
        });
        println!("ipv{family} network {burst} {network:.1}");
    }
    Ok(())
}

/// The order that `bench.c` puts them in.
fn shuffle<T>(values: &mut [T]) {
    let mut state = 2;
    for at in (1..values.len()).rev() {
        values.swap(at, (random(&mut state) % (at as u64 + 1)) as usize);
    }
}

/// Million lookups per second in the fastest pass.
fn best(mut pass: impl FnMut()) -> f64 {
    (0..PASSES)
        .map(|_| {
            let start = Instant::now();
            pass();
            BENCH_ADDRESSES as f64 / start.elapsed().as_secs_f64() / 1e6
        })
        .fold(0.0, f64::max)
}
