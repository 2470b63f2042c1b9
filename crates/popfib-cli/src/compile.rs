//! `popfib compile`: tables in, an image out. Other commands open it as their table, without compiling it again.

use std::path::PathBuf;

use clap::Args;
use popfib::Options;
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;

use crate::args::{KeepArg, SizeArg};
use crate::destination::form_by_name;
use crate::image::ImagePlace;
use crate::stream::tables::{self, TablesArgs};

/// Compile tables into an image, a file that is opened at once.
///
/// Commands and programs open it without compiling it. An image contains one table or several, each with the
/// compiled tables of both families, the columns of the records, the routes and what is known of their source. The
/// file is written under a temporary name and then renamed, so it is complete or not there at all; programs that
/// use the old file keep using it.
#[derive(Args)]
#[command(arg(tables::files()))]
#[command(after_help = "\
Examples:
  popfib compile -o default.fib
  popfib compile routes.txt.gz -o routes.fib
  popfib lookup -t routes.fib 192.0.2.1
  popfib compile city.mmdb --columns '*' -o city.fib")]
#[command(
    after_long_help = "  popfib compile routes.txt.gz -o small.fib --keep prefixes
  popfib compile asn=asn.csv geo=city.mmdb -o two.fib
  popfib lookup -t two.fib --vrf geo 192.0.2.1

The time in the image is that of SOURCE_DATE_EPOCH (seconds since 1970) if this
variable is set."
)]
pub(crate) struct CompileArgs {
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// What the data is, for whoever gets the image
    ///
    /// [default: what a MaxMind database says of itself]
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// The terms that the data is under, for whoever gets the image
    #[arg(long, value_name = "TEXT")]
    licence: Option<String>,

    /// What the image has of the table
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = KeepArg::Routes)]
    keep: KeepArg,

    /// Leading address bits that the direct table resolves, 0 to 24
    ///
    /// [default: by table size]
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u8).range(0..=24))]
    direct_bits: Option<u8>,

    /// Compile every route as it is, without route aggregation
    ///
    /// Section 3 of the paper.
    #[arg(long)]
    no_aggregation: bool,

    /// What the compiled tables trade memory for
    ///
    /// docs/performance.md has the figures.
    #[arg(long, value_name = "SIZE", value_enum, default_value_t)]
    size: SizeArg,

    #[command(flatten)]
    tables: TablesArgs,
}

pub(crate) fn run(args: &CompileArgs) -> Result<Verdict, Failure> {
    form_by_name(Some(&args.output), None, &["image"])?;
    let place = ImagePlace::new(&args.output)?;
    let mut named = Vec::new();
    for (name, mut table) in args.tables.read()? {
        for source in &mut table.sources {
            if let Some(description) = &args.description {
                source.description.clone_from(description);
            }
            if let Some(licence) = &args.licence {
                source.licence.clone_from(licence);
            }
        }
        named.push((name.unwrap_or_default(), table));
    }
    let options = Options::default()
        .direct_bits(args.direct_bits)
        .aggregation(!args.no_aggregation)
        .size(args.size.into());
    place.save(&named, &options, args.keep.into())?;
    Ok(Verdict::Good)
}
