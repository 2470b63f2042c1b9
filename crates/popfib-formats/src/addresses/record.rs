//! The cells of one record of CSV, unquoted: bytes of a row in, cells out.
//!
//! csv-core does the work; here are its buffers, which grow to the longest record and are used again.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

/// A record of a table with a delimiter, quoted as RFC 4180 says, and its cells.
#[derive(Debug)]
pub struct CsvRecord {
    reader: Reader,
    /// The cells one after the other, unquoted, and where each ends.
    cells: Vec<u8>,
    len: usize,
    ends: Vec<usize>,
    count: usize,
}

impl CsvRecord {
    /// No cells yet; `delimiter` separates them. Takes 5 KiB, later as much as the longest record.
    pub fn new(delimiter: u8) -> Self {
        Self {
            reader: ReaderBuilder::new().delimiter(delimiter).build(),
            cells: vec![0; 4 << 10],
            len: 0,
            ends: vec![0; 64],
            count: 0,
        }
    }

    /// Takes `row` apart, which is one whole record. Takes time by its length.
    pub fn split(&mut self, row: &[u8]) {
        self.reader.reset();
        self.clear();
        if let (ReadRecordResult::InputEmpty, _) = self.read(row) {
            // Empty input is the end.
            self.read(b"");
        }
    }

    /// A cell by its place from 0; `None` if the record has none there.
    #[inline]
    pub fn cell(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends[..self.count].get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.cells[start..end])
    }

    /// All cells, in order.
    pub fn cells(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count).filter_map(|index| self.cell(index))
    }

    /// How many cells there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Forgets the cells; the next piece begins a record.
    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.count = 0;
    }

    /// Reads up to the end of the record or of `data`, and says which, and how much of it that is.
    pub(super) fn read(&mut self, data: &[u8]) -> (ReadRecordResult, usize) {
        let mut at = 0;
        loop {
            let (result, read, written, ends) = self.reader.read_record(
                &data[at..],
                &mut self.cells[self.len..],
                &mut self.ends[self.count..],
            );
            at += read;
            self.len += written;
            self.count += ends;
            match result {
                ReadRecordResult::OutputFull => self.cells.resize(self.cells.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                of_data => return (of_data, at),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_rows_one_after_the_other() {
        let mut record = CsvRecord::new(b';');
        let long = "x".repeat(10_000);
        for (row, cells) in [
            ("a;b", vec!["a", "b"]),
            ("", vec![]),
            ("\"a;\"\"b\";c\"\";", vec!["a;\"b", "c\"\"", ""]),
            ("\"two\r\nlines\";c", vec!["two\r\nlines", "c"]),
            ("\"never closed;1", vec!["never closed;1"]),
            (&format!("{long};2"), vec![&long, "2"]),
            (&";".repeat(199), vec![""; 200]),
        ] {
            record.split(row.as_bytes());
            let seen: Vec<_> = record.cells().map(String::from_utf8_lossy).collect();
            assert_eq!(seen, cells, "{row}");
            assert_eq!(record.cell(cells.len()), None);
        }
    }
}
