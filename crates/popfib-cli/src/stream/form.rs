//! The forms of output that are lines (text, CSV, JSON): cells of answers in, bytes of a line out.

use std::borrow::Cow;
use std::io::Write;

use popfib_formats::Escaped;
use popfib_formats::text::{CellJson, csv_field};
use popfib_table::Cell;
use serde::Serialize;

use super::table::NamedTable;
use crate::records::text;

/// A form of output as lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LineForm {
    /// Columns after tabs. Lines end with CR LF if `is_crlf`, as those of the CSV file did.
    Text { is_crlf: bool },
    /// The same for a log whose lines of comment have the names of the fields, as those of Zeek do. The line that begins with
    /// `heading` gets `names`, and the line of types gets `types`.
    Headed {
        heading: Vec<u8>,
        names: Vec<u8>,
        types: Vec<u8>,
    },
    /// A table with a delimiter: that of the input if it was one.
    Csv(OutputDialect),
    /// One JSON object a line.
    Json,
}

/// What a CSV file looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutputDialect {
    pub(crate) delimiter: u8,
    pub(crate) is_crlf: bool,
    /// The names of the columns, as they stand in the file.
    pub(crate) header: Option<Vec<u8>>,
}

impl OutputDialect {
    /// That of a table of addresses, if the input is no table.
    pub(crate) const OF_ADDRESSES: Self = Self {
        delimiter: b',',
        is_crlf: false,
        header: None,
    };
}

/// The name of the column of addresses of a cell.
pub(super) fn address_name(cell: &str) -> &str {
    if cell.is_empty() { "address" } else { cell }
}

impl LineForm {
    /// What ends a line.
    pub(crate) fn end(&self) -> &'static [u8] {
        match self {
            Self::Json => b"}\n",
            Self::Csv(OutputDialect { is_crlf: true, .. }) => b"\r\n",
            Self::Text { is_crlf: true } => b"\r\n",
            Self::Csv(_) | Self::Text { .. } | Self::Headed { .. } => b"\n",
        }
    }

    /// What stands before and after an address that begins a line, and what stands there if there is no address.
    #[inline(always)]
    pub(super) fn address(&self) -> (&'static [u8], &'static [u8], &'static [u8]) {
        match self {
            Self::Json => (b"{\"address\":\"", b"\"", b"{\"address\":null"),
            Self::Csv(_) => (b"", b"", b""),
            Self::Text { .. } | Self::Headed { .. } => (b"", b"", b"-"),
        }
    }

    /// What a line of comment gets in place of answers; `None` if the row is no such line.
    #[inline(always)]
    pub(super) fn comment(&self, row: &[u8]) -> Option<&[u8]> {
        let Self::Headed {
            heading,
            names,
            types,
        } = self
        else {
            return None;
        };
        match row {
            row if row.starts_with(heading) => Some(names),
            row if row.starts_with(b"#types\t") => Some(types),
            [b'#', ..] => Some(b""),
            _ => None,
        }
    }

    /// Writes a column of an answer; `cell` is `None` if there is no answer.
    pub(super) fn column(&self, name: &str, cell: Option<Cell<'_>>, to: &mut Vec<u8>) {
        match self {
            Self::Text { .. } | Self::Headed { .. } => {
                to.push(b'\t');
                text_cell(cell, to);
            }
            Self::Csv(dialect) => {
                to.push(dialect.delimiter);
                if let Some(cell) = cell {
                    csv_field(&cell.to_text(), dialect.delimiter, to);
                }
            }
            Self::Json => member(name, &cell.map(CellJson), to),
        }
    }

    /// Writes a column of the answers to any number of addresses, as one cell.
    pub(super) fn columns<'c>(
        &self,
        name: &str,
        mut cells: impl ExactSizeIterator<Item = Option<Cell<'c>>>,
        to: &mut Vec<u8>,
    ) {
        match self {
            Self::Json => {
                let cells: Vec<_> = cells.map(|cell| cell.map(CellJson)).collect();
                member(name, &cells, to);
            }
            Self::Text { .. } | Self::Headed { .. } => {
                to.push(b'\t');
                text_cell(cells.next().flatten(), to);
                for cell in cells {
                    to.push(b',');
                    text_cell(cell, to);
                }
            }
            Self::Csv(_) => {
                let is_any = cells.len() > 0;
                let texts = cells.map(|cell| cell.map_or(Cow::Borrowed("-"), Cell::to_text));
                let joined = texts.collect::<Vec<_>>().join(",");
                self.column(name, is_any.then_some(text(&joined)), to);
            }
        }
    }
}

/// How the answers of a table are written.
pub(super) struct AnswerForm<'f> {
    form: &'f LineForm,
    prefix_name: Option<String>,
    column_names: Vec<String>,
    /// Whether nothing is before it in the line.
    is_first: bool,
}

impl<'f> AnswerForm<'f> {
    /// The answers of `table` in `form`, for the cell of this name.
    pub(super) fn new(form: &'f LineForm, cell: &str, table: &NamedTable, is_first: bool) -> Self {
        let mut names = table.columns(cell);
        let column_names = names.split_off(usize::from(table.with_prefixes));
        Self {
            form,
            prefix_name: names.pop(),
            column_names,
            is_first,
        }
    }

    pub(super) fn prefix(&self, prefix: Option<&str>, to: &mut Vec<u8>) {
        if let Some(name) = &self.prefix_name {
            self.form.column(name, prefix.map(text), to);
        }
    }

    /// What stands before and after a prefix, which is the same for all prefixes; `None` if prefixes are not written.
    pub(super) fn around_prefix(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        // If one of them is a delimiter, prefixes are in quotes.
        const ALL_BYTES: &str = "0123456789abcdef.:/";
        let mut before = Vec::new();
        self.prefix(Some(ALL_BYTES), &mut before);
        let mut places = before.windows(ALL_BYTES.len());
        let place = places.rposition(|bytes| bytes == ALL_BYTES.as_bytes())?;
        let after = before.split_off(place).split_off(ALL_BYTES.len());
        Some((before, after))
    }

    /// Writes the values of a record; without cells, that there is none.
    pub(super) fn record<'c>(
        &self,
        mut cells: impl Iterator<Item = Option<Cell<'c>>>,
        to: &mut Vec<u8>,
    ) {
        for (index, name) in self.column_names.iter().enumerate() {
            let cell = cells.next().flatten();
            match self.form {
                LineForm::Text { .. } if self.is_first && index == 0 => text_cell(cell, to),
                form => form.column(name, cell, to),
            }
        }
    }
}

fn text_cell(cell: Option<Cell<'_>>, to: &mut Vec<u8>) {
    // Writing to a Vec cannot fail.
    let _ = write!(
        to,
        "{}",
        Escaped(&cell.map_or(Cow::Borrowed("-"), Cell::to_text))
    );
}

/// Writes a member of a JSON object that is not the first.
fn member(name: &str, value: &impl Serialize, to: &mut Vec<u8>) {
    to.push(b',');
    json(name, to);
    to.push(b':');
    json(value, to);
}

fn json(value: &(impl Serialize + ?Sized), to: &mut Vec<u8>) {
    serde_json::to_writer(to, value).expect("text is JSON");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_a_prefix_is_that_of_its_column() {
        let csv = |delimiter| {
            LineForm::Csv(OutputDialect {
                delimiter,
                ..OutputDialect::OF_ADDRESSES
            })
        };
        let text = LineForm::Text { is_crlf: false };
        for form in [
            text,
            LineForm::Json,
            csv(b','),
            csv(b'/'),
            csv(b'.'),
            csv(b':'),
        ] {
            for name in ["prefix", "10.0.0.0/8", "0123456789abcdef.:/", "a\"b"] {
                let form = AnswerForm {
                    form: &form,
                    prefix_name: Some(name.to_owned()),
                    column_names: Vec::new(),
                    is_first: false,
                };
                let (before, after) = form.around_prefix().unwrap();
                // One that has every mark of a prefix, and so is written as all are.
                let prefix = "::ffff:10.0.0.0/104";
                let mut wanted = Vec::new();
                form.prefix(Some(prefix), &mut wanted);
                assert_eq!([&before, prefix.as_bytes(), &after].concat(), wanted);
            }
        }
    }
}
