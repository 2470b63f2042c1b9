//! `popfib annotate`: a stream of addresses in, each with prefix and value out.
//!
//! Addresses come in batches of what lies ready, and the answers of a batch are
//! written before the next is waited for: a slow pipe gets each answer at once,
//! a file goes through in big pieces.

mod address_text;
mod answers;
mod form;
mod lines;
mod page;
mod tails;
mod target;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use popfib_formats::{
    AddressBatch, AddressFile, AddressFormat, AddressOptions, AddressSource, Column, Input,
    RouteTable, Side,
};

use crate::Verdict;
use crate::args::{FibArgs, TableArgs};
use crate::failure::Failure;
use crate::output::note;
use crate::{progress, table};

use form::{Form, Table};
use lines::Lines;
use target::Target;

/// Annotate addresses with matched prefix and next hop, at the speed of a stream.
///
/// Addresses come from text (one a line), a column of a CSV or TSV file, the packets of a pcap or
/// pcapng file, or raw records; compressed or not, recognised by content. They are answered in
/// order. `-`, nothing in CSV and null in JSON stand where there is no match.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib annotate addresses.txt.gz > answers.tsv
  tail -f access.log | cut -d' ' -f1 | popfib annotate --value-only
  popfib annotate flows.csv --column src_ip --output csv -o annotated.csv
  popfib annotate capture.pcap --sources --table routes.mrt.gz --output jsonl

JSON lines, one object an address: address, prefix and next_hop (null where there is no match).")]
pub(crate) struct AnnotateArgs {
    /// Files of addresses, one behind the other; `-` is standard input [default: -]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Format of the files [default: recognised by content]
    #[arg(long, value_name = "NAME", value_enum)]
    input_format: Option<InputFormat>,

    /// Column of the addresses in a CSV or TSV file: its name, or its number from 1 on [default: 1]
    #[arg(long, value_name = "NAME|N", value_parser = parse_column)]
    column: Option<Column>,

    /// Annotate where packets come from, instead of where they go
    #[arg(long)]
    sources: bool,

    /// Form of the answers; csv keeps the columns of a CSV or TSV file
    #[arg(long, value_name = "FORM", value_enum, default_value_t = OutputForm::Text)]
    output: OutputForm,

    /// Leave out the prefix; as text, also the address
    #[arg(long)]
    value_only: bool,

    /// File for the answers, written beside and put in place when it is whole [default: standard
    /// output]
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
    Jsonl,
}

fn parse_column(text: &str) -> Result<Column, String> {
    match text.parse() {
        Ok(0) => Err("columns are numbered from 1".to_owned()),
        Ok(number) => Ok(Column::Number(number)),
        Err(_) => Ok(Column::Name(text.to_owned())),
    }
}

/// What is asked about each address, and of whom.
struct Question<'t> {
    table: &'t RouteTable,
    fib: &'t FibArgs,
    /// Leave out the prefix.
    value_only: bool,
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
    args.fib.form.kernel()?;
    let table = table::load(&args.table)?;
    let question = Question {
        table: &table,
        fib: &args.fib,
        value_only: args.value_only,
    };
    let mut target = Target::new(args.output_file.as_deref())?;
    let mut annotated = Annotated {
        args,
        question: &question,
        lines: None,
    };
    for file in files {
        let done = annotated.file(file, &mut target);
        if done.is_err() {
            // What was asked before the error is answered before it is told.
            target.flush()?;
        }
        done?;
    }
    target.finish()?;
    Ok(Verdict::Good)
}

/// The files so far.
struct Annotated<'t> {
    args: &'t AnnotateArgs,
    question: &'t Question<'t>,
    /// The lines' form is that of the first file.
    lines: Option<(Form, Lines<'t>)>,
}

impl Annotated<'_> {
    /// Annotates one file.
    fn file(&mut self, path: &Path, target: &mut Target) -> Result<(), Failure> {
        let args = self.args;
        let input = Input::open(path)?.max_size(args.table.max_size);
        let name = input.name().to_owned();
        // A bar would stand in the midst of answers on the terminal, or of what is typed.
        let shows_bar = input.progress().total().is_some() && !io::stdout().is_terminal();
        let bar = shows_bar.then(|| progress::watch(input.progress()));
        let options = AddressOptions {
            column: args.column.clone(),
            side: if args.sources {
                Side::Source
            } else {
                Side::Destination
            },
        };
        let format = args.input_format.map(|format| format.0);
        let mut source = AddressFile::open(input, format, &options)?;
        let lines = self.lines_for(&source, &name, target)?;

        let mut batch = AddressBatch::new();
        let mut skipped = 0;
        loop {
            match source.next_batch(&mut batch) {
                Ok(false) => break,
                Ok(true) => {
                    target.write(lines.lines(&batch)?)?;
                    if batch.len() < AddressBatch::FULL {
                        target.flush()?;
                    }
                }
                Err(error) if args.table.skip_invalid && error.is_invalid_line() => skipped += 1,
                Err(error) => return Err(error.into()),
            }
        }
        drop(bar);
        note_left_out(&name, &source, skipped);
        Ok(())
    }
}

impl<'t> Annotated<'t> {
    /// The lines of a file from `source`, which have to be like those of the files before.
    fn lines_for(
        &mut self,
        source: &AddressFile,
        name: &str,
        target: &mut Target,
    ) -> Result<&mut Lines<'t>, Failure> {
        let form = match self.args.output {
            OutputForm::Text => Form::Text,
            OutputForm::Jsonl => Form::Jsonl,
            OutputForm::Csv => Form::Csv(match source {
                AddressFile::Csv(csv) => Table {
                    delimiter: csv.delimiter(),
                    is_crlf: csv.is_crlf(),
                    has_rows: true,
                    header: csv.header().map(<[u8]>::to_vec),
                },
                _ => Table::of_addresses(),
            }),
        };
        if let Some((first, _)) = &self.lines {
            if *first != form {
                let name = name.escape_debug();
                return Err(format!("{name}: its columns are not those of the file before").into());
            }
        } else {
            target.write(&form.head(self.question.value_only))?;
        }
        let question = self.question;
        let (_, lines) = self
            .lines
            .get_or_insert_with(|| (form.clone(), Lines::new(question, form)));
        Ok(lines)
    }
}

/// Notes what of a file is not in the answers.
fn note_left_out(name: &str, source: &AddressFile, skipped: u64) {
    let name = name.escape_debug();
    let counted =
        |count: u64, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    if skipped > 0 {
        let unit = format!("invalid {}", source.format().unit());
        note(format_args!("{name}: {} skipped", counted(skipped, &unit)));
    }
    if let AddressFile::Pcap(packets) = source
        && packets.not_ip() > 0
    {
        let left_out = counted(packets.not_ip(), "packet");
        note(format_args!(
            "{name}: {left_out} without an IP address left out"
        ));
    }
}
