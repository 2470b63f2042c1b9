//! Batches of addresses into the columns of a Parquet file.

use std::path::Path;

use popfib::{Family, NextHop};
use popfib_formats::{AddressBatch, Run};
use popfib_parquet::{self as parquet, ParquetAddresses, ParquetError, ParquetWriter};

use super::AnnotateArgs;
use crate::failure::Failure;
use crate::stream::answers::{self, Ask, Routes};
use crate::stream::lines::Query;
use crate::stream::source::Source;

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Self {
        error.to_string().into()
    }
}

/// Annotates as columns.
pub(super) struct Columns {
    query: Query,
    writer: ParquetWriter,
    answers: parquet::Answers,
    ipv4: Side<u32>,
    ipv6: Side<u128>,
    /// The numbers of the answers of the batch at hand.
    numbers: Vec<u32>,
    taken: Vec<u8>,
}

/// The routes of one family, where prefixes are asked for, and the numbers of its answers of the batch at hand.
type Side<A> = (Routes<A>, Vec<u32>);

impl Columns {
    pub(super) fn new(
        source: &Source,
        args: &AnnotateArgs,
        query: &Query,
    ) -> Result<Self, Failure> {
        let table = &query.tables[0].table;
        let name = args
            .output_file
            .as_deref()
            .unwrap_or(Path::new("standard output"));
        let with_prefixes = !args.value_only;
        let mut answers = parquet::Answers::new(table.values(), with_prefixes);
        if !query.tables[0].with_prefixes {
            (0..table.value_count().unwrap_or(0)).for_each(|value| answers.push("", value));
        }
        Ok(Self {
            query: query.clone(),
            answers,
            writer: ParquetWriter::new(&name.display().to_string(), kept(source), with_prefixes)?,
            ipv4: (Routes::default(), Vec::new()),
            ipv6: (Routes::default(), Vec::new()),
            numbers: Vec::new(),
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
        let (query, answers) = (&self.query, &mut self.answers);
        let of_4 = numbers(batch.ipv4(), &mut self.ipv4, query, answers)?;
        let of_6 = numbers(batch.ipv6(), &mut self.ipv6, query, answers)?;
        self.numbers.clear();
        let (mut of_4, mut of_6) = (of_4.iter(), of_6.iter());
        let all = &mut self.numbers;
        for &run in batch.runs() {
            match run {
                Run::Ipv4(count) => all.extend(of_4.by_ref().take(count)),
                Run::Ipv6(count) => all.extend(of_6.by_ref().take(count)),
                Run::Missing(count) => all.resize(all.len() + count, 0),
            }
        }
        self.writer
            .write(batch, kept(source), &self.numbers, &self.answers)?;
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

/// The numbers of the answers to addresses of a family.
fn numbers<'f, A: Family>(
    addresses: &[A],
    (routes, numbers): &'f mut Side<A>,
    query: &Query,
    answers: &mut parquet::Answers,
) -> Result<&'f [u32], Failure> {
    let (table, kernel) = (&query.tables[0], query.kernel);
    match table.with_prefixes {
        false => answers::look_up(&table.table, Ask::Value, kernel, addresses, numbers)?,
        true => {
            let before = answers.last() as usize;
            let push = |prefix: &str, value: NextHop| answers.push(prefix, value.get() - 1);
            routes.look_up(&table.table, kernel, addresses, numbers, before, push)?;
        }
    }
    Ok(numbers)
}
