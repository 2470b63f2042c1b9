//! The codes of a column's rows and its values in, a column chunk out.
//!
//! The dictionary of a row group is made of the values that its rows have, in the order of their codes. A bit for each code says whether the
//! rows have it, and a value's place in the dictionary is how many codes come before it. So no value is hashed or compared, as in writers
//! that know only values, and the values are read one after the other.

use std::mem;

use parquet::basic::{Compression, Encoding};
use parquet::errors::Result;

use crate::column_values::{ColumnValues, PlainLists, PlainValues};
use crate::file_bytes::{FileBytes, WrittenChunk};
use crate::ranks::Ranks;
use crate::{page_writer, rle_hybrid};

/// A dictionary has all values if these are no more than so many bytes for each row: to find the needed ones would take longer and save
/// less.
const WHOLE: usize = 2;

/// Encodes one column after the other.
///
/// All buffers are used again: at tens of millions of rows a second, getting memory from the system costs more than filling it.
pub(crate) struct ColumnEncoder {
    /// The compression of all pages.
    compression: Compression,
    /// The codes whose values the dictionary has, unless it has all.
    dictionary: Ranks,
    /// The header of the last dictionary's page.
    header: Vec<u8>,
    /// The elements of all lists of the group.
    elements: Vec<u32>,
    /// The codes of a page's rows that are not null, and their places in the dictionary.
    present: Vec<u32>,
    places: Vec<u32>,
    body: Vec<u8>,
    compressed: Vec<u8>,
}

impl ColumnEncoder {
    pub(crate) fn new(compression: Compression) -> Self {
        Self {
            compression,
            dictionary: Ranks::default(),
            header: Vec::new(),
            elements: Vec::new(),
            present: Vec::new(),
            places: Vec::new(),
            body: Vec::new(),
            compressed: Vec::new(),
        }
    }

    /// Writes the next column of the row group at hand, whose rows have the values of these codes; 0 is null.
    ///
    /// # Panics
    /// If there is no value of such a code.
    pub(crate) fn column(
        &mut self,
        codes: &[u32],
        values: &ColumnValues,
        file: &mut FileBytes,
    ) -> Result<()> {
        match values {
            ColumnValues::Scalars(plain) => self.scalars(codes, plain, file),
            ColumnValues::Booleans(truths) => self.booleans(codes, truths, file),
            ColumnValues::Lists { elements, lists } => self.lists(codes, elements, lists, file),
        }
    }

    /// Writes a column of values that are no lists.
    pub(crate) fn scalars(
        &mut self,
        codes: &[u32],
        plain: &PlainValues,
        file: &mut FileBytes,
    ) -> Result<()> {
        let (start, to) = file.start();
        let mut chunk = self.dictionary(codes, plain, start, to)?;
        let mut present = mem::take(&mut self.present);
        for rows in codes.chunks(page_writer::ROWS) {
            self.body.clear();
            let there = scalar_levels(rows, &mut present, &mut self.body);
            self.page(rows.len(), there, &mut chunk, to)?;
        }
        self.present = present;
        file.end_chunk(chunk.chunk)
    }

    fn lists(
        &mut self,
        codes: &[u32],
        plain: &PlainValues,
        lists: &PlainLists,
        file: &mut FileBytes,
    ) -> Result<()> {
        let (start, to) = file.start();
        let mut elements = mem::take(&mut self.elements);
        elements.clear();
        codes
            .iter()
            .for_each(|&code| elements.extend(lists.get(code)));
        let mut chunk = self.dictionary(&elements, plain, start, to)?;
        let mut rest = &elements[..];
        for rows in codes.chunks(page_writer::ROWS) {
            let len = rows.iter().map(|&code| lists.get(code).len()).sum();
            let (present, others) = rest.split_at(len);
            rest = others;
            self.body.clear();
            let values = list_levels(rows, lists, &mut self.body);
            self.page(values, present, &mut chunk, to)?;
        }
        self.elements = elements;
        file.end_chunk(chunk.chunk)
    }

    fn booleans(&mut self, codes: &[u32], truths: &[bool], file: &mut FileBytes) -> Result<()> {
        let (start, to) = file.start();
        let mut chunk = WrittenChunk {
            start,
            dictionary: None,
            encoding: Encoding::PLAIN,
            compression: self.compression,
            uncompressed: 0,
            values: 0,
        };
        for rows in codes.chunks(page_writer::ROWS) {
            let body = &mut self.body;
            body.clear();
            let present = scalar_levels(rows, &mut self.present, body);
            for eight in present.chunks(8) {
                let bits = eight.iter().enumerate();
                let bits = bits.map(|(at, &code)| u8::from(truths[code as usize - 1]) << at);
                body.push(bits.sum());
            }
            chunk.page(rows.len(), body, &mut self.compressed, to)?;
        }
        file.end_chunk(chunk)
    }

    /// Begins a chunk by the dictionary of these codes.
    fn dictionary(
        &mut self,
        codes: &[u32],
        plain: &PlainValues,
        start: usize,
        to: &mut Vec<u8>,
    ) -> Result<DictionaryChunk> {
        let is_whole = plain.bytes.len() <= WHOLE * codes.len();
        let (count, uncompressed) = if is_whole {
            let (bytes, packed) = (&plain.bytes, &mut self.compressed);
            let len = page_writer::dictionary(plain.count(), bytes, self.compression, packed, to)?;
            (plain.count(), len)
        } else {
            self.part_of_dictionary(codes, plain, to)?
        };
        Ok(DictionaryChunk {
            is_whole,
            width: rle_hybrid::width(count.saturating_sub(1)),
            chunk: WrittenChunk {
                start,
                dictionary: Some(to.len() - start),
                encoding: Encoding::RLE_DICTIONARY,
                compression: self.compression,
                uncompressed,
                values: 0,
            },
        })
    }

    /// Appends the page of the values that the rows have. Returns how many they are, and the page's length before compression.
    fn part_of_dictionary(
        &mut self,
        codes: &[u32],
        plain: &PlainValues,
        to: &mut Vec<u8>,
    ) -> Result<(usize, usize)> {
        let dictionary = &mut self.dictionary;
        let count = dictionary.replace(codes, plain.count());
        if self.compression != Compression::UNCOMPRESSED {
            self.body.clear();
            dictionary.for_each(|code| plain.append(code, &mut self.body));
            let packed = &mut self.compressed;
            let len = page_writer::dictionary(count, &self.body, self.compression, packed, to)?;
            return Ok((count, len));
        }
        // The header has the size of the values after it. If it is as long as the header before, the values are at their place at once;
        // to add up their sizes first would take longer.
        let start = to.len();
        let first = start + self.header.len();
        to.resize(first, 0);
        dictionary.for_each(|code| plain.append(code, to));
        self.header.clear();
        let len = to.len() - first;
        page_writer::dictionary_header(count, len, len, &mut self.header)?;
        to.splice(start..first, self.header.iter().copied());
        Ok((count, to.len() - start))
    }

    /// Appends a page, whose levels are in the body, of the values of these codes.
    fn page(
        &mut self,
        values: usize,
        present: &[u32],
        chunk: &mut DictionaryChunk,
        to: &mut Vec<u8>,
    ) -> Result<()> {
        if chunk.is_whole {
            self.places.clear();
            self.places.extend(present.iter().map(|code| code - 1));
        } else {
            self.dictionary.places(present, &mut self.places);
        }
        self.body.push(chunk.width as u8);
        rle_hybrid::encode(&self.places, chunk.width, &mut self.body);
        let (body, packed) = (&self.body, &mut self.compressed);
        chunk.chunk.page(values, body, packed, to)
    }
}

/// A chunk that begins with a dictionary.
struct DictionaryChunk {
    chunk: WrittenChunk,
    /// Whether the dictionary has the values of all codes.
    is_whole: bool,
    /// The bits of a place.
    width: u32,
}

/// Appends the levels of rows without lists. Returns the codes that are not null.
fn scalar_levels<'r>(rows: &'r [u32], present: &'r mut Vec<u32>, to: &mut Vec<u8>) -> &'r [u32] {
    let mut there = rows;
    if rows.contains(&0) {
        present.clear();
        present.extend(rows.iter().filter(|&&code| code != 0));
        there = present;
    }
    let missing = rows.len() - there.len();
    page_writer::levels(rows.len(), missing, rows.iter().map(|&code| code != 0), to);
    there
}

/// Appends the levels of rows of lists, none of whose elements is null. Returns how many values the page has; a row without any counts as
/// one.
fn list_levels(rows: &[u32], lists: &PlainLists, to: &mut Vec<u8>) -> usize {
    let (mut repetition, mut definition) = (Vec::new(), Vec::new());
    for &code in rows {
        let len = lists.get(code).len();
        repetition.push(0);
        // 0 is null, 1 an empty list, 2 an element.
        definition.push(if code == 0 { 0 } else { 1 + u32::from(len > 0) });
        repetition.resize(repetition.len() + len.saturating_sub(1), 1);
        definition.resize(repetition.len(), 2);
    }
    page_writer::encoded_levels(&repetition, 1, to);
    page_writer::encoded_levels(&definition, 2, to);
    repetition.len()
}
