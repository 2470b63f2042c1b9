//! `popfib aggregate`: a smaller table with the same answers.

use clap::{Args, ValueEnum};
use popfib::{Family, aggregate};
use popfib_formats::RouteTable;

use crate::args::FileArgs;
use crate::destination::DestinationArgs;
use crate::failure::Failure;
use crate::output::note;
use crate::program::Verdict;
use crate::progress;
use crate::table::{self, counted};

/// Write a smaller table that answers every address as the table does.
///
/// Addresses without a route remain without one. The number of saved routes is printed on standard error.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib aggregate -o smaller.txt.gz
  popfib aggregate --table routes.txt.gz --method simple > smaller.txt
  popfib diff --effective routes.txt.gz smaller.txt")]
pub(crate) struct AggregateArgs {
    #[command(flatten)]
    table: FileArgs,

    /// How to aggregate
    #[arg(long, value_enum, default_value_t = Method::Ortc)]
    method: Method,

    #[command(flatten)]
    destination: DestinationArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Method {
    /// Optimal Route Table Construction: no table with the same answers has fewer routes
    Ortc,
    /// Remove routes that change no answer and merge adjacent routes with the same next hop (Poptrie paper,
    /// section 3)
    Simple,
}

impl Method {
    /// Aggregates the routes of one family.
    fn aggregate<A: Family>(self, table: &mut RouteTable) {
        let rib = A::of_mut(&mut table.ribs);
        let aggregated = match self {
            Self::Ortc => aggregate::ortc(rib),
            Self::Simple => aggregate::simple(rib),
        };
        if !rib.is_empty() {
            let saved = rib.len() - aggregated.len();
            note(format_args!(
                "{}: {} in, {} out, {saved} saved ({:.1} %)",
                A::NAME.to_ascii_lowercase(),
                counted(rib.len() as u64, "route"),
                aggregated.len(),
                100.0 * saved as f64 / rib.len() as f64
            ));
        }
        *rib = aggregated;
    }
}

pub(crate) fn run(args: &AggregateArgs) -> Result<Verdict, Failure> {
    let destination = args.destination.open()?;
    let mut table = table::load_all(&args.table)?;
    let bar = progress::step("aggregating {spinner}");
    args.method.aggregate::<u32>(&mut table);
    args.method.aggregate::<u128>(&mut table);
    drop(bar);
    args.destination.write(destination, &table)?;
    Ok(Verdict::Good)
}
