//! A column of addresses in a CSV or TSV file: rows in, batches out whose rows are these bytes.
//!
//! ```text
//! time,client,bytes
//! 10:20,192.0.2.1,"1,024"
//! ```
//! csv-core, the parser inside the crate csv, is used without the crate around
//! it, because it tells how many bytes each record takes. So the rows go into
//! the batch as they stand in the file, quotes and all, and what is written
//! after them leaves the user's columns byte by byte as they were.
//!
//! If no column is asked for, it is found by its content: that of the first address. All rows before have none in any
//! column, so that nothing has to be read ahead.

use std::mem;

use csv_core::ReadRecordResult;
use memchr::memchr_iter;

use super::batch::AddressBatch;
use super::choice::taken_from;
use super::find::find_address;
use super::finder::AddressFinder;
use super::head::{Heading, first_line, has_line, heading, is_address};
use super::json_path::unmarked;
use super::options::{AddressOptions, ColumnId};
use super::record::CsvRecord;
use super::source::{AddressEntry, AddressSource, CsvDialect};
use super::window::InputWindow;
use crate::delimiter::{declared, delimiter};
use crate::error::{FilePlace, ReadError, quote};
use crate::input::Input;
use crate::registry::Capability::Rows;

pub(super) static CSV: AddressEntry = AddressEntry {
    name: "csv",
    description: "a column of a CSV file, by name or number; commas or semicolons",
    can: &[Rows],
    detect: |head| matches!(heading(head), Heading::Found(delimiter) if delimiter != b'\t'),
    open: |mut input, options| {
        let line = first_line(input.peek(has_line)).unwrap_or_default();
        if let Some(delimiter) = declared(line) {
            return open(input, delimiter, options);
        }
        // A tab in a table that is called CSV belongs to its cells.
        let line: Vec<u8> = line.iter().copied().filter(|&b| b != b'\t').collect();
        open(input, delimiter(&line).unwrap_or(b','), options)
    },
};

pub(super) static TSV: AddressEntry = AddressEntry {
    name: "tsv",
    description: "a column of a TSV file",
    can: &[Rows],
    detect: |head| heading(head) == Heading::Found(b'\t'),
    open: |input, options| open(input, b'\t', options),
};

/// Opens a table, its cells separated by what the user says, else by `delimiter`.
fn open(
    input: Input,
    delimiter: u8,
    options: &AddressOptions,
) -> Result<Box<dyn AddressSource>, ReadError> {
    let delimiter = options.delimiter.unwrap_or(delimiter);
    Ok(Box::new(CsvAddresses::new(input, delimiter, options)?))
}

/// The longest row. A quote that is never closed makes one row of the rest of the file.
const MAX_ROW: usize = 1 << 20;

/// Bytes of the mark that some programs put before UTF-8.
const BYTE_ORDER_MARK_LEN: usize = 3;

/// An [`AddressSource`] of columns of a table with a delimiter.
///
/// Quoting is that of RFC 4180; lines end in LF, CR LF or CR. The first row is
/// a header if a column is given by name, or if no cell of it holds an address. A
/// cell without an address, or that is not there, is one without. The column is that of the first address if none is given.
struct CsvAddresses {
    window: InputWindow,
    /// The record at hand.
    record: CsvRecord,
    delimiter: u8,
    /// Empty until the column is found, if none was asked for.
    columns: Vec<usize>,
    finder: AddressFinder,
    header: Option<Vec<u8>>,
    /// The line that declares the delimiter, with its end.
    declaration: Vec<u8>,
    /// Which column was found, for the user.
    choice: Option<String>,
    /// How many cells the longest row had.
    longest: usize,
    /// Rows that ended before a column that was asked for.
    short_rows: u64,
    is_crlf: bool,
    /// How much of the window the record takes, up to which `record` has read.
    taken: usize,
    /// Lines that lie before the window.
    lines: u64,
    /// Whether the record before ended in CR, so that the LF of its end comes with this one.
    after_cr: bool,
    /// Blank lines after the last record.
    blank: usize,
    /// The first row is read, is no header, and not handed out yet.
    holds_row: bool,
    /// At the end, or stopped by an error.
    is_done: bool,
}

impl CsvAddresses {
    /// Reads the first row of `input`, cells being separated by `delimiter`.
    /// Takes 512 KiB, and a few times the longest row.
    ///
    /// # Errors
    /// If it cannot be read, or there is no such column.
    fn new(input: Input, delimiter: u8, options: &AddressOptions) -> Result<Self, ReadError> {
        let columns = &options.columns;
        let mut source = Self {
            window: InputWindow::new(input, MAX_ROW),
            record: CsvRecord::new(delimiter),
            delimiter,
            columns: Vec::new(),
            finder: AddressFinder::of_cells(options, columns.len().max(1)),
            header: None,
            declaration: Vec::new(),
            choice: None,
            longest: 0,
            short_rows: 0,
            is_crlf: false,
            taken: 0,
            lines: 0,
            after_cr: false,
            blank: 0,
            holds_row: false,
            is_done: false,
        };
        // The reader takes a byte order mark only if it comes as a whole, and with nothing
        // after it takes that for the end.
        while source.window.data().len() <= BYTE_ORDER_MARK_LEN
            && source.window.fill(FilePlace::Line(1))?
        {}
        if !source.read_record()? || (source.take_declaration() && !source.read_record()?) {
            for column in columns {
                if let ColumnId::Name(name) = column {
                    let reason = format!("no column {}: the file is empty", quote(name));
                    return Err(ReadError::file(source.window.name(), reason));
                }
            }
            return Ok(source);
        }
        source.is_crlf = source.window.data()[..source.taken].ends_with(b"\r")
            && source.peek_byte()? == Some(b'\n');
        let mut is_named = false;
        for column in columns {
            let index = match column {
                ColumnId::Number(number) => number - 1,
                ColumnId::Name(name) => {
                    is_named = true;
                    let found = source
                        .record
                        .cells()
                        .position(|cell| cell.trim_ascii() == name.trim().as_bytes());
                    found.ok_or_else(|| source.no_column(name))?
                }
            };
            source.columns.push(index);
        }
        let has_address = source
            .record
            .cells()
            .any(|cell| find_address(cell, 0).is_some());
        let first = source.columns.first().copied().unwrap_or_default();
        let first = source.record.cell(first).map(<[u8]>::trim_ascii);
        // A name that was found is in a heading; else a row with an address, or with nothing where the addresses are, is data.
        let is_data = !is_named && (has_address || matches!(first, Some(b"" | b"-")));
        if is_data {
            source.holds_row = true;
        } else {
            if source
                .columns
                .iter()
                .any(|&column| column >= source.record.count())
            {
                return Err(source.row_error());
            }
            if let Some(error) = source.open_quote() {
                return Err(error);
            }
            // With the blank lines before it.
            let header = trim_end(&source.window.data()[..source.taken]);
            source.header = Some([&source.declaration[..], header].concat());
        }
        Ok(source)
    }

    /// Whether the record at hand declares the delimiter (`sep=;`). It stays before the heading, as it is.
    fn take_declaration(&mut self) -> bool {
        let line = &self.window.data()[..self.taken];
        let is_declaration = declared(trim_end(unmarked(line))).is_some();
        if is_declaration {
            self.declaration = line.to_vec();
        }
        is_declaration
    }

    /// Goes to the next record; false at the end. What was the record is gone.
    fn read_record(&mut self) -> Result<bool, ReadError> {
        if self.is_done {
            return Ok(false);
        }
        let found = self.find_record();
        if !matches!(found, Ok(true)) {
            self.is_done = true;
            self.taken = 0;
            self.record.clear();
        }
        found
    }

    /// Finds the end of the next record, after which the one before is gone from the window.
    fn find_record(&mut self) -> Result<bool, ReadError> {
        let data = &self.window.data()[..self.taken];
        self.lines += memchr_iter(b'\n', data).count() as u64;
        self.after_cr = data.ends_with(b"\r");
        self.window.take(self.taken);
        self.taken = 0;
        self.record.clear();
        loop {
            let data = &self.window.data()[self.taken..];
            // Empty input tells the reader that this is the end.
            if data.is_empty() && !self.window.is_at_end() {
                let place = FilePlace::Line(self.lines + 1);
                if !self.window.fill(place)? && !self.window.is_at_end() {
                    return Err(self.too_long());
                }
                continue;
            }
            let (result, read) = self.record.read(data);
            self.taken += read;
            match result {
                ReadRecordResult::Record => return Ok(true),
                ReadRecordResult::End => {
                    self.blank = self.blank_lines();
                    return Ok(false);
                }
                _ => {}
            }
        }
    }

    /// The byte after the record, without taking it.
    fn peek_byte(&mut self) -> Result<Option<u8>, ReadError> {
        while self.window.data().len() == self.taken {
            if !self.window.fill(FilePlace::Line(self.lines + 1))? {
                break;
            }
        }
        Ok(self.window.data().get(self.taken).copied())
    }

    /// The bytes of the record in the window: without the end of the line
    /// before, which may have come with it, and its own.
    #[inline]
    fn row(&self) -> &[u8] {
        trim_line_ends(&self.window.data()[..self.taken])
    }

    /// How many blank lines came with the record, before it.
    fn blank_lines(&self) -> usize {
        let data = &self.window.data()[..self.taken];
        let ends = data.iter().take_while(|byte| matches!(byte, b'\n' | b'\r'));
        let count = ends.filter(|&&byte| byte == b'\n').count();
        count - usize::from(self.after_cr && data.starts_with(b"\n"))
    }

    /// Puts the record into `batch`, and the blank lines before it, which are rows without an address.
    ///
    /// # Errors
    /// The last of the file ends inside of quotes.
    fn hand_out(&mut self, batch: &mut AddressBatch) -> Result<(), ReadError> {
        self.hand_out_blank(self.blank_lines(), batch);
        if self.columns.is_empty() {
            self.choose_column();
        }
        for &column in &self.columns {
            self.finder
                .find_cell(self.record.cell(column).unwrap_or_default(), batch);
        }
        if self.columns.is_empty() {
            self.finder.find_cell(b"", batch);
        }
        self.longest = self.longest.max(self.record.count());
        let last = self.columns.iter().max();
        self.short_rows += u64::from(last.is_some_and(|&column| column >= self.record.count()));
        batch.push_row(self.row());
        let is_last = self.window.is_at_end() && self.window.data().len() == self.taken;
        if is_last && let Some(error) = self.open_quote() {
            return Err(error);
        }
        Ok(())
    }

    /// Takes the first column of the record that is an address, else the first in which there is one.
    #[cold]
    fn choose_column(&mut self) {
        let cells = || self.record.cells().enumerate();
        let whole = cells().filter(|(_, cell)| is_address(cell));
        let whole: Vec<usize> = whole.map(|(column, _)| column).collect();
        let any = cells().find(|(_, cell)| find_address(cell, 0).is_some());
        let any = any.map(|(column, _)| column);
        let Some(column) = whole.first().copied().or(any) else {
            return;
        };
        if self.record.count() > 1 {
            let mut header = CsvRecord::new(self.delimiter);
            let names = self.table().map(|table| table.names().to_vec());
            header.split(unmarked(&names.unwrap_or_default()));
            let name = |column: usize| match header.cell(column) {
                Some(name) => quote(name.trim_ascii()),
                None => (column + 1).to_string(),
            };
            let others: Vec<String> = whole.iter().skip(1).map(|&column| name(column)).collect();
            self.choice = Some(taken_from("column", &name(column), &others));
        }
        self.columns.push(column);
    }

    /// What to say of the record, the last of the file, if it ends inside of quotes.
    fn open_quote(&self) -> Option<ReadError> {
        let reason = "a quote is never closed, so that all after it is one cell";
        let is_open = self.window.is_at_end() && ends_in_quotes(self.row(), self.delimiter);
        is_open.then(|| self.invalid(reason.to_owned()))
    }

    /// Puts blank lines into `batch`, as rows without an address.
    fn hand_out_blank(&self, count: usize, batch: &mut AddressBatch) {
        for _ in 0..count {
            for _ in 0..self.columns.len().max(1) {
                self.finder.find_cell(b"", batch);
            }
            batch.push_row(b"");
        }
    }

    /// Whether a line end is here after the record, so that the next record may be whole.
    fn is_buffered(&self) -> bool {
        let rest = &self.window.data()[self.taken..];
        memchr::memchr2(b'\n', b'\r', rest.strip_prefix(b"\n").unwrap_or(rest)).is_some()
    }

    /// An error about the record.
    #[cold]
    fn invalid(&self, reason: String) -> ReadError {
        let data = &self.window.data()[..self.taken];
        let blank = data.iter().take_while(|b| matches!(b, b'\n' | b'\r'));
        let line = self.lines + 1 + blank.filter(|&&b| b == b'\n').count() as u64;
        ReadError::invalid(self.window.name(), FilePlace::Line(line), reason)
    }

    #[cold]
    fn row_error(&self) -> ReadError {
        let column = self.columns.iter().max().map_or(1, |&column| column + 1);
        let count = self.record.count();
        let s = if count == 1 { "" } else { "s" };
        self.invalid(format!("no column {column}: the row has {count} column{s}"))
    }

    #[cold]
    fn too_long(&self) -> ReadError {
        let reason = format!(
            "line {}: the row is longer than {MAX_ROW} bytes",
            self.lines + 1
        );
        ReadError::file(self.window.name(), reason)
    }

    #[cold]
    fn no_column(&self, name: &str) -> ReadError {
        let names = self.record.cells().take(20);
        let mut names: Vec<String> = names.map(|name| quote(name.trim_ascii())).collect();
        if self.record.count() > names.len() {
            names.push("...".to_owned());
        }
        let reason = format!("no column {}; there are {}", quote(name), names.join(", "));
        ReadError::file(self.window.name(), reason)
    }
}

impl AddressSource for CsvAddresses {
    fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        for row in 0..AddressBatch::FULL {
            if !mem::take(&mut self.holds_row) {
                if row > 0 && !self.is_buffered() && !batch.is_empty() {
                    break;
                }
                if !self.read_record()? {
                    // Blank lines are rows, too, so that what is written has a line for each line that was read.
                    let blank = mem::take(&mut self.blank);
                    self.hand_out_blank(blank, batch);
                    break;
                }
            }
            self.hand_out(batch)?;
        }
        Ok(!batch.is_empty())
    }

    fn table(&self) -> Option<CsvDialect<'_>> {
        Some(CsvDialect {
            delimiter: self.delimiter,
            is_crlf: self.is_crlf,
            header: self.header.as_deref(),
            declaration: self.declaration.len(),
        })
    }

    fn missing(&self) -> Vec<Option<String>> {
        let longest = self.longest;
        let columns = self.columns.iter().map(|&column| {
            let number = column + 1;
            let is_there = longest == 0 || column < longest;
            (!is_there).then(|| format!("no row has a column {number}; the longest has {longest}"))
        });
        columns.collect()
    }

    fn notes(&self) -> Vec<String> {
        let count = self.short_rows;
        let s = if count == 1 { " ends" } else { "s end" };
        let note = format!("{count} row{s} before the column of addresses");
        let short = (count > 0).then_some(note);
        self.choice.iter().cloned().chain(short).collect()
    }
}

/// Whether `row` ends inside of a quoted cell.
fn ends_in_quotes(row: &[u8], delimiter: u8) -> bool {
    let mut rest = row;
    loop {
        if let Some(quoted) = rest.strip_prefix(b"\"") {
            rest = quoted;
            // A quote in quotes is doubled.
            loop {
                let Some(end) = memchr::memchr(b'"', rest) else {
                    return true;
                };
                rest = &rest[end + 1..];
                match rest.strip_prefix(b"\"") {
                    Some(doubled) => rest = doubled,
                    None => break,
                }
            }
        }
        match memchr::memchr(delimiter, rest) {
            Some(end) => rest = &rest[end + 1..],
            None => return false,
        }
    }
}

#[inline]
fn trim_line_ends(mut row: &[u8]) -> &[u8] {
    while let [b'\n' | b'\r', rest @ ..] = row {
        row = rest;
    }
    trim_end(row)
}

/// `row` without the line end after it.
#[inline]
fn trim_end(mut row: &[u8]) -> &[u8] {
    while let [rest @ .., b'\n' | b'\r'] = row {
        row = rest;
    }
    row
}
