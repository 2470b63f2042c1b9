//! `popfib compile`: a table into an image, which other commands then open with `--fib`.

use std::path::PathBuf;

use clap::Args;
use popfib::Options;

use crate::args::{Keep, TableArgs};
use crate::failure::Failure;
use crate::image::ImagePlace;
use crate::program::Verdict;
use crate::table;

/// Compile a table into an image: a file that commands and programs open without compiling it.
///
/// An image contains the compiled tables of both families, the names of the next hops or the columns of the records, the routes and
/// the name of their source. The file is written under a temporary name and then renamed, so it is complete or
/// not there at all; programs that use the old file keep using it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib compile -o default.fib
  popfib compile --table routes.txt.gz -o routes.fib
  popfib lookup --fib routes.fib 192.0.2.1
  popfib compile --table routes.txt.gz -o small.fib --keep prefixes
  popfib compile --table city.mmdb --columns '*' -o city.fib

The time in the image is that of SOURCE_DATE_EPOCH (seconds since 1970) if this variable is set.")]
pub(crate) struct CompileArgs {
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// What the image has of the table
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Keep::Routes)]
    keep: Keep,

    /// Leading address bits that the direct table resolves, 0 to 24 [default: by table size]
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u8).range(0..=24))]
    direct_bits: Option<u8>,

    /// Compile every route as it is, without route aggregation (paper, section 3)
    #[arg(long)]
    no_aggregation: bool,

    #[command(flatten)]
    table: TableArgs,
}

pub(crate) fn run(args: &CompileArgs) -> Result<Verdict, Failure> {
    let place = ImagePlace::new(&args.output)?;
    let (name, table) = match table::open_image(&args.table)? {
        Some(opened) => (opened.name.clone(), opened.table),
        None => {
            let loaded = table::load_records(args.table.table.as_deref(), &args.table.read)?;
            (loaded.name, loaded.table)
        }
    };
    let options = Options::default()
        .direct_bits(args.direct_bits)
        .aggregation(!args.no_aggregation);
    place.save(&table, &name, &options, args.keep.into())?;
    Ok(Verdict::Good)
}
