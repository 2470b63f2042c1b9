//! A Parquet file with a table of prefixes in, its rows as lines of JSON out: the reader of JSON tables then reads Parquet, too.
//!
//! Rejected: a reader of Parquet tables, which would have to tell columns of prefixes, ranges and masks from columns of values once more.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray, RecordBatch};
use arrow_json::writer::{LineDelimited, NullableEncoder};
use arrow_json::{Encoder, EncoderFactory, EncoderOptions, WriterBuilder};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
};
use parquet::errors::Result;

use crate::page_checks;
use crate::panic_guard::guarded;

/// The most rows that are read at a time, and that are made into lines before the length of these is checked: each row may have the
/// longest text of a dictionary.
const ROWS: u64 = 1024;
const SLICE: usize = 8;

/// So many bytes of lines are enough for a while.
const ENOUGH: usize = 64 << 10;

/// The rows of a file, each as an object of JSON in a line of its own. What is null is left out.
pub struct ParquetRows {
    file: File,
    metadata: ArrowReaderMetadata,
    /// The rows of a row group that are not read yet, and those read that are not made into lines yet.
    rows: Option<ParquetRecordBatchReader>,
    batch: Option<RecordBatch>,
    next_group: usize,
    lines: Vec<u8>,
    /// How many bytes of the lines were read.
    taken: usize,
}

impl ParquetRows {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or is no Parquet file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = page_checks::load(&file).map_err(io::Error::other)?;
        // As views, so that texts of a dictionary are not copied for each row.
        let views = metadata
            .schema()
            .fields()
            .iter()
            .map(|field| match field.data_type() {
                DataType::Utf8 | DataType::LargeUtf8 => {
                    let view = Field::clone(field).with_data_type(DataType::Utf8View);
                    Arc::new(view)
                }
                _ => Arc::clone(field),
            });
        let schema = Schema::new(views.collect::<Vec<_>>());
        let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
        let metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options);
        let metadata = metadata.map_err(io::Error::other)?;
        Ok(Self {
            file,
            metadata,
            rows: None,
            batch: None,
            next_group: 0,
            lines: Vec::new(),
            taken: 0,
        })
    }

    /// Makes lines of the next rows; there are none at the end.
    fn advance(&mut self) -> Result<()> {
        self.lines.clear();
        self.taken = 0;
        while self.lines.is_empty() {
            if let Some(batch) = self.batch.take() {
                let rest = guarded(|| write(batch, &mut self.lines))?;
                self.batch = rest;
                continue;
            }
            if let Some(rows) = &mut self.rows {
                match guarded(|| Ok(rows.next().transpose()?))? {
                    None => self.rows = None,
                    batch => self.batch = batch,
                }
                continue;
            }
            if self.next_group == self.metadata.metadata().num_row_groups() {
                return Ok(());
            }
            let (all, group) = (ProjectionMask::all(), self.next_group);
            let rows = page_checks::rows(&self.file, &self.metadata, group, all, ROWS)?;
            self.rows = Some(rows);
            self.next_group += 1;
        }
        Ok(())
    }
}

/// Makes lines of the first rows; returns the others.
fn write(batch: RecordBatch, lines: &mut Vec<u8>) -> Result<Option<RecordBatch>> {
    let mut at = 0;
    while at < batch.num_rows() && lines.len() < ENOUGH {
        let slice = batch.slice(at, SLICE.min(batch.num_rows() - at));
        let writer = WriterBuilder::new().with_encoder_factory(Arc::new(FloatEncoders));
        let mut writer = writer.build::<_, LineDelimited>(&mut *lines);
        writer.write(&slice)?;
        at += slice.num_rows();
    }
    let rest = batch.slice(at, batch.num_rows() - at);
    Ok((rest.num_rows() > 0).then_some(rest))
}

/// Writes floats with the fewest digits that tell them from all others, as popfib writes all columns of floats: `2`, and not `2.0`, which
/// would be read as a text because it has more digits than needed.
#[derive(Debug)]
struct FloatEncoders;

impl EncoderFactory for FloatEncoders {
    fn make_default_encoder<'a>(
        &self,
        _: &'a FieldRef,
        array: &'a dyn Array,
        _: &'a EncoderOptions,
    ) -> std::result::Result<Option<NullableEncoder<'a>>, ArrowError> {
        let encoder: Box<dyn Encoder> = match array.data_type() {
            DataType::Float32 => Box::new(ShortestFloats(array.as_primitive::<Float32Type>())),
            DataType::Float64 => Box::new(ShortestFloats(array.as_primitive::<Float64Type>())),
            _ => return Ok(None),
        };
        Ok(Some(NullableEncoder::new(encoder, array.nulls().cloned())))
    }
}

struct ShortestFloats<'a, T: ArrowPrimitiveType>(&'a PrimitiveArray<T>);

impl<T: ArrowPrimitiveType<Native: Display + Into<f64>>> Encoder for ShortestFloats<'_, T> {
    fn encode(&mut self, index: usize, to: &mut Vec<u8>) {
        let value = self.0.value(index);
        let text = match value.into().is_finite() {
            true => value.to_string(),
            // JSON has no others.
            false => "null".to_owned(),
        };
        to.extend(text.as_bytes());
    }
}

impl Read for ParquetRows {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.lines.len() {
            self.advance().map_err(io::Error::other)?;
        }
        let read = (&self.lines[self.taken..]).read(to)?;
        self.taken += read;
        Ok(read)
    }
}
