//! `popfib-lab info`: a Poptrie in numbers, those of the paper's Table 2, in any form.

use clap::Args;
use popfib::Rib;
use popfib_baselines::Key;
use popfib_cli::args::TableArgs;
use popfib_cli::failure::Failure;
use popfib_cli::info::{FamilyInfo, Info, Shape};
use popfib_cli::program::Verdict;
use popfib_cli::table;
use popfib_eval::Algorithm;

use crate::args::FibArgs;
use crate::structures::compile;

/// Compile the table into a Poptrie of any form and print its size for each family.
///
/// The numbers are those of `popfib info`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib-lab info --table routes.txt.gz --direct-bits 18
  popfib-lab info --no-leafvec --no-aggregation --direct-bits 0 --json

JSON, one object: ipv4 and ipv6, each with routes, next_hops, nodes, leaves, direct_bits, bytes,
compile_ms, rib_bytes.")]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    fib: FibArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &InfoArgs) -> Result<Verdict, Failure> {
    if let Algorithm::Baseline(other) = args.fib.form.algorithm()? {
        let name = other.name();
        let reason =
            format!("{name} has no nodes and leaves as a Poptrie has them: see `popfib-lab bench`");
        return Err(reason.into());
    }
    let table = table::load(&args.table)?;
    let (ipv4, ipv6) = (
        family(&table.ipv4, &args.fib)?,
        family(&table.ipv6, &args.fib)?,
    );
    Info::of_table(ipv4, ipv6).print(args.json, false)
}

fn family<A: Key>(rib: &Rib<A>, args: &FibArgs) -> Result<FamilyInfo, Failure> {
    let compiled = compile(rib, args.direct_bits, &args.form)?;
    let shape = Shape {
        nodes: compiled.fib.node_count(),
        leaves: compiled.fib.leaf_count(),
        direct_bits: compiled.fib.direct_bits(),
        bytes: compiled.fib.bytes(),
    };
    Ok(FamilyInfo::new(rib, shape, compiled.compile_time))
}
