//! Batches of addresses into the columns of a Parquet file.

use std::path::Path;

use popfib::Family;
use popfib_formats::{AddressBatch, Run};
use popfib_parquet::{self as parquet, ParquetAddresses, ParquetError, ParquetWriter};

use super::AnnotateArgs;
use crate::failure::Failure;
use crate::stream::answers::{Lazy, Numbers};
use crate::stream::lines::Query;
use crate::stream::source::Source;

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Self {
        error.to_string().into()
    }
}

/// Annotates as columns. A family is compiled when its first address comes.
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

/// The answers of one family, how many of the other come before, and the numbers of a batch.
type Side<A> = (Lazy<A, u32>, Vec<Vec<u32>>);

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
        Ok(Self {
            query: query.clone(),
            writer: ParquetWriter::new(&name.display().to_string(), kept(source), with_prefixes)?,
            answers: parquet::Answers::new(table.values(), with_prefixes),
            ipv4: (Lazy::new(), Vec::new()),
            ipv6: (Lazy::new(), Vec::new()),
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
        let (of_4, before_4) = numbers(batch.ipv4(), &mut self.ipv4, query, answers)?;
        let (of_6, before_6) = numbers(batch.ipv6(), &mut self.ipv6, query, answers)?;
        self.numbers.clear();
        let (mut of_4, mut of_6) = (of_4.iter(), of_6.iter());
        let all = &mut self.numbers;
        for &run in batch.runs() {
            let moved = |before| move |&number| if number == 0 { 0 } else { before + number };
            match run {
                Run::Ipv4(count) => all.extend(of_4.by_ref().take(count).map(moved(before_4))),
                Run::Ipv6(count) => all.extend(of_6.by_ref().take(count).map(moved(before_6))),
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

/// The numbers of the answers within a family, and how many come before it.
fn numbers<'f, A: Family>(
    addresses: &'f [A],
    (lazy, numbers): &'f mut Side<A>,
    query: &Query,
    all: &mut parquet::Answers,
) -> Result<(&'f [u32], u32), Failure> {
    let kernel = query.kernel;
    let looked = lazy.look_up(addresses, &query.tables, kernel, numbers, |(_, table)| {
        let before = all.last();
        let answers = if table.with_prefixes {
            Numbers::of_routes(&table.table, |prefix, value| {
                all.push(prefix, value.get() - 1);
            })?
        } else {
            (0..table.table.value_count().unwrap_or(0)).for_each(|value| all.push("", value));
            Numbers::Values
        };
        Ok((answers, before))
    })?;
    Ok(match (looked.tables, looked.numbers) {
        ([(_, before)], [numbers]) => (numbers, *before),
        _ => (&[], 0),
    })
}
