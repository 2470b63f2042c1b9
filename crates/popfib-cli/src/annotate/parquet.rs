//! Batches of addresses into the columns of a Parquet file.

use std::path::Path;

use popfib::family::Family;
use popfib::{Kernel, NextHop};
use popfib_formats::AddressBatch;
use popfib_formats::addresses::AddressRun;
use popfib_parquet::{self as parquet, ParquetAddresses, ParquetAnnotator, ParquetError};
use popfib_table::Records;

use super::AnnotateArgs;
use crate::failure::Failure;
use crate::stream::answers::{self, Ask, Routes};
use crate::stream::lines::Query;
use crate::stream::source::Source;
use crate::stream::table::NamedTable;

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Self {
        error.to_string().into()
    }
}

/// Annotates as columns.
pub(super) struct Columns {
    query: Query,
    writer: ParquetAnnotator,
    /// What each table answers, and how it is asked.
    answers: Vec<parquet::ParquetAnswers>,
    asked: Vec<Asked>,
    taken: Vec<u8>,
}

/// What a table is asked with.
#[derive(Default)]
struct Asked {
    ipv4: Side<u32>,
    ipv6: Side<u128>,
    /// The numbers of the answers of the batch at hand.
    numbers: Vec<u32>,
}

/// The routes of one family, where prefixes are asked for, and the numbers of its answers of the batch at hand.
type Side<A> = (Routes<A>, Vec<u32>);

impl Columns {
    pub(super) fn new(
        source: &Source,
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
            let mut answers = parquet::ParquetAnswers::new(records, table.with_prefixes);
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
            writer: ParquetAnnotator::new(&name, kept(source), &columns, &answers)?,
            asked: answers.iter().map(|_| Asked::default()).collect(),
            answers,
            taken: Vec::new(),
        })
    }

    /// Whether the columns of `source` can be added to those of the files before.
    pub(super) fn takes(&self, source: &Source) -> bool {
        self.writer.takes(kept(source))
    }

    pub(super) fn answer(
        &mut self,
        batch: &AddressBatch,
        source: &Source,
    ) -> Result<&[u8], Failure> {
        let tables = self.query.tables.iter().zip(&mut self.answers);
        for ((table, answers), asked) in tables.zip(&mut self.asked) {
            asked.look_up(batch, table, self.query.kernel, answers)?;
        }
        let numbers: Vec<_> = self.asked.iter().map(|asked| &asked.numbers[..]).collect();
        self.writer
            .write(batch, kept(source), &numbers, &self.answers)?;
        self.writer.take(&mut self.taken);
        Ok(&self.taken)
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, Failure> {
        Ok(self.writer.finish(&self.answers)?)
    }
}

/// The file whose columns are kept.
fn kept(source: &Source) -> Option<&ParquetAddresses> {
    match source {
        Source::Parquet(source) => Some(source),
        Source::File(_) => None,
    }
}

impl Asked {
    /// Looks up the addresses of a batch.
    fn look_up(
        &mut self,
        batch: &AddressBatch,
        table: &NamedTable,
        kernel: Kernel,
        answers: &mut parquet::ParquetAnswers,
    ) -> Result<(), Failure> {
        let of_4 = numbers(batch.ipv4(), &mut self.ipv4, table, kernel, answers)?;
        let of_6 = numbers(batch.ipv6(), &mut self.ipv6, table, kernel, answers)?;
        let (mut of_4, mut of_6) = (of_4.iter(), of_6.iter());
        let all = &mut self.numbers;
        all.clear();
        for &run in batch.runs() {
            match run {
                AddressRun::Ipv4(count) => all.extend(of_4.by_ref().take(count)),
                AddressRun::Ipv6(count) => all.extend(of_6.by_ref().take(count)),
                AddressRun::Missing(count) => all.resize(all.len() + count, 0),
            }
        }
        Ok(())
    }
}

/// The numbers of the answers to addresses of a family.
fn numbers<'f, A: Family>(
    addresses: &[A],
    (routes, numbers): &'f mut Side<A>,
    table: &NamedTable,
    kernel: Kernel,
    answers: &mut parquet::ParquetAnswers,
) -> Result<&'f [u32], Failure> {
    match table.with_prefixes {
        false => answers::look_up(&table.table, Ask::Value, kernel, addresses, numbers)?,
        true => {
            let before = answers.last() as usize;
            let push = |prefix: &str, record: NextHop| answers.push(prefix, record);
            routes.look_up(&table.table, kernel, addresses, numbers, before, push)?;
        }
    }
    Ok(numbers)
}
