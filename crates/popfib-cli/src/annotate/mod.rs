//! `popfib annotate`: a stream of addresses in, each with prefix and value out.
//!
//! Addresses come in batches of what lies ready, and the answers of a batch are
//! written before the next is waited for: a slow pipe gets each answer at once,
//! a file goes through in big pieces.

mod answers;
mod form;
mod lines;
mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod routes;
mod sink;
mod source;
mod tails;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use popfib_formats::{AddressBatch, AddressFormat, Column, Input};

use crate::Verdict;
use crate::args::{FibArgs, TableArgs};
use crate::destination::Destination;
use crate::failure::Failure;
use crate::progress;

use routes::Routes;
use sink::Sink;
use source::Source;

/// Annotate addresses with matched prefix and next hop, at the speed of a stream.
///
/// Addresses come from text (one a line), a column of a CSV or TSV file, the packets of a pcap or
/// pcapng file, a column of a Parquet file, or raw records; compressed or not, recognised by
/// content. They are answered in order. `-`, nothing in CSV and null in JSON stand where there is no match.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib annotate addresses.txt.gz > answers.tsv
  tail -f access.log | cut -d' ' -f1 | popfib annotate --value-only
  popfib annotate flows.csv --column src_ip --output csv -o annotated.csv
  popfib annotate capture.pcap --sources --table routes.mrt.gz --output json-lines
  popfib annotate flows.parquet --column dst --output parquet -o annotated.parquet

JSON lines, one object an address: address, prefix and next_hop (null where there is no match).")]
pub(crate) struct AnnotateArgs {
    /// Files of addresses, one behind the other; `-` is standard input [default: -]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Format of the files [default: recognised by content]
    #[arg(long, value_name = "NAME", value_enum)]
    input_format: Option<InputFormat>,

    /// Column of the addresses in a CSV, TSV or Parquet file: its name, or its number from 1 on [default: 1]
    #[arg(long, value_name = "NAME|N", value_parser = parse_column)]
    column: Option<Column>,

    /// Annotate where packets come from, instead of where they go
    #[arg(long)]
    sources: bool,

    /// Form of the answers; csv keeps the columns of a CSV or TSV file, parquet those of a Parquet file
    #[arg(long, value_name = "FORM", value_enum, default_value_t = OutputForm::Text)]
    output: OutputForm,

    /// Leave out the prefix; as text, also the address
    #[arg(long)]
    value_only: bool,

    /// File for the answers, in place of an old one once it is complete; compressed if its name ends
    /// in .gz, .bz2 or .zst [default: standard output]
    #[arg(short = 'o', value_name = "FILE")]
    output_file: Option<PathBuf>,

    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    fib: FibArgs,
}

/// The formats of address files by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InputFormat(AddressFormat);

impl ValueEnum for InputFormat {
    fn value_variants<'a>() -> &'a [Self] {
        const {
            &{
                let mut all = [InputFormat(AddressFormat::Text); AddressFormat::ALL.len()];
                let mut index = 0;
                while index < all.len() {
                    all[index] = InputFormat(AddressFormat::ALL[index]);
                    index += 1;
                }
                all
            }
        }
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()))
    }
}

/// The forms of output by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputForm {
    /// Address, prefix and next hop, separated by tabs
    Text,
    /// The columns of the input and behind them prefix and next_hop
    Csv,
    /// One JSON object a line
    #[value(alias = "jsonl")]
    JsonLines,
    /// The columns of the input and behind them prefix and next_hop, in a Parquet file
    Parquet,
}

fn parse_column(text: &str) -> Result<Column, String> {
    match text.parse() {
        Ok(0) => Err("columns are numbered from 1".to_owned()),
        Ok(number) => Ok(Column::Number(number)),
        Err(_) => Ok(Column::Name(text.to_owned())),
    }
}

/// What is asked about each address, and of whom.
#[derive(Clone, Copy)]
struct Question<'t> {
    routes: &'t Routes,
    args: &'t AnnotateArgs,
}

pub(crate) fn run(args: &AnnotateArgs) -> Result<Verdict, Failure> {
    let stdin = [PathBuf::from("-")];
    let files = if args.files.is_empty() {
        &stdin[..]
    } else {
        &args.files
    };
    let from_stdin = files.iter().filter(|file| file.as_os_str() == "-").count();
    if from_stdin + usize::from(args.table.is_stdin()) > 1 {
        return Err("standard input can be read once only".into());
    }
    // An error that says why, where the value that help tells of would be unknown.
    if cfg!(not(feature = "parquet")) && args.output == OutputForm::Parquet {
        return Err("--output parquet: this popfib was built without Parquet".into());
    }
    args.fib.form.kernel()?;
    let routes = Routes::load(args)?;
    let question = Question {
        routes: &routes,
        args,
    };
    let mut target = Destination::open(args.output_file.as_deref())?;
    let mut sink = None;
    for file in files {
        if let Err(failure) = annotate(file, question, &mut sink, &mut target) {
            // What was asked before the error is answered before it is told.
            target.flush()?;
            return Err(failure);
        }
    }
    if let Some(sink) = sink {
        target.bytes(&sink.finish()?)?;
    }
    target.finish()?;
    Ok(Verdict::Good)
}

/// Annotates one file; the first makes the sink.
fn annotate<'t>(
    path: &Path,
    question: Question<'t>,
    sink: &mut Option<Sink<'t>>,
    target: &mut Destination,
) -> Result<(), Failure> {
    let args = question.args;
    let input = Input::open(path)?.max_size(args.table.read.max_size);
    let name = input.name().escape_debug().to_string();
    // A bar would stand in the midst of answers on the terminal, or of what is typed.
    let shows_bar = input.progress().total().is_some() && !io::stdout().is_terminal();
    let bar = shows_bar.then(|| progress::watch(input.progress()));
    let mut source = Source::open(path, input, args)?;
    let sink = match sink {
        Some(sink) if sink.takes(&source, args) => sink,
        Some(_) => {
            return Err(format!("{name}: its columns are not those of the file before").into());
        }
        None => sink.insert(Sink::new(&source, question)?),
    };
    target.bytes(sink.head())?;

    let mut batch = AddressBatch::new();
    let mut skipped = 0;
    loop {
        match source.next_batch(&mut batch) {
            Ok(false) => break,
            Ok(true) => {
                target.bytes(sink.answer(&batch, &source)?)?;
                if batch.len() < AddressBatch::FULL {
                    target.flush()?;
                }
            }
            Err(Failure::Read(error))
                if args.table.read.skip_invalid && error.is_invalid_line() =>
            {
                skipped += 1;
            }
            Err(error) => return Err(error),
        }
    }
    drop(bar);
    source.note_left_out(&name, skipped);
    Ok(())
}
