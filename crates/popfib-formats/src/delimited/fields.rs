//! Fields of a line of CSV or TSV, quoted or not.
//!
//! csv-core splits, one line at a time: a record that goes on over lines, as
//! CSV allows, would need memory without bound where a quote is never closed.
//! None of the known tables has such a thing.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

/// The most fields of a line.
const MAX_FIELDS: usize = 1000;

pub(crate) struct Fields {
    reader: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
    len: usize,
}

impl Fields {
    pub(crate) fn new(separator: u8) -> Self {
        Self {
            reader: ReaderBuilder::new().delimiter(separator).build(),
            text: Vec::new(),
            ends: vec![0; MAX_FIELDS],
            len: 0,
        }
    }

    /// Takes the fields of `line`, which holds no control characters but tabs.
    pub(crate) fn split(&mut self, line: &str) -> Result<(), String> {
        self.len = 0;
        let quotes = memchr::memchr_iter(b'"', line.as_bytes()).count();
        if !quotes.is_multiple_of(2) {
            return Err("a quote is not closed on this line".to_owned());
        }
        self.reader.reset();
        if self.text.len() < line.len() {
            self.text.resize(line.len(), 0);
        }
        let (mut input, mut written, mut fields) = (line.as_bytes(), 0, 0);
        loop {
            let (result, read, out, ends) =
                self.reader
                    .read_record(input, &mut self.text[written..], &mut self.ends[fields..]);
            input = &input[read..];
            written += out;
            fields += ends;
            match result {
                // What follows is nothing, which ends the record.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record | ReadRecordResult::End => break,
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    return Err(format!("more than {MAX_FIELDS} fields"));
                }
            }
        }
        self.len = fields;
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The field at `index`, without blanks around it; empty if there is none.
    pub(crate) fn get(&self, index: usize) -> &str {
        if index >= self.len {
            return "";
        }
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        let field = &self.text[start..self.ends[index]];
        // Cut at ASCII characters out of text, so it is text.
        std::str::from_utf8(field).unwrap_or_default().trim()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits() {
        let mut fields = Fields::new(b',');
        let mut split = |line: &str| -> Result<Vec<String>, String> {
            fields.split(line)?;
            Ok((0..fields.len())
                .map(|n| fields.get(n).to_owned())
                .collect())
        };
        let all = |line: &[&str]| Ok(line.iter().map(|s| (*s).to_owned()).collect());
        assert_eq!(split("a,b"), all(&["a", "b"]));
        assert_eq!(
            split("1.0.0.0/24, 13335 ,\"Cloudflare, Inc.\",\"say \"\"x\"\"\""),
            all(&["1.0.0.0/24", "13335", "Cloudflare, Inc.", "say \"x\""])
        );
        assert_eq!(split("a,,"), all(&["a", "", ""]));
        assert_eq!(split("Zürich"), all(&["Zürich"]));
        assert!(split("\"a,b").is_err());
        assert!(split(&",".repeat(MAX_FIELDS)).is_err());
        assert_eq!(
            split(&",".repeat(MAX_FIELDS - 1)).map(|f| f.len()),
            Ok(MAX_FIELDS)
        );
        // Not the fields of the line before.
        assert_eq!(split("x"), all(&["x"]));
    }
}
