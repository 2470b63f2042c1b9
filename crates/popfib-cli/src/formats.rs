//! `popfib formats`: the list of all formats that can be read, with the names and descriptions that the library has for them.

use clap::Args;
use popfib_formats::{AddressFormat, Format, UpdateFormat};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;

use crate::forms::FormArgs;
use crate::output::StandardOutput;
use crate::records::text;
use crate::rows::{Alignment, RowForm};

/// List the formats that can be read.
///
/// Columns are what they hold (tables, updates or addresses), name and description.
/// The format of a file is recognised by its content, compressed (gzip, bzip2, zstd) or not. `--format NAME`
/// overrides it for a table, `--input-format NAME` for addresses.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib formats
  popfib formats --json")]
#[command(after_long_help = "
JSON, one object a line: reads (table, updates or addresses), name and
description.")]
pub(crate) struct FormatsArgs {
    #[command(flatten)]
    form: FormArgs,
}

pub(crate) fn run(args: &FormatsArgs) -> Result<Verdict, Failure> {
    let columns = &[Alignment::Left(9), Alignment::Left(14)];
    let names = "reads name description";
    let mut output = StandardOutput::of_form(RowForm::fixed(columns), args.form, names)?;
    let tables = Format::all().map(|format| ("table", format.name(), format.description()));
    let updates =
        UpdateFormat::all().map(|format| ("updates", format.name(), format.description()));
    let addresses =
        AddressFormat::all().map(|format| ("addresses", format.name(), format.description()));
    for (reads, name, description) in tables.chain(updates).chain(addresses) {
        output.values(
            &[],
            &[reads, name, description].map(|cell| Some(text(cell))),
        )?;
    }
    output.end(Verdict::Good)
}
