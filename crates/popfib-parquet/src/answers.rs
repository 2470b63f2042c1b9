//! What can be said about addresses, by number, and the columns that say it.
//!
//! An answer is a prefix and a next hop. Both columns are dictionaries of text.
//! The dictionary of a row group is made of the answers that its rows have, in
//! the order of their numbers: a bit for each number tells which are new, and
//! a number is a place in an array, so that no text is hashed or compared, as
//! writers do which know the texts alone.

use parquet::errors::Result;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::ColumnDescPtr;

use crate::chunk::{self, Chunk};
use crate::hybrid;

/// Rows of a page.
const PAGE: usize = 1 << 16;
/// Rows whose answers are collected before pages are made of them.
const SEGMENT: usize = 1 << 20;
/// No place in a dictionary.
const NONE: u32 = u32::MAX;

/// Texts by number, one behind the other.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(self.bytes.len());
    }

    fn get(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[number]]
    }
}

/// Everything that can be said about an address: prefixes with their next
/// hops, or next hops alone, numbered from 1. Number 0 stands for no match.
pub struct Answers {
    /// `None` if only next hops are asked for.
    prefixes: Option<Texts>,
    /// The place in `next_hops` of each answer's.
    next_hop_of: Vec<u32>,
    next_hops: Texts,
}

impl Answers {
    /// No answers yet; `next_hops` are all that will come.
    pub fn new<'n>(next_hops: impl IntoIterator<Item = &'n str>, with_prefixes: bool) -> Self {
        let mut texts = Texts::default();
        for name in next_hops {
            texts.push(name);
        }
        let mut prefixes = with_prefixes.then(Texts::default);
        if let Some(prefixes) = &mut prefixes {
            prefixes.push("");
        }
        Self {
            prefixes,
            next_hop_of: vec![NONE],
            next_hops: texts,
        }
    }

    /// Adds the next answer: its prefix, if there are prefixes, and the place
    /// of its next hop, from 0.
    ///
    /// # Panics
    /// If there is no such next hop.
    pub fn push(&mut self, prefix: &str, next_hop: u32) {
        assert!((next_hop as usize) < self.next_hops.ends.len());
        if let Some(prefixes) = &mut self.prefixes {
            prefixes.push(prefix);
        }
        self.next_hop_of.push(next_hop);
    }

    /// The number of the last answer, 0 if there is none yet.
    pub fn last(&self) -> u32 {
        self.next_hop_of.len() as u32 - 1
    }
}

/// The columns of answers, in one row group after the other.
pub(crate) struct AnswerColumns {
    /// The rows that are not yet in pages.
    numbers: Vec<u32>,
    /// A bit for each answer that these rows have.
    has: Vec<u64>,
    /// Where in the group's dictionary each answer is.
    place_of: Vec<u32>,
    /// The answers in the dictionary.
    answers: Vec<u32>,
    /// The next hops of these, as places in their own dictionary.
    next_hop_of: Vec<u32>,
    next_hop_place_of: Vec<u32>,
    next_hops: Vec<u32>,
    prefix_pages: Option<Chunk>,
    next_hop_pages: Chunk,
    places: Vec<u32>,
    body: Vec<u8>,
}

impl AnswerColumns {
    pub(crate) fn new(with_prefixes: bool) -> Self {
        Self {
            numbers: Vec::new(),
            has: Vec::new(),
            place_of: Vec::new(),
            answers: Vec::new(),
            next_hop_of: Vec::new(),
            next_hop_place_of: Vec::new(),
            next_hops: Vec::new(),
            prefix_pages: with_prefixes.then(Chunk::of_dictionary),
            next_hop_pages: Chunk::of_dictionary(),
            places: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Adds rows with the answers `numbers`.
    pub(crate) fn push(&mut self, numbers: &[u32], answers: &Answers) -> Result<()> {
        self.numbers.extend_from_slice(numbers);
        if self.numbers.len() >= SEGMENT {
            self.make_pages(answers)?;
        }
        Ok(())
    }

    fn make_pages(&mut self, answers: &Answers) -> Result<()> {
        self.extend_dictionaries(answers);
        let widths = [&self.answers, &self.next_hops]
            .map(|dictionary| hybrid::width(dictionary.len().saturating_sub(1)));
        for rows in self.numbers.chunks(PAGE) {
            let (places, body) = (&mut self.places, &mut self.body);
            body.clear();
            chunk::levels(rows.iter().map(|&number| number != 0), body);
            let levels = body.len();
            places.clear();
            let place = |&number: &u32| self.place_of[number as usize];
            let there = rows.iter().filter(|number| **number != 0).count();
            if there == rows.len() {
                places.extend(rows.iter().map(place));
            } else {
                places.extend(rows.iter().filter(|number| **number != 0).map(place));
            }
            if let Some(pages) = &mut self.prefix_pages {
                body.push(widths[0] as u8);
                hybrid::encode(places, widths[0], body);
                pages.push(body, rows.len())?;
            }
            for place in &mut *places {
                *place = self.next_hop_of[*place as usize];
            }
            body.truncate(levels);
            body.push(widths[1] as u8);
            hybrid::encode(places, widths[1], body);
            self.next_hop_pages.push(body, rows.len())?;
        }
        self.numbers.clear();
        Ok(())
    }

    /// Puts into the dictionaries what of the collected rows is not yet there.
    fn extend_dictionaries(&mut self, answers: &Answers) {
        let count = answers.next_hop_of.len();
        self.has.resize(count.div_ceil(64), 0);
        self.place_of.resize(count, NONE);
        let next_hops = answers.next_hops.ends.len();
        self.next_hop_place_of.resize(next_hops, NONE);
        for &number in &self.numbers {
            self.has[number as usize / 64] |= 1 << (number % 64);
        }
        // Number 0 is no answer.
        self.has[0] &= !1;
        for (word, has) in self.has.iter_mut().enumerate() {
            while *has != 0 {
                let number = word * 64 + has.trailing_zeros() as usize;
                *has &= *has - 1;
                if self.place_of[number] != NONE {
                    continue;
                }
                self.place_of[number] = self.answers.len() as u32;
                self.answers.push(number as u32);
                let next_hop = answers.next_hop_of[number];
                let place = &mut self.next_hop_place_of[next_hop as usize];
                if *place == NONE {
                    *place = self.next_hops.len() as u32;
                    self.next_hops.push(next_hop);
                }
                self.next_hop_of.push(*place);
            }
        }
    }

    /// Ends the row group: its last columns, whose descriptions are `columns`.
    pub(crate) fn end_group(
        &mut self,
        answers: &Answers,
        group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
        columns: &[ColumnDescPtr],
    ) -> Result<()> {
        self.make_pages(answers)?;
        let prefixes = self.prefix_pages.as_mut().zip(answers.prefixes.as_ref());
        let prefixes = prefixes.map(|(pages, texts)| (pages, texts, &self.answers));
        let next_hops = (
            &mut self.next_hop_pages,
            &answers.next_hops,
            &self.next_hops,
        );
        let ended = prefixes.into_iter().chain([next_hops]);
        for ((pages, texts, dictionary), column) in ended.zip(columns) {
            self.body.clear();
            for &number in dictionary {
                chunk::text(texts.get(number as usize), &mut self.body);
            }
            pages.push_dictionary(&mut self.body, dictionary.len())?;
            pages.append_to(group, column.clone())?;
        }
        for number in self.answers.drain(..) {
            self.place_of[number as usize] = NONE;
        }
        for next_hop in self.next_hops.drain(..) {
            self.next_hop_place_of[next_hop as usize] = NONE;
        }
        self.next_hop_of.clear();
        Ok(())
    }
}
