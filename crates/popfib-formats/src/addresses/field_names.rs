//! The line of a log that names the fields of the other lines: bytes of a heading in, the number of the field of a name out.

use super::head::{is_content, lines};
use super::options::LinePart;

/// What the names of W3C's logs follow.
pub(super) const W3C: &[u8] = b"#Fields:";

/// The line that has the names of the fields.
#[derive(Clone, Debug)]
pub(super) struct FieldNames {
    /// What it begins with.
    pub(super) mark: Vec<u8>,
    /// All of it, without its end.
    pub(super) line: Vec<u8>,
    /// What separates the names, and the fields: blanks, however many, if `None`.
    delimiter: Option<u8>,
    /// Whether columns are meant by its names.
    pub(super) is_used: bool,
}

impl FieldNames {
    /// The first line in `head` that begins with `mark`. For W3C's logs: one of the comments at the beginning or, if none of
    /// them is it, the first line that is no comment. Bytes after that line change nothing.
    pub(super) fn of(head: &[u8], mark: &[u8], delimiter: Option<u8>) -> Option<Self> {
        for (line, is_whole) in lines(head) {
            let mark = match line.starts_with(mark) && is_whole {
                true => mark,
                false if mark == W3C && is_content(line) => line,
                false => continue,
            };
            return Some(Self {
                mark: mark.to_vec(),
                line: line.to_vec(),
                delimiter,
                is_used: false,
            });
        }
        None
    }

    /// The names.
    pub(super) fn names(&self) -> Vec<&[u8]> {
        let names = match self.mark.len() < self.line.len() {
            true => &self.line[self.mark.len()..],
            false => &self.line,
        };
        let is_delimiter = |byte: &u8| match self.delimiter {
            Some(delimiter) => *byte == delimiter,
            None => byte.is_ascii_whitespace(),
        };
        let names = names.split(is_delimiter);
        names
            .filter(|name| self.delimiter.is_some() || !name.is_empty())
            .collect()
    }

    /// The field of this name.
    pub(super) fn field(&self, name: &str) -> Option<LinePart> {
        let names = self.names();
        let place = names.iter().position(|field| *field == name.as_bytes())?;
        Some(LinePart::Field(place + 1, self.delimiter))
    }
}
