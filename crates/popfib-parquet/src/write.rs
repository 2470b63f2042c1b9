//! Annotated rows into a Parquet file.
//!
//! Of a Parquet file that is annotated only the addresses are decoded. Its
//! columns are copied as they are encoded, row group by row group, and after
//! them come the columns of answers.

use std::fmt::Display;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, add_encoded_arrow_schema_to_metadata};
use parquet::basic::{
    Compression, ConvertedType, Encoding, LogicalType, Repetition, Type as PhysicalType,
};
use parquet::errors::{ParquetError as Error, Result};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use popfib_formats::{AddressBatch, Run};
use popfib_table::{IPV4_TEXT, IPV6_TEXT, write_ipv4, write_ipv6};

use crate::answers::{AnswerColumns, Answers};
use crate::error::ParquetError;
use crate::file::{Chunk, FileBytes};
use crate::guard::guarded;
use crate::page;
use crate::read::ParquetAddresses;

/// Rows of a row group where there are none to be kept.
const GROUP: usize = 1 << 20;

/// Writes rows and after them the columns `prefix` and `next_hop`, both
/// dictionaries of text.
///
/// What is written is taken with [`ParquetWriter::take`]. Memory: a row group
/// as it is encoded, and eight bytes for each of its rows.
pub struct ParquetWriter {
    file: FileBytes,
    columns: AnswerColumns,
    /// The addresses, where they are not in a column of a file that is kept.
    addresses: Option<AddressColumn>,
    /// Rows of the group at hand.
    rows: usize,
    name: String,
}

impl ParquetWriter {
    /// Writes the rows of files like `source`, or rows with one column
    /// `address` if there is no such file. `name` is what errors call it.
    ///
    /// # Errors
    /// If there is a column of the same name already.
    pub fn new(
        name: &str,
        source: Option<&ParquetAddresses>,
        with_prefixes: bool,
    ) -> std::result::Result<Self, ParquetError> {
        let named = |error: &dyn Display| ParquetError::new(name, error);
        let added = with_prefixes.then_some("prefix").into_iter();
        let added: Vec<&str> = added.chain(["next_hop"]).collect();
        let mut properties = WriterProperties::builder();
        let (mut fields, mut types, metadata) = match source {
            Some(source) => {
                let file = source.metadata().file_metadata();
                let pairs = file.key_value_metadata().into_iter().flatten();
                // The columns as Arrow has them are described again.
                let kept = pairs.filter(|pair| pair.key != ARROW_SCHEMA_META_KEY);
                properties = properties.set_key_value_metadata(Some(kept.cloned().collect()));
                let schema = source.schema();
                (
                    schema.fields().to_vec(),
                    file.schema_descr().root_schema().get_fields().to_vec(),
                    schema.metadata().clone(),
                )
            }
            None => (
                vec![Arc::new(Field::new("address", DataType::Utf8, true))],
                vec![column("address").map_err(|error| named(&error))?],
                Default::default(),
            ),
        };
        for name_of in added {
            if types.iter().any(|column| column.name() == name_of) {
                return Err(named(&format!("there is a column {name_of:?} already")));
            }
            let texts = Box::new(DataType::Utf8);
            let dictionary = DataType::Dictionary(Box::new(DataType::UInt32), texts);
            fields.push(Arc::new(Field::new(name_of, dictionary, true)));
            types.push(column(name_of).map_err(|error| named(&error))?);
        }
        let mut properties = properties.build();
        let schema = Schema::new_with_metadata(fields, metadata);
        add_encoded_arrow_schema_to_metadata(&schema, &mut properties);
        let pairs = properties.key_value_metadata().cloned();
        let schema = Type::group_type_builder("schema")
            .with_fields(types)
            .build()
            .map_err(|error| named(&error))?;
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(schema)));
        Ok(Self {
            file: FileBytes::new(schema, pairs.unwrap_or_default()),
            columns: AnswerColumns::default(),
            addresses: source.is_none().then(AddressColumn::default),
            rows: 0,
            name: name.to_owned(),
        })
    }

    /// Whether the columns of `source` are those of the file.
    pub fn takes(&self, source: Option<&ParquetAddresses>) -> bool {
        let columns = self.file.schema().root_schema().get_fields();
        match source {
            None => self.addresses.is_some(),
            Some(source) => {
                let kept = source.metadata().file_metadata().schema_descr();
                let kept = kept.root_schema().get_fields();
                self.addresses.is_none() && columns.starts_with(kept)
            }
        }
    }

    /// Writes the rows of `batch`, whose answers are `numbers`, 0 for no match.
    /// `source` is where the batch came from, if its columns are kept.
    ///
    /// # Errors
    /// If there are not as many numbers as rows, or one that is none of
    /// `answers`; if the source's columns are not those of the source before or
    /// can't be read.
    pub fn write(
        &mut self,
        batch: &AddressBatch,
        source: Option<&ParquetAddresses>,
        numbers: &[u32],
        answers: &Answers,
    ) -> std::result::Result<(), ParquetError> {
        // The library reads the columns that are kept, and may panic as it does.
        guarded(|| self.try_write(batch, source, numbers, answers))
            .map_err(|error| ParquetError::new(&self.name, error))
    }

    fn try_write(
        &mut self,
        batch: &AddressBatch,
        source: Option<&ParquetAddresses>,
        numbers: &[u32],
        answers: &Answers,
    ) -> Result<()> {
        if numbers.len() != batch.len() {
            return Err(Error::General("not an answer for each row".to_owned()));
        }
        // The greatest, not any: that is vector code.
        if numbers.iter().fold(0, |all, &number| all.max(number)) > answers.last() {
            return Err(Error::General("a number without an answer".to_owned()));
        }
        if let Some(addresses) = &mut self.addresses {
            addresses.push(batch)?;
        }
        self.columns.push(numbers, answers);
        self.rows += numbers.len();
        let is_end = match source {
            Some(source) => source.is_at_group_end(),
            None => self.rows >= GROUP,
        };
        if is_end {
            self.end_group(source, answers)?;
        }
        Ok(())
    }

    fn end_group(&mut self, source: Option<&ParquetAddresses>, answers: &Answers) -> Result<()> {
        if let Some(addresses) = &mut self.addresses {
            addresses.end_group(&mut self.file)?;
        } else if let Some(source) = source {
            for column in source.group().columns() {
                self.file.copy(source.file(), column)?;
            }
        }
        self.columns.end_group(answers, &mut self.file)?;
        self.file.end_group(self.rows)?;
        self.rows = 0;
        Ok(())
    }

    /// Replaces what is in `bytes` by the bytes of the file since the last
    /// call. Its memory is used for the next ones.
    pub fn take(&mut self, bytes: &mut Vec<u8>) {
        self.file.take(bytes);
    }

    /// Ends the file; its last bytes.
    ///
    /// # Errors
    /// If the last rows cannot be encoded.
    pub fn finish(mut self, answers: &Answers) -> std::result::Result<Vec<u8>, ParquetError> {
        let name = std::mem::take(&mut self.name);
        guarded(|| {
            if self.rows > 0 {
                self.end_group(None, answers)?;
            }
            self.file.finish()
        })
        .map_err(|error| ParquetError::new(&name, error))
    }
}

/// An optional column of text.
fn column(name: &str) -> Result<TypePtr> {
    Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::String))
        .with_converted_type(ConvertedType::UTF8)
        .build()
        .map(Arc::new)
}

/// The addresses as text, not in a dictionary, since hardly one comes twice.
#[derive(Default)]
struct AddressColumn {
    pages: Vec<u8>,
    /// How long the pages would be if they were not compressed.
    uncompressed: usize,
    rows: usize,
    /// The page at hand: whether each row has an address, and their texts.
    are_there: Vec<bool>,
    texts: Vec<u8>,
    body: Vec<u8>,
    compressed: Vec<u8>,
}

impl AddressColumn {
    fn push(&mut self, batch: &AddressBatch) -> Result<()> {
        let mut ipv4 = batch.ipv4().iter();
        let mut ipv6 = batch.ipv6().iter();
        for run in batch.runs() {
            match *run {
                Run::Ipv4(count) => {
                    let mut text = [0; IPV4_TEXT];
                    for &address in ipv4.by_ref().take(count) {
                        let len = write_ipv4(address, &mut text);
                        self.push_row(Some(&text[..len]))?;
                    }
                }
                Run::Ipv6(count) => {
                    let mut text = [0; IPV6_TEXT];
                    for &address in ipv6.by_ref().take(count) {
                        let len = write_ipv6(address, &mut text);
                        self.push_row(Some(&text[..len]))?;
                    }
                }
                Run::Missing(count) => {
                    for _ in 0..count {
                        self.push_row(None)?;
                    }
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn push_row(&mut self, text: Option<&[u8]>) -> Result<()> {
        self.are_there.push(text.is_some());
        if let Some(text) = text {
            page::text(text, &mut self.texts);
        }
        // Not by batches, which are single lines where a slow pipe brings them.
        match self.are_there.len() {
            page::ROWS => self.end_page(),
            _ => Ok(()),
        }
    }

    fn end_page(&mut self) -> Result<()> {
        let (rows, body) = (self.are_there.len(), &mut self.body);
        body.clear();
        let missing = self.are_there.iter().filter(|&&is_there| !is_there).count();
        page::levels(rows, missing, self.are_there.iter().copied(), body);
        body.extend_from_slice(&self.texts);
        let compressed = &mut self.compressed;
        compressed.resize(snap::raw::max_compress_len(body.len()), 0);
        let len = snap::raw::Encoder::new().compress(body, compressed)?;
        let start = self.pages.len();
        page::data_header(rows, body.len(), len, Encoding::PLAIN, &mut self.pages)?;
        self.uncompressed += self.pages.len() - start + body.len();
        self.pages.extend_from_slice(&compressed[..len]);
        self.rows += rows;
        self.are_there.clear();
        self.texts.clear();
        Ok(())
    }

    fn end_group(&mut self, file: &mut FileBytes) -> Result<()> {
        if !self.are_there.is_empty() {
            self.end_page()?;
        }
        let (start, to) = file.start();
        to.append(&mut self.pages);
        file.end_chunk(Chunk {
            start,
            dictionary: None,
            encoding: Encoding::PLAIN,
            compression: Compression::SNAPPY,
            uncompressed: self.uncompressed,
            rows: self.rows,
        })?;
        (self.uncompressed, self.rows) = (0, 0);
        Ok(())
    }
}
