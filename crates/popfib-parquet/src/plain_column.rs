//! Texts row by row in, a column chunk without a dictionary out: for texts of which hardly one comes twice, as prefixes and addresses.

use parquet::basic::{Compression, Encoding};
use parquet::errors::Result;

use crate::file_bytes::{FileBytes, WrittenChunk};
use crate::page_writer;

const COMPRESSION: Compression = Compression::SNAPPY;

/// A column of texts that is being encoded, without a dictionary.
#[derive(Default)]
pub(crate) struct PlainColumn {
    pages: Vec<u8>,
    /// How long the pages would be if they were not compressed.
    uncompressed: usize,
    rows: usize,
    /// The page at hand: whether each row has a text, and these texts.
    are_there: Vec<bool>,
    texts: Vec<u8>,
    body: Vec<u8>,
    compressed: Vec<u8>,
}

impl PlainColumn {
    #[inline]
    pub(crate) fn push(&mut self, text: Option<&[u8]>) -> Result<()> {
        self.are_there.push(text.is_some());
        if let Some(text) = text {
            page_writer::text(text, &mut self.texts);
        }
        // A page has the same number of rows however many come at a time: from a slow pipe they come one by one.
        match self.are_there.len() {
            page_writer::ROWS => self.end_page(),
            _ => Ok(()),
        }
    }

    fn end_page(&mut self) -> Result<()> {
        let (rows, body) = (self.are_there.len(), &mut self.body);
        body.clear();
        let missing = self.are_there.iter().filter(|&&is_there| !is_there).count();
        page_writer::levels(rows, missing, self.are_there.iter().copied(), body);
        body.extend_from_slice(&self.texts);
        let (encoding, packed) = (Encoding::PLAIN, &mut self.compressed);
        self.uncompressed +=
            page_writer::data(rows, body, encoding, COMPRESSION, packed, &mut self.pages)?;
        self.rows += rows;
        self.are_there.clear();
        self.texts.clear();
        Ok(())
    }

    pub(crate) fn end_group(&mut self, file: &mut FileBytes) -> Result<()> {
        if !self.are_there.is_empty() {
            self.end_page()?;
        }
        let (start, to) = file.start();
        to.append(&mut self.pages);
        file.end_chunk(WrittenChunk {
            start,
            dictionary: None,
            encoding: Encoding::PLAIN,
            compression: COMPRESSION,
            uncompressed: self.uncompressed,
            values: self.rows,
        })?;
        (self.uncompressed, self.rows) = (0, 0);
        Ok(())
    }
}
