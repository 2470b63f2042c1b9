//! `popfib convert`: a table in any format in, the same table in another format out, with `--updates` as it was after these.

use std::path::PathBuf;

use clap::Args;
use popfib_formats::text::parse_time;
use popfib_formats::{LoadOptions, UpdateFiles};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;

use crate::args::{FamilyArg, FileArgs, at_most_one_stdin, is_stdin};
use crate::destination::DestinationArgs;
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
  popfib convert city.csv --columns '*' --to mmdb -o city.mmdb
  popfib convert rib.gz --updates updates.*.gz --until 2026-11-25T12:00:00Z")]
#[command(
    after_long_help = "  popfib convert city.mmdb --columns '*' --to json-lines -o city.jsonl.gz
  popfib convert city.mmdb --columns '*' --to parquet -o city.parquet"
)]
pub(crate) struct ConvertArgs {
    /// Routes of one family
    #[arg(long, value_enum)]
    family: Option<FamilyArg>,

    /// Updates to apply, from files in any order
    ///
    /// MRT or `bgpdump -m`, of the collector of the table: its routes are as they were after the last of them. Each peer's routes change
    /// by its own updates, those before the time of the table are left out, and a session that ends takes its routes with it.
    /// Of a table of several peers all paths are kept, and each prefix has the best path in the end; with --peer it is the
    /// table of that peer. A table without peers is one peer's.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    updates: Vec<PathBuf>,

    /// Apply updates up to this time alone
    ///
    /// Its own included: as 2026-11-25T12:00:00Z, or in seconds since 1970.
    #[arg(long, value_name = "TIME", value_parser = parse_time, requires = "updates")]
    until: Option<u64>,

    #[command(flatten)]
    table: FileArgs,

    #[command(flatten)]
    destination: DestinationArgs,
}

pub(crate) fn run(args: &ConvertArgs) -> Result<Verdict, Failure> {
    let destination = args.destination.open()?;
    let inputs = args.updates.iter().chain(args.table.file());
    at_most_one_stdin(inputs, "table and the updates")?;
    let is_asked = args.updates.iter().any(|file| is_stdin(file));
    let mut asked = args.table.or_stdin(is_asked);
    args.destination.ask(&mut asked.read);
    let updates = (!args.updates.is_empty()).then(|| UpdateFiles {
        files: args.updates.clone(),
        until: args.until,
        max_size: asked.read.max_size,
    });
    let options = LoadOptions {
        image_columns: updates.is_none(),
        updates,
        ..asked.read.options()
    };
    let mut table = table::load(&asked, options)?;
    if let Some(family) = args.family {
        family.keep(&mut table);
    }
    args.destination.write(destination, &table)?;
    Ok(Verdict::Good)
}
