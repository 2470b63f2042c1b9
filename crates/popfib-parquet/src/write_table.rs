//! A table in, a Parquet file with its prefixes and all columns of its records out.

use std::io::{self, Write};

use arrow_schema::{DataType, Field, Schema};
use parquet::basic::Compression;
use parquet::errors::ParquetError as Error;
use popfib_formats::{ColumnSelection, RouteTable, WriteError};
use popfib_table::{Column, PrefixText};

use crate::column_encoder::ColumnEncoder;
use crate::column_values::{ColumnValues, data_type, types};
use crate::file_bytes::FileBytes;
use crate::plain_column::PlainColumn;

/// When a row group ends: at so many rows, where each element of a list after the first counts as another row.
const GROUP: usize = 1 << 20;

/// The name of the column of prefixes.
const PREFIX: &str = "prefix";

/// Writes `table` to `out`: a row for each route, the IPv4 routes, then the IPv6 routes, each in prefix order.
///
/// The columns are `prefix`, a text, and those of the records: texts in dictionaries, integers of 64 bits, floats, booleans, and lists. What
/// is absent is null. A column that nobody asked for is `next_hop`, and a value-less list has none.
/// Pages are compressed by Snappy. Time and bytes follow rows and columns. Memory: the different values of the columns, and for a row group
/// of up to a million rows eight bytes a row and its largest column. `out` is not flushed.
///
/// # Errors
/// Those of `out`; columns of one name; more than 2 GiB of a column in a row group.
pub fn write_table(table: &RouteTable, mut out: impl Write) -> Result<(), WriteError> {
    let form = |error: Error| WriteError::Form(error.to_string());
    let columns = columns(table)?;
    let prefix = Field::new(PREFIX, DataType::Utf8, true);
    let fields = columns.iter().map(|column| {
        let (name, data_type) = (column.name.as_str(), column.data_type.clone());
        Field::new(name, data_type, true)
    });
    let schema = Schema::new([prefix].into_iter().chain(fields).collect::<Vec<_>>());
    let file = types(&schema).and_then(|types| FileBytes::new(&schema, types, None));
    let mut writer = TableWriter {
        table,
        columns,
        file: file.map_err(form)?,
        prefixes: PlainColumn::default(),
        numbers: Vec::new(),
        codes: Vec::new(),
        encoder: ColumnEncoder::new(Compression::SNAPPY),
        taken: Vec::new(),
    };
    let mut weight = 0;
    for (prefix, number) in table.routes() {
        let text = PrefixText::new(prefix);
        writer.prefixes.push(Some(text.as_bytes())).map_err(form)?;
        writer.numbers.push(number.get());
        weight += writer.weight(number.get());
        if weight >= GROUP {
            writer.end_group(&mut out)?;
            weight = 0;
        }
    }
    if weight > 0 {
        writer.end_group(&mut out)?;
    }
    let rest = writer.file.finish().map_err(form)?;
    Ok(out.write_all(&rest)?)
}

/// A column of values.
struct TableColumn {
    name: String,
    data_type: DataType,
    values: ColumnValues,
}

/// The columns of a table.
fn columns(table: &RouteTable) -> Result<Vec<TableColumn>, WriteError> {
    let name = |column: &Column| match table.columns {
        ColumnSelection::Value => "next_hop".to_owned(),
        _ => column.name().to_owned(),
    };
    let columns = table.records.columns().iter().map(|column| TableColumn {
        name: name(column),
        data_type: data_type(column),
        values: ColumnValues::of(column),
    });
    let is_empty = table.route_count() == 0 && !table.columns.are_records();
    let columns: Vec<_> = match is_empty || table.is_list() {
        true => Vec::new(),
        false => columns.collect(),
    };
    if columns.iter().any(|column| column.name == PREFIX) {
        let reason = "a column is called \"prefix\", as the prefix is";
        return Err(WriteError::Form(reason.to_owned()));
    }
    Ok(columns)
}

/// A file that is being written, with the rows of the group at hand.
struct TableWriter<'t> {
    table: &'t RouteTable,
    columns: Vec<TableColumn>,
    file: FileBytes,
    prefixes: PlainColumn,
    /// The numbers of the records, and the codes of a column.
    numbers: Vec<u32>,
    codes: Vec<u32>,
    encoder: ColumnEncoder,
    taken: Vec<u8>,
}

impl TableWriter<'_> {
    /// The code of a record's value; 0 if it has none.
    fn code(&self, number: u32, column: usize) -> u32 {
        let code = self.table.records.code(number, column);
        // A number without a record has codes without a value.
        match code as usize <= self.columns[column].values.count() {
            true => code,
            false => 0,
        }
    }

    /// What a row counts in a row group.
    fn weight(&self, number: u32) -> usize {
        let columns = self.columns.iter().enumerate();
        let lists = columns.map(|(index, column)| match column.values {
            ColumnValues::Lists { .. } => column.values.weight(self.code(number, index)) - 1,
            _ => 0,
        });
        1 + lists.sum::<usize>()
    }

    /// Writes the rows of the group, column by column.
    fn end_group(&mut self, out: &mut dyn Write) -> Result<(), WriteError> {
        let form = |error: Error| WriteError::Form(error.to_string());
        self.prefixes.end_group(&mut self.file).map_err(form)?;
        self.send(out)?;
        let mut codes = std::mem::take(&mut self.codes);
        for index in 0..self.columns.len() {
            codes.clear();
            codes.extend(self.numbers.iter().map(|&number| self.code(number, index)));
            let values = &self.columns[index].values;
            let written = self.encoder.column(&codes, values, &mut self.file);
            written.map_err(form)?;
            self.send(out)?;
        }
        self.codes = codes;
        self.file.end_group(self.numbers.len()).map_err(form)?;
        self.numbers.clear();
        Ok(())
    }

    /// Sends what is written out.
    fn send(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.file.take(&mut self.taken);
        out.write_all(&self.taken)
    }
}
