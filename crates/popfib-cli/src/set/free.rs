//! `popfib set free`: a prefix or range and lists of used prefixes in, the free prefixes out.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use popfib::family::Family;
use popfib::{IpPrefix, Prefix, algebra};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;

use super::split::MOST;
use super::{SetCommonArgs, SetList, SetRule, finish, load, parse_length, table_of};
use crate::args::at_least_one;
use crate::table;

/// What messages say that the first argument is.
const SPACE: &str = "SPACE is a prefix, a range or an address";

#[derive(Args)]
pub(super) struct FreeArgs {
    /// Where to look: a prefix, or a range of addresses
    #[arg(value_name = "SPACE")]
    space: String,

    /// Lists of what is used; `-` is standard input
    #[arg(value_name = "USED", required = true)]
    used: Vec<PathBuf>,

    /// Print the first free prefix of this length
    #[arg(long, value_name = "BITS", value_parser = parse_length)]
    length: Option<u8>,

    /// Print the first N free prefixes of that length
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "length", default_value = "1")]
    count: NonZeroUsize,

    /// Print the N largest free prefixes, in prefix order
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "length")]
    largest: Option<NonZeroUsize>,

    #[command(flatten)]
    common: SetCommonArgs,
}

pub(super) fn run(args: &FreeArgs) -> Result<Verdict, Failure> {
    if args.count.get() as u64 > MOST {
        return Err(format!("--count {}: at most {MOST} prefixes are made", args.count).into());
    }
    let destination = args.common.destination.open()?;
    let space = table::prefixes_of_text(&args.space, SPACE, &args.common.read)?;
    let lists = load(&args.used, &args.common.read, args.common.family)?;
    let (ipv4, ipv6) = (free(args, &space, &lists)?, free(args, &space, &lists)?);
    let result = table_of(args.common.family, ipv4.into_iter(), ipv6.into_iter());
    finish(&args.common, destination, &result)
}

/// The free prefixes of one family that the options ask for.
fn free<A: Family>(
    args: &FreeArgs,
    space: &[IpPrefix],
    lists: &[SetList],
) -> Result<Vec<Prefix<A>>, Failure> {
    let space = space.iter().filter_map(|&prefix| A::prefix(prefix));
    let space: Vec<Prefix<A>> = space.collect();
    if space.is_empty() {
        return Ok(Vec::new());
    }
    let free = algebra::difference(space, SetRule::Union.of(lists));
    Ok(match (args.length, args.largest) {
        (Some(length), _) if length > A::WIDTH => {
            let (family, width) = (A::NAME, A::WIDTH);
            return Err(format!("--length {length}: {family} has at most {width} bits").into());
        }
        // Free space comes in the largest prefixes possible, so a free prefix of this length lies in one of them.
        (Some(length), _) => free
            .flat_map(|prefix| prefix.subnets(length))
            .take(args.count.get())
            .collect(),
        (None, Some(largest)) => {
            let mut all: Vec<_> = free.collect();
            all.sort_by_key(Prefix::len);
            all.truncate(largest.get());
            all
        }
        (None, None) => free.collect(),
    })
}
