//! `popfib set split`: lists in, the same addresses as prefixes of one length out.

use std::path::PathBuf;

use clap::Args;
use popfib::Prefix;
use popfib::family::Family;
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;

use super::{SetCommonArgs, SetList, SetRule, finish, load, parse_length, table_of};

/// The maximum number of prefixes that are made: all /24 of IPv4. A few bytes of input can stand for more than any memory holds.
pub(super) const MOST: u64 = 1 << 24;

#[derive(Args)]
pub(super) struct SplitArgs {
    /// Length of the prefixes to make: /24 or 24
    #[arg(value_name = "LENGTH", value_parser = parse_length)]
    length: u8,

    /// Lists; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    common: SetCommonArgs,
}

pub(super) fn run(args: &SplitArgs) -> Result<Verdict, Failure> {
    let destination = args.common.destination.open()?;
    let lists = load(&args.files, &args.common.read, args.common.family)?;
    let result = table_of(
        args.common.family,
        split(args, &lists)?,
        split(args, &lists)?,
    );
    finish(&args.common, destination, &result)
}

/// The prefixes of one family; longer ones stay.
fn split<A: Family>(
    args: &SplitArgs,
    lists: &[SetList],
) -> Result<impl Iterator<Item = Prefix<A>>, Failure> {
    let length = args.length;
    let prefixes = || SetRule::Union.of::<A>(lists);
    if length > A::WIDTH && prefixes().next().is_some() {
        let (family, width) = (A::NAME, A::WIDTH);
        let reason = format!("{family} has at most {width} bits");
        return Err(format!("/{length}: {reason}; --family chooses the other family").into());
    }
    let count = prefixes().fold(0u64, |count, prefix| {
        let bits = length.saturating_sub(prefix.len());
        count.saturating_add(1u64.checked_shl(bits.into()).unwrap_or(u64::MAX))
    });
    if count > MOST {
        let family = A::NAME;
        return Err(format!(
            "{family} would be more than {MOST} prefixes of length {length}; a smaller LENGTH makes fewer"
        )
        .into());
    }
    // The length may be beyond the width of a family that is not asked for; none of its prefixes is used.
    let length = length.min(A::WIDTH);
    Ok(prefixes().flat_map(move |prefix| prefix.subnets(length.max(prefix.len()))))
}
