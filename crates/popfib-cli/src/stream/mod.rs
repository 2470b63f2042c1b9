//! What `annotate`, `grep`, `count` and `lookup` share: files and pipes in, batches of their addresses to a [`Consumer`] out; and
//! the tables that answer them.
//!
//! A batch is what lies ready, and its answers are written before more is waited for: a slow pipe gets each answer at once, and a
//! file goes through in large batches.

pub(crate) mod answer_texts;
pub(crate) mod answers;
mod cells;
pub(crate) mod follower;
pub(crate) mod form;
pub(crate) mod lines;
pub(crate) mod mapped;
mod members;
pub(crate) mod output_buffer;
pub(crate) mod painter;
pub(crate) mod parallel;
pub(crate) mod row_part;
mod rows;
pub(crate) mod seen;
pub(crate) mod source;
pub(crate) mod table;
pub(crate) mod table_column;
mod table_texts;
pub(crate) mod tables;

pub(crate) use rows::LineLead;

#[cfg(unix)]
use std::fs::{self, Metadata};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use popfib::family::ByFamily;
use popfib_formats::addresses::{AddressPick, ColumnId, LinePart, PacketSide};
use popfib_formats::{AddressBatch, AddressFormat, AddressOptions, Input};
use popfib_program::failure::Failure;
use popfib_program::progress;
use popfib_table::Ribs;

use crate::args::{ReadArgs, is_stdin};
use crate::output::note;
use crate::places::set_of;
#[cfg(unix)]
use popfib_program::files::metadata;

use self::seen::FilesSeen;
use self::source::StreamSource;

/// Which files to read, and where in them the addresses are.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Where addresses are")]
pub(crate) struct InputArgs {
    /// Files with addresses; `-` is standard input [default: -]
    #[arg(value_name = "FILE", help_heading = None::<&str>)]
    pub(crate) files: Vec<PathBuf>,

    /// Address of a line to use [default: 1; for grep: all]
    ///
    /// 1 is the first and so on. With --not-in the default is last.
    #[arg(long, value_name = "N|last|all", value_parser = parse_pick)]
    address: Option<AddressPick>,

    /// Pass over the addresses of this list
    ///
    /// As if they were not in the line. The list has any format of tables; several may be given. A list of one's own proxies
    /// finds the client in X-Forwarded-For.
    #[arg(long, value_name = "LIST")]
    not_in: Vec<PathBuf>,

    /// Whether lines end with a zero byte.
    #[arg(skip)]
    pub(crate) ends_with_zero: bool,

    /// The column of a Parquet file that is the text of its rows.
    #[arg(skip)]
    pub(crate) row_text: Option<ColumnId>,

    /// The prefixes of these lists, once they are read.
    #[arg(skip)]
    passed_over: OnceLock<Arc<ByFamily<Ribs>>>,

    /// Use the address in this field of a line, counted from 1
    ///
    /// May be given several times.
    #[arg(long, value_name = "N", value_parser = parse_number, conflicts_with_all = ["path", "column"])]
    field: Vec<usize>,

    /// Delimiter of fields or columns, one byte or `\t`
    ///
    /// [default: blanks and tabs between fields; between columns a tab, comma or semicolon, whichever is in the first line]
    #[arg(long, value_name = "BYTE", value_parser = parse_delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// Use the address at this path of JSON objects (src.ip)
    ///
    /// Keys may have dots of their own. May be given several times.
    #[arg(long, value_name = "PATH", conflicts_with = "column")]
    path: Vec<String>,

    /// Use this column of a CSV, TSV or Parquet file
    ///
    /// Its name, or its number counted from 1; may be given several times [default: that of the first address].
    #[arg(long, value_name = "NAME|N", value_parser = parse_column)]
    column: Vec<ColumnId>,

    /// Look up the source addresses of packets
    #[arg(long)]
    sources: bool,

    /// Look up the destination addresses of packets (the default)
    ///
    /// With --sources, both: first columns for the source, then for the destination.
    #[arg(long, conflicts_with_all = ["field", "path", "column"])]
    destinations: bool,

    /// Look up IPv4-mapped IPv6 addresses (::ffff:192.0.2.1) as IPv4
    #[arg(long)]
    pub(crate) unmap: bool,

    /// Format of the files [default: recognised by name and content]
    #[arg(long, value_name = "NAME", value_parser = input_format())]
    input_format: Option<AddressFormat>,
}

/// Parses the name of a format of address files.
fn input_format() -> impl TypedValueParser<Value = AddressFormat> {
    let names: Vec<_> = AddressFormat::all().map(|format| format.name()).collect();
    PossibleValuesParser::new(names).try_map(|name| name.parse::<AddressFormat>())
}

fn parse_number(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a number from 1 on is needed".to_owned()),
        Ok(number) => Ok(number),
    }
}

fn parse_pick(text: &str) -> Result<AddressPick, String> {
    match text {
        "first" => Ok(AddressPick::Nth(1)),
        "last" => Ok(AddressPick::Last),
        "all" => Ok(AddressPick::All),
        number => Ok(AddressPick::Nth(parse_number(number)?)),
    }
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte] => Ok(*byte),
        _ => Err("one byte is needed".to_owned()),
    }
}

pub(crate) fn parse_column(text: &str) -> Result<ColumnId, String> {
    match text.parse() {
        Ok(0) => Err("columns are numbered from 1".to_owned()),
        Ok(number) => Ok(ColumnId::Number(number)),
        Err(_) => Ok(ColumnId::Name(text.to_owned())),
    }
}

impl InputArgs {
    /// The files; standard input if none is given.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        match &self.files[..] {
            [] => vec![PathBuf::from("-")],
            files => files.to_vec(),
        }
    }

    /// Whether more input may come for as long as the command runs, as from a pipe.
    pub(crate) fn is_stream(&self) -> bool {
        let goes_on = |file: &PathBuf| is_stdin(file) || !(file.is_file() || file.is_dir());
        self.files().iter().any(goes_on)
    }

    /// Checks that standard input is read once, and that there is something for a delimiter to separate; reads the lists of
    /// `--not-in`.
    pub(crate) fn check(&self, tables_on_stdin: usize, read: &ReadArgs) -> Result<(), Failure> {
        let files = self.files();
        let from_stdin = files.iter().chain(&self.not_in);
        let from_stdin = from_stdin.filter(|file| is_stdin(file)).count();
        if from_stdin + tables_on_stdin > 1 {
            return Err("standard input can be read once only; a file has to have its name".into());
        }
        if self.delimiter.is_some() && self.field.is_empty() && self.column.is_empty() {
            return Err("--delimiter needs --field or --column".into());
        }
        if !self.not_in.is_empty() {
            let mut prefixes = Vec::new();
            for list in &self.not_in {
                prefixes.extend(crate::table::prefixes_of_file(list, read)?);
            }
            let passed_over = || Arc::new(set_of(&prefixes));
            self.passed_over.get_or_init(passed_over);
        }
        Ok(())
    }

    /// Whether a column is asked for, so that text is read as a table.
    fn is_column(&self) -> bool {
        !self.column.is_empty()
    }

    fn format(&self) -> Option<AddressFormat> {
        let of_path = (!self.path.is_empty()).then_some(AddressFormat::JSON_LINES);
        self.input_format.or(of_path)
    }

    fn options(&self, read_as: ReadTextAs, looks_up: bool) -> AddressOptions {
        let fields = self
            .field
            .iter()
            .map(|&field| LinePart::Field(field, self.delimiter));
        let paths = self.path.iter();
        let paths = paths.map(|path| LinePart::Path(path.clone()));
        AddressOptions {
            columns: self.column.clone(),
            delimiter: self.delimiter,
            is_table: read_as == ReadTextAs::Table,
            parts: fields.chain(paths).collect(),
            chooses: looks_up
                && read_as != ReadTextAs::AllOfLines
                && self.address.is_none()
                && self.not_in.is_empty()
                && [self.field.len(), self.path.len(), self.column.len()] == [0; 3],
            pick: self.address.unwrap_or(match read_as {
                ReadTextAs::AllOfLines => AddressPick::All,
                _ if self.not_in.is_empty() => AddressPick::Nth(1),
                _ => AddressPick::Last,
            }),
            not_in: self.passed_over.get().cloned(),
            unmap: self.unmap,
            side: match (self.sources, self.destinations) {
                (true, true) => PacketSide::Both,
                (true, false) => PacketSide::Source,
                (false, _) => PacketSide::Destination,
            },
            ..AddressOptions::default()
        }
    }

    /// Whether a line may have several addresses in one cell.
    pub(crate) fn takes_all(&self) -> bool {
        self.address == Some(AddressPick::All)
    }

    /// The names of the cells of a row; a single cell has an empty name.
    pub(crate) fn cells(&self) -> Vec<String> {
        if self.sources && self.destinations {
            return vec!["source".to_owned(), "destination".to_owned()];
        }
        let columns = self.column.iter().map(|column| match column {
            ColumnId::Name(name) => name.clone(),
            ColumnId::Number(number) => format!("column{number}"),
        });
        let fields = self.field.iter().map(|number| format!("field{number}"));
        let paths = self.path.iter().cloned();
        let cells: Vec<String> = columns.chain(fields).chain(paths).collect();
        if cells.len() < 2 {
            vec![String::new()]
        } else {
            cells
        }
    }
}

/// How text is read if its format is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadTextAs {
    /// As the format that its name and its beginning say.
    Any,
    /// As a table, if its first line has a delimiter.
    Table,
    /// As lines, whatever it is.
    Lines,
    /// As lines, of which all addresses are taken unless `--address` says which.
    AllOfLines,
}

/// What is done with a stream.
pub(crate) trait Consumer {
    /// How text is read.
    fn read_text_as(&self) -> ReadTextAs {
        ReadTextAs::Any
    }

    /// Whether addresses are looked up, so that it matters which.
    fn looks_up(&self) -> bool {
        true
    }

    /// Whether it writes to standard output before the file ends.
    fn writes(&self) -> bool {
        true
    }

    /// A file begins.
    fn open(&mut self, name: &str, source: &StreamSource) -> Result<(), Failure>;

    /// Takes the whole file itself, as several threads do, without the records that `skip` says. `None` if it wants the file batch by
    /// batch.
    fn take_all(
        &mut self,
        _source: &mut StreamSource,
        _skip: &(dyn Fn(&Failure) -> bool + Sync),
        _count: &StreamCounts,
    ) -> Option<Result<(), Failure>> {
        None
    }

    /// The next addresses of the file; false if no more are wanted.
    fn take(&mut self, batch: &AddressBatch, source: &StreamSource) -> Result<bool, Failure>;
}

/// Hands the file at `path` to `consumer`, batch by batch.
pub(crate) fn read(
    path: &Path,
    args: &InputArgs,
    read: &ReadArgs,
    consumer: &mut impl Consumer,
    seen: &mut FilesSeen,
) -> Result<(), Failure> {
    let input = Input::open(path)?.max_size(read.max_size);
    let input = input.ending_with_zero(args.ends_with_zero);
    let name = input.name().escape_debug().to_string();
    if consumer.writes() && is_stdout(path) {
        return Err(format!("{name}: standard output is written to it, which has no end").into());
    }
    let bar = shows_bar(path, &input, consumer).then(|| progress::watch(input.progress()));
    let source = StreamSource::open(
        path,
        input,
        args,
        read.skip_invalid,
        consumer.read_text_as(),
        consumer.looks_up(),
    );
    let mut source = source.map_err(Failure::without_step)?;
    if (args.sources || args.destinations) && !source.is_packets() {
        let reason = "no capture of packets, which --sources and --destinations are for";
        return Err(format!("{name}: {reason}").into());
    }
    consumer.open(&name, &source)?;
    let skipped = AtomicU64::new(0);
    let skip = |failure: &Failure| match failure {
        Failure::Read(error) if read.skip_invalid && error.is_invalid_line() => {
            skipped.fetch_add(1, Ordering::Relaxed);
            true
        }
        _ => false,
    };
    let count = StreamCounts::default();
    let taken = match consumer.take_all(&mut source, &skip, &count) {
        Some(taken) => taken,
        None => take_one_by_one(&mut source, &skip, consumer, &count),
    };
    // Of what is cut off, all that is there has been read.
    match taken {
        Err(Failure::Read(error)) if error.is_cut() && read.skip_invalid => {
            note!("truncated, read up to the end: {error}");
        }
        Err(Failure::Read(error)) if error.is_cut() => {
            return Err(Failure::Read(error).without_step());
        }
        taken => taken?,
    }
    drop(bar);
    source.note_left_out(&name, skipped.into_inner());
    let counts = [count.rows, count.addresses].map(AtomicU64::into_inner);
    let what = match args.address {
        Some(AddressPick::Nth(number)) if number > 1 => format!("{number} addresses"),
        _ => "an address".to_owned(),
    };
    let without = format!("no {} has {what}", source.unit());
    seen.add(&name, &without, source.missing(), counts);
    Ok(())
}

/// Whether what is written to standard output is added to the file at `path`. That of a system that does not say so is another.
pub(crate) fn is_stdout(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        let stdout = metadata(io::stdout()).filter(Metadata::is_file);
        let file = match is_stdin(path) {
            true => metadata(io::stdin()),
            false => fs::metadata(path).ok(),
        };
        let which = |file: Metadata| (file.dev(), file.ino());
        stdout.is_some() && stdout.map(which) == file.map(which)
    }
    #[cfg(not(unix))]
    false
}

/// Whether there is a bar while `input`, the file at `path`, is read.
fn shows_bar(path: &Path, input: &Input, consumer: &impl Consumer) -> bool {
    let is_typed = is_stdin(path) && io::stdin().is_terminal();
    // Answers to lines that come now and then are seen as they come.
    let is_awaited = input.progress().total().is_none() && io::stdout().is_terminal();
    !is_typed && (!consumer.writes() || (progress::is_apart() && !is_awaited))
}

/// How many rows and addresses a file had. Threads add to the same counts.
#[derive(Default)]
pub(crate) struct StreamCounts {
    rows: AtomicU64,
    addresses: AtomicU64,
}

impl StreamCounts {
    pub(crate) fn add(&self, batch: &AddressBatch) {
        let addresses = batch.ipv4().len() + batch.ipv6().len();
        self.rows.fetch_add(batch.len() as u64, Ordering::Relaxed);
        self.addresses
            .fetch_add(addresses as u64, Ordering::Relaxed);
    }
}

fn take_one_by_one(
    source: &mut StreamSource,
    skip: &dyn Fn(&Failure) -> bool,
    consumer: &mut impl Consumer,
    count: &StreamCounts,
) -> Result<(), Failure> {
    let mut batch = AddressBatch::new();
    let mut is_wanted = true;
    loop {
        match source.next_batch(&mut batch) {
            Ok(false) => return Ok(()),
            Ok(true) => {
                count.add(&batch);
                is_wanted = is_wanted && consumer.take(&batch, source)?;
                // Reading goes on until each column that was asked for has been seen: a missing one is an error in any case.
                if !is_wanted && source.missing().iter().all(Option::is_none) {
                    return Ok(());
                }
            }
            Err(failure) if skip(&failure) => {}
            Err(failure) => return Err(failure),
        }
    }
}
