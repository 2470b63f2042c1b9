//! Texts, rows and JSON in, standard output out, with its errors kept.

use std::fmt::Display;
use std::io::{self, BufWriter, Stdout, Write};

use anstyle::Style;
use popfib_formats::text::csv_field;
use popfib_program::failure::Failure;
pub(crate) use popfib_program::message::{AsText, error, tell};
pub(crate) use popfib_program::note;
use popfib_program::{progress, terminal_text};
use serde::Serialize;

use crate::rows::{RowField, RowForm, RowWriter};
use crate::screen::{HEADING, Screen};

/// Standard output with a buffer and rows. Nothing is lost silently: every error, a full disk as much as a closed pipe, comes back as
/// [`Failure::Output`], which `println!` would turn into a panic.
#[derive(Debug)]
pub(crate) struct StandardOutput {
    buffer: BufWriter<StdoutBesideBar>,
    screen: Screen,
    rows: RowWriter,
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
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
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
