//! Annotated rows into a Parquet file.

use std::mem;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, DictionaryArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use popfib_formats::{AddressBatch, IPV4_TEXT, IPV6_TEXT, Run, write_ipv4, write_ipv6};

use crate::ParquetError;

/// Stands for no text in the numbers of [`Answers`].
pub const NONE: u32 = u32::MAX;

/// Texts by number, from 0.
#[derive(Clone)]
pub struct Dictionary(ArrayRef);

impl Dictionary {
    /// The texts in the order of their numbers.
    pub fn new<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self(Arc::new(StringArray::from_iter_values(texts)))
    }
}

/// What is said about each row of a batch: numbers of texts, [`NONE`] for none.
pub struct Answers<'a> {
    /// The matched prefixes, if there is to be a column of them.
    pub prefixes: Option<(&'a Dictionary, &'a [u32])>,
    /// The next hops.
    pub next_hops: (&'a Dictionary, &'a [u32]),
}

/// Writes rows and behind them the columns `prefix` and `next_hop`, both
/// dictionaries of text.
///
/// What is written is taken with [`ParquetWriter::take`]. Memory: a row group
/// of 1,048,576 rows as it is written, and its columns' dictionaries.
pub struct ParquetWriter {
    writer: ArrowWriter<Vec<u8>>,
    schema: SchemaRef,
    /// Whether rows are those of a file, else addresses alone.
    has_rows: bool,
    name: String,
}

impl ParquetWriter {
    /// Writes rows with the columns of `rows`, or with one column `address` if there is no such
    /// file. `name` is what errors call it.
    ///
    /// # Errors
    /// If there is a column of the same name already.
    pub fn new(
        name: &str,
        rows: Option<&SchemaRef>,
        with_prefix: bool,
    ) -> Result<Self, ParquetError> {
        let dictionary =
            || DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8));
        let (mut fields, metadata) = match rows {
            Some(schema) => (schema.fields().to_vec(), schema.metadata().clone()),
            None => (
                vec![Arc::new(Field::new("address", DataType::Utf8, true))],
                Default::default(),
            ),
        };
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_dictionary_page_size_limit(32 << 20);
        for added in [with_prefix.then_some("prefix"), Some("next_hop")]
            .into_iter()
            .flatten()
        {
            if fields.iter().any(|field| field.name() == added) {
                let reason = format!("there is a column {added:?} already");
                return Err(ParquetError::new(name, reason));
            }
            fields.push(Arc::new(Field::new(added, dictionary(), true)));
            // The order of texts says nothing about prefixes or numbers.
            properties = properties
                .set_column_statistics_enabled(ColumnPath::from(added), EnabledStatistics::None);
        }
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties.build()))
            .map_err(|error| ParquetError::new(name, error))?;
        Ok(Self {
            writer,
            schema,
            has_rows: rows.is_some(),
            name: name.to_owned(),
        })
    }

    /// Writes the rows of `batch`, which came from `rows` if the columns are those of a file.
    ///
    /// # Errors
    /// If there are not as many answers as rows, or the rows' columns are others than before.
    pub fn write(
        &mut self,
        batch: &AddressBatch,
        rows: Option<&RecordBatch>,
        answers: &Answers<'_>,
    ) -> Result<(), ParquetError> {
        let mut columns = match rows.filter(|_| self.has_rows) {
            Some(rows) => rows.columns().to_vec(),
            None => vec![address_column(batch)],
        };
        let added = answers.prefixes.iter().chain([&answers.next_hops]);
        columns.extend(added.map(|(dictionary, numbers)| column(dictionary, numbers)));
        RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(parquet::errors::ParquetError::from)
            .and_then(|rows| self.writer.write(&rows))
            .map_err(|error| ParquetError::new(&self.name, error))
    }

    /// The bytes of the file since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        mem::take(self.writer.inner_mut())
    }

    /// Ends the file; its last bytes.
    ///
    /// # Errors
    /// If the last rows cannot be encoded.
    pub fn finish(self) -> Result<Vec<u8>, ParquetError> {
        let Self { writer, name, .. } = self;
        writer
            .into_inner()
            .map_err(|error| ParquetError::new(&name, error))
    }
}

fn column(dictionary: &Dictionary, numbers: &[u32]) -> ArrayRef {
    let nulls: NullBuffer = numbers.iter().map(|&number| number != NONE).collect();
    let keys: ScalarBuffer<u32> = numbers
        .iter()
        .map(|&number| if number == NONE { 0 } else { number })
        .collect();
    let nulls = (nulls.null_count() > 0).then_some(nulls);
    let keys = PrimitiveArray::<UInt32Type>::new(keys, nulls);
    Arc::new(DictionaryArray::new(keys, dictionary.0.clone()))
}

/// The addresses as text.
fn address_column(batch: &AddressBatch) -> ArrayRef {
    let mut texts = StringBuilder::with_capacity(batch.len(), 16 * batch.len());
    let mut ipv4 = batch.ipv4().iter();
    let mut ipv6 = batch.ipv6().iter();
    for run in batch.runs() {
        match *run {
            Run::Ipv4(count) => {
                let mut text = [0; IPV4_TEXT];
                for &address in ipv4.by_ref().take(count) {
                    let len = write_ipv4(address, &mut text);
                    texts.append_value(ascii(&text[..len]));
                }
            }
            Run::Ipv6(count) => {
                let mut text = [0; IPV6_TEXT];
                for &address in ipv6.by_ref().take(count) {
                    let len = write_ipv6(address, &mut text);
                    texts.append_value(ascii(&text[..len]));
                }
            }
            Run::Missing(count) => texts.append_nulls(count),
        }
    }
    Arc::new(texts.finish())
}

fn ascii(text: &[u8]) -> &str {
    str::from_utf8(text).expect("addresses are ASCII")
}
