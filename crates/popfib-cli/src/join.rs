//! `popfib join`: several tables and folders of lists in; out comes one image, or one table in another format, whose records have the
//! columns of all.

use std::path::{Path, PathBuf};

use clap::Args;
use popfib::Options;
use popfib_formats::{Input, JoinFiles, WriteOptions};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::progress;

use crate::args::{KeepArg, stem};
use crate::destination::{Destination, DestinationForm, DestinationFormParser, form_by_name};
use crate::image::ImagePlace;
use crate::output::tell;
use crate::table::open;

/// Join tables: every address gets the values of all of them.
///
/// Each table has a name, else that of its file, and its columns are called NAME.COLUMN, or NAME if it has one. A folder is a set of
/// lists: its column has the names of all lists that contain an address, which are those of their files up to
/// the first dot.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib join asn=ASN.mmdb geo=City.mmdb bad=blocklists/ -o all.fib
  popfib join asn=asn.csv geo=City.mmdb --columns asn,geo.postal.code -o all.fib
  popfib join asn=ASN.mmdb geo=City.mmdb --to mmdb -o all.mmdb
  popfib lookup -t all.fib 192.0.2.1")]
pub(crate) struct JoinArgs {
    /// Tables, images and folders of lists
    #[arg(value_name = "[NAME=]FILE", required = true, value_parser = named)]
    tables: Vec<(String, PathBuf)>,

    /// File to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// mmdb, csv, json-lines, parquet or a template: format of the file [default: what its name means; else image]
    #[arg(long, value_name = "FORM", value_parser = DestinationFormParser, conflicts_with = "keep")]
    to: Option<DestinationForm>,

    /// Type of a MaxMind database, which its readers ask for
    ///
    /// GeoLite2-City, for example. With a name that ends in City, Country or ASN, columns that are called so elsewhere (country,
    /// country_code, city, latitude, asn, as_name) become the members that its readers expect (country.iso_code).
    #[arg(hide_short_help = true, long, value_name = "NAME", requires = "to")]
    name: Option<String>,

    /// Description in a MaxMind database [default: those of its sources]
    #[arg(hide_short_help = true, long, value_name = "TEXT", requires = "to")]
    description: Option<String>,

    /// Columns to keep, with commas [default: all]
    ///
    /// By their names in the joined table.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,

    /// Also keep the matched prefix lengths
    ///
    /// Of each table, as the column NAME.length.
    #[arg(long)]
    prefixes: bool,

    /// Take missing values from the next shorter prefix
    ///
    /// A value that is missing in a record is that of the next shorter prefix in the same table that has it.
    #[arg(long)]
    fill: bool,

    /// What the image has of the table
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = KeepArg::Routes)]
    keep: KeepArg,

    /// Skip and count invalid lines instead of stopping
    ///
    /// Also files of a folder that are no lists.
    #[arg(long)]
    skip_invalid: bool,

    /// Clear host bits (10.1.2.3/8 becomes 10.0.0.0/8)
    #[arg(hide_short_help = true, long)]
    mask: bool,

    /// Read IPv4 addresses with leading zeros (010.0.0.1) as decimal numbers
    #[arg(hide_short_help = true, long)]
    leading_zeros: bool,

    /// Give IPv4-mapped addresses the answers of IPv4
    #[arg(hide_short_help = true, long)]
    mapped: bool,

    /// Maximum size of decompressed data, in bytes
    #[arg(hide_short_help = true, long, value_name = "BYTES", default_value_t = Input::DEFAULT_MAX_SIZE)]
    max_size: u64,
}

/// The name and the file of `NAME=FILE`; a file alone has the name of [`stem`].
fn named(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.to_owned(), file.into()))
        }
        None if let Some(name) = stem(text) => Ok((name, text.into())),
        _ => Err("a table needs a name: NAME=FILE".to_owned()),
    }
}

pub(crate) fn run(args: &JoinArgs) -> Result<Verdict, Failure> {
    let asked = args.to.as_ref().map(DestinationForm::name);
    let forms = [&DestinationForm::BY_NAME[..], &["image"]].concat();
    let named = form_by_name(Some(&args.output), asked, &forms)?;
    let named = named.filter(|form| *form != "image");
    let named = named.map(DestinationForm::of).transpose()?;
    let to = match args.to.as_ref().or(named.as_ref()) {
        Some(form) => {
            form.check()?;
            JoinDestination::Form(form, Destination::open(Some(&args.output))?)
        }
        None => JoinDestination::Image(ImagePlace::new(&args.output)?),
    };
    let files = JoinFiles {
        tables: args.tables.clone(),
        columns: args.columns.clone(),
        lengths: args.prefixes,
        fill: args.fill,
        skip_invalid: args.skip_invalid,
        mask: args.mask,
        leading_zeros: args.leading_zeros,
        mapped: args.mapped,
    };
    // The bar of a file ends when the next file is opened.
    let mut bar = None;
    let mut open_next = |path: &Path| {
        drop(bar.take());
        let input = open(path)?.max_size(args.max_size);
        bar = Some(progress::watch(input.progress()));
        Ok(input)
    };
    let joined = files.read(&mut open_next, &mut |name, remarks| tell(name, remarks));
    drop(bar);
    let joined = joined?;
    match to {
        JoinDestination::Image(place) => {
            let options = Options::default();
            place.save(&[(String::new(), joined)], &options, args.keep.into())?;
        }
        JoinDestination::Form(form, destination) => {
            let table = joined.into_routes()?;
            let options = WriteOptions {
                name: args.name.clone(),
                description: args.description.clone(),
                ..WriteOptions::default()
            };
            destination.write_table(&table, form, &options)?;
        }
    }
    Ok(Verdict::Good)
}

/// Where a joined table goes: into an image, or into a file of another format.
enum JoinDestination<'a> {
    Image(ImagePlace<'a>),
    Form(&'a DestinationForm, Destination),
}
