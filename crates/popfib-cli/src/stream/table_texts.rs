//! The texts of the answers of each table, and lookups that give their numbers: a table and a form of output in, texts out;
//! addresses in, numbers of texts out.
//!
//! A text is made once for each record, and not for each route. Routes with one record have different prefixes, so the prefix
//! is written before it when the answer comes.

use std::iter;

use popfib::family::Family;
use popfib::{IpPrefix, Kernel, NextHop};
use popfib_program::failure::Failure;
use popfib_table::{FamilyTable, PrefixText};

use super::answer_texts::{AnswerTextsBuilder, AnyAnswerTexts};
use super::answers::Ask;
use super::form::AnswerForm;
use super::output_buffer::OutputBuffer;
use super::table::NamedTable;
use super::table_column::Asked;

/// The texts of the answers of a table.
pub(super) struct TableTexts {
    /// What stands before a prefix. `None` if prefixes are not written: then answers are numbers of records.
    pub(super) before: Option<Vec<u8>>,
    /// What is written for each record, after the prefix if there is one; 0 is no match.
    pub(super) texts: AnyAnswerTexts,
}

impl TableTexts {
    /// What is asked for.
    fn ask(&self) -> Ask {
        match self.before {
            Some(_) => Ask::Match,
            None => Ask::Value,
        }
    }
}

/// The answers to the addresses of one family in a batch, table by table.
pub(super) struct FamilyAnswers<'l, A: Family> {
    pub(super) addresses: &'l [A],
    pub(super) texts: &'l [TableTexts],
    pub(super) numbers: &'l [Vec<u32>],
}

impl<'l, A: Family> FamilyAnswers<'l, A> {
    /// Looks up addresses in all tables. `numbers` is memory that batches share.
    pub(super) fn new(
        asked: Asked<'l, A>,
        tables: &[NamedTable],
        texts: &'l [TableTexts],
        kernel: Kernel,
        numbers: &'l mut Vec<Vec<u32>>,
    ) -> Result<Self, Failure> {
        numbers.resize_with(tables.len(), Vec::new);
        for ((table, texts), numbers) in tables.iter().zip(texts).zip(&mut *numbers) {
            table.look_up(texts.ask(), kernel, asked, numbers)?;
        }
        Ok(Self {
            addresses: asked.addresses,
            texts,
            numbers,
        })
    }
}

impl<A: Family> FamilyAnswers<'_, A> {
    /// Writes the answer of a table to the address at a place of the batch.
    pub(super) fn write(&self, table: usize, at: usize, out: &mut OutputBuffer) {
        let TableTexts { before, texts } = &self.texts[table];
        let number = self.numbers[table][at];
        let number = lead(self.addresses[at], number, before.as_deref(), out);
        texts.write(number, out);
    }

    /// The same answer: the prefix, if prefixes are written, and the number of the record.
    pub(super) fn answer(&self, table: usize, at: usize) -> Option<(Option<IpPrefix>, NextHop)> {
        let number = self.numbers[table][at];
        match self.texts[table].ask() {
            Ask::Value => Some((None, NextHop::new(number)?)),
            Ask::Match => {
                let found = FamilyTable::<A>::matched(self.addresses[at], number);
                found.map(|(prefix, number)| (Some(A::ip_prefix(prefix)), number))
            }
        }
    }
}

/// How many bytes of texts are made before they are needed, beside four times the table's: a long text that a table has once may be
/// in any number of records.
const MOST: usize = if cfg!(debug_assertions) {
    1 << 20
} else {
    256 << 20
};

/// Makes the texts of all answers of a table; `None` if they are too long together.
pub(super) fn texts_of(table: &NamedTable, form: &AnswerForm<'_>) -> Option<TableTexts> {
    let with_prefixes = table.with_prefixes && table.table.has_prefixes();
    let (before, after) = form.around_prefix().filter(|_| with_prefixes).unzip();
    let most = MOST + 4 * table.table.bytes();
    let mut texts = AnswerTextsBuilder::default();
    texts.push(|to| {
        form.prefix(None, to);
        form.record(iter::empty(), to);
    });
    for number in table.numbers() {
        texts.push(|to| {
            match &after {
                Some(after) => to.extend_from_slice(after),
                None => form.prefix(None, to),
            }
            form.record(table.cells(number), to);
        });
        if texts.len() > most {
            return None;
        }
    }
    let texts = texts.into_answer_texts();
    Some(TableTexts { before, texts })
}

/// No texts, for rows whose answers are put together column by column (`cells.rs`).
pub(super) fn no_texts(table: &NamedTable) -> TableTexts {
    let with_prefixes = table.with_prefixes && table.table.has_prefixes();
    TableTexts {
        before: with_prefixes.then(Vec::new),
        texts: AnswerTextsBuilder::default().into_answer_texts(),
    }
}

/// The numbers of the texts of these answers. `before` is that of their table.
pub(super) fn indices<A: Family>(
    numbers: &[u32],
    before: Option<&[u8]>,
) -> impl Iterator<Item = u32> {
    let with_lengths = before.is_some();
    numbers.iter().map(move |&number| {
        if with_lengths {
            FamilyTable::<A>::value_of_match(number)
        } else {
            number
        }
    })
}

/// Writes what stands before the text of an answer: the prefix, if prefixes are written. Returns the number of that text.
#[inline(always)]
pub(super) fn lead<A: Family>(
    address: A,
    number: u32,
    before: Option<&[u8]>,
    out: &mut OutputBuffer,
) -> u32 {
    let Some(before) = before else {
        return number;
    };
    let Some((prefix, next_hop)) = FamilyTable::<A>::matched(address, number) else {
        return 0;
    };
    out.put(before);
    let text = out.room().first_chunk_mut();
    let text = text.expect("there is room for a prefix");
    let len = PrefixText::write(A::ip_prefix(prefix), text);
    out.fill(len);
    next_hop.get()
}
