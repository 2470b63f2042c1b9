//! Where a file says that its pages are and how large they are in; an error out if that is too much to be true. It is checked before the
//! library reads a page.
//!
//! The library believes both: a page header may promise gigabytes, and the column chunks of all row groups may be the same bytes. So chunks
//! must not overlap, which bounds what is read by the file's length. And a page may become no more than [`SPARE`] bytes and [`RATIO`] times
//! its own, which no column of addresses comes near. Of the codecs only gzip goes on beyond what a page claims, so such a page is
//! unpacked here once, into nothing, up to that length.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;

use flate2::bufread::MultiGzDecoder;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use crate::panic_guard::guarded;

/// Bytes that any data page may have, and those for each of its bytes in the file. Most writers' pages have a megabyte.
const SPARE: u64 = 8 << 20;
const RATIO: u64 = 32;
/// The same for a dictionary page: the library makes sixteen bytes for each text, which has as few as four in the page.
const DICTIONARY_SPARE: u64 = 4 << 20;
const DICTIONARY_RATIO: u64 = 4;

/// The format's number of pages that are dictionaries.
const DICTIONARY: u64 = 2;

/// What a file says about itself.
///
/// # Errors
/// If it is no Parquet file, or its chunks can't lie where it says.
pub(crate) fn load(file: &File) -> Result<ArrowReaderMetadata> {
    let metadata = guarded(|| ArrowReaderMetadata::load(file, ArrowReaderOptions::new()))?;
    check_places(metadata.metadata(), file.metadata()?.len())?;
    Ok(metadata)
}

/// The rows of a row group in these columns, at most so many at a time.
///
/// # Errors
/// If a page would become too large, or can't be read.
pub(crate) fn rows(
    file: &File,
    metadata: &ArrowReaderMetadata,
    group: usize,
    columns: ProjectionMask,
    mut most: u64,
) -> Result<ParquetRecordBatchReader> {
    let chunks = metadata.metadata().row_group(group).columns().iter();
    for (_, chunk) in chunks
        .enumerate()
        .filter(|(leaf, _)| columns.leaf_included(*leaf))
    {
        most = most.min(check_sizes(file, chunk)?);
    }
    let (file, metadata) = (file.try_clone()?, metadata.clone());
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
        .with_batch_size(most as usize)
        .with_projection(columns)
        .with_row_groups(vec![group]);
    guarded(|| builder.build())
}

/// Where a chunk of this file lies.
///
/// # Errors
/// If it is said to lie nowhere.
pub(crate) fn place(chunk: &ColumnChunkMetaData) -> Result<Range<u64>> {
    // Some writers put 0 if there is no dictionary, or if it is not told from the data.
    let dictionary = chunk.dictionary_page_offset().filter(|&offset| offset > 0);
    let start = u64::try_from(dictionary.unwrap_or(chunk.data_page_offset()));
    let len = u64::try_from(chunk.compressed_size());
    start
        .ok()
        .zip(len.ok())
        .and_then(|(start, len)| Some(start..start.checked_add(len)?))
        .ok_or_else(|| ParquetError::General("a column lies nowhere".to_owned()))
}

/// Makes sure that no byte belongs to two chunks, so that no chunk can be copied twice.
///
/// # Errors
/// If one does, or lies beyond the end of the file.
fn check_places(metadata: &ParquetMetaData, file: u64) -> Result<()> {
    let chunks = metadata
        .row_groups()
        .iter()
        .flat_map(|group| group.columns());
    // Chunks in other files are not read.
    let chunks = chunks.filter(|chunk| chunk.file_path().is_none());
    let mut places = chunks.map(place).collect::<Result<Vec<_>>>()?;
    places.retain(|place| !place.is_empty());
    places.sort_unstable_by_key(|place| place.start);
    if places.last().is_some_and(|last| last.end > file) {
        return Err(ParquetError::General("a column is cut off".to_owned()));
    }
    let overlap = places.windows(2).find(|pair| pair[0].end > pair[1].start);
    match overlap {
        None => Ok(()),
        Some(pair) => Err(ParquetError::General(format!(
            "byte {} belongs to two columns or row groups",
            pair[1].start
        ))),
    }
}

/// Makes sure that no page of a chunk becomes much larger than it is. Returns how many rows may be read at a time, because their pages stay
/// in memory.
///
/// # Errors
/// If a page would, or can't be found.
fn check_sizes(file: &File, chunk: &ColumnChunkMetaData) -> Result<u64> {
    let mut rows = u64::MAX;
    let place = place(chunk)?;
    let mut reader = BufReader::new(file);
    reader.seek(SeekFrom::Start(place.start))?;
    let mut left = place.end - place.start;
    while left > 0 {
        let mut header = PageHeaderReader {
            bytes: reader.by_ref().take(left),
        };
        let sizes = header.read().map_err(|error| {
            ParquetError::General(format!("the header of a page can't be read: {error}"))
        })?;
        left = header.bytes.limit();
        let (spare, ratio) = match sizes.kind {
            DICTIONARY => (DICTIONARY_SPARE, DICTIONARY_RATIO),
            _ => (SPARE, RATIO),
        };
        if sizes.uncompressed > spare + ratio * sizes.compressed.min(left) {
            return Err(ParquetError::General(format!(
                "a page of {} bytes claims to be {} without compression",
                sizes.compressed, sizes.uncompressed
            )));
        }
        if sizes.kind != DICTIONARY {
            let each = sizes.uncompressed / sizes.values.max(1);
            rows = rows.min(SPARE / each.max(1)).max(1);
        }
        left = left
            .checked_sub(sizes.compressed)
            .ok_or_else(|| ParquetError::General("a page is cut off".to_owned()))?;
        if matches!(chunk.compression(), Compression::GZIP(_)) {
            let mut body = reader.by_ref().take(sizes.compressed);
            let levels = io::copy(&mut body.by_ref().take(sizes.levels), &mut io::sink())?;
            let most = sizes.uncompressed.saturating_sub(levels);
            let unpacked = MultiGzDecoder::new(&mut body).take(most + 1);
            // What is damaged is an error of the library, which gets no further than this.
            if io::copy(&mut { unpacked }, &mut io::sink()).is_ok_and(|len| len > most) {
                return Err(ParquetError::General(format!(
                    "a page is longer than the {} bytes that it claims to be without compression",
                    sizes.uncompressed
                )));
            }
            io::copy(&mut body, &mut io::sink())?;
        } else {
            // The length of a chunk, and so of a page, is less than 2^63.
            reader.seek_relative(sizes.compressed as i64)?;
        }
    }
    Ok(rows)
}

/// The sizes of a page's body, and how many values it has.
#[derive(Default)]
struct PageSizes {
    kind: u64,
    values: u64,
    uncompressed: u64,
    compressed: u64,
    /// The bytes of levels, which come before what is compressed, in the second version of data pages.
    levels: u64,
}

/// Reads the header of a page, which is in Thrift's compact protocol.
struct PageHeaderReader<R> {
    bytes: R,
}

impl<R: Read> PageHeaderReader<R> {
    fn read(&mut self) -> io::Result<PageSizes> {
        let mut sizes = PageSizes::default();
        let mut number = 0;
        while let Some((field, kind)) = self.field(number)? {
            number = field;
            match (field, kind) {
                (1, 5) => sizes.kind = self.signed()?,
                (2, 5) => sizes.uncompressed = self.signed()?,
                (3, 5) => sizes.compressed = self.signed()?,
                // The header of either version of data pages.
                (5 | 8, 12) => (sizes.values, sizes.levels) = self.values()?,
                _ => self.skip(kind, 0)?,
            }
        }
        Ok(sizes)
    }

    /// The number of values, the first field of a structure, and the length of levels, which one of the first version does not have.
    fn values(&mut self) -> io::Result<(u64, u64)> {
        let (mut values, mut levels, mut number) = (0, 0, 0u64);
        while let Some((field, kind)) = self.field(number)? {
            number = field;
            match (field, kind) {
                (1, 5) => values = self.signed()?,
                (5 | 6, 5) => levels = self.signed()?.saturating_add(levels),
                _ => self.skip(kind, 0)?,
            }
        }
        Ok((values, levels))
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    /// Number and type of the next field; `None` at the end of a structure.
    fn field(&mut self, last: u64) -> io::Result<Option<(u64, u8)>> {
        Ok(match self.byte()? {
            0 => None,
            byte if byte >> 4 == 0 => Some((self.signed()?, byte & 15)),
            byte => Some((last.wrapping_add(u64::from(byte >> 4)), byte & 15)),
        })
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(io::Error::other("a number of more than 64 bits"))
    }

    /// A number with a sign, none of which may be negative here.
    fn signed(&mut self) -> io::Result<u64> {
        match self.varint()? {
            value if value & 1 == 0 => Ok(value >> 1),
            _ => Err(io::Error::other("a negative number")),
        }
    }

    fn pass(&mut self, count: u64) -> io::Result<()> {
        match io::copy(&mut self.bytes.by_ref().take(count), &mut io::sink())? {
            passed if passed == count => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn skip(&mut self, kind: u8, depth: u8) -> io::Result<()> {
        if depth > 8 {
            return Err(io::Error::other("structures within structures"));
        }
        match kind {
            // The type of a boolean field is its value.
            1 | 2 if depth == 0 => Ok(()),
            1..=3 => self.pass(1),
            4..=6 => self.varint().map(drop),
            7 => self.pass(8),
            8 => {
                let len = self.varint()?;
                self.pass(len)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.varint()?,
                    count => u64::from(count),
                };
                (0..count).try_for_each(|_| self.skip(head & 15, depth + 1))
            }
            12 => {
                let mut number = 0;
                while let Some((field, kind)) = self.field(number)? {
                    number = field;
                    if !matches!(kind, 1 | 2) {
                        self.skip(kind, depth + 1)?;
                    }
                }
                Ok(())
            }
            _ => Err(io::Error::other("a field of no known type")),
        }
    }
}
