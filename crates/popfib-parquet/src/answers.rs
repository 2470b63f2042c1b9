//! The answers of a table in, each once; numbers of answers, row by row, in; the columns of a Parquet file that have them out.
//!
//! An answer is a record, and if prefixes are asked for, a prefix with it. Few different answers belong to many rows, so each is encoded
//! once and a row has only its number.

use arrow_schema::DataType;
use parquet::basic::Compression;
use parquet::errors::Result;
use popfib::NextHop;
use popfib_table::Records;

use crate::column_encoder::ColumnEncoder;
use crate::column_values::{ColumnValues, PlainValues, data_type, text_type};
use crate::file_bytes::FileBytes;

/// Everything that a table can say about an address: prefixes with their records, or records alone, numbered from 1. Number 0
/// stands for no match.
pub struct ParquetAnswers {
    /// `None` if only records are asked for.
    prefixes: Option<PlainValues>,
    /// The number of each answer's record.
    record_of: Vec<u32>,
    records: usize,
    columns: Vec<AnswerColumn>,
}

/// A column of the records.
struct AnswerColumn {
    data_type: DataType,
    values: ColumnValues,
    /// The code of each record's value; `None` if it is the record's number.
    code_of: Option<Vec<u32>>,
}

impl ParquetAnswers {
    /// No answers yet; `records` has all records that answers will name. Takes the values of its columns, and if there are several, four
    /// bytes for each record and column.
    pub fn new(records: &Records, with_prefixes: bool) -> Self {
        let count = records.len();
        let columns = records.columns().iter().enumerate();
        let columns = columns.map(|(index, column)| {
            let codes = (0..=count as u32).map(|number| records.code(number, index));
            AnswerColumn {
                data_type: data_type(column),
                values: ColumnValues::of(column),
                code_of: (records.columns().len() > 1).then(|| codes.collect()),
            }
        });
        Self {
            prefixes: with_prefixes.then(PlainValues::default),
            record_of: vec![0],
            records: count,
            columns: columns.collect(),
        }
    }

    /// Adds the next answer: its prefix, if there are prefixes, and the number of its record.
    ///
    /// # Panics
    /// If there is no such record.
    pub fn push(&mut self, prefix: &str, record: NextHop) {
        assert!(record.get() as usize <= self.records);
        if let Some(prefixes) = &mut self.prefixes {
            prefixes.push_text(prefix);
        }
        self.record_of.push(record.get());
    }

    /// The number of the last answer, 0 if there is none yet.
    pub fn last(&self) -> u32 {
        self.record_of.len() as u32 - 1
    }

    /// The types of the columns, in order.
    pub(crate) fn types(&self) -> impl Iterator<Item = DataType> {
        let prefix = self.prefixes.is_some().then(text_type);
        let columns = self.columns.iter();
        prefix
            .into_iter()
            .chain(columns.map(|column| column.data_type.clone()))
    }
}

/// Encodes the columns of a table's answers, one row group after the other.
pub(crate) struct AnswerEncoder {
    /// The answers of the rows of the group at hand, then their records.
    numbers: Vec<u32>,
    codes: Vec<u32>,
    encoder: ColumnEncoder,
}

impl Default for AnswerEncoder {
    fn default() -> Self {
        Self {
            numbers: Vec::new(),
            codes: Vec::new(),
            // To compress would take longer than all else that makes them.
            encoder: ColumnEncoder::new(Compression::UNCOMPRESSED),
        }
    }
}

impl AnswerEncoder {
    /// Adds rows with the answers `numbers`.
    pub(crate) fn push(&mut self, numbers: &[u32]) {
        self.numbers.extend_from_slice(numbers);
    }

    /// Ends the row group: its last columns.
    pub(crate) fn end_group(
        &mut self,
        answers: &ParquetAnswers,
        file: &mut FileBytes,
    ) -> Result<()> {
        if let Some(prefixes) = &answers.prefixes {
            self.encoder.scalars(&self.numbers, prefixes, file)?;
        }
        for number in &mut self.numbers {
            *number = answers.record_of[*number as usize];
        }
        for column in &answers.columns {
            let codes = match &column.code_of {
                None => &self.numbers,
                Some(code_of) => {
                    let codes = self.numbers.iter().map(|&record| code_of[record as usize]);
                    self.codes.clear();
                    self.codes.extend(codes);
                    &self.codes
                }
            };
            self.encoder.column(codes, &column.values, file)?;
        }
        self.numbers.clear();
        Ok(())
    }
}
