//! Texts, rows and JSON in, standard output out, with its errors kept.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::{self, BufWriter, Stdout, Write};
use std::iter;

use anstyle::Style;
use popfib_formats::text::csv_field;
use popfib_program::failure::Failure;
pub(crate) use popfib_program::message::{AsText, error, tell};
pub(crate) use popfib_program::note;
use popfib_program::program::Verdict;
use popfib_program::{progress, terminal_text};
use popfib_table::Cell;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::forms::{Form, FormArgs};
use crate::records::{CellText, RecordMembers, refuse_doubled};
use crate::rows::{RowField, RowForm, RowWriter};
use crate::screen::{HEADING, Screen};

/// Standard output with a buffer and rows. Nothing is lost silently: every error, a full disk as much as a closed pipe, comes back as
/// [`Failure::Output`], which `println!` would turn into a panic.
#[derive(Debug)]
pub(crate) struct StandardOutput {
    buffer: BufWriter<StdoutBesideBar>,
    screen: Screen,
    rows: RowWriter,
    /// The form of records, and the columns that those of CSV have.
    form: Form,
    columns: Vec<String>,
}

impl StandardOutput {
    /// Standard output.
    pub(crate) fn new() -> Self {
        Self::of_rows(RowForm::TABS)
    }

    /// The same for rows of this form.
    pub(crate) fn of_rows(form: RowForm) -> Self {
        let screen = Screen::stdout();
        let target = StdoutBesideBar {
            stdout: io::stdout(),
            is_terminal: screen.is_terminal,
        };
        Self {
            buffer: BufWriter::with_capacity(64 * 1024, target),
            screen,
            rows: RowWriter::new(form, screen),
            form: Form::Text,
            columns: Vec::new(),
        }
    }

    /// The same, or records in the form that is asked for, with these members: of members of a member with a dot.
    pub(crate) fn of_form(rows: RowForm, form: FormArgs, members: &str) -> Result<Self, Failure> {
        let mut output = Self::of_rows(rows);
        output.begin(form, members.split(' '))?;
        Ok(output)
    }

    /// Records follow in the form that is asked for.
    pub(crate) fn begin<'n>(
        &mut self,
        form: FormArgs,
        members: impl IntoIterator<Item = &'n str>,
    ) -> Result<(), Failure> {
        self.form = form.form();
        self.columns = members.into_iter().map(str::to_owned).collect();
        if self.form != Form::Text {
            refuse_doubled(&self.columns)?;
        }
        match self.form {
            Form::Csv => self.csv(&self.columns.clone()),
            _ => Ok(()),
        }
    }

    /// Whether rows are written, and no records.
    pub(crate) fn is_text(&self) -> bool {
        self.form == Form::Text
    }

    /// Writes a record: an object of JSON, or a row of CSV with its members; one without such a member has an empty cell.
    pub(crate) fn record(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        if self.form != Form::Csv {
            return self.json(value);
        }
        let json = serde_json::to_string(value).unwrap_or_default();
        let members = members(&json);
        let cells = self.columns.iter().map(|column| cell(&members, column));
        let cells: Vec<_> = cells.map(Option::unwrap_or_default).collect();
        self.csv(&cells)
    }

    /// Writes a record of these values, one for each member; as a row of text its first fields have these styles.
    pub(crate) fn values(
        &mut self,
        styles: &[Style],
        cells: &[Option<Cell<'_>>],
    ) -> Result<(), Failure> {
        match self.form {
            Form::Text => {
                let texts: Vec<_> = cells.iter().copied().map(CellText::new).collect();
                let styles = styles.iter().copied().chain(iter::repeat(Style::new()));
                let fields = texts.iter().zip(styles);
                self.row(fields.map(|(text, style)| RowField::styled(style, text)))
            }
            Form::Csv => {
                let texts = cells.iter().map(|cell| cell.map(Cell::to_text));
                self.csv(&texts.map(Option::unwrap_or_default).collect::<Vec<_>>())
            }
            _ => {
                let columns = std::mem::take(&mut self.columns);
                let names = columns.iter().map(String::as_str);
                let written = self.json(&RecordMembers(names.zip(cells.iter().copied())));
                self.columns = columns;
                written
            }
        }
    }

    /// What it can show.
    pub(crate) fn screen(&self) -> Screen {
        self.screen
    }

    /// The rows from now on have this form, and widths of their own.
    pub(crate) fn begin_rows(&mut self, form: RowForm) -> Result<(), Failure> {
        self.settle()?;
        self.rows = RowWriter::new(form, self.screen);
        Ok(())
    }

    /// Writes a row of fields.
    pub(crate) fn row<'f>(
        &mut self,
        fields: impl IntoIterator<Item = RowField<'f>>,
    ) -> Result<(), Failure> {
        let row = self.rows.row(fields, &mut self.buffer);
        row.map_err(Failure::Output)
    }

    /// Writes a row of plain cells.
    pub(crate) fn cells(&mut self, cells: &[&dyn Display]) -> Result<(), Failure> {
        self.row(cells.iter().map(|cell| RowField::new(*cell)))
    }

    /// Writes a row whose first cell has a style.
    pub(crate) fn led_by(
        &mut self,
        style: Style,
        first: &dyn Display,
        rest: &[&dyn Display],
    ) -> Result<(), Failure> {
        let rest = rest.iter().map(|cell| RowField::new(*cell));
        self.row([RowField::styled(style, first)].into_iter().chain(rest))
    }

    /// Writes what stands over the columns.
    pub(crate) fn heading(&mut self, names: &[&str]) -> Result<(), Failure> {
        self.row(names.iter().map(|name| RowField::styled(HEADING, name)))
    }

    /// Writes the rows that are kept for their widths.
    #[inline]
    fn settle(&mut self) -> Result<(), Failure> {
        match self.rows.are_kept() {
            true => self.rows.settle(&mut self.buffer).map_err(Failure::Output),
            false => Ok(()),
        }
    }

    /// Writes `text`, with no line end of its own.
    pub(crate) fn text(&mut self, text: impl Display) -> Result<(), Failure> {
        self.settle()?;
        write!(self.buffer, "{text}").map_err(Failure::Output)
    }

    /// Writes `bytes` as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.settle()?;
        self.buffer.write_all(bytes).map_err(Failure::Output)
    }

    /// Writes a row of CSV.
    pub(crate) fn csv(&mut self, fields: &[impl AsRef<str>]) -> Result<(), Failure> {
        let mut line = Vec::new();
        for field in fields {
            csv_field(field.as_ref(), b',', &mut line);
            line.push(b',');
        }
        line.pop();
        line.push(b'\n');
        self.bytes(&line)
    }

    /// Writes `value` as JSON in one line.
    fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.buffer, value)
            .map_err(io::Error::from)
            .and_then(|()| self.buffer.write_all(b"\n"))
            .map_err(Failure::Output)
    }

    /// Hands everything that was written so far to the reader.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.settle()?;
        self.buffer.flush().map_err(Failure::Output)
    }

    /// Ends it: the verdict holds if all was written.
    pub(crate) fn end(mut self, verdict: Verdict) -> Result<Verdict, Failure> {
        self.flush()?;
        Ok(verdict)
    }
}

/// The members of an object, none of anything else.
fn members(json: &str) -> HashMap<String, &RawValue> {
    serde_json::from_str(json).unwrap_or_default()
}

/// The member at this path as a cell of CSV: texts as they are, nothing for null, lists as JSON.
fn cell(members: &HashMap<String, &RawValue>, path: &str) -> Option<String> {
    if let Some(value) = members.get(path) {
        let text = value.get();
        let text = serde_json::from_str(text).unwrap_or_else(|_| Some(text.to_owned()));
        return Some(text.unwrap_or_default());
    }
    let (name, rest) = path.split_once('.')?;
    cell(&self::members(members.get(name)?.get()), rest)
}

/// Writes the rows that are still kept, which after an error are those before it.
impl Drop for StandardOutput {
    fn drop(&mut self) {
        let _ = self.settle();
    }
}

/// Standard output; on a terminal the bar is erased before each write, and nothing steers it.
#[derive(Debug)]
struct StdoutBesideBar {
    stdout: Stdout,
    is_terminal: bool,
}

impl Write for StdoutBesideBar {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.stdout.write(bytes);
        }
        let (text, count) = terminal_text::shown(bytes);
        progress::apart(text.ends_with('\n'), || {
            self.stdout.write_all(text.as_bytes())?;
            self.stdout.flush()
        })?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

/// For libraries that write to a `Write`; the caller turns errors into a [`Failure`].
impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.buffer.flush()
    }
}
