//! What is written for the answers of a table: texts that are ready, and before each a prefix where one is wanted.

use std::iter;

use popfib::family::Family;
use popfib::{IpPrefix, Kernel, NextHop};
use popfib_table::{FamilyTable, PrefixText};

use super::answer_texts::{AnyAnswerTexts, Texts};
use super::answers::{self, Ask};
use super::form::AnswerForm;
use super::page::Page;
use super::table::NamedTable;
use crate::failure::Failure;

/// What is written for the answers of a table.
pub(super) struct Written {
    /// What stands before a prefix; `None` if prefixes are not written, and numbers are those of next hops.
    pub(super) before: Option<Vec<u8>>,
    /// By next hop, what is written for it, after the prefix if there is one; 0 for no match.
    pub(super) texts: AnyAnswerTexts,
}

impl Written {
    /// What the texts are of.
    fn ask(&self) -> Ask {
        match self.before {
            Some(_) => Ask::Match,
            None => Ask::Value,
        }
    }
}

/// The numbers of a family's answers to a batch, table by table, and their texts.
pub(super) struct Texted<'l, A: Family> {
    pub(super) addresses: &'l [A],
    pub(super) written: &'l [Written],
    pub(super) numbers: &'l [Vec<u32>],
}

impl<'l, A: Family> Texted<'l, A> {
    /// Looks up `addresses` in all tables; the numbers are put into `numbers`.
    pub(super) fn new(
        addresses: &'l [A],
        tables: &[NamedTable],
        written: &'l [Written],
        kernel: Kernel,
        numbers: &'l mut Vec<Vec<u32>>,
    ) -> Result<Self, Failure> {
        numbers.resize_with(tables.len(), Vec::new);
        for ((table, written), numbers) in tables.iter().zip(written).zip(&mut *numbers) {
            answers::look_up(&table.table, written.ask(), kernel, addresses, numbers)?;
        }
        Ok(Self {
            addresses,
            written,
            numbers,
        })
    }
}

impl<A: Family> Texted<'_, A> {
    /// Writes the text of an answer of the table of this index.
    pub(super) fn write(&self, table: usize, at: usize, page: &mut Page) {
        let Written { before, texts } = &self.written[table];
        let number = self.numbers[table][at];
        let number = lead(self.addresses[at], number, before.as_deref(), page);
        texts.write(number, page);
    }

    /// The answer of the table of this index: the prefix, if prefixes are written, and the number of the record.
    pub(super) fn answer(&self, table: usize, at: usize) -> Option<(Option<IpPrefix>, NextHop)> {
        let number = self.numbers[table][at];
        match self.written[table].ask() {
            Ask::Value => Some((None, NextHop::new(number)?)),
            Ask::Match => {
                let found = FamilyTable::<A>::matched(self.addresses[at], number);
                found.map(|(prefix, number)| (Some(A::ip_prefix(prefix)), number))
            }
        }
    }
}

/// What is written for the answers of a table.
pub(super) fn compile(table: &NamedTable, form: &AnswerForm<'_>) -> Written {
    let with_prefixes = table.with_prefixes && table.table.has_prefixes();
    let (before, after) = form.around_prefix().filter(|_| with_prefixes).unzip();
    let mut texts = Texts::default();
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
    }
    let texts = texts.into_answer_texts();
    Written { before, texts }
}

/// As [`compile`], for who writes values himself.
pub(super) fn without_texts(table: &NamedTable) -> Written {
    let with_prefixes = table.with_prefixes && table.table.has_prefixes();
    Written {
        before: with_prefixes.then(Vec::new),
        texts: Texts::default().into_answer_texts(),
    }
}

/// The numbers of the texts of these answers.
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

/// Writes what stands before the text of an answer: the prefix, if there is one. Returns the number of that text.
#[inline(always)]
pub(super) fn lead<A: Family>(
    address: A,
    number: u32,
    before: Option<&[u8]>,
    page: &mut Page,
) -> u32 {
    let Some(before) = before else {
        return number;
    };
    let Some((prefix, next_hop)) = FamilyTable::<A>::matched(address, number) else {
        return 0;
    };
    page.put(before);
    let text = page.room().first_chunk_mut();
    let text = text.expect("there is room for a prefix");
    let len = PrefixText::write(A::ip_prefix(prefix), text);
    page.fill(len);
    next_hop.get()
}
