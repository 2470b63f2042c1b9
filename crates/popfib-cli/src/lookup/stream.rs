//! Lines of standard input in, an answer to the address of each out, as `popfib annotate` finds them: by batches and a FIB.

use std::borrow::Cow;
use std::io::{self, IsTerminal};
use std::mem;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use popfib_formats::AddressBatch;
use popfib_program::failure::Failure;

use super::{LookupArgs, write_texts};
use crate::args::kernel;
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

/// Answers the addresses of standard input as they come.
struct LookupStream<'a> {
    follower: Option<Follower<'a, Arc<[NamedTable]>>>,
    lines: AnswerLines,
    table_column: Arc<TableChoice>,
    buffers: LineBuffers,
    output: StandardOutput,
    /// The names of the columns, if the output is a terminal or coloured.
    names: Option<Vec<String>>,
    skip_invalid: bool,
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
        let (found, wrong) = match batch.ipv4().len() + batch.ipv6().len() == batch.len() {
            true => (Cow::Borrowed(batch), None),
            false => self.found(batch),
        };
        self.read += batch.len() as u64;
        if let Some(tables) = self.follower.as_mut().and_then(Follower::newer) {
            self.lines.use_tables(tables);
        }
        let lines = self.lines.lines(&found, &mut self.buffers)?;
        match &self.names {
            Some(names) => {
                for line in String::from_utf8_lossy(lines).lines() {
                    write_texts(&mut self.output, names, line.split('\t'))?;
                }
            }
            None => self.output.bytes(lines)?,
        }
        if let Some(wrong) = wrong {
            // The answers to the lines before the bad one come before the error.
            self.output.flush()?;
            return Err(wrong.into());
        }
        if !batch.is_full() {
            self.output.flush()?;
        }
        Ok(true)
    }
}

impl LookupStream<'_> {
    /// The addresses of a batch that has lines without one, up to one that is wrong, and what is wrong with it.
    fn found<'b>(&mut self, batch: &AddressBatch) -> (Cow<'b, AddressBatch>, Option<String>) {
        let mut found = AddressBatch::new();
        let lines = (self.read + 1..).zip(batch.rows());
        for ((number, row), address) in lines.zip(batch.iter()) {
            match address {
                Some((address, _)) => {
                    found.push(address);
                    found.push_row(row);
                }
                None if is_blank(row) => {}
                None if self.skip_invalid => self.skipped += 1,
                None => {
                    let line = String::from_utf8_lossy(&row[..row.len().min(80)]);
                    let line = line.trim_end().escape_debug();
                    // Whoever types may type again.
                    if io::stdin().is_terminal() {
                        note!("\"{line}\": no address");
                        continue;
                    }
                    let place = format!("{}:{number}: \"{line}\"", self.name);
                    let wrong = format!("{place}: no address; --skip-invalid goes on without it");
                    return (Cow::Owned(found), Some(wrong));
                }
            }
        }
        (Cow::Owned(found), None)
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
    if asked == Form::Csv {
        output.csv(&query.address_columns())?;
    }
    let screen = output.screen();
    let is_shown = (screen.is_terminal || screen.is_coloured) && asked == Form::Text;
    let mut stream = LookupStream {
        follower,
        table_column,
        buffers: LineBuffers::default(),
        output,
        // The first column is that of the prefix.
        names: is_shown.then(|| query.columns().skip(1).collect()),
        skip_invalid: args.table.read.skip_invalid,
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
