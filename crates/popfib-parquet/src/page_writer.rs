//! The levels and values of a page in, its bytes in a column chunk out: header, levels, values.
//!
//! Data pages are of version 1, which every reader knows. Headers are in Thrift's compact protocol, of which they need next to nothing; the
//! library's writer would copy each page twice for them.

use parquet::basic::{Compression, Encoding};
use parquet::errors::{ParquetError, Result};

use crate::rle_hybrid;

/// The rows of a page.
pub(crate) const ROWS: usize = 1 << 14;

/// The numbers of the format's types of pages.
const DATA: i32 = 0;
const DICTIONARY: i32 = 2;

/// Appends a data page of so many values, nulls and empty lists among them, with this body. Returns its length before compression. `packed`
/// is memory to compress in.
pub(crate) fn data(
    values: usize,
    body: &[u8],
    encoding: Encoding,
    compression: Compression,
    packed: &mut Vec<u8>,
    to: &mut Vec<u8>,
) -> Result<usize> {
    page(body, compression, packed, to, |packed, to| {
        let mut header = PageHeaderWriter::new(DATA, body.len(), packed, to)?;
        header.begin(5);
        header.number(1, size(values)?);
        header.number(2, encoding as i32);
        header.number(3, Encoding::RLE as i32);
        header.number(4, Encoding::RLE as i32);
        header.end();
        Ok(())
    })
}

/// As [`data`], for a dictionary of `count` values, which are in `body`.
pub(crate) fn dictionary(
    count: usize,
    body: &[u8],
    compression: Compression,
    packed: &mut Vec<u8>,
    to: &mut Vec<u8>,
) -> Result<usize> {
    page(body, compression, packed, to, |packed, to| {
        dictionary_header(count, body.len(), packed, to)
    })
}

/// Appends a page: the header, which `head` writes for a body of this length after compression, and the body. Returns its length before
/// compression.
fn page(
    body: &[u8],
    compression: Compression,
    packed: &mut Vec<u8>,
    to: &mut Vec<u8>,
    head: impl FnOnce(usize, &mut Vec<u8>) -> Result<()>,
) -> Result<usize> {
    let packed = pack(body, compression, packed)?;
    let start = to.len();
    head(packed.len(), to)?;
    let header = to.len() - start;
    to.extend_from_slice(packed);
    Ok(header + body.len())
}

/// The body as the file has it: compressed by Snappy or not at all.
fn pack<'b>(body: &'b [u8], compression: Compression, packed: &'b mut Vec<u8>) -> Result<&'b [u8]> {
    if compression == Compression::UNCOMPRESSED {
        return Ok(body);
    }
    packed.resize(snap::raw::max_compress_len(body.len()), 0);
    let len = snap::raw::Encoder::new().compress(body, packed)?;
    Ok(&packed[..len])
}

/// Appends the header of a dictionary of `count` values in so many bytes, before and after compression.
pub(crate) fn dictionary_header(
    count: usize,
    uncompressed: usize,
    compressed: usize,
    to: &mut Vec<u8>,
) -> Result<()> {
    let mut header = PageHeaderWriter::new(DICTIONARY, uncompressed, compressed, to)?;
    header.begin(7);
    header.number(1, size(count)?);
    header.number(2, Encoding::PLAIN as i32);
    header.end();
    Ok(())
}

/// The format counts what is in a page in 31 bits.
fn size(count: usize) -> Result<i32> {
    i32::try_from(count).map_err(|_| {
        let error = "more than 2 GiB of a column in the rows of one row group";
        ParquetError::General(error.to_owned())
    })
}

/// Writes the fields of a page header. Their numbers are encoded as differences.
struct PageHeaderWriter<'a> {
    to: &'a mut Vec<u8>,
    last: u8,
}

impl<'a> PageHeaderWriter<'a> {
    fn new(kind: i32, uncompressed: usize, compressed: usize, to: &'a mut Vec<u8>) -> Result<Self> {
        let mut header = Self { to, last: 0 };
        header.number(1, kind);
        header.number(2, size(uncompressed)?);
        header.number(3, size(compressed)?);
        Ok(header)
    }

    fn field(&mut self, number: u8, kind: u8) {
        self.to.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    /// A field of 32 bits, its sign in the lowest.
    fn number(&mut self, number: u8, value: i32) {
        self.field(number, 5);
        rle_hybrid::varint((value as u64) << 1, self.to);
    }

    /// The one structure in the header; what follows is in it.
    fn begin(&mut self, number: u8) {
        self.field(number, 12);
        self.last = 0;
    }

    /// The ends of the inner structure and of the header.
    fn end(self) {
        self.to.extend([0, 0]);
    }
}

/// Appends the levels of `rows` rows, of which `missing` are null.
pub(crate) fn levels(
    rows: usize,
    missing: usize,
    are_there: impl Iterator<Item = bool>,
    to: &mut Vec<u8>,
) {
    if missing == 0 {
        sized(to, |to| rle_hybrid::repeat(1, rows, 1, to));
    } else {
        let levels: Vec<u32> = are_there.map(u32::from).collect();
        encoded_levels(&levels, 1, to);
    }
}

/// Appends levels of `width` bits.
pub(crate) fn encoded_levels(levels: &[u32], width: u32, to: &mut Vec<u8>) {
    sized(to, |to| rle_hybrid::encode(levels, width, to));
}

/// Appends what `append` appends, after its length.
fn sized(to: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    let start = to.len();
    to.extend_from_slice(&[0; 4]);
    append(to);
    let len = (to.len() - start - 4) as u32;
    to[start..start + 4].copy_from_slice(&len.to_le_bytes());
}

/// Appends a text as plain pages have it.
pub(crate) fn text(text: &[u8], to: &mut Vec<u8>) {
    to.extend_from_slice(&(text.len() as u32).to_le_bytes());
    to.extend_from_slice(text);
}
