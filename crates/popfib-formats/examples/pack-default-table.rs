//! Makes the embedded default table: prefixes and AS ranges in, packed bytes out.
//!
//! `cargo run --release -p popfib-formats --example pack-default-table -- PREFIXES ASN_V4 ASN_V6 TABLE NAMES`
//!
//! PREFIXES has one prefix of either family a line. ASN_V4 and ASN_V6 are
//! `FIRST,LAST,AS,NAME` lines: ranges of addresses, taken as the CIDR blocks that
//! they consist of; a few overlap. The AS of a prefix is that of the longest
//! block that covers it; if none does, of the widest block that starts where
//! the prefix starts; else 0. TABLE and NAMES are written. `scripts/default-table` fetches the inputs and runs this.

#[path = "../src/default_table/pack.rs"]
mod pack;
#[path = "../src/default_table/unpack.rs"]
#[allow(dead_code)] // the packer shares its arithmetic, not its reading
mod unpack;

use std::collections::{BTreeSet, HashMap};
use std::env;
use std::error::Error;
use std::fs;
use std::process::ExitCode;

use popfib::{Address, IpPrefix, Prefix};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [prefixes, asn_v4, asn_v6, table, names] = &arguments[..] else {
        eprintln!("usage: pack-default-table PREFIXES ASN_V4 ASN_V6 TABLE NAMES");
        return ExitCode::from(2);
    };
    match run(prefixes, [asn_v4, asn_v6], table, names) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pack-default-table: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(prefixes: &str, asn: [&str; 2], table: &str, names: &str) -> Result<(), Box<dyn Error>> {
    let (mut ipv4, mut ipv6) = (Vec::new(), Vec::new());
    let text = read(prefixes)?;
    for (index, line) in text.lines().enumerate() {
        match line.trim().parse() {
            Ok(IpPrefix::V4(prefix)) => ipv4.push(prefix),
            Ok(IpPrefix::V6(prefix)) => ipv6.push(prefix),
            Err(error) => return Err(format!("{prefixes}:{}: {error}: {line}", index + 1).into()),
        }
    }
    let texts = [read(asn[0])?, read(asn[1])?];
    let ipv4 = routes(ipv4, &blocks(asn[0], &texts[0])?);
    let ipv6 = routes(ipv6, &blocks(asn[1], &texts[1])?);
    let packed = pack::pack(&ipv4, &ipv6);
    fs::write(table, &packed).map_err(|error| format!("{table}: {error}"))?;
    println!(
        "{table}: {} bytes, {} IPv4 and {} IPv6 routes",
        packed.len(),
        ipv4.len(),
        ipv6.len()
    );
    let of = names_of(texts.iter().flat_map(|text| text.lines()))?;
    let ipv6 = ipv6.iter().map(|route| route.1);
    let numbers: BTreeSet<u32> = ipv4.iter().map(|route| route.1).chain(ipv6).collect();
    let numbers: Vec<u32> = numbers.into_iter().collect();
    let packed = pack::pack_names(&numbers, |asn| of.get(&asn).map_or("", |name| name));
    fs::write(names, &packed).map_err(|error| format!("{names}: {error}"))?;
    println!("{names}: {} bytes, {} AS", packed.len(), numbers.len());
    Ok(())
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
}

/// The CIDR blocks of a file of ranges, with their AS.
type Blocks<A> = HashMap<Prefix<A>, u32>;

fn blocks<A: Address>(path: &str, text: &str) -> Result<Blocks<A>, Box<dyn Error>> {
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

/// The name of each AS in these lines.
fn names_of<'l>(lines: impl Iterator<Item = &'l str>) -> Result<HashMap<u32, String>, String> {
    let mut names = HashMap::new();
    for line in lines {
        let mut fields = line.splitn(4, ',').skip(2);
        let asn = fields.next().and_then(|asn| asn.parse().ok());
        let (Some(asn), Some(name)) = (asn, fields.next()) else {
            return Err(format!("not FIRST,LAST,AS,NAME: {line}"));
        };
        let quoted = name
            .strip_prefix('"')
            .and_then(|name| name.strip_suffix('"'));
        let name = quoted.map_or(name.to_owned(), |name| name.replace("\"\"", "\""));
        match names.insert(asn, name.clone()) {
            Some(other) if other != name => return Err(format!("{asn} is {other} and {name}")),
            _ => {}
        }
    }
    Ok(names)
}

/// The prefixes in order and without repetition, with their AS.
fn routes<A: Address>(mut prefixes: Vec<Prefix<A>>, blocks: &Blocks<A>) -> Vec<pack::AsRoute<A>> {
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
