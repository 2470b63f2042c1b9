//! Column chunks: pages one behind the other, made before the file knows of them.
//!
//! Of a dictionary the data pages are made while it grows, and it comes before
//! them in the file. Data pages are of version 1, which every reader knows.

use std::io::{Chain, Read};
use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use crate::hybrid;

/// Pages of an optional column of text.
///
/// All buffers are used again: at tens of millions of rows a second, getting
/// memory from the system costs more than filling it.
pub(crate) struct Chunk {
    dictionary: Vec<u8>,
    pages: Vec<u8>,
    rows: u64,
    uncompressed: usize,
    encoding: Encoding,
    compression: Compression,
    compressed: Vec<u8>,
}

impl Chunk {
    /// Pages of texts, one behind the other.
    pub(crate) fn plain() -> Self {
        Self::new(Encoding::PLAIN, Compression::SNAPPY)
    }

    /// Pages of places in a dictionary. Not compressed, which would take
    /// longer than all else that makes them.
    pub(crate) fn of_dictionary() -> Self {
        Self::new(Encoding::RLE_DICTIONARY, Compression::UNCOMPRESSED)
    }

    fn new(encoding: Encoding, compression: Compression) -> Self {
        Self {
            dictionary: Vec::new(),
            pages: Vec::new(),
            rows: 0,
            uncompressed: 0,
            encoding,
            compression,
            compressed: Vec::new(),
        }
    }

    /// Appends a page of `rows` rows: levels and values.
    pub(crate) fn push(&mut self, body: &mut Vec<u8>, rows: usize) -> Result<()> {
        self.rows += rows as u64;
        let encoding = self.encoding;
        let page = |buf| Page::DataPage {
            buf,
            num_values: rows as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let to = &mut self.pages;
        let compressed = &mut self.compressed;
        self.uncompressed += match self.compression {
            Compression::UNCOMPRESSED => write(to, body.len(), body, page)?,
            _ => {
                compressed.resize(snap::raw::max_compress_len(body.len()), 0);
                let len = snap::raw::Encoder::new().compress(body, compressed)?;
                compressed.truncate(len);
                write(to, body.len(), compressed, page)?
            }
        };
        Ok(())
    }

    /// Puts a dictionary of `count` texts, in Parquet's form, before the pages of places.
    pub(crate) fn push_dictionary(&mut self, texts: &mut Vec<u8>, count: usize) -> Result<()> {
        let page = |buf| Page::DictionaryPage {
            buf,
            num_values: count as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        self.uncompressed += write(&mut self.dictionary, texts.len(), texts, page)?;
        Ok(())
    }

    /// Ends the chunk, as the next column of `group`; this is empty again then.
    pub(crate) fn append_to(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
        column: ColumnDescPtr,
    ) -> Result<()> {
        let has_dictionary = !self.dictionary.is_empty();
        let plain = has_dictionary.then_some(Encoding::PLAIN);
        let encodings = [self.encoding, Encoding::RLE].into_iter().chain(plain);
        let len = self.dictionary.len() + self.pages.len();
        let metadata = ColumnChunkMetaData::builder(column)
            .set_encodings(encodings.collect())
            .set_compression(self.compression)
            .set_num_values(self.rows as i64)
            .set_total_compressed_size(len as i64)
            .set_total_uncompressed_size(self.uncompressed as i64)
            .set_dictionary_page_offset(has_dictionary.then_some(0))
            .set_data_page_offset(self.dictionary.len() as i64)
            .build()?;
        let closed = ColumnCloseResult {
            bytes_written: len as u64,
            rows_written: self.rows,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        group.append_column(&Encoded(&self.dictionary, &self.pages), closed)?;
        self.dictionary.clear();
        self.pages.clear();
        (self.rows, self.uncompressed) = (0, 0);
        Ok(())
    }
}

/// The bytes of a chunk, which are read from their beginning.
struct Encoded<'a>(&'a [u8], &'a [u8]);

impl Length for Encoded<'_> {
    fn len(&self) -> u64 {
        (self.0.len() + self.1.len()) as u64
    }
}

impl<'a> ChunkReader for Encoded<'a> {
    type T = Chain<&'a [u8], &'a [u8]>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let start = start as usize;
        let in_first = start.min(self.0.len());
        let (first, second) = (&self.0[in_first..], &self.1[start - in_first..]);
        Ok(first.chain(second))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = Vec::new();
        self.get_read(start)?
            .take(length as u64)
            .read_to_end(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// A buffer that is lent to a page.
struct Lent(Arc<Vec<u8>>);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Writes a page made of `body` with its header; its size before compression.
fn write(
    to: &mut Vec<u8>,
    uncompressed: usize,
    body: &mut Vec<u8>,
    page: impl FnOnce(Bytes) -> Page,
) -> Result<usize> {
    // The format counts the bytes of a page in 31 bits.
    if i32::try_from(uncompressed.max(body.len())).is_err() {
        let error = "more than 2 GiB of text in the rows of one row group";
        return Err(ParquetError::General(error.to_owned()));
    }
    let lent = Arc::new(mem::take(body));
    let page = page(Bytes::from_owner(Lent(Arc::clone(&lent))));
    let mut to = TrackedWrite::new(to);
    let mut writer = SerializedPageWriter::new(&mut to);
    let written = writer.write_page(CompressedPage::new(page, uncompressed));
    writer.close()?;
    // The page is gone, so it comes back.
    *body = Arc::into_inner(lent).unwrap_or_default();
    Ok(written?.uncompressed_size)
}

/// Appends the levels of a page's rows: which of them are not null.
pub(crate) fn levels(are_there: impl ExactSizeIterator<Item = bool> + Clone, body: &mut Vec<u8>) {
    let start = body.len();
    body.extend_from_slice(&[0; 4]);
    if are_there.clone().all(|is_there| is_there) {
        hybrid::repeat(1, are_there.len(), 1, body);
    } else {
        let levels: Vec<u32> = are_there.map(u32::from).collect();
        hybrid::encode(&levels, 1, body);
    }
    let len = (body.len() - start - 4) as u32;
    body[start..start + 4].copy_from_slice(&len.to_le_bytes());
}

/// Appends a text as plain pages have it.
pub(crate) fn text(text: &[u8], body: &mut Vec<u8>) {
    body.extend_from_slice(&(text.len() as u32).to_le_bytes());
    body.extend_from_slice(text);
}
