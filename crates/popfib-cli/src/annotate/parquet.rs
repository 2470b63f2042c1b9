//! Batches of addresses into the columns of a Parquet file.

use std::path::Path;

use popfib::{IpPrefix, Prefix, Rib};
use popfib_baselines::Key;
use popfib_formats::{AddressBatch, Run};
use popfib_parquet::{self as parquet, Dictionary, NONE, ParquetError, ParquetWriter};

use super::answers::Answers;
use super::source::Source;
use super::{AnnotateArgs, Question};
use crate::failure::Failure;

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Self {
        error.to_string().into()
    }
}

/// Annotates as columns. A family is compiled when its first address comes.
pub(super) struct Columns<'t> {
    question: &'t Question<'t>,
    writer: ParquetWriter,
    /// The columns of the first file, if it was a Parquet file.
    schema: Option<parquet::SchemaRef>,
    ipv4: Option<Family<u32>>,
    ipv6: Option<Family<u128>>,
    prefixes: Texts,
    prefix_dictionary: Dictionary,
    next_hop_dictionary: Dictionary,
    /// Of the batch at hand.
    prefix_numbers: Vec<u32>,
    next_hop_numbers: Vec<u32>,
    taken: Vec<u8>,
}

/// The answers of one family, and what their numbers mean in the dictionaries.
struct Family<A> {
    answers: Answers<A>,
    /// The number of the first prefix.
    first: u32,
    /// The number of each answer's next hop, the first being that of no match.
    next_hops: Vec<u32>,
}

/// Texts one behind the other.
#[derive(Default)]
struct Texts {
    text: String,
    ends: Vec<usize>,
}

impl Texts {
    fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let text = &self.text[start..end];
            start = end;
            text
        })
    }
}

impl<'t> Columns<'t> {
    pub(super) fn new(
        source: &Source,
        args: &AnnotateArgs,
        question: &'t Question<'t>,
    ) -> Result<Self, Failure> {
        let name = args
            .output_file
            .as_deref()
            .unwrap_or(Path::new("standard output"));
        let schema = columns(source).cloned();
        let names = &question.table.next_hops;
        let next_hops = (1..=names.len() as u32)
            .map(|number| popfib::NextHop::new(number).and_then(|number| names.name(number)));
        Ok(Self {
            question,
            writer: ParquetWriter::new(
                &name.display().to_string(),
                schema.as_ref(),
                !question.value_only,
            )?,
            schema,
            ipv4: None,
            ipv6: None,
            prefixes: Texts::default(),
            prefix_dictionary: Dictionary::new::<&str>([]),
            next_hop_dictionary: Dictionary::new(next_hops.map(Option::unwrap_or_default)),
            prefix_numbers: Vec::new(),
            next_hop_numbers: Vec::new(),
            taken: Vec::new(),
        })
    }

    /// Whether `source` has the columns of the first file.
    pub(super) fn takes(&self, source: &Source) -> bool {
        columns(source).map(|schema| schema.fields())
            == self.schema.as_ref().map(|schema| schema.fields())
    }

    pub(super) fn answer(
        &mut self,
        batch: &AddressBatch,
        source: &Source,
    ) -> Result<&[u8], Failure> {
        let Self {
            question, prefixes, ..
        } = self;
        let before = prefixes.ends.len();
        let ipv4 = family(
            batch.ipv4(),
            &mut self.ipv4,
            &question.table.ipv4,
            question,
            prefixes,
        )?;
        let ipv6 = family(
            batch.ipv6(),
            &mut self.ipv6,
            &question.table.ipv6,
            question,
            prefixes,
        )?;
        if prefixes.ends.len() > before {
            self.prefix_dictionary = Dictionary::new(prefixes.iter());
        }
        self.prefix_numbers.clear();
        self.next_hop_numbers.clear();
        let (mut ipv4, mut ipv6) = (ipv4, ipv6);
        for &run in batch.runs() {
            match run {
                Run::Ipv4(count) => {
                    ipv4.write(count, &mut self.prefix_numbers, &mut self.next_hop_numbers)
                }
                Run::Ipv6(count) => {
                    ipv6.write(count, &mut self.prefix_numbers, &mut self.next_hop_numbers)
                }
                Run::Missing(count) => {
                    for numbers in [&mut self.prefix_numbers, &mut self.next_hop_numbers] {
                        numbers.resize(numbers.len() + count, NONE);
                    }
                }
            }
        }
        let rows = match source {
            Source::Parquet(source) => source.rows(),
            Source::File(_) => None,
        };
        let prefixes = (&self.prefix_dictionary, &self.prefix_numbers[..]);
        let answers = parquet::Answers {
            prefixes: (!question.value_only).then_some(prefixes),
            next_hops: (&self.next_hop_dictionary, &self.next_hop_numbers),
        };
        self.writer.write(batch, rows, &answers)?;
        self.taken = self.writer.take();
        Ok(&self.taken)
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, Failure> {
        Ok(self.writer.finish()?)
    }
}

fn columns(source: &Source) -> Option<&parquet::SchemaRef> {
    match source {
        Source::Parquet(source) => Some(source.schema()),
        Source::File(_) => None,
    }
}

/// What is left of a batch's answers of one family.
struct FamilyRuns<'b> {
    numbers: &'b [u32],
    first: u32,
    next_hops: &'b [u32],
}

fn family<'b, A: Key>(
    addresses: &[A],
    family: &'b mut Option<Family<A>>,
    rib: &Rib<A>,
    question: &Question<'_>,
    prefixes: &mut Texts,
) -> Result<FamilyRuns<'b>, Failure>
where
    Prefix<A>: Into<IpPrefix>,
{
    if addresses.is_empty() {
        return Ok(FamilyRuns {
            numbers: &[],
            first: 0,
            next_hops: &[],
        });
    }
    let family = match family {
        Some(family) => family,
        empty => {
            let first = prefixes.ends.len() as u32;
            let mut next_hops = vec![NONE];
            let answers = Answers::new(rib, question, |answer| {
                if let Some(prefix) = answer.prefix {
                    prefixes.text.push_str(prefix);
                    prefixes.ends.push(prefixes.text.len());
                }
                next_hops.push(answer.next_hop_number - 1);
            })?;
            empty.insert(Family {
                answers,
                first,
                next_hops,
            })
        }
    };
    Ok(FamilyRuns {
        numbers: family.answers.numbers(addresses),
        first: family.first,
        next_hops: &family.next_hops,
    })
}

impl FamilyRuns<'_> {
    /// Adds the numbers in the dictionaries of the next `count` answers.
    fn write(&mut self, count: usize, prefixes: &mut Vec<u32>, next_hops: &mut Vec<u32>) {
        let (numbers, more) = self.numbers.split_at(count);
        self.numbers = more;
        prefixes.extend(numbers.iter().map(|&number| match number.checked_sub(1) {
            Some(index) => self.first + index,
            None => NONE,
        }));
        next_hops.extend(
            numbers
                .iter()
                .map(|&number| self.next_hops[number as usize]),
        );
    }
}
