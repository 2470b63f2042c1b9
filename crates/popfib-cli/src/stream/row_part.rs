//! What stands in a row beside its addresses, for `--weight` and `--table-column`: rows of a batch in, the text of each out.

use popfib_formats::addresses::{CsvRecord, LinePart, line_part};
use popfib_formats::{AddressBatch, quote};
use popfib_program::failure::Failure;

use super::source::StreamSource;

/// Where in a row it stands.
pub(crate) enum RowPart {
    /// The text of a row of a Parquet file, which is that of a column.
    Row,
    /// A part of a line or object.
    Line(LinePart),
    /// A column of a table, by its place from 0, and what delimits columns.
    Column(usize, u8),
}

impl RowPart {
    /// What `part`, the value of `option`, means in the file `name`, whose fields are separated by `delimiter`.
    pub(crate) fn new(
        option: &str,
        part: &str,
        delimiter: Option<u8>,
        name: &str,
        source: &StreamSource,
    ) -> Result<Self, Failure> {
        if source.is_parquet() {
            return Ok(Self::Row);
        }
        if !source.is_text() {
            return Err(format!("{name}: {option} needs lines of text with a field for it").into());
        }
        let number: Option<usize> = part.parse().ok().filter(|&number| number > 0);
        if let Some(table) = source.table() {
            let mut record = CsvRecord::new(table.delimiter);
            record.split(table.names());
            let named = record
                .cells()
                .position(|cell| cell.trim_ascii() == part.as_bytes());
            let column = named.or(number.map(|number| number - 1));
            let Some(column) = column else {
                let there = record.cells().map(quote);
                let there: Vec<_> = there.take(20).collect();
                let (part, there) = (quote(part.as_bytes()), there.join(", "));
                return Err(
                    format!("{name}: no column {part} for {option}; there are {there}").into(),
                );
            };
            return Ok(Self::Column(column, table.delimiter));
        }
        if let Some(field) = source.field(part) {
            return Ok(Self::Line(field));
        }
        if source.is_json() {
            return Ok(Self::Line(LinePart::Path(part.to_owned())));
        }
        let missing = || format!("{name}: {option} is the number of a field, from 1 on");
        Ok(Self::Line(LinePart::Field(
            number.ok_or_else(missing)?,
            delimiter,
        )))
    }

    /// Hands on the text of each row of `batch`, without quotes around it; the empty one if the row has none.
    pub(crate) fn each(&self, batch: &AddressBatch, mut each: impl FnMut(&str)) {
        let mut text = |text: Option<&[u8]>| {
            let text = text.unwrap_or_default().trim_ascii();
            let text = text.strip_prefix(b"\"").unwrap_or(text);
            let text = text.strip_suffix(b"\"").unwrap_or(text);
            each(std::str::from_utf8(text).unwrap_or_default());
        };
        match self {
            Self::Row => batch.rows().for_each(|row| text(Some(row))),
            Self::Line(part) => batch.rows().for_each(|row| text(line_part(row, part))),
            Self::Column(index, delimiter) => {
                let mut record = CsvRecord::new(*delimiter);
                for row in batch.rows() {
                    record.split(row);
                    text(record.cell(*index));
                }
            }
        }
    }
}
