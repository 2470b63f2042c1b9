//! What can be said about addresses, by number, and the columns that say it.
//!
//! An answer is a prefix and a next hop. Both columns are dictionaries of text.
//! The dictionary of a row group is made of the answers that its rows have, in
//! the order of their numbers: a bit for each number tells which, and its place
//! is how many come before it, so that no text is hashed or compared, as
//! writers do which know the texts alone, and texts are read one behind the
//! other.

use parquet::basic::{Compression, Encoding};
use parquet::errors::Result;

use crate::file::{Chunk, FileBytes};
use crate::{hybrid, page};

/// Rows of a page.
const PAGE: usize = 1 << 14;
/// Numbers whose places are counted from a common base, so that two bytes hold
/// one: they are looked up at random, and fit into the L2 cache that way.
const BLOCK: usize = 1 << 16;
/// No place in a dictionary.
const NONE: u32 = u32::MAX;

/// Texts by number, one behind the other as a dictionary has them.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        page::text(text.as_bytes(), &mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// The `count` texts from number `first` on.
    fn get(&self, first: usize, count: usize) -> &[u8] {
        let start = first.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[first + count - 1]]
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
///
/// All buffers are used again: at tens of millions of rows a second, getting
/// memory from the system costs more than filling it.
pub(crate) struct AnswerColumns {
    /// The rows of the group at hand.
    numbers: Vec<u32>,
    dictionary: Dictionary,
    next_hop_pages: Vec<u8>,
    places: Vec<u32>,
    body: Vec<u8>,
}

impl AnswerColumns {
    pub(crate) fn new() -> Self {
        Self {
            numbers: Vec::new(),
            dictionary: Dictionary::default(),
            next_hop_pages: Vec::new(),
            places: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Adds rows with the answers `numbers`.
    pub(crate) fn push(&mut self, numbers: &[u32], answers: &Answers) {
        self.numbers.extend_from_slice(numbers);
        self.dictionary.add(numbers, answers);
    }

    /// Ends the row group: its last columns.
    pub(crate) fn end_group(&mut self, answers: &Answers, file: &mut FileBytes) -> Result<()> {
        let dictionary = &mut self.dictionary;
        dictionary.place(answers);
        let count = dictionary.next_hop_of.len();
        let widths =
            [count, dictionary.next_hops.len()].map(|len| hybrid::width(len.saturating_sub(1)));

        let (start, to) = file.start();
        if let Some(texts) = &answers.prefixes {
            let len = dictionary
                .runs()
                .map(|(first, len)| texts.get(first, len).len());
            page::dictionary_header(count, len.sum(), to)?;
            for (first, len) in dictionary.runs() {
                to.extend_from_slice(texts.get(first, len));
            }
        }
        let dictionary_end = to.len();
        self.next_hop_pages.clear();
        for rows in self.numbers.chunks(PAGE) {
            let missing = rows.iter().filter(|&&number| number == 0).count();
            let are_there = rows.iter().map(|&number| number != 0);
            let (places, body) = (&mut self.places, &mut self.body);
            body.clear();
            page::levels(rows.len(), missing, are_there, body);
            let levels = body.len();
            places.clear();
            let place = |&number: &u32| dictionary.place_of(number);
            if missing == 0 {
                places.extend(rows.iter().map(place));
            } else {
                places.extend(rows.iter().filter(|number| **number != 0).map(place));
            }
            let mut write = |places: &[u32], width, to: &mut Vec<u8>| -> Result<()> {
                body.truncate(levels);
                body.push(width as u8);
                hybrid::encode(places, width, body);
                let (rows, len) = (rows.len(), body.len());
                page::data_header(rows, len, len, Encoding::RLE_DICTIONARY, to)?;
                to.extend_from_slice(body);
                Ok(())
            };
            if answers.prefixes.is_some() {
                write(places, widths[0], to)?;
            }
            for place in &mut *places {
                *place = dictionary.next_hop_of[*place as usize];
            }
            write(places, widths[1], &mut self.next_hop_pages)?;
        }
        let rows = self.numbers.len();
        let chunk = |start, dictionary_end, end| Chunk {
            start,
            dictionary: Some(dictionary_end - start),
            encoding: Encoding::RLE_DICTIONARY,
            // Which would take longer than all else that makes them.
            compression: Compression::UNCOMPRESSED,
            uncompressed: end - start,
            rows,
        };
        if answers.prefixes.is_some() {
            let end = to.len();
            file.end_chunk(chunk(start, dictionary_end, end))?;
        }

        let (start, to) = file.start();
        let texts = |&next_hop: &u32| answers.next_hops.get(next_hop as usize, 1);
        let len = dictionary.next_hops.iter().map(|n| texts(n).len());
        page::dictionary_header(dictionary.next_hops.len(), len.sum(), to)?;
        for next_hop in &dictionary.next_hops {
            to.extend_from_slice(texts(next_hop));
        }
        let dictionary_end = to.len();
        to.extend_from_slice(&self.next_hop_pages);
        let end = to.len();
        file.end_chunk(chunk(start, dictionary_end, end))?;
        self.numbers.clear();
        self.dictionary.clear();
        Ok(())
    }
}

/// The answers that the rows of a group have, and their places.
#[derive(Default)]
struct Dictionary {
    /// A bit for each answer.
    has: Vec<u64>,
    /// Where in the dictionary each answer is, from the first of its block on.
    place_in_block: Vec<u16>,
    blocks: Vec<u32>,
    /// The next hops of the dictionary's answers, as places in their own.
    next_hop_of: Vec<u32>,
    next_hop_place_of: Vec<u32>,
    next_hops: Vec<u32>,
}

impl Dictionary {
    fn add(&mut self, numbers: &[u32], answers: &Answers) {
        let words = answers.next_hop_of.len().div_ceil(64);
        self.has.resize(words, 0);
        for &number in numbers {
            self.has[number as usize / 64] |= 1 << (number % 64);
        }
        // Number 0 is no answer.
        self.has[0] &= !1;
    }

    /// The answers as neighbours: the first, and how many.
    fn runs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.has.iter().enumerate().flat_map(|(word, &has)| {
            let mut has = has;
            std::iter::from_fn(move || {
                let first = has.trailing_zeros();
                let count = has.checked_shr(first)?.trailing_ones();
                has &= u64::MAX.checked_shl(first + count).unwrap_or(0);
                Some((word * 64 + first as usize, count as usize))
            })
        })
    }

    /// Gives each answer its place.
    fn place(&mut self, answers: &Answers) {
        self.place_in_block.resize(answers.next_hop_of.len(), 0);
        let next_hops = answers.next_hops.ends.len();
        self.next_hop_place_of.resize(next_hops, NONE);
        for (word, &has) in self.has.iter().enumerate() {
            let first = word * 64;
            if first.is_multiple_of(BLOCK) {
                self.blocks.push(self.next_hop_of.len() as u32);
            }
            let block = self.blocks[first / BLOCK];
            let mut has = has;
            while has != 0 {
                let number = first + has.trailing_zeros() as usize;
                has &= has - 1;
                // Less than the numbers of a block.
                self.place_in_block[number] = (self.next_hop_of.len() as u32 - block) as u16;
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

    #[inline(always)]
    fn place_of(&self, number: u32) -> u32 {
        let number = number as usize;
        self.blocks[number / BLOCK] + u32::from(self.place_in_block[number])
    }

    fn clear(&mut self) {
        self.has.clear();
        self.blocks.clear();
        self.next_hop_of.clear();
        for next_hop in self.next_hops.drain(..) {
            self.next_hop_place_of[next_hop as usize] = NONE;
        }
    }
}
