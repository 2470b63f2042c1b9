//! Makes the embedded default table: prefixes and AS ranges in, packed bytes out.
//!
//! `cargo run --release -p popfib-formats --example pack-default-table -- PREFIXES ASN_V4 ASN_V6 OUT`
//!
//! PREFIXES has one prefix of either family a line. ASN_V4 and ASN_V6 are
//! `FIRST,LAST,AS,NAME` lines: ranges of addresses, taken as the CIDR blocks that
//! they consist of; a few overlap. The AS of a prefix is that of the longest
//! block that covers it; if none does, of the widest block that starts where
//! the prefix starts; else 0. `scripts/default-table` fetches the inputs and runs this.

#[path = "../src/default_table/pack.rs"]
mod pack;
#[path = "../src/default_table/unpack.rs"]
#[allow(dead_code)] // the packer shares its arithmetic, not its reading
mod unpack;

use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::fs;
use std::process::ExitCode;

use popfib::{Address, IpPrefix, Prefix};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [prefixes, asn_v4, asn_v6, out] = &arguments[..] else {
        eprintln!("usage: pack-default-table PREFIXES ASN_V4 ASN_V6 OUT");
        return ExitCode::from(2);
    };
    match run(prefixes, asn_v4, asn_v6, out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pack-default-table: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(prefixes: &str, asn_v4: &str, asn_v6: &str, out: &str) -> Result<(), Box<dyn Error>> {
    let (mut ipv4, mut ipv6) = (Vec::new(), Vec::new());
    let text = read(prefixes)?;
    for (index, line) in text.lines().enumerate() {
        match line.trim().parse() {
            Ok(IpPrefix::V4(prefix)) => ipv4.push(prefix),
            Ok(IpPrefix::V6(prefix)) => ipv6.push(prefix),
            Err(error) => return Err(format!("{prefixes}:{}: {error}: {line}", index + 1).into()),
        }
    }
    let ipv4 = routes(ipv4, &blocks(asn_v4)?);
    let ipv6 = routes(ipv6, &blocks(asn_v6)?);
    let packed = pack::pack(&ipv4, &ipv6);
    fs::write(out, &packed).map_err(|error| format!("{out}: {error}"))?;
    println!(
        "{out}: {} bytes, {} IPv4 and {} IPv6 routes",
        packed.len(),
        ipv4.len(),
        ipv6.len()
    );
    Ok(())
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
}

/// The CIDR blocks of a file of ranges, with their AS.
type Blocks<A> = HashMap<Prefix<A>, u32>;

fn blocks<A: Address>(path: &str) -> Result<Blocks<A>, Box<dyn Error>> {
    let text = read(path)?;
    let mut blocks = Blocks::<A>::new();
    for (index, line) in text.lines().enumerate() {
        let Some((mut first, last, asn)) = parse_range(line) else {
            return Err(format!("{path}:{}: not FIRST,LAST,AS: {line}", index + 1).into());
        };
        loop {
            let block = widest_block(first, last);
            blocks.insert(block, asn);
            match block.last().checked_next() {
                Some(next) if next <= last => first = next,
                _ => break,
            }
        }
    }
    Ok(blocks)
}

/// The widest prefix that starts with `first` and ends at `last` or before.
fn widest_block<A: Address>(first: A, last: A) -> Prefix<A> {
    (0..=A::WIDTH)
        .filter_map(|len| Prefix::new(first, len).ok())
        .find(|block| block.last() <= last)
        .expect("one address at least")
}

/// `FIRST,LAST,AS` of a line.
fn parse_range<A: Address>(line: &str) -> Option<(A, A, u32)> {
    let mut fields = line.split(',');
    let first = A::parse(fields.next()?)?;
    let last = A::parse(fields.next()?)?;
    let asn = fields.next()?.parse().ok()?;
    (first <= last).then_some((first, last, asn))
}

/// The prefixes in order and without repetition, with their AS.
fn routes<A: Address>(mut prefixes: Vec<Prefix<A>>, blocks: &Blocks<A>) -> Vec<pack::Route<A>> {
    prefixes.sort_unstable();
    prefixes.dedup();
    let origin = |prefix: Prefix<A>| {
        let covering = (0..=prefix.len())
            .rev()
            .filter_map(|len| Prefix::new_masked(prefix.first(), len).ok());
        let inside =
            (prefix.len() + 1..=A::WIDTH).filter_map(|len| Prefix::new(prefix.first(), len).ok());
        covering
            .chain(inside)
            .find_map(|block| blocks.get(&block))
            .copied()
            .unwrap_or(0)
    };
    prefixes
        .into_iter()
        .map(|prefix| (prefix, origin(prefix)))
        .collect()
}
