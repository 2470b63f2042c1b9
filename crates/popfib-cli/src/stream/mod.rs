//! Streams of addresses and the tables that answer them: what `annotate`, `grep` and `count` share.
//!
//! Addresses come in batches of what lies ready, and the answers of a batch are
//! written before the next is waited for: a slow pipe gets each answer at once,
//! a file goes through in big pieces.

pub(crate) mod answer_texts;
pub(crate) mod answers;
mod cells;
pub(crate) mod follower;
pub(crate) mod form;
pub(crate) mod lines;
mod members;
pub(crate) mod page;
pub(crate) mod painter;
pub(crate) mod parallel;
mod replaced;
mod rows;
pub(crate) mod seen;
pub(crate) mod source;
pub(crate) mod table;
pub(crate) mod tables;
mod written;

pub(crate) use rows::Lead;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use clap::{Args, ValueEnum};
use popfib::IpSet;
use popfib_formats::addresses::{AddressColumn, AddressPick, LinePart, PacketSide};
use popfib_formats::{AddressBatch, AddressFormat, AddressOptions, Input};

use crate::args::{ReadArgs, is_stdin};
use crate::failure::Failure;
use crate::progress;

use self::seen::Seen;
use self::source::Source;

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

    /// What these lists hold, once they are read.
    #[arg(skip)]
    passed_over: OnceLock<Arc<IpSet>>,

    /// Use the address in this field of a line, counted from 1
    ///
    /// May be given several times.
    #[arg(long, value_name = "N", value_parser = parse_number, conflicts_with_all = ["path", "column"])]
    field: Vec<usize>,

    /// Delimiter of fields or columns, one byte or `\t`
    ///
    /// [default: blanks and tabs between fields; between columns a tab, comma or semicolon, whichever is in the first line]
    #[arg(long, value_name = "BYTE", value_parser = parse_delimiter)]
    delimiter: Option<u8>,

    /// Use the address at this path of JSON objects (src.ip)
    ///
    /// Keys may have dots of their own. May be given several times.
    #[arg(long, value_name = "PATH", conflicts_with = "column")]
    path: Vec<String>,

    /// Use this column of a CSV, TSV or Parquet file
    ///
    /// Its name, or its number counted from 1; may be given several times [default: that of the first address; 1 in a Parquet
    /// file].
    #[arg(long, value_name = "NAME|N", value_parser = parse_column)]
    column: Vec<AddressColumn>,

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
    unmap: bool,

    /// Format of the files [default: recognised by name and content]
    #[arg(long, value_name = "NAME", value_enum)]
    input_format: Option<InputFormat>,
}

/// The formats of address files by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InputFormat(AddressFormat);

impl ValueEnum for InputFormat {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<InputFormat>> =
            LazyLock::new(|| AddressFormat::all().map(InputFormat).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()))
    }
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

fn parse_column(text: &str) -> Result<AddressColumn, String> {
    match text.parse() {
        Ok(0) => Err("columns are numbered from 1".to_owned()),
        Ok(number) => Ok(AddressColumn::Number(number)),
        Err(_) => Ok(AddressColumn::Name(text.to_owned())),
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

    /// Whether more may come for as long as the command runs, as from a pipe.
    pub(crate) fn is_stream(&self) -> bool {
        let goes_on = |file: &PathBuf| is_stdin(file) || !(file.is_file() || file.is_dir());
        self.files().iter().any(goes_on)
    }

    /// Checks that standard input is read once, and a delimiter is one of something; reads the lists of `--not-in`.
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
            let mut prefixes = IpSet::new();
            for list in &self.not_in {
                prefixes.extend(crate::table::load_list(list, read)?);
            }
            self.passed_over.get_or_init(|| Arc::new(prefixes));
        }
        Ok(())
    }

    /// Whether text is read as a table, of which a column is asked for.
    fn is_column(&self) -> bool {
        !self.column.is_empty()
    }

    /// What separates fields.
    pub(crate) fn delimiter(&self) -> Option<u8> {
        self.delimiter
    }

    fn format(&self) -> Option<AddressFormat> {
        let of_path = (!self.path.is_empty()).then_some(AddressFormat::JSON_LINES);
        self.input_format.map(|format| format.0).or(of_path)
    }

    fn options(&self, wanted: Wanted) -> AddressOptions {
        let fields = self
            .field
            .iter()
            .map(|&field| LinePart::Field(field, self.delimiter));
        let paths = self.path.iter();
        let paths = paths.map(|path| LinePart::Path(path.clone()));
        AddressOptions {
            columns: self.column.clone(),
            delimiter: self.delimiter,
            is_table: wanted == Wanted::Table,
            parts: fields.chain(paths).collect(),
            pick: self.address.unwrap_or(match wanted {
                Wanted::AllOfLines => AddressPick::All,
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

    /// Whether both ends of packets are looked up.
    pub(crate) fn takes_both_ends(&self) -> bool {
        self.sources && self.destinations
    }

    /// What the cells of a row are called where there are several.
    pub(crate) fn cells(&self) -> Vec<String> {
        if self.takes_both_ends() {
            return vec!["source".to_owned(), "destination".to_owned()];
        }
        let columns = self.column.iter().map(|column| match column {
            AddressColumn::Name(name) => name.clone(),
            AddressColumn::Number(number) => format!("column{number}"),
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

/// What text is read as where its format is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// What its name and its beginning say.
    Any,
    /// A table if its first line has a delimiter.
    Table,
    /// Lines, whatever it is.
    Lines,
    /// The same, all addresses of each where one is not asked for.
    AllOfLines,
}

/// What is done with a stream.
pub(crate) trait Consumer {
    /// What text is read as.
    fn wanted(&self) -> Wanted {
        Wanted::Any
    }

    /// Whether it writes to standard output before the file ends.
    fn writes(&self) -> bool {
        true
    }

    /// A file begins.
    fn open(&mut self, name: &str, source: &Source) -> Result<(), Failure>;

    /// Takes the whole file at once. How many records `skip` told to leave out.
    fn take_all(
        &mut self,
        _source: &mut Source,
        _skip: &(dyn Fn(&Failure) -> bool + Sync),
        _count: &Counts,
    ) -> Option<Result<u64, Failure>> {
        None
    }

    /// The next addresses of the file; false if no more are wanted.
    fn take(&mut self, batch: &AddressBatch, source: &Source) -> Result<bool, Failure>;
}

/// Hands the file at `path` to `consumer`, batch by batch.
pub(crate) fn read(
    path: &Path,
    args: &InputArgs,
    read: &ReadArgs,
    consumer: &mut impl Consumer,
    seen: &mut Seen,
) -> Result<(), Failure> {
    let input = Input::open(path)?.max_size(read.max_size);
    let name = input.name().escape_debug().to_string();
    let bar = shows_bar(path, &input, consumer).then(|| progress::watch(input.progress()));
    let source = Source::open(path, input, args, read.skip_invalid, consumer.wanted());
    let mut source = source.map_err(Failure::without_step)?;
    if (args.sources || args.destinations) && !source.is_packets() {
        let reason = "no capture of packets, which --sources and --destinations are for";
        return Err(format!("{name}: {reason}").into());
    }
    consumer.open(&name, &source)?;
    let skip = |failure: &Failure| match failure {
        Failure::Read(error) => read.skip_invalid && error.is_invalid_line(),
        _ => false,
    };
    let count = Counts::default();
    let skipped = match consumer.take_all(&mut source, &skip, &count) {
        Some(taken) => taken,
        None => take_one_by_one(&mut source, &skip, consumer, &count),
    };
    let skipped = skipped.map_err(|failure| match failure {
        // What is there has been read.
        Failure::Read(error) if error.is_cut() => Failure::Read(error).without_step(),
        failure => failure,
    })?;
    drop(bar);
    source.note_left_out(&name, skipped);
    let counts = [count.rows, count.addresses].map(AtomicU64::into_inner);
    let what = match args.address {
        Some(AddressPick::Nth(number)) if number > 1 => format!("{number} addresses"),
        _ => "an address".to_owned(),
    };
    let without = format!("no {} has {what}", source.unit());
    seen.add(&name, &without, source.missing(), counts);
    Ok(())
}

/// Whether there is a bar while `input`, the file at `path`, is read.
fn shows_bar(path: &Path, input: &Input, consumer: &impl Consumer) -> bool {
    let is_typed = is_stdin(path) && io::stdin().is_terminal();
    // Answers to lines that come now and then are seen as they come.
    let is_awaited = input.progress().total().is_none() && io::stdout().is_terminal();
    !is_typed && (!consumer.writes() || (progress::is_apart() && !is_awaited))
}

/// What came of a file.
#[derive(Default)]
pub(crate) struct Counts {
    rows: AtomicU64,
    addresses: AtomicU64,
}

impl Counts {
    pub(crate) fn add(&self, batch: &AddressBatch) {
        let addresses = batch.ipv4().len() + batch.ipv6().len();
        self.rows.fetch_add(batch.len() as u64, Ordering::Relaxed);
        self.addresses
            .fetch_add(addresses as u64, Ordering::Relaxed);
    }
}

fn take_one_by_one(
    source: &mut Source,
    skip: &dyn Fn(&Failure) -> bool,
    consumer: &mut impl Consumer,
    count: &Counts,
) -> Result<u64, Failure> {
    let mut batch = AddressBatch::new();
    let mut skipped = 0;
    let mut is_wanted = true;
    loop {
        match source.next_batch(&mut batch) {
            Ok(false) => return Ok(skipped),
            Ok(true) => {
                count.add(&batch);
                is_wanted = is_wanted && consumer.take(&batch, source)?;
                // Whether there is what was asked for is to be known all the same.
                if !is_wanted && source.missing().iter().all(Option::is_none) {
                    return Ok(skipped);
                }
            }
            Err(failure) if skip(&failure) => skipped += 1,
            Err(failure) => return Err(failure),
        }
    }
}
