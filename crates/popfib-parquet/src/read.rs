//! A column of addresses in a Parquet file.

use std::fs::File;
use std::net::IpAddr;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use popfib_formats::{AddressBatch, Column, parse_address};

use crate::ParquetError;

/// The rows of a Parquet file, with the addresses of one of its columns.
///
/// The column is text (each distinct value of a dictionary is parsed once),
/// unsigned 32-bit numbers (IPv4), or binary values of 4 or 16 bytes in network
/// order. A null is a row without an address, and so is empty text.
pub struct ParquetAddresses {
    name: String,
    rows: ParquetRecordBatchReader,
    schema: SchemaRef,
    /// Where the addresses are among the columns that are read.
    column: usize,
    skip_invalid: bool,
    skipped: u64,
    /// Rows before the current ones.
    row: u64,
    current: Option<RecordBatch>,
}

impl ParquetAddresses {
    /// Opens the file at `path` and finds the column. With `all_columns`, all
    /// are read, to be written again.
    ///
    /// # Errors
    /// If it cannot be read, is no Parquet file, has no such column, or one of
    /// another type.
    pub fn open(path: &Path, column: &Column, all_columns: bool) -> Result<Self, ParquetError> {
        let name = path.display().to_string();
        let failure = |reason: &dyn std::fmt::Display| ParquetError::new(&name, reason);
        let file = File::open(path).map_err(|error| failure(&format!("cannot open: {error}")))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)
            .map_err(|error| failure(&error))?
            .with_batch_size(AddressBatch::FULL);
        let all = builder.schema().clone();
        let found = match column {
            Column::Number(number) => Some(number - 1).filter(|&index| index < all.fields().len()),
            Column::Name(name) => all.fields().iter().position(|field| field.name() == name),
        };
        let Some(index) = found else {
            let names: Vec<String> = all
                .fields()
                .iter()
                .take(20)
                .map(|f| format!("{:?}", f.name()))
                .collect();
            let asked = match column {
                Column::Number(number) => number.to_string(),
                Column::Name(name) => format!("{name:?}"),
            };
            return Err(failure(&format!(
                "no column {asked}; there are {}",
                names.join(", ")
            )));
        };
        let field = all.field(index);
        if !is_readable(field.data_type()) {
            return Err(failure(&format!(
                "column {:?} is {}, not text, UInt32, or FixedSizeBinary of 4 or 16",
                field.name(),
                field.data_type()
            )));
        }
        let (builder, column) = if all_columns {
            (builder, index)
        } else {
            let mask = ProjectionMask::roots(builder.parquet_schema(), [index]);
            (builder.with_projection(mask), 0)
        };
        let rows = builder.build().map_err(|error| failure(&error))?;
        Ok(Self {
            schema: arrow_array::RecordBatchReader::schema(&rows),
            name,
            rows,
            column,
            skip_invalid: false,
            skipped: 0,
            row: 0,
            current: None,
        })
    }

    /// Whether a cell that is no address is a row without one, and counted, where it would
    /// otherwise be an error. The row stays: others in the file are found by their place.
    pub fn skip_invalid(mut self, skip: bool) -> Self {
        self.skip_invalid = skip;
        self
    }

    /// How many cells so far were no addresses.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The columns that are read.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The rows that the last batch came from.
    pub fn rows(&self) -> Option<&RecordBatch> {
        self.current.as_ref()
    }

    /// Replaces what is in `batch` by the addresses of the next rows, one each; false at the end.
    ///
    /// # Errors
    /// If the file is damaged, or a cell is no address and not to be skipped.
    pub fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, ParquetError> {
        batch.clear();
        let rows = loop {
            match self.rows.next() {
                None => return Ok(false),
                Some(Ok(rows)) if rows.num_rows() == 0 => {}
                Some(Ok(rows)) => break rows,
                Some(Err(error)) => {
                    let reason = format!("behind row {}: {error}", self.row);
                    return Err(ParquetError::new(&self.name, reason));
                }
            }
        };
        let result = self.addresses(rows.column(self.column), batch);
        self.row += rows.num_rows() as u64;
        self.current = Some(rows);
        result.map(|()| true)
    }

    fn addresses(
        &mut self,
        column: &ArrayRef,
        batch: &mut AddressBatch,
    ) -> Result<(), ParquetError> {
        match column.data_type() {
            DataType::UInt32 => {
                let values = column.as_primitive::<UInt32Type>();
                if values.null_count() == 0 {
                    batch.extend_ipv4(values.values().iter().copied());
                } else {
                    for value in values {
                        push(batch, value.map(|bits| IpAddr::V4(bits.into())));
                    }
                }
            }
            DataType::FixedSizeBinary(_) => {
                for value in column.as_fixed_size_binary() {
                    push(batch, value.and_then(from_bytes));
                }
            }
            DataType::Utf8 => {
                for (row, text) in column.as_string::<i32>().iter().enumerate() {
                    let address = self.parse(text, row)?;
                    push(batch, address);
                }
            }
            DataType::LargeUtf8 => {
                for (row, text) in column.as_string::<i64>().iter().enumerate() {
                    let address = self.parse(text, row)?;
                    push(batch, address);
                }
            }
            DataType::Utf8View => {
                for (row, text) in column.as_string_view().iter().enumerate() {
                    let address = self.parse(text, row)?;
                    push(batch, address);
                }
            }
            DataType::Dictionary(..) => {
                let column = column.as_any_dictionary();
                let mut values = AddressBatch::new();
                // A value that is no address is an error only in the row that has it.
                let texts = column.values().as_string::<i32>();
                let parsed: Vec<_> = texts
                    .iter()
                    .map(|t| t.and_then(|t| parse_address(t.as_bytes())))
                    .collect();
                values.clear();
                for (row, key) in column.normalized_keys().into_iter().enumerate() {
                    let is_null = column.keys().is_null(row) || texts.is_null(key);
                    let address = match parsed[key] {
                        _ if is_null => None,
                        Some(address) => Some(address),
                        None => self.parse(Some(texts.value(key)), row)?,
                    };
                    push(batch, address);
                }
            }
            _ => unreachable!("the type was found readable"),
        }
        Ok(())
    }

    /// The address of a cell of text; `row` counts from the first of this batch.
    #[inline]
    fn parse(&mut self, text: Option<&str>, row: usize) -> Result<Option<IpAddr>, ParquetError> {
        let Some(text) = text.map(str::trim_ascii).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        match parse_address(text.as_bytes()) {
            Some(address) => Ok(Some(address)),
            None if self.skip_invalid => {
                self.skipped += 1;
                Ok(None)
            }
            None => {
                let row = self.row + row as u64 + 1;
                let shown: String = text.chars().take(60).collect();
                let reason = format!("row {row}: {shown:?}: not an address");
                Err(ParquetError::new(&self.name, reason))
            }
        }
    }
}

fn is_readable(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::UInt32 => true,
        DataType::FixedSizeBinary(size) => matches!(size, 4 | 16),
        DataType::Dictionary(_, value) => **value == DataType::Utf8,
        _ => false,
    }
}

fn from_bytes(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => Some(IpAddr::from(*bytes.first_chunk::<4>()?)),
        _ => Some(IpAddr::from(*bytes.first_chunk::<16>()?)),
    }
}

#[inline]
fn push(batch: &mut AddressBatch, address: Option<IpAddr>) {
    match address {
        Some(address) => batch.push(address),
        None => batch.push_missing(),
    }
}
