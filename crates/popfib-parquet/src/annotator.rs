//! Rows of addresses and the numbers of their answers in, the bytes of a Parquet file out, with the rows and their answers.
//!
//! Of a Parquet file that is annotated only the addresses are decoded. Its columns are copied as they are encoded, row group by row group,
//! and after them come the columns of answers. So they stay as they were, and no time goes into decoding and encoding them.

use std::fmt::Display;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::errors::{ParquetError as Error, Result};
use popfib_formats::AddressBatch;
use popfib_table::{IPV6_TEXT, write_ip};

use crate::answers::{AnswerEncoder, ParquetAnswers};
use crate::column_values::types;
use crate::error::ParquetError;
use crate::file_bytes::FileBytes;
use crate::panic_guard::guarded;
use crate::plain_column::PlainColumn;
use crate::read_addresses::ParquetAddresses;

/// The rows of a row group, if no row groups of another file are kept.
const GROUP: usize = 1 << 20;

/// Writes rows, and after their columns those of the [`ParquetAnswers`] that each table has for their addresses.
///
/// What is written is taken with [`ParquetAnnotator::take`]. Memory: a row group as it is encoded, and for each of its rows four bytes a
/// table and four more.
pub struct ParquetAnnotator {
    file: FileBytes,
    /// The columns of each table's answers.
    columns: Vec<AnswerEncoder>,
    /// The addresses, if they are not in a column of a file that is kept.
    addresses: Option<PlainColumn>,
    /// Rows of the group at hand.
    rows: usize,
    name: String,
}

impl ParquetAnnotator {
    /// Begins a file with the columns of `source`, or with a column `address` if there is no such file, and after them columns for these
    /// answers, one for each table, with the names `added`. `name` is what errors call the file.
    ///
    /// # Errors
    /// If there are two columns of one name.
    ///
    /// # Panics
    /// If there are not as many names as columns.
    pub fn new(
        name: &str,
        source: Option<&ParquetAddresses>,
        added: &[impl AsRef<str>],
        answers: &[ParquetAnswers],
    ) -> std::result::Result<Self, ParquetError> {
        let named = |error: &dyn Display| ParquetError::new(name, error);
        let data_types: Vec<_> = answers.iter().flat_map(ParquetAnswers::types).collect();
        assert_eq!(added.len(), data_types.len());
        let mut pairs = None;
        let (mut fields, mut types_of_all, metadata) = match source {
            Some(source) => {
                let file = source.metadata().file_metadata();
                let all = file.key_value_metadata().into_iter().flatten();
                // The columns as Arrow has them are described again.
                let kept = all.filter(|pair| pair.key != ARROW_SCHEMA_META_KEY);
                pairs = Some(kept.cloned().collect());
                let schema = source.schema();
                (
                    schema.fields().to_vec(),
                    file.schema_descr().root_schema().get_fields().to_vec(),
                    schema.metadata().clone(),
                )
            }
            None => (Vec::new(), Vec::new(), Default::default()),
        };
        let address = ("address", DataType::Utf8);
        let address = source.is_none().then_some(address);
        let added = added.iter().map(AsRef::as_ref).zip(data_types);
        let mut new = Vec::new();
        for (name_of, data_type) in address.into_iter().chain(added) {
            if fields
                .iter()
                .chain(&new)
                .any(|field| field.name() == name_of)
            {
                return Err(named(&format!("there is a column {name_of:?} already")));
            }
            new.push(Arc::new(Field::new(name_of, data_type, true)));
        }
        let of_new = types(&Schema::new(new.clone())).map_err(|error| named(&error))?;
        types_of_all.extend(of_new);
        fields.extend(new);
        let schema = Schema::new_with_metadata(fields, metadata);
        let file = FileBytes::new(&schema, types_of_all, pairs);
        Ok(Self {
            file: file.map_err(|error| named(&error))?,
            columns: answers.iter().map(|_| AnswerEncoder::default()).collect(),
            addresses: source.is_none().then(PlainColumn::default),
            rows: 0,
            name: name.to_owned(),
        })
    }

    /// Whether the file that is written keeps columns like those of `source`.
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

    /// Writes the rows of `batch`. `numbers` has, for each table, the numbers of the rows' answers, 0 for no match. `source` is where the
    /// batch came from, if its columns are kept.
    ///
    /// # Errors
    /// If there are not as many numbers as rows for each table, or one that is none of its `answers`; if the source's columns are not those
    /// of the source before, or can't be read.
    pub fn write(
        &mut self,
        batch: &AddressBatch,
        source: Option<&ParquetAddresses>,
        numbers: &[&[u32]],
        answers: &[ParquetAnswers],
    ) -> std::result::Result<(), ParquetError> {
        // The library reads the columns that are kept, and may panic as it does.
        guarded(|| self.try_write(batch, source, numbers, answers))
            .map_err(|error| ParquetError::new(&self.name, error))
    }

    fn try_write(
        &mut self,
        batch: &AddressBatch,
        source: Option<&ParquetAddresses>,
        numbers: &[&[u32]],
        answers: &[ParquetAnswers],
    ) -> Result<()> {
        let tables = self.columns.len();
        let counts_match = numbers.iter().all(|numbers| numbers.len() == batch.len());
        if numbers.len() != tables || answers.len() != tables || !counts_match {
            return Err(Error::General("not an answer for each row".to_owned()));
        }
        for (numbers, answers) in numbers.iter().zip(answers) {
            // The greatest, not any: that is vector code.
            if numbers.iter().fold(0, |all, &number| all.max(number)) > answers.last() {
                return Err(Error::General("a number without an answer".to_owned()));
            }
        }
        if let Some(addresses) = &mut self.addresses {
            push(batch, addresses)?;
        }
        for (columns, numbers) in self.columns.iter_mut().zip(numbers) {
            columns.push(numbers);
        }
        self.rows += batch.len();
        let is_end = match source {
            Some(source) => source.is_at_group_end(),
            None => self.rows >= GROUP,
        };
        if is_end {
            self.end_group(source, answers)?;
        }
        Ok(())
    }

    fn end_group(
        &mut self,
        source: Option<&ParquetAddresses>,
        answers: &[ParquetAnswers],
    ) -> Result<()> {
        if let Some(addresses) = &mut self.addresses {
            addresses.end_group(&mut self.file)?;
        } else if let Some(source) = source {
            for column in source.group().columns() {
                self.file.copy(source.file(), column)?;
            }
        }
        for (columns, answers) in self.columns.iter_mut().zip(answers) {
            columns.end_group(answers, &mut self.file)?;
        }
        self.file.end_group(self.rows)?;
        self.rows = 0;
        Ok(())
    }

    /// Replaces what is in `bytes` by the bytes of the file since the last call. The memory of `bytes` is used for the next ones.
    pub fn take(&mut self, bytes: &mut Vec<u8>) {
        self.file.take(bytes);
    }

    /// Ends the file; its last bytes.
    ///
    /// # Errors
    /// If the last rows cannot be encoded.
    pub fn finish(
        mut self,
        answers: &[ParquetAnswers],
    ) -> std::result::Result<Vec<u8>, ParquetError> {
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

/// Adds the addresses of a batch, as texts.
fn push(batch: &AddressBatch, to: &mut PlainColumn) -> Result<()> {
    let mut text = [0; IPV6_TEXT];
    batch.iter().try_for_each(|found| {
        let len = found.map(|(address, _)| write_ip(address, &mut text));
        to.push(len.map(|len| &text[..len]))
    })
}
