//! `popfib grep`: files with addresses in; out come the lines with an address that is searched for, or those without.
//!
//! What is searched for becomes tables (`searched.rs`), and addresses are looked up in batches (`addresses.rs`). Prefixes inside
//! lines have no single answer in a table, and are compared with ranges (`ranges.rs`).

mod addresses;
mod context;
mod files;
mod highlight;
mod ranges;
mod searched;

use std::fmt::Display;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use popfib::Kernel;
use popfib_formats::{AddressBatch, swap_line_ends};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use regex_lite::Regex;

use crate::args::{is_stdin, kernel};
use crate::condition;
use crate::output::{StandardOutput, error};
use crate::screen::{FILE_NAME, LINE_NUMBER, MARK, MATCH};
use crate::stream::follower::Follower;
use crate::stream::mapped::MappedMisses;
use crate::stream::seen::FilesSeen;
use crate::stream::source::StreamSource;
use crate::stream::tables::TablesArgs;
use crate::stream::{self, Consumer, InputArgs, ReadTextAs};
use crate::table;

use addresses::AddressHit;
use context::LineContext;
use highlight::{highlighted, hits};
use ranges::SpanRelation;
use searched::SearchedTables;

/// Print the lines that contain an address of a prefix or a list.
///
/// Addresses are found anywhere in a line, also with ports, in brackets or in quotes. A line is selected if
/// one of its addresses is in PATTERN, a prefix or an address, or has a match in one of the tables, and is printed
/// unchanged. For packets and records, which have no lines, the addresses are printed.
#[derive(Args)]
#[command(override_usage = "\
popfib grep [OPTIONS] PATTERN [FILE]...
       popfib grep [OPTIONS] (-e PATTERN | -f LIST | -t TABLE)... [FILE]...")]
#[command(arg(condition::arg()))]
#[command(after_help = "\
Examples:
  popfib grep 10.0.0.0/8 access.log
  popfib grep -f blocklist.txt access.log
  popfib grep -t City.mmdb --where country.iso_code=RU,BY access.log
  tail -f access.log | popfib grep -f drop.txt")]
#[command(
    after_long_help = "  popfib grep -v -f internal.txt --field 1 flows.log
  popfib grep -c --where value=15169 -r /var/log/nginx
  popfib grep -n -C 2 -f drop.txt auth.log
  popfib grep --overlapping -f ours.txt blocklist.txt

Exit status: 0 if a line was selected, 1 if none was, 2 after an error."
)]
pub(crate) struct GrepArgs {
    /// Prefix, range or address to search for
    ///
    /// May be given several times, and be several with commas between them.
    #[arg(short = 'e', long, value_name = "PATTERN")]
    prefix: Vec<String>,

    /// List of prefixes to search for
    ///
    /// In any format of tables. May be given several times.
    #[arg(short = 'f', long, value_name = "LIST")]
    file: Vec<PathBuf>,

    /// Take prefixes in lines as such: all in what is searched
    ///
    /// A prefix (10.0.0.0/8) or range (10.0.0.1-10.0.0.9) inside a line is a match if all of its addresses are searched for, an
    /// address by itself as before.
    #[arg(hide_short_help = true, long, conflicts_with_all = OF_ADDRESSES)]
    contained: bool,

    /// The same, for those that share an address with it
    #[arg(hide_short_help = true, long, conflicts_with_all = OF_ADDRESSES, conflicts_with = "contained")]
    overlapping: bool,

    /// Select the lines without a matching address
    #[arg(short = 'v', long)]
    invert_match: bool,

    /// Print the number of selected lines of each file
    #[arg(short, long)]
    count: bool,

    /// Print the names of files with selected lines
    #[arg(short = 'l', long, conflicts_with = "count")]
    files_with_matches: bool,

    /// Print the names of files without any
    #[arg(short = 'L', long, conflicts_with_all = ["count", "files_with_matches"])]
    files_without_match: bool,

    /// Stop after N selected lines of a file
    #[arg(short, long, value_name = "N")]
    max_count: Option<u64>,

    /// Print nothing, and stop at the first selected line
    #[arg(short, long)]
    quiet: bool,

    /// Print the matching addresses, one a line
    #[arg(short, long, conflicts_with = "invert_match")]
    only_matching: bool,

    /// Print the line number before each line
    #[arg(short = 'n', long)]
    line_number: bool,

    /// Print the name of the file before each line
    ///
    /// [default: if there are several files]
    #[arg(hide_short_help = true, short = 'H', long)]
    with_filename: bool,

    /// Search directories recursively
    #[arg(short, long)]
    recursive: bool,

    /// Search only files with names like *.log
    ///
    /// In place of `*` there is any text, of `?` any character, of `[a-z]` one of these.
    #[arg(hide_short_help = true, long, value_name = "GLOB", value_parser = files::parse_glob)]
    include: Vec<Regex>,

    /// Lines end with a zero byte, not with a line end
    #[arg(hide_short_help = true, short = 'z', long)]
    null_data: bool,

    /// Taken as grep takes it, and without effect
    ///
    /// So are -a, -E, -F, -s and -w: addresses are found whole, however they are written, in any file.
    #[arg(
        hide_short_help = true, short = 'i', short_aliases = ['a', 'E', 'F', 's', 'w'], long, overrides_with = "ignore_case",
        aliases = ["text", "extended-regexp", "fixed-strings", "no-messages", "word-regexp"]
    )]
    ignore_case: bool,

    /// Also print N lines after each selected line
    #[arg(hide_short_help = true, short = 'A', long, value_name = "N")]
    after_context: Option<u64>,

    /// Also print N lines before each selected line
    #[arg(hide_short_help = true, short = 'B', long, value_name = "N")]
    before_context: Option<usize>,

    /// Also print N lines around each selected line
    ///
    /// -A and -B override it.
    #[arg(short = 'C', long, value_name = "N")]
    context: Option<usize>,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    tables: TablesArgs,
}

/// The options that say which addresses of a line are meant.
const OF_ADDRESSES: [&str; 8] = [
    "address",
    "column",
    "destinations",
    "field",
    "not_in",
    "path",
    "sources",
    "unmap",
];

impl GrepArgs {
    /// How a prefix inside a line has to relate to what is searched for; `None` if only addresses count.
    fn span_relation(&self) -> Option<SpanRelation> {
        match (self.contained, self.overlapping) {
            (true, _) => Some(SpanRelation::Contained),
            (_, true) => Some(SpanRelation::Overlapping),
            _ => None,
        }
    }
}

pub(crate) fn run(mut args: GrepArgs) -> Result<Verdict, Failure> {
    args.tables.without_values();
    let args = &args;
    let (patterns, input) = patterns(args)?;
    let lists = args.file.iter().filter(|file| is_stdin(file)).count();
    input.check(lists + args.tables.on_stdin(), &args.tables.read)?;
    let files = files::files(args, &input)?;
    let searched = |tables| SearchedTables::new(args, &patterns, tables);
    let is_of_tables = args.tables.is_given() || args.tables.has_conditions();
    let (searched, follower) = match (is_of_tables, input.is_stream()) {
        (true, true) => args.tables.follow(false, &args.file, searched)?,
        (true, false) => (searched(args.tables.load(false)?)?, None),
        (false, true) => Follower::of_files(&args.file, || searched(Vec::new()))?,
        (false, false) => (searched(Vec::new())?, None),
    };
    let mut grep = Grep {
        args,
        kernel: kernel()?,
        searched,
        follower,
        numbers: Vec::new(),
        cells: input.cells().len(),
        context: LineContext::new(
            args.before_context.or(args.context),
            args.after_context.or(args.context.map(|n| n as u64)),
        ),
        output: StandardOutput::new(),
        with_name: args.with_filename || files.len() > 1 || args.recursive,
        name: String::new(),
        is_found: false,
        count: 0,
        lines: 0,
        has_header: false,
        mapped: MappedMisses::default(),
    };
    let mut failed = None;
    let mut seen = FilesSeen::default();
    for file in &files {
        grep.count = 0;
        grep.lines = 0;
        grep.context.begin();
        let read = stream::read(file, &input, &args.tables.read, &mut grep, &mut seen);
        match read.and_then(|()| grep.end()) {
            Ok(()) => {}
            // What comes from the output concerns all files.
            Err(failure @ Failure::Output(_)) => return Err(failure),
            Err(failure) => {
                grep.output.flush()?;
                if let Some(earlier) = failed.replace(failure) {
                    error(&earlier);
                }
            }
        }
        if grep.is_found && args.quiet {
            break;
        }
    }
    grep.output.flush()?;
    match failed {
        Some(failure) => return Err(failure),
        None => seen.finish(true)?,
    }
    grep.mapped.note();
    Ok(Verdict::good_if(grep.is_found))
}

/// The patterns to search for, if there are any, and the input: the first argument is a pattern if no option says what to search
/// for. The built-in table alone does not: it has nearly every address there is.
fn patterns(args: &GrepArgs) -> Result<(Vec<String>, InputArgs), Failure> {
    let mut input = args.input.clone();
    input.ends_with_zero = args.null_data;
    if !args.prefix.is_empty() {
        return Ok((args.prefix.clone(), input));
    }
    if args.tables.is_given() || !args.file.is_empty() || args.tables.has_conditions() {
        return Ok((Vec::new(), input));
    }
    if input.files.is_empty() {
        let reason = "what to search for is missing: a prefix or address, -f LIST or -t TABLE";
        return Err(reason.into());
    }
    let pattern = input.files.remove(0).display().to_string();
    let prefixes = table::prefixes_of_text(&pattern, PATTERN, &args.tables.read);
    match prefixes {
        Ok(_) => Ok((vec![pattern], input)),
        Err(_) if Path::new(&pattern).exists() => {
            let pattern = pattern.escape_debug();
            let reason = "is a file, where a prefix or address comes first";
            Err(format!("'{pattern}' {reason}; -f {pattern} searches for those in it").into())
        }
        Err(failure) => Err(failure),
    }
}

/// What messages say that a pattern is.
const PATTERN: &str = "a pattern is a prefix, a range or an address; -f LIST has those of a file";

/// Selects lines and prints them.
struct Grep<'t> {
    args: &'t GrepArgs,
    kernel: Kernel,
    searched: SearchedTables,
    follower: Option<Follower<'t, SearchedTables>>,
    /// The numbers of the answers of a batch and a table.
    numbers: Vec<u32>,
    /// How many cells a row has.
    cells: usize,
    context: LineContext,
    output: StandardOutput,
    with_name: bool,
    /// The name of the file at hand.
    name: String,
    /// Whether a line of any file was selected.
    is_found: bool,
    /// The number of selected lines of this file, and of all its lines.
    count: u64,
    lines: u64,
    /// Whether a heading of a table was printed.
    has_header: bool,
    mapped: MappedMisses,
}

impl Consumer for Grep<'_> {
    fn read_text_as(&self) -> ReadTextAs {
        ReadTextAs::AllOfLines
    }

    fn open(&mut self, name: &str, source: &StreamSource) -> Result<(), Failure> {
        name.clone_into(&mut self.name);
        if self.args.span_relation().is_some() && !source.is_text() {
            let reason = "no text, whose prefixes --contained and --overlapping are about";
            return Err(format!("{name}: {reason}").into());
        }
        // The heading of the first table is printed, so that the output is a table, too.
        let header = source
            .table()
            .and_then(|table| table.header.map(<[u8]>::to_vec));
        if let Some(header) = header {
            self.lines += 1;
            if !self.has_header && self.shows_lines() && !self.args.only_matching {
                self.print(&header, self.lines, ':')?;
            }
            self.has_header = true;
        }
        Ok(())
    }

    fn take(&mut self, batch: &AddressBatch, _: &StreamSource) -> Result<bool, Failure> {
        if let Some(searched) = self.follower.as_mut().and_then(Follower::newer) {
            self.searched = searched;
        }
        let is_on = match self.searched.ranges {
            Some(_) => self.take_spans(batch)?,
            None => self.take_addresses(batch)?,
        };
        if is_on && !batch.is_full() {
            self.output.flush()?;
        }
        Ok(is_on)
    }
}

/// What matches in a line.
#[derive(Clone, Copy)]
enum LineMatches<'m> {
    /// Those of its addresses that are hits.
    Addresses(&'m [Option<AddressHit>]),
    /// The text at these places.
    Places(&'m [Range<usize>]),
}

impl Grep<'_> {
    /// Takes lines by the prefixes inside of them; false if no more are wanted.
    fn take_spans(&mut self, batch: &AddressBatch) -> Result<bool, Failure> {
        let mut places = Vec::new();
        for row in batch.rows() {
            if let Some(ranges) = &self.searched.ranges {
                ranges.hits(row, &mut places);
            }
            let Some(is_selected) = self.select(!places.is_empty()) else {
                return Ok(false);
            };
            if self.shows_lines() {
                self.show(row, is_selected, LineMatches::Places(&places))?;
            }
            if self.is_over() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the next line is selected; `None` if it is and no other line matters.
    #[inline]
    fn select(&mut self, is_hit: bool) -> Option<bool> {
        self.lines += 1;
        let is_selected = is_hit != self.args.invert_match && !self.has_most();
        self.is_found |= is_selected;
        self.count += u64::from(is_selected);
        let is_enough =
            self.args.quiet || self.args.files_with_matches || self.args.files_without_match;
        (!(is_selected && is_enough)).then_some(is_selected)
    }

    /// Whether so many lines of the file are selected as there may be at most.
    #[inline]
    fn has_most(&self) -> bool {
        self.args.max_count.is_some_and(|most| self.count >= most)
    }

    /// The same, and there is no line after the last of them to print.
    #[inline]
    fn is_over(&self) -> bool {
        self.has_most() && !(self.context.is_pending() && self.shows_lines())
    }

    /// Prints a line if it is selected or near a selected one.
    fn show(&mut self, row: &[u8], is_selected: bool, matched: LineMatches) -> Result<(), Failure> {
        if is_selected {
            self.selected_line(row, matched)
        } else if self.context.pass(self.lines, row) && !self.args.only_matching {
            self.print(row, self.lines, '-')
        } else {
            Ok(())
        }
    }

    fn shows_lines(&self) -> bool {
        let args = self.args;
        !(args.quiet || args.count || args.files_with_matches || args.files_without_match)
    }

    /// Prints a line, or its matching addresses, after the lines before it.
    fn selected_line(&mut self, row: &[u8], matched: LineMatches) -> Result<(), Failure> {
        let number = self.lines;
        if self.context.select(number) {
            let mark = self.output.screen().paint(MARK, "--");
            self.output.text(format_args!("{mark}\n"))?;
        }
        let screen = self.output.screen();
        let before = self.context.before();
        if !self.args.only_matching {
            let first = number - before.len() as u64;
            for (number, line) in (first..).zip(&before) {
                self.print(line, number, '-')?;
            }
            if self.output.screen().is_coloured && !self.args.invert_match {
                let line = match matched {
                    LineMatches::Addresses(found) => highlighted(row, &hits(row, found)),
                    LineMatches::Places(places) => highlighted(row, places),
                };
                return self.print(&line, number, ':');
            }
            return self.print(row, number, ':');
        }
        let paint = |text: &dyn Display| screen.paint(MATCH, text).to_string();
        let texts: Vec<String> = match matched {
            LineMatches::Addresses(found) => {
                let hits = found.iter().flatten().filter(|(_, is_hit)| *is_hit);
                hits.map(|(address, _)| paint(address)).collect()
            }
            LineMatches::Places(places) => {
                let texts = places.iter().map(|place| &row[place.clone()]);
                texts
                    .map(|text| paint(&String::from_utf8_lossy(text)))
                    .collect()
            }
        };
        let mut texts = texts.iter();
        texts.try_for_each(|text| self.print(text.as_bytes(), number, ':'))
    }

    /// Prints a line; `mark` says whether it was selected.
    fn print(&mut self, line: &[u8], number: u64, mark: char) -> Result<(), Failure> {
        let screen = self.output.screen();
        let mark = screen.paint(MARK, mark);
        if self.with_name {
            let name = screen.paint(FILE_NAME, &self.name);
            self.output.text(format_args!("{name}{mark}"))?;
        }
        if self.args.line_number {
            let number = screen.paint(LINE_NUMBER, number);
            self.output.text(format_args!("{number}{mark}"))?;
        }
        if self.args.null_data {
            let mut line = [line, b"\n"].concat();
            swap_line_ends(&mut line);
            return self.output.bytes(&line);
        }
        self.output.bytes(line)?;
        self.output.bytes(b"\n")
    }

    /// Prints what comes at the end of a file: the count, or the name.
    fn end(&mut self) -> Result<(), Failure> {
        if self.args.quiet {
            return Ok(());
        }
        let screen = self.output.screen();
        let name = screen.paint(FILE_NAME, &self.name);
        if self.args.count {
            if self.with_name {
                let mark = screen.paint(MARK, ':');
                self.output.text(format_args!("{name}{mark}"))?;
            }
            self.output.text(format_args!("{}\n", self.count))
        } else if self.args.files_with_matches && self.count > 0
            || self.args.files_without_match && self.count == 0
        {
            self.output.text(format_args!("{name}\n"))
        } else {
            Ok(())
        }
    }
}
