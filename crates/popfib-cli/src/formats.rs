//! `popfib formats`: the list of all formats that can be read, with the names and descriptions that the library has for them.

use clap::Args;
use popfib_formats::{AddressFormat, Format, UpdateFormat};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use serde::Serialize;

use crate::forms::FormArgs;
use crate::output::StandardOutput;
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

#[derive(Serialize)]
struct FormatsLine {
    reads: &'static str,
    name: &'static str,
    description: &'static str,
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
        if !output.is_text() {
            output.record(&FormatsLine {
                reads,
                name,
                description,
            })?;
        } else {
            output.cells(&[&reads, &name, &description])?;
        }
    }
    output.flush()?;
    Ok(Verdict::Good)
}
