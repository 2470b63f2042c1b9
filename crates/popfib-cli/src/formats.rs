//! `popfib formats`: what can be read.

use clap::Args;
use popfib_formats::Format;
use serde::Serialize;

use crate::Verdict;
use crate::failure::Failure;
use crate::output::Output;

/// List the formats of tables that can be read: name, and what it is.
///
/// A file's format is recognised by its content, compressed (gzip, bzip2, zstd) or not; `--format
/// NAME` beside `--table` overrides that.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib formats
  popfib formats --json

JSON, one object a line: name and description.")]
pub(crate) struct FormatsArgs {
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line {
    name: &'static str,
    description: &'static str,
}

pub(crate) fn run(args: &FormatsArgs) -> Result<Verdict, Failure> {
    let mut output = Output::new();
    for format in Format::all() {
        let (name, description) = (format.name(), format.description());
        if args.json {
            output.json(&Line { name, description })?;
        } else {
            output.text(format_args!("{name:<16}{description}\n"))?;
        }
    }
    output.flush()?;
    Ok(Verdict::Good)
}
