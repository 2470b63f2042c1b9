//! Annotated rows into a Parquet file.
//!
//! Of a Parquet file that is annotated only the addresses are decoded. Its
//! columns are copied as they are encoded, row group by row group, and behind
//! them come the columns of answers.

use std::fmt::Display;
use std::mem;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, add_encoded_arrow_schema_to_metadata};
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as PhysicalType};
use parquet::errors::{ParquetError as Error, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use popfib_formats::{AddressBatch, IPV4_TEXT, IPV6_TEXT, Run, write_ipv4, write_ipv6};

use crate::answers::{AnswerColumns, Answers};
use crate::chunk::{self, Chunk};
use crate::{ParquetAddresses, ParquetError};

/// Rows of a row group where there are none to be kept.
const GROUP: usize = 1 << 20;

/// Writes rows and behind them the columns `prefix` and `next_hop`, both
/// dictionaries of text.
///
/// What is written is taken with [`ParquetWriter::take`]. Memory: a row group
/// as it is encoded.
pub struct ParquetWriter {
    file: SerializedFileWriter<Vec<u8>>,
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
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("popfib version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_offset_index_disabled(true);
        let (mut fields, mut types, metadata) = match source {
            Some(source) => {
                let file = source.metadata().file_metadata();
                let pairs = file.key_value_metadata().into_iter().flatten();
                // The columns as Arrow has them are described anew.
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
        let file = Type::group_type_builder("schema")
            .with_fields(types)
            .build()
            .and_then(|root| {
                SerializedFileWriter::new(Vec::new(), Arc::new(root), Arc::new(properties))
            })
            .map_err(|error| named(&error))?;
        Ok(Self {
            file,
            columns: AnswerColumns::new(with_prefixes),
            addresses: source.is_none().then(AddressColumn::new),
            rows: 0,
            name: name.to_owned(),
        })
    }

    /// Whether the columns of `source` are those of the file.
    pub fn takes(&self, source: Option<&ParquetAddresses>) -> bool {
        let columns = self.file.schema_descr().root_schema().get_fields();
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
        self.try_write(batch, source, numbers, answers)
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
        if numbers.iter().any(|&number| number > answers.last()) {
            return Err(Error::General("a number without an answer".to_owned()));
        }
        if let Some(addresses) = &mut self.addresses {
            addresses.push(batch)?;
        }
        self.columns.push(numbers, answers)?;
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
        self.rows = 0;
        let all = self.file.schema_descr().columns().to_vec();
        let mut group = self.file.next_row_group()?;
        let mut kept = 0;
        if let Some(addresses) = &mut self.addresses {
            addresses.pages.append_to(&mut group, all[0].clone())?;
            kept = 1;
        } else if let Some(source) = source {
            for closed in source.columns()? {
                group.append_column(source.file(), closed)?;
                kept += 1;
            }
        }
        self.columns.end_group(answers, &mut group, &all[kept..])?;
        group.close().map(drop)
    }

    /// Replaces what is in `bytes` by the bytes of the file since the last
    /// call. Its memory is used for the next ones.
    pub fn take(&mut self, bytes: &mut Vec<u8>) {
        bytes.clear();
        mem::swap(self.file.inner_mut(), bytes);
    }

    /// Ends the file; its last bytes.
    ///
    /// # Errors
    /// If the last rows cannot be encoded.
    pub fn finish(mut self, answers: &Answers) -> std::result::Result<Vec<u8>, ParquetError> {
        let ended = match self.rows {
            0 => Ok(()),
            _ => self.end_group(None, answers),
        };
        let name = self.name;
        ended
            .and_then(|()| self.file.into_inner())
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

/// The addresses as text: a page for each batch, since hardly one comes twice in it.
struct AddressColumn {
    pages: Chunk,
    body: Vec<u8>,
}

impl AddressColumn {
    fn new() -> Self {
        Self {
            pages: Chunk::plain(),
            body: Vec::new(),
        }
    }

    fn push(&mut self, batch: &AddressBatch) -> Result<()> {
        let rows = batch.len();
        let mut are_there = Vec::with_capacity(rows);
        for run in batch.runs() {
            match *run {
                Run::Ipv4(count) | Run::Ipv6(count) => {
                    are_there.resize(are_there.len() + count, true);
                }
                Run::Missing(count) => are_there.resize(are_there.len() + count, false),
            }
        }
        let body = &mut self.body;
        body.clear();
        chunk::levels(are_there.into_iter(), body);
        let mut ipv4 = batch.ipv4().iter();
        let mut ipv6 = batch.ipv6().iter();
        for run in batch.runs() {
            match *run {
                Run::Ipv4(count) => {
                    let mut text = [0; IPV4_TEXT];
                    for &address in ipv4.by_ref().take(count) {
                        let len = write_ipv4(address, &mut text);
                        chunk::text(&text[..len], body);
                    }
                }
                Run::Ipv6(count) => {
                    let mut text = [0; IPV6_TEXT];
                    for &address in ipv6.by_ref().take(count) {
                        let len = write_ipv6(address, &mut text);
                        chunk::text(&text[..len], body);
                    }
                }
                Run::Missing(_) => {}
            }
        }
        self.pages.push(body, rows)
    }
}
