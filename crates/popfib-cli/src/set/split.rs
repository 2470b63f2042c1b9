//! `popfib set split`: lists as prefixes of one length.

use std::path::PathBuf;

use clap::Args;
use popfib::{Family, Prefix};
use popfib_formats::RouteTable;

use super::{Common, Rule, finish, load, parse_length};
use crate::args;
use crate::failure::Failure;
use crate::program::Verdict;

/// The most prefixes that are made: all /24 of IPv4. A few bytes of input can stand for more than any memory holds.
const MOST: u64 = 1 << 24;

#[derive(Args)]
pub(super) struct SplitArgs {
    /// Length of the prefixes to make: /24 or 24
    #[arg(value_name = "LENGTH", value_parser = parse_length)]
    length: u8,

    /// Lists; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: &SplitArgs) -> Result<Verdict, Failure> {
    let destination = args.common.destination.open()?;
    let lists = load(&args.files.iter().collect::<Vec<_>>(), &args.common.read)?;
    let mut result = RouteTable::default();
    if args.common.family != Some(args::Family::Ipv6) {
        put::<u32>(args, &lists, &mut result)?;
    }
    if args.common.family != Some(args::Family::Ipv4) {
        put::<u128>(args, &lists, &mut result)?;
    }
    finish(&args.common, destination, &result)
}

/// Puts one family into the result.
fn put<A: Family>(
    args: &SplitArgs,
    lists: &[RouteTable],
    to: &mut RouteTable,
) -> Result<(), Failure> {
    let length = args.length;
    let prefixes = || Rule::Union.of::<A>(lists);
    // One that is longer stays.
    let parts = |prefix: Prefix<A>| prefix.subnets(length.min(A::WIDTH).max(prefix.len()));
    let count = prefixes().fold(0u64, |count, prefix| {
        let bits = length.min(A::WIDTH).saturating_sub(prefix.len());
        count.saturating_add(1u64.checked_shl(bits.into()).unwrap_or(u64::MAX))
    });
    if count > MOST {
        let family = A::NAME;
        return Err(format!(
            "{family} would be more than {MOST} prefixes of length {length}; a smaller LENGTH makes fewer"
        )
        .into());
    }
    let name = to.next_hops.intern("");
    let parts = prefixes().flat_map(parts).map(|prefix| (prefix, name));
    *A::of_mut(&mut to.ribs) = parts.collect();
    Ok(())
}
