//! The names of places beside networks: MaxMind's CSV files come in pairs, of which one has a number for each network, and the
//! other what the number is of. Both files in, one CSV with the columns of both out.
//!
//! ```text
//! network,geoname_id,...               geoname_id,locale_code,...,city_name
//! 1.0.0.0/24,2077456,...               2077456,en,...,Canberra
//! ```
//! Each row of the first file is followed by the fields of the row of the second that has its number, and is read as CSV then; so
//! the columns of both are columns of one record, and the reader of CSV knows nothing of places. The places are in memory,
//! the networks stream by.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;

use super::fields::CsvFields;
use crate::delimiter::delimiter;
use crate::error::{ReadError, not, quote};
use crate::input::Input;
use crate::lines::{Lines, text};

/// Places by their numbers: a row each, of which the first field is the number.
pub(crate) struct Locations {
    name: String,
    separator: u8,
    /// The name of the numbers' column.
    key: String,
    /// The fields after the number in the heading, as they are written.
    heading: String,
    rows: HashMap<String, String>,
    /// What a row has that has no place.
    empty: String,
}

impl Locations {
    /// Reads all places. Time and memory in proportion to the file.
    ///
    /// # Errors
    /// An invalid line, a number that is there twice, or a file without a heading and another column.
    pub(crate) fn read(input: Input) -> Result<Self, ReadError> {
        let name = input.name().to_owned();
        let mut lines = Lines::new(input);
        let mut found: Option<(CsvFields, Self)> = None;
        while lines.advance()? {
            let line = text(lines.line()).map_err(|reason| lines.stopped(reason))?;
            if line.trim().is_empty() {
                continue;
            }
            let Some((fields, places)) = &mut found else {
                let separator = delimiter(line.as_bytes()).unwrap_or(b',');
                let mut fields = CsvFields::new(separator);
                fields.split(line).map_err(|reason| lines.stopped(reason))?;
                let Some((_, heading)) = line.split_once(char::from(separator)) else {
                    break;
                };
                let places = Self {
                    name: name.clone(),
                    separator,
                    key: fields.get(0).to_owned(),
                    heading: heading.to_owned(),
                    rows: HashMap::new(),
                    empty: String::from(char::from(separator)).repeat(fields.len() - 2),
                };
                found = Some((fields, places));
                continue;
            };
            fields.split(line).map_err(|reason| lines.stopped(reason))?;
            let number = fields.get(0);
            if number.contains(char::from(places.separator)) {
                return Err(lines.stopped(not(number, "a number")));
            }
            let rest = line.split_once(char::from(places.separator));
            let rest = rest.map_or("", |(_, rest)| rest);
            if fields.len() != places.empty.len() + 2 {
                let (count, wanted) = (fields.len(), places.empty.len() + 2);
                return Err(
                    lines.stopped(format!("{count} fields, where the heading has {wanted}"))
                );
            }
            if places
                .rows
                .insert(number.to_owned(), rest.to_owned())
                .is_some()
            {
                let number = quote(number);
                return Err(lines.stopped(format!("{number} is there twice")));
            }
        }
        let no_heading = || lines.stopped("a heading of a number and other columns comes first");
        found.map(|(_, places)| places).ok_or_else(no_heading)
    }

    /// The table in `input`, each row with its place; and how many rows have a number that no place has, once they are read.
    ///
    /// # Errors
    /// A heading without the column of the numbers.
    pub(crate) fn beside(self, input: Input) -> Result<(Input, Arc<AtomicU64>), ReadError> {
        let unknown = Arc::default();
        let name = input.name().to_owned();
        let mut lines = Lines::new(input);
        let mut first = Vec::new();
        let mut heading = None;
        let mut number = 0;
        while heading.is_none() && lines.advance()? {
            blank(&mut first, &mut number, &lines);
            first.extend_from_slice(lines.line());
            let line = String::from_utf8_lossy(lines.line()).into_owned();
            if !matches!(line.trim_start().as_bytes(), [] | [b'#', ..]) {
                let separator = delimiter(line.as_bytes()).unwrap_or(b',');
                let mut fields = CsvFields::new(separator);
                // Of a heading that is no row of fields there is no column.
                let column = match fields.split(&line) {
                    Ok(()) => (0..fields.len()).find(|&n| fields.get(n) == self.key),
                    Err(_) => None,
                };
                let Some(column) = column else {
                    let (key, file) = (quote(self.key), self.name.escape_debug());
                    return Err(lines.stopped(format!("no column {key}, which {file} is about")));
                };
                if separator != self.separator {
                    let file = self.name.escape_debug();
                    return Err(
                        lines.stopped(format!("fields are not separated as those of {file}"))
                    );
                }
                first.push(separator);
                first.extend_from_slice(self.heading.as_bytes());
                let width = fields.len();
                heading = Some((fields, column, width));
            }
            first.push(b'\n');
        }
        let Some((fields, column, width)) = heading else {
            return Err(lines.stopped("there is no heading in it"));
        };
        let beside = Beside {
            lines,
            fields,
            column,
            width,
            places: self,
            unknown: Arc::clone(&unknown),
            row: first,
            read: 0,
            number,
        };
        Ok((Input::plain(name, beside), unknown))
    }
}

/// The rows of a table, each with its place.
struct Beside {
    lines: Lines,
    fields: CsvFields,
    column: usize,
    /// How many fields the heading has.
    width: usize,
    places: Locations,
    unknown: Arc<AtomicU64>,
    /// The row that is handed out, and how much of it was.
    row: Vec<u8>,
    read: usize,
    /// The number of the last line.
    number: u64,
}

/// Writes the empty lines before the current one, so that lines keep their numbers.
fn blank(row: &mut Vec<u8>, number: &mut u64, lines: &Lines) {
    for _ in *number + 1..lines.number() {
        row.push(b'\n');
    }
    *number = lines.number();
}

impl Beside {
    /// Makes the next row; false at the end.
    fn next(&mut self) -> Result<bool, ReadError> {
        self.row.clear();
        self.read = 0;
        if !self.lines.advance()? {
            return Ok(false);
        }
        blank(&mut self.row, &mut self.number, &self.lines);
        let line = self.lines.line();
        self.row.extend_from_slice(line);
        // What is no row of fields is left as it is: the reader of CSV says what is wrong with it.
        let is_row = text(line).is_ok_and(|line| {
            let is_row = !matches!(line.trim_start().as_bytes(), [] | [b'#', ..]);
            is_row && self.fields.split(line).is_ok() && self.column < self.fields.len()
        });
        if is_row {
            let number = self.fields.get(self.column);
            let place = self.places.rows.get(number);
            if place.is_none() && !number.is_empty() {
                self.unknown.fetch_add(1, Ordering::Relaxed);
            }
            let place = place.unwrap_or(&self.places.empty).as_bytes();
            // Fields that are left out at the end of a row, and empty ones beyond the heading, keep the place in its columns.
            let separator = self.places.separator;
            let (count, width) = (self.fields.len(), self.width);
            for _ in count..width {
                self.row.push(separator);
            }
            let beyond = vec![separator; count.saturating_sub(width)];
            let is_right = self.row.ends_with(&beyond);
            if is_right {
                self.row.truncate(self.row.len() - beyond.len());
            }
            self.row.push(separator);
            self.row.extend_from_slice(place);
            if !is_right {
                // A row with too many fields is an error of the reader of CSV, and has to stay one beside a longer heading.
                self.row.extend_from_slice(&[separator, b'?']);
            }
        }
        self.row.push(b'\n');
        Ok(true)
    }
}

impl Read for Beside {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.read == self.row.len()
            && !self
                .next()
                .map_err(|e| io::Error::other(e.without_file()))?
        {
            return Ok(0);
        }
        let left = &self.row[self.read..];
        let count = left.len().min(buf.len());
        buf[..count].copy_from_slice(&left[..count]);
        self.read += count;
        Ok(count)
    }
}
