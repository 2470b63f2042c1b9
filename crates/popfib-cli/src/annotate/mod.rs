//! `popfib annotate`: files with addresses in; out come their lines, each with the answers of the tables to its addresses.
//!
//! `stream` reads the files and hands on batches of addresses, [`Sink`] makes the bytes of the output, and [`Annotator`] stands
//! between them. Only lines are annotated on several threads; a Parquet file is encoded on one.

mod key;
#[cfg(feature = "parquet")]
mod parquet;
mod sink;

use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::thread;

use clap::{Arg, Args, ValueEnum};
use popfib_formats::{AddressBatch, Anonymizer};
use popfib_program::failure::{Failure, NO_PARQUET};
use popfib_program::program::Verdict;

use crate::args::{PrefixLengths, kernel};
use crate::condition;
use crate::destination::{Destination, form_by_name};
use crate::forms::{Form, FormArgs, with_parquet};
use crate::screen::Screen;
use crate::stream::follower::Follower;
use crate::stream::lines::{LineBuffers, Query};
use crate::stream::painter::Painter;
use crate::stream::seen::FilesSeen;
use crate::stream::source::StreamSource;
use crate::stream::table::{NamedTable, with_same_columns};
use crate::stream::table_column::TableChoice;
use crate::stream::tables::TablesArgs;
use crate::stream::{self, Consumer, InputArgs, ReadTextAs, StreamCounts, parallel};

use sink::Sink;

/// Append prefix and value to each line that has an address.
///
/// Every line of a log, list, CSV or JSON file is printed once, in order and unchanged, followed by a tab,
/// the prefix, a tab and the value. If the line has no address or nothing matches, both are `-`. CSV and TSV
/// files (recognised by name, heading, --column or --input-format) get new columns, JSON objects get new members.
/// Addresses are found anywhere in a line, also with ports, in brackets or in quotes. For packets of pcap and
/// pcapng files, raw records and columns of Parquet files, ADDRESS, PREFIX and VALUE are printed. All files
/// may be compressed.
#[derive(Args)]
#[command(mut_arg("to", to))]
#[command(arg(condition::arg()))]
#[command(after_help = "\
Examples:
  popfib annotate access.log > annotated.log
  popfib annotate flows.csv --column src_ip --column dst_ip -o annotated.csv
  popfib annotate eve.json --path src_ip --path dest_ip > annotated.json
  popfib annotate -t asn=ASN.mmdb -t country=countries.csv access.log
  popfib annotate capture.pcap --sources --to json-lines
  popfib annotate access.log --anonymize key -t country.csv > shared.log")]
#[command(after_long_help = "  popfib annotate firewall.log --address all
  popfib annotate flows.parquet --column dst --to parquet -o annotated.parquet
  tail -f access.log | popfib annotate --live /run/popfib.sock")]
pub(crate) struct AnnotateArgs {
    #[command(flatten)]
    form: FormArgs,

    /// Whether the name of the file means CSV, which the lines of a text do not become.
    #[arg(skip)]
    is_named_csv: bool,

    /// Print the value alone
    ///
    /// Without the prefix, and in text and JSON also without the line.
    #[arg(long)]
    value_only: bool,

    /// Replace all addresses of each line, prefix-preserving
    ///
    /// By Crypto-PAn with the key of this file, 32 bytes or 64 hexadecimal digits: whoever has it can restore the addresses. Two
    /// addresses have as many first bits in common as before. Answers are those to the original addresses, and have no
    /// prefixes; without --table and --columns there are none.
    #[arg(long, value_name = "KEYFILE", conflicts_with_all = ["cut", "value_only"])]
    anonymize: Option<PathBuf>,

    /// Cut all addresses of each line to so many bits
    ///
    /// /24 or /24,/48: the length of IPv4 and that of IPv6, /48 unless it is given. Otherwise as --anonymize.
    #[arg(long, value_name = "LENGTHS", conflicts_with = "value_only")]
    cut: Option<PrefixLengths>,

    /// Number of threads; 0 uses all cores
    ///
    /// Lines keep their order.
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,

    /// Output file [default: standard output]
    ///
    /// It is compressed if its name ends in .gz, .bz2 or .zst. An old file is replaced when the new one is complete.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    tables: TablesArgs,

    #[command(flatten)]
    table_column: TableChoice,
}

/// `--to` of this command, which has forms that follow the input.
fn to(to: Arg) -> Arg {
    let help = "Format of the output [default: what its file's name means; else that of the input]";
    let rest = "Text is the lines of the input, each followed by prefix and value after tabs. CSV has the columns of a CSV or TSV file, \
                Parquet those of a Parquet file, of other input the address, and columns for prefix and value. JSON has the objects of \
                JSON lines, of other input one with the address, and of lines the line as `message`, and members for both.";
    with_parquet(to)
        .help(help)
        .long_help(format!("{help}\n\n{rest}"))
}

impl AnnotateArgs {
    /// What replaces the addresses of the output, if anything does.
    fn anonymizer(&self) -> Result<Option<Arc<Anonymizer>>, Failure> {
        let anonymizer = match (&self.anonymize, self.cut) {
            (Some(file), _) => Anonymizer::crypto_pan(&key::read(file)?),
            (None, Some(PrefixLengths { ipv4, ipv6 })) => Anonymizer::cut(ipv4, ipv6),
            (None, None) => return Ok(None),
        };
        Ok(Some(Arc::new(anonymizer)))
    }
}

pub(crate) fn run(mut args: AnnotateArgs) -> Result<Verdict, Failure> {
    let asked = args.form.asked().and_then(|form| form.to_possible_value());
    let asked = asked.as_ref().map(|value| value.get_name());
    match form_by_name(
        args.output.as_deref(),
        asked,
        &["csv", "json-lines", "parquet"],
    )? {
        Some("csv") => args.is_named_csv = true,
        Some("json-lines") => args.form.ask(Form::JsonLines),
        Some(_) => args.form.ask(Form::Parquet),
        None => {}
    }
    args.input
        .check(args.tables.on_stdin(), &args.tables.read)?;
    // The value exists in every build, so that the error says why it does not work; otherwise clap would call it unknown.
    if cfg!(not(feature = "parquet")) && args.form.asked() == Some(Form::Parquet) {
        return Err(format!("--to parquet: {NO_PARQUET}").into());
    }
    let table_column = Arc::new(mem::take(&mut args.table_column));
    args.tables.choose_by(&table_column, &mut args.input)?;
    let kernel = kernel()?;
    let names = OnceLock::new();
    let make = |tables| with_same_columns(tables, &names);
    let anonymizer = args.anonymizer()?;
    // A prefix would tell the first bits of its address.
    let with_prefixes = !args.value_only && anonymizer.is_none();
    let is_asked = anonymizer.is_none() || args.tables.is_asked();
    let is_text = args.form.asked().is_none_or(|form| form == Form::Text);
    if is_text && args.output.is_none() && Screen::stdout().is_terminal {
        args.tables.name_numbers();
    }
    let args = &args;
    let (tables, follower) = match (is_asked, args.input.is_stream()) {
        (true, true) => args.tables.follow(with_prefixes, &[], make)?,
        (true, false) => (make(args.tables.load(with_prefixes)?)?, None),
        (false, _) => (make(Vec::new())?, None),
    };
    let mut annotator = Annotator {
        args,
        follower,
        query: Query {
            tables,
            table_column,
            kernel,
            cells: args.input.cells(),
            takes_all: args.input.takes_all(),
            anonymizer,
        },
        target: Destination::open(args.output.as_deref())?,
        sink: None,
        painter: None,
    };
    let mut seen = FilesSeen::default();
    let read = &args.tables.read;
    for file in &args.input.files() {
        let answered = stream::read(file, &args.input, read, &mut annotator, &mut seen);
        if let Err(failure) = answered {
            // What was asked before the error is answered before it is reported.
            annotator.target.flush()?;
            return Err(failure);
        }
    }
    if let Some(sink) = annotator.sink {
        annotator.target.bytes(&sink.finish()?)?;
    }
    annotator.query.table_column.note();
    annotator.target.flush()?;
    seen.finish(false)?;
    annotator.target.finish()?;
    Ok(Verdict::Good)
}

/// Writes what the sink makes of each batch. The sink is made for the first file.
struct Annotator<'t> {
    args: &'t AnnotateArgs,
    follower: Option<Follower<'t, Arc<[NamedTable]>>>,
    query: Query,
    target: Destination,
    sink: Option<Sink>,
    /// What colours answers, if anything does.
    painter: Option<Painter>,
}

/// The same bytes, coloured if that is asked for.
fn painted<'b>(painter: &'b mut Option<Painter>, bytes: &'b [u8]) -> &'b [u8] {
    match painter {
        Some(painter) => painter.paint(bytes),
        None => bytes,
    }
}

impl Consumer for Annotator<'_> {
    fn read_text_as(&self) -> ReadTextAs {
        match self.args.form.asked() {
            Some(Form::Csv) => ReadTextAs::Table,
            _ => ReadTextAs::Any,
        }
    }

    fn looks_up(&self) -> bool {
        !self.query.tables.is_empty()
    }

    fn writes(&self) -> bool {
        matches!(self.target, Destination::Stdout(_))
    }

    fn open(&mut self, name: &str, source: &StreamSource) -> Result<(), Failure> {
        self.query
            .table_column
            .open(name, source, &self.args.input)?;
        match &mut self.sink {
            Some(sink) if sink.takes(source, self.args, &self.query) => {
                self.target.bytes(&sink.begin(name, source))
            }
            Some(_) => Err(format!(
                "{name}: its columns are not those of the file before; --to json-lines takes both"
            )
            .into()),
            none => {
                let (sink, head) = Sink::new(name, source, self.args, &self.query)?;
                let sink = none.insert(sink);
                let is_text = sink.as_lines().is_some_and(|lines| lines.is_text());
                if is_text && self.target.screen().is_coloured {
                    self.painter = Some(Painter::new(&self.query));
                }
                self.target.bytes(&head)?;
                self.target.bytes(&sink.begin(name, source))
            }
        }
    }

    fn take_all(
        &mut self,
        source: &mut StreamSource,
        skip: &(dyn Fn(&Failure) -> bool + Sync),
        count: &StreamCounts,
    ) -> Option<Result<(), Failure>> {
        let threads = match self.args.threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let lines = self.sink.as_mut().and_then(Sink::as_lines);
        let lines = RwLock::new(lines.filter(|_| threads > 1)?);
        let Self {
            target,
            painter,
            follower,
            query,
            ..
        } = self;
        let follower = follower
            .as_mut()
            .map(|follower| Mutex::new((follower, query)));
        let work = |batch: &AddressBatch, buffers: &mut LineBuffers| {
            count.add(batch);
            if let Some(follower) = &follower {
                let mut follower = follower.lock().unwrap_or_else(PoisonError::into_inner);
                let (follower, query) = &mut *follower;
                if let Some(tables) = follower.newer() {
                    query.tables = tables;
                    let mut lines = lines.write().unwrap_or_else(PoisonError::into_inner);
                    lines.use_tables(query.tables.clone());
                }
            }
            let lines = lines.read().unwrap_or_else(PoisonError::into_inner);
            lines.lines(batch, buffers).map(drop)
        };
        let write = |bytes: &[u8], is_full: bool| {
            target.bytes(painted(painter, bytes))?;
            if is_full { Ok(()) } else { target.flush() }
        };
        Some(parallel::run(source, threads, skip, work, write))
    }

    fn take(&mut self, batch: &AddressBatch, source: &StreamSource) -> Result<bool, Failure> {
        if let Some(sink) = &mut self.sink {
            if let Some(tables) = self.follower.as_mut().and_then(Follower::newer) {
                self.query.tables = tables;
                sink.use_tables(self.query.tables.clone());
            }
            let answer = sink.answer(batch, source)?;
            self.target.bytes(painted(&mut self.painter, answer))?;
        }
        if !batch.is_full() {
            self.target.flush()?;
        }
        Ok(true)
    }
}
