//! The form `parquet` of `annotate`: batches of addresses in, the bytes of a Parquet file out, with the columns of the input and
//! those of the answers.
//!
//! An answer is a number, and what it stands for is kept once (`popfib_parquet::ParquetAnswers`): such a column is written with a
//! dictionary, and each text is encoded once.

use std::path::Path;

use popfib::family::{ByFamily, Family};
use popfib::{Kernel, NextHop};
use popfib_formats::AddressBatch;
use popfib_parquet::{ParquetAddresses, ParquetAnnotator, ParquetAnswers};
use popfib_program::failure::Failure;
use popfib_table::Records;

use super::AnnotateArgs;
use crate::stream::answers::{Ask, LazyRouteNumbers};
use crate::stream::lines::Query;
use crate::stream::source::StreamSource;
use crate::stream::table::NamedTable;
use crate::stream::table_column::{Asked, TableNumbers, asked};

/// Writes batches and their answers as columns of a Parquet file.
pub(super) struct ParquetSink {
    query: Query,
    writer: ParquetAnnotator,
    /// What the numbers of answers stand for, table by table.
    answers: Vec<ParquetAnswers>,
    /// The numbers of the answers of the batch at hand, table by table.
    lookups: Vec<TableLookup>,
    /// The bytes that the writer has made last.
    taken: Vec<u8>,
}

/// Lookups in one table.
#[derive(Default)]
struct TableLookup {
    ipv4: FamilyLookup<u32>,
    ipv6: FamilyLookup<u128>,
    /// The numbers of the answers to the rows of the batch at hand.
    numbers: Vec<u32>,
}

/// The routes of one family, numbered if prefixes are asked for, and the numbers of the answers to its addresses.
type FamilyLookup<A> = (LazyRouteNumbers<A>, Vec<u32>);

impl ParquetSink {
    pub(super) fn new(
        source: &StreamSource,
        args: &AnnotateArgs,
        query: &Query,
    ) -> Result<Self, Failure> {
        let name = args
            .output
            .as_deref()
            .unwrap_or(Path::new("standard output"));
        let no_records = Records::default();
        let answers = query.tables.iter().map(|table| {
            let records = table.table.records().unwrap_or(&no_records);
            let mut answers = ParquetAnswers::new(records, table.with_prefixes);
            if !table.with_prefixes {
                table.numbers().for_each(|record| answers.push("", record));
            }
            answers
        });
        let answers: Vec<_> = answers.collect();
        let columns: Vec<_> = query.columns().collect();
        let name = name.display().to_string();
        Ok(Self {
            query: query.clone(),
            writer: ParquetAnnotator::new(&name, kept(source), &columns, &answers)
                .map_err(|error| error.to_string())?,
            lookups: answers.iter().map(|_| TableLookup::default()).collect(),
            answers,
            taken: Vec::new(),
        })
    }

    /// Whether `source` has the columns of the files before it.
    pub(super) fn takes(&self, source: &StreamSource) -> bool {
        self.writer.takes(kept(source))
    }

    pub(super) fn answer(
        &mut self,
        batch: &AddressBatch,
        source: &StreamSource,
    ) -> Result<&[u8], Failure> {
        let of_tables = self.query.table_numbers(batch);
        let tables = self.query.tables.iter().zip(&mut self.answers);
        for ((table, answers), lookup) in tables.zip(&mut self.lookups) {
            lookup.look_up(batch, &of_tables, table, self.query.kernel, answers)?;
        }
        let numbers: Vec<_> = self
            .lookups
            .iter()
            .map(|lookup| &lookup.numbers[..])
            .collect();
        self.writer
            .write(batch, kept(source), &numbers, &self.answers)
            .map_err(|error| error.to_string())?;
        self.writer.take(&mut self.taken);
        Ok(&self.taken)
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, Failure> {
        Ok(self
            .writer
            .finish(&self.answers)
            .map_err(|error| error.to_string())?)
    }
}

/// The input file, if it is one whose columns are copied.
fn kept(source: &StreamSource) -> Option<&ParquetAddresses> {
    match source {
        StreamSource::Parquet(source, _) => Some(source),
        StreamSource::File(_) => None,
    }
}

impl TableLookup {
    /// Looks up the addresses of a batch, and puts the answers in the order of its rows.
    fn look_up(
        &mut self,
        batch: &AddressBatch,
        of_tables: &ByFamily<TableNumbers>,
        table: &NamedTable,
        kernel: Kernel,
        answers: &mut ParquetAnswers,
    ) -> Result<(), Failure> {
        let (ipv4, ipv6) = asked(batch, of_tables);
        let of_4 = numbers(ipv4, &mut self.ipv4, table, kernel, answers)?;
        let of_6 = numbers(ipv6, &mut self.ipv6, table, kernel, answers)?;
        self.numbers.clear();
        self.numbers.resize(batch.len(), 0);
        batch.ipv4().scatter(of_4, &mut self.numbers);
        batch.ipv6().scatter(of_6, &mut self.numbers);
        Ok(())
    }
}

/// The numbers of the answers to the addresses of one family.
fn numbers<'f, A: Family>(
    asked: Asked<'_, A>,
    (routes, numbers): &'f mut FamilyLookup<A>,
    table: &NamedTable,
    kernel: Kernel,
    answers: &mut ParquetAnswers,
) -> Result<&'f [u32], Failure> {
    match table.with_prefixes {
        false => table.look_up(Ask::Value, kernel, asked, numbers)?,
        true => {
            let before = answers.last() as usize;
            let push = |prefix: &str, record: NextHop| answers.push(prefix, record);
            routes.look_up(table, kernel, asked, numbers, before, push)?;
        }
    }
    Ok(numbers)
}
