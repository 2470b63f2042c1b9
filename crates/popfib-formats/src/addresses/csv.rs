//! A column of addresses in a CSV or TSV file.
//!
//! csv-core, the parser inside the crate csv, is used without the crate around
//! it, because it tells how many bytes each record takes. So the rows go into
//! the batch as they stand in the file, quotes and all, and what is written
//! behind them leaves the user's columns byte by byte as they were.

use std::fmt;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use memchr::memchr_iter;

use super::window::Window;
use super::{AddressBatch, AddressSource, not_an_address, parse_address};
use crate::error::{Place, quote};
use crate::{Input, ReadError};

/// The longest row. A quote that is never closed makes one row of the rest of the file.
const MAX_ROW: usize = 1 << 20;

/// Bytes of the mark that some programs put before UTF-8.
const BYTE_ORDER_MARK_LEN: usize = 3;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// By its place, from 1.
    Number(usize),
    /// By its name in the first row.
    Name(String),
}

impl Default for Column {
    fn default() -> Self {
        Self::Number(1)
    }
}

/// An [`AddressSource`] of one column of a table with a delimiter.
///
/// Quoting is that of RFC 4180; lines end in LF, CR LF or CR. The first row is
/// a header if the column is given by name, or if its cell is no address. An
/// empty cell is a row without an address.
pub struct CsvAddresses {
    window: Window,
    reader: Reader,
    delimiter: u8,
    column: usize,
    header: Option<Vec<u8>>,
    is_crlf: bool,
    /// The cells of the record, unquoted, and where each ends.
    cells: Vec<u8>,
    ends: Vec<usize>,
    /// How many cells the record has.
    count: usize,
    /// How much of the window the record takes, up to which `reader` has read.
    taken: usize,
    /// Lines that lie before the window.
    lines: u64,
    error: Option<ReadError>,
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
    pub fn new(input: Input, delimiter: u8, column: &Column) -> Result<Self, ReadError> {
        let mut source = Self {
            window: Window::new(input, MAX_ROW),
            reader: ReaderBuilder::new().delimiter(delimiter).build(),
            delimiter,
            column: 0,
            header: None,
            is_crlf: false,
            cells: vec![0; 4 << 10],
            ends: vec![0; 64],
            count: 0,
            taken: 0,
            lines: 0,
            error: None,
            holds_row: false,
            is_done: false,
        };
        // The reader takes a byte order mark only if it comes as a whole, and with nothing
        // behind it takes that for the end.
        while source.window.data().len() <= BYTE_ORDER_MARK_LEN
            && source.window.fill(Place::Line(1))?
        {}
        if !source.read_record()? {
            if let Column::Name(name) = column {
                let reason = format!("no column {}: the file is empty", quote(name.as_bytes()));
                return Err(ReadError::file(source.window.name(), reason));
            }
            return Ok(source);
        }
        source.is_crlf = source.window.data()[..source.taken].ends_with(b"\r")
            && source.peek_byte()? == Some(b'\n');
        source.column = match column {
            Column::Number(number) => number - 1,
            Column::Name(name) => match source.names().position(|cell| cell == name.as_bytes()) {
                Some(index) => index,
                None => return Err(source.no_column(name)),
            },
        };
        let is_data = match column {
            Column::Name(_) => false,
            Column::Number(_) => {
                let cell = source.cell(source.column).map(<[u8]>::trim_ascii);
                cell.is_some_and(|cell| cell.is_empty() || parse_address(cell).is_some())
            }
        };
        if is_data {
            source.holds_row = true;
        } else {
            if source.column >= source.count {
                return Err(source.row_error());
            }
            source.header = Some(source.row().to_vec());
        }
        Ok(source)
    }

    /// The first row as it stands in the file, without its line end; `None` if it is data.
    pub fn header(&self) -> Option<&[u8]> {
        self.header.as_deref()
    }

    /// What separates cells.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Whether the first line ends in CR LF.
    pub fn is_crlf(&self) -> bool {
        self.is_crlf
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
            self.count = 0;
        }
        found
    }

    fn find_record(&mut self) -> Result<bool, ReadError> {
        let data = &self.window.data()[..self.taken];
        self.lines += memchr_iter(b'\n', data).count() as u64;
        self.window.take(self.taken);
        self.taken = 0;
        self.count = 0;
        let mut cells = 0;
        loop {
            let data = &self.window.data()[self.taken..];
            // Empty input tells the reader that this is the end.
            if data.is_empty() && !self.window.is_at_end() {
                let place = Place::Line(self.lines + 1);
                if !self.window.fill(place)? && !self.window.is_at_end() {
                    return Err(self.too_long());
                }
                continue;
            }
            let (result, read, written, ends) = self.reader.read_record(
                data,
                &mut self.cells[cells..],
                &mut self.ends[self.count..],
            );
            self.taken += read;
            cells += written;
            self.count += ends;
            match result {
                ReadRecordResult::Record => return Ok(true),
                ReadRecordResult::End => return Ok(false),
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.cells.resize(self.cells.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
            }
        }
    }

    /// The byte behind the record, without taking it.
    fn peek_byte(&mut self) -> Result<Option<u8>, ReadError> {
        while self.window.data().len() == self.taken {
            if !self.window.fill(Place::Line(self.lines + 1))? {
                break;
            }
        }
        Ok(self.window.data().get(self.taken).copied())
    }

    /// A cell of the record, unquoted.
    #[inline]
    fn cell(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends[..self.count].get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.cells[start..end])
    }

    fn names(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count).filter_map(|index| self.cell(index))
    }

    /// The bytes of the record in the window: without the end of the line
    /// before, which may have come with it, and its own.
    #[inline]
    fn row(&self) -> &[u8] {
        trim_line_ends(&self.window.data()[..self.taken])
    }

    /// Puts the record into `batch`.
    fn hand_out(&self, batch: &mut AddressBatch) -> Result<(), ReadError> {
        let cell = self.cell(self.column).ok_or_else(|| self.row_error())?;
        let cell = cell.trim_ascii();
        match parse_address(cell) {
            Some(address) => batch.push(address),
            None if cell.is_empty() => batch.push_missing(),
            None => return Err(self.invalid(not_an_address(cell))),
        }
        batch.push_row(self.row());
        Ok(())
    }

    /// Whether a line end is here behind the record, so that the next record may be whole.
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
        ReadError::invalid(self.window.name(), Place::Line(line), reason)
    }

    #[cold]
    fn row_error(&self) -> ReadError {
        let (column, count) = (self.column + 1, self.count);
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
        let mut names: Vec<String> = self.names().take(20).map(quote).collect();
        if self.count > names.len() {
            names.push("...".to_owned());
        }
        let reason = format!(
            "no column {}; there are {}",
            quote(name.as_bytes()),
            names.join(", ")
        );
        ReadError::file(self.window.name(), reason)
    }
}

impl AddressSource for CsvAddresses {
    fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        batch.clear();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        for row in 0..AddressBatch::FULL {
            let is_row = if std::mem::take(&mut self.holds_row) {
                Ok(true)
            } else if row > 0 && !self.is_buffered() && !batch.is_empty() {
                break;
            } else {
                self.read_record()
            };
            let handed_out = match is_row {
                Ok(false) => break,
                Ok(true) => self.hand_out(batch),
                Err(error) => Err(error),
            };
            match handed_out {
                Ok(()) => {}
                Err(error) if batch.is_empty() => return Err(error),
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
        }
        Ok(!batch.is_empty())
    }
}

impl fmt::Debug for CsvAddresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CsvAddresses")
            .field("window", &self.window)
            .field("column", &self.column)
            .finish_non_exhaustive()
    }
}

#[inline]
fn trim_line_ends(mut row: &[u8]) -> &[u8] {
    while let [b'\n' | b'\r', rest @ ..] = row {
        row = rest;
    }
    while let [rest @ .., b'\n' | b'\r'] = row {
        row = rest;
    }
    row
}
