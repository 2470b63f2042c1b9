//! `popfib convert`: a table in another form.

use clap::Args;

use crate::args::{Family, FileArgs, TableArgs};
use crate::destination::DestinationArgs;
use crate::failure::Failure;
use crate::program::Verdict;
use crate::table;

/// Write a table in another format.
///
/// Routes are IPv4 before IPv6, each in prefix order. With several columns (--columns) csv, json-lines, mmdb and
/// parquet have them all; in a MaxMind database they are maps and arrays again, of the types that they had.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib convert routes.txt.gz --to json-lines > routes.jsonl
  popfib convert --to pfx2as -o origins.pfx2as.gz
  popfib convert routes.txt --mask | popfib info -
  popfib convert country.mmdb --to '{prefix} {country.iso_code};'
  popfib convert city.csv --columns '*' --to mmdb -o city.mmdb")]
#[command(after_long_help = "\
  popfib convert city.mmdb --columns '*' --to json-lines -o city.jsonl.gz
  popfib convert city.mmdb --columns '*' --to parquet -o city.parquet")]
pub(crate) struct ConvertArgs {
    /// Routes of one family
    #[arg(long, value_enum)]
    family: Option<Family>,

    #[command(flatten)]
    table: FileArgs,

    #[command(flatten)]
    destination: DestinationArgs,
}

pub(crate) fn run(args: &ConvertArgs) -> Result<Verdict, Failure> {
    let destination = args.destination.open()?;
    let mut asked = TableArgs::clone(&args.table);
    args.destination.ask(&mut asked.read);
    let mut table = table::load_all(&asked)?;
    if let Some(family) = args.family {
        family.keep(&mut table);
    }
    args.destination.write(destination, &table)?;
    Ok(Verdict::Good)
}
