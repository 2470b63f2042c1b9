//! What can be said about addresses, by number, and the columns that say it.
//!
//! An answer is a prefix and a next hop. Both columns are dictionaries of text.
//! The dictionary of a row group is made of the texts that its rows have, in
//! the order of their numbers: a bit for each number tells which, and its place
//! is how many come before it, so that no text is hashed or compared, as
//! writers do which know the texts alone, and texts are read one after the
//! other.

use parquet::basic::{Compression, Encoding};
use parquet::errors::Result;

use crate::file::{Chunk, FileBytes};
use crate::ranks::Ranks;
use crate::{hybrid, page};

/// The bytes a row that a dictionary of all texts may have: to find those that
/// are needed takes longer and saves less.
const WHOLE: usize = 2;

/// Texts by number from 1, one after the other as a dictionary has them.
struct Texts {
    bytes: Vec<u8>,
    /// Where each ends; number 0 is none, and empty.
    ends: Vec<usize>,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            ends: vec![0],
        }
    }
}

impl Texts {
    fn push(&mut self, text: &str) {
        page::text(text.as_bytes(), &mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    fn count(&self) -> usize {
        self.ends.len() - 1
    }

    /// Appends the text of `number`.
    #[inline(always)]
    fn append(&self, number: usize, to: &mut Vec<u8>) {
        /// A constant number of bytes takes a few instructions, any other a call.
        const SHORT: usize = 48;
        #[cold]
        fn append_long(text: &[u8], to: &mut Vec<u8>) {
            to.extend_from_slice(text);
        }
        let start = self.ends[number - 1];
        let len = self.ends[number] - start;
        match self.bytes[start..].first_chunk::<SHORT>() {
            Some(bytes) if len <= SHORT => {
                to.extend_from_slice(bytes);
                to.truncate(to.len() - SHORT + len);
            }
            _ => append_long(&self.bytes[start..start + len], to),
        }
    }
}

/// Everything that can be said about an address: prefixes with their next
/// hops, or next hops alone, numbered from 1. Number 0 stands for no match.
pub struct Answers {
    /// `None` if only next hops are asked for.
    prefixes: Option<Texts>,
    /// The number in `next_hops` of each answer's.
    next_hop_of: Vec<u32>,
    next_hops: Texts,
}

impl Answers {
    /// No answers yet; `next_hops` are all that will come.
    pub fn new(next_hops: impl IntoIterator<Item: AsRef<str>>, with_prefixes: bool) -> Self {
        let mut texts = Texts::default();
        for name in next_hops {
            texts.push(name.as_ref());
        }
        Self {
            prefixes: with_prefixes.then(Texts::default),
            next_hop_of: vec![0],
            next_hops: texts,
        }
    }

    /// Adds the next answer: its prefix, if there are prefixes, and the place
    /// of its next hop, from 0.
    ///
    /// # Panics
    /// If there is no such next hop.
    pub fn push(&mut self, prefix: &str, next_hop: u32) {
        assert!((next_hop as usize) < self.next_hops.count());
        if let Some(prefixes) = &mut self.prefixes {
            prefixes.push(prefix);
        }
        self.next_hop_of.push(next_hop + 1);
    }

    /// The number of the last answer, 0 if there is none yet.
    pub fn last(&self) -> u32 {
        self.next_hop_of.len() as u32 - 1
    }
}

/// The columns of answers, in one row group after the other.
#[derive(Default)]
pub(crate) struct AnswerColumns {
    prefixes: TextColumn,
    next_hops: TextColumn,
}

impl AnswerColumns {
    /// Adds rows with the answers `numbers`.
    pub(crate) fn push(&mut self, numbers: &[u32], answers: &Answers) {
        if answers.prefixes.is_some() {
            self.prefixes.push(numbers.iter().copied());
        }
        let next_hops = numbers.iter().map(|&n| answers.next_hop_of[n as usize]);
        self.next_hops.push(next_hops);
    }

    /// Ends the row group: its last columns.
    pub(crate) fn end_group(&mut self, answers: &Answers, file: &mut FileBytes) -> Result<()> {
        if let Some(texts) = &answers.prefixes {
            self.prefixes.end_group(texts, file)?;
        }
        self.next_hops.end_group(&answers.next_hops, file)
    }
}

/// A column of texts by their numbers.
///
/// All buffers are used again: at tens of millions of rows a second, getting
/// memory from the system costs more than filling it.
#[derive(Default)]
struct TextColumn {
    /// The rows of the group at hand.
    numbers: Vec<u32>,
    /// The numbers that its dictionary has, unless it has all.
    dictionary: Ranks,
    /// Of the dictionary's page.
    header: Vec<u8>,
    /// The numbers of a page that are there, and their places.
    present: Vec<u32>,
    places: Vec<u32>,
    body: Vec<u8>,
}

impl TextColumn {
    fn push(&mut self, numbers: impl Iterator<Item = u32>) {
        self.numbers.extend(numbers);
    }

    fn end_group(&mut self, texts: &Texts, file: &mut FileBytes) -> Result<()> {
        let (start, to) = file.start();
        let is_whole = texts.bytes.len() <= WHOLE * self.numbers.len();
        let count = if is_whole {
            page::dictionary_header(texts.count(), texts.bytes.len(), to)?;
            to.extend_from_slice(&texts.bytes);
            texts.count()
        } else {
            self.dictionary_page(texts, to)?
        };
        let width = hybrid::width(count.saturating_sub(1));
        let dictionary_end = to.len();
        for rows in self.numbers.chunks(page::ROWS) {
            let (places, body) = (&mut self.places, &mut self.body);
            let mut present = rows;
            if rows.contains(&0) {
                self.present.clear();
                self.present
                    .extend(rows.iter().filter(|&&number| number != 0));
                present = &self.present;
            }
            if is_whole {
                places.clear();
                places.extend(present.iter().map(|number| number - 1));
            } else {
                self.dictionary.places(present, places);
            }
            body.clear();
            let missing = rows.len() - present.len();
            page::levels(rows.len(), missing, rows.iter().map(|&n| n != 0), body);
            body.push(width as u8);
            hybrid::encode(places, width, body);
            let (rows, len) = (rows.len(), body.len());
            page::data_header(rows, len, len, Encoding::RLE_DICTIONARY, to)?;
            to.extend_from_slice(body);
        }
        let chunk = Chunk {
            start,
            dictionary: Some(dictionary_end - start),
            encoding: Encoding::RLE_DICTIONARY,
            // Which would take longer than all else that makes them.
            compression: Compression::UNCOMPRESSED,
            uncompressed: to.len() - start,
            rows: self.numbers.len(),
        };
        file.end_chunk(chunk)?;
        self.numbers.clear();
        Ok(())
    }

    /// Appends the page of the texts that the rows have; how many they are.
    fn dictionary_page(&mut self, texts: &Texts, to: &mut Vec<u8>) -> Result<usize> {
        let dictionary = &mut self.dictionary;
        let count = dictionary.replace(&self.numbers, texts.count());
        // The header tells the size of what follows it. The texts are in their place at once if it
        // is as long as the one before; to add up their sizes first would take longer.
        let start = to.len();
        let first = start + self.header.len();
        to.resize(first, 0);
        dictionary.for_each(|number| texts.append(number, to));
        self.header.clear();
        page::dictionary_header(count, to.len() - first, &mut self.header)?;
        to.splice(start..first, self.header.iter().copied());
        Ok(count)
    }
}
