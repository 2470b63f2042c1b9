//! Lines of standard input in, an answer to the address of each out, as `popfib annotate` finds them: by batches and a FIB.

use std::io::{self, IsTerminal};
use std::mem;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use popfib_formats::AddressBatch;
use popfib_program::failure::Failure;

use super::{
    LookupArgs, has_prefix_sign, may_be_prefix, names, prefixes_of_line, write_match, write_texts,
};
use crate::args::{ReadArgs, kernel};
use crate::forms::Form;
use crate::output::{StandardOutput, note};
use crate::rows::{Alignment, RowForm};
use crate::stream::follower::Follower;
use crate::stream::form::{LineForm, OutputDialect};
use crate::stream::lines::{AnswerLines, LineBuffers, Query};
use crate::stream::seen::FilesSeen;
use crate::stream::source::StreamSource;
use crate::stream::table::{NamedTable, with_same_columns};
use crate::stream::table_column::TableChoice;
use crate::stream::{self, Consumer, InputArgs, LineLead, ReadTextAs};
use crate::table;

/// Answers the addresses and prefixes of standard input as they come.
struct LookupStream<'a> {
    follower: Option<Follower<'a, Arc<[NamedTable]>>>,
    lines: AnswerLines,
    table_column: Arc<TableChoice>,
    buffers: LineBuffers,
    output: StandardOutput,
    /// The names of the columns, if the output is a terminal or coloured.
    names: Option<Vec<String>>,
    read_args: ReadArgs,
    name: String,
    /// Lines read, and lines without an address that were skipped.
    read: u64,
    skipped: u64,
}

impl Consumer for LookupStream<'_> {
    fn read_text_as(&self) -> ReadTextAs {
        ReadTextAs::Lines
    }

    fn open(&mut self, name: &str, source: &StreamSource) -> Result<(), Failure> {
        name.clone_into(&mut self.name);
        self.table_column.open(name, source, &InputArgs::default())
    }

    fn take(&mut self, batch: &AddressBatch, _: &StreamSource) -> Result<bool, Failure> {
        if let Some(tables) = self.follower.as_mut().and_then(Follower::newer) {
            self.lines.use_tables(tables);
        }
        let is_plain = batch.ipv4().len() + batch.ipv6().len() == batch.len()
            && !(has_prefix_sign(batch.text_of_rows()) && batch.rows().any(may_be_prefix));
        match is_plain {
            true => self.answer(batch)?,
            false => self.answer_each(batch)?,
        }
        self.read += batch.len() as u64;
        if !batch.is_full() {
            self.output.flush()?;
        }
        Ok(true)
    }
}

impl LookupStream<'_> {
    /// Prints the answers to the addresses of a batch.
    fn answer(&mut self, batch: &AddressBatch) -> Result<(), Failure> {
        let lines = self.lines.lines(batch, &mut self.buffers)?;
        match &self.names {
            Some(names) => {
                for line in String::from_utf8_lossy(lines).lines() {
                    write_texts(&mut self.output, names, line.split('\t'))?;
                }
                Ok(())
            }
            None => self.output.bytes(lines),
        }
    }

    /// Prints the answers to a batch in which lines may have no address, or be a prefix, up to one that is wrong.
    fn answer_each(&mut self, batch: &AddressBatch) -> Result<(), Failure> {
        let mut found = AddressBatch::new();
        let lines = (self.read + 1..).zip(batch.rows());
        for ((number, row), address) in lines.zip(batch.iter()) {
            // A prefix alone does not say in which of several tables.
            let is_one = !self.table_column.is_asked();
            let asked = is_one.then(|| prefixes_of_line(row, &self.read_args));
            let wrong = match (asked.flatten(), address) {
                (Some(Ok(asked)), _) => {
                    self.answer(&found)?;
                    found.clear();
                    let table = self.lines.table();
                    for asked in asked {
                        write_match(&mut self.output, table, &names(table), asked)?;
                    }
                    continue;
                }
                (None, Some((address, _))) => {
                    found.push(address);
                    found.push_row(row);
                    continue;
                }
                (None, None) if is_blank(row) => continue,
                _ if self.read_args.skip_invalid => {
                    self.skipped += 1;
                    continue;
                }
                (Some(Err(error)), _) => error.to_string(),
                (None, None) => {
                    let line = String::from_utf8_lossy(&row[..row.len().min(80)]);
                    format!("\"{}\": no address", line.trim_end().escape_debug())
                }
            };
            // Whoever types may type again.
            if io::stdin().is_terminal() {
                note!("{wrong}");
                continue;
            }
            // The answers to the lines before the bad one come before the error.
            self.answer(&found)?;
            self.output.flush()?;
            let help = match address {
                None => "; --skip-invalid goes on without it",
                Some(_) => "",
            };
            return Err(format!("{}:{number}: {wrong}{help}", self.name).into());
        }
        self.answer(&found)
    }
}

/// Whether a line is blank or a comment.
fn is_blank(line: &[u8]) -> bool {
    matches!(line.trim_ascii(), [] | [b'#' | b';', ..])
}

/// The columns of answers that come one by one: the first do not show how wide the others are.
const ONE_BY_ONE: &[Alignment] = &[Alignment::Left(15), Alignment::Left(18)];

/// Answers the lines of standard input.
pub(super) fn stream(args: &mut LookupArgs) -> Result<(), Failure> {
    let table_column = Arc::new(mem::take(&mut args.table_column));
    table_column.ask(&mut args.table.read);
    let names = OnceLock::new();
    let make = |table| with_same_columns(vec![table], &names);
    let (tables, follower) = Follower::of(&args.table, make)?;
    let query = Query {
        tables,
        table_column: table_column.clone(),
        kernel: kernel()?,
        cells: vec![String::new()],
        takes_all: false,
        anonymizer: None,
    };
    let asked = args.form.form();
    let form = match asked {
        Form::JsonLines => LineForm::Json,
        Form::Csv => LineForm::Csv(OutputDialect::OF_ADDRESSES),
        _ => LineForm::Text { is_crlf: false },
    };
    let mut output = StandardOutput::of_rows(RowForm::tabs(ONE_BY_ONE));
    let columns = query.address_columns();
    output.begin(args.form, columns.iter().map(String::as_str))?;
    let screen = output.screen();
    let is_shown = (screen.is_terminal || screen.is_coloured) && asked == Form::Text;
    let mut stream = LookupStream {
        follower,
        table_column,
        buffers: LineBuffers::default(),
        output,
        // The first column is that of the prefix.
        names: is_shown.then(|| query.columns().skip(1).collect()),
        read_args: args.table.read.clone(),
        name: String::new(),
        read: 0,
        skipped: 0,
        lines: AnswerLines::new(query, form, LineLead::Address),
    };
    let mut input = InputArgs::default();
    input.unmap = args.unmap;
    // Nothing is asked of it in the end: a line without an address was an error, or noted, when it came.
    let mut seen = FilesSeen::default();
    let path = Path::new("-");
    stream::read(path, &input, &args.table.read, &mut stream, &mut seen)?;
    stream.output.flush()?;
    stream.lines.mapped().note();
    stream.table_column.note();
    table::note_skipped(&stream.name, stream.skipped);
    Ok(())
}
