//! The cells of an Arrow column: counts and buffers that may say anything in, the bytes of each cell out.
//!
//! Producers check less than one hopes: text from Parquet files need not be UTF-8, and arrays that were made of buffers by
//! hand contradict themselves. So text stays bytes, and every offset, view and index is checked against the slice that it
//! points into when its cell is read. There is no pass over the column before, and nothing outside of it is ever read, not
//! even if somebody changes it meanwhile.

use std::fmt::{self, Display};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_schema::DataType;

use super::c_data::{self, has_format, numbers};
use crate::quote::Quoted;

/// Why a column, or one of its cells, can't be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CellError<'a> {
    /// Text that is no address.
    Text(&'a [u8]),
    /// A packed address of that many bytes.
    Length(usize),
    /// A number that no IPv4 address has.
    Number(i128),
    /// Arrow data that contradicts itself.
    Broken(&'static str),
}

impl Display for CellError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{}: not an address", Quoted(text)),
            Self::Number(number) => {
                write!(f, "{number}: numbers of IPv4 addresses are 0 to 4294967295")
            }
            Self::Length(len) => write!(f, "packed addresses have 4 or 16 bytes, not {len}"),
            Self::Broken(reason) => write!(f, "broken Arrow data: {reason}"),
        }
    }
}

/// The type of a column of addresses.
///
/// # Errors
/// The name of a type that holds no addresses.
pub(crate) fn column_type(schema: &FFI_ArrowSchema) -> Result<DataType, String> {
    if schema.release().is_none() || !has_format(schema) {
        return Err("no type".to_owned());
    }
    // Here, since the library would ask for the parts of these.
    if let Some(nested) = schema.format().strip_prefix('+') {
        return Err(match nested {
            "s" => "struct (a table; name one of its columns)",
            "r" => {
                "run-end-encoded values (pyarrow.compute.run_end_decode makes plain ones of them)"
            }
            _ => "lists or other nested values",
        }
        .to_owned());
    }
    if let Some(words) = schema.dictionary() {
        let words = column_type(words)?;
        if matches!(words, DataType::Dictionary(..)) {
            return Err("a dictionary of dictionaries".to_owned());
        }
    }
    let data_type = DataType::try_from(schema)
        .map_err(|_| format!("Arrow type {}", Quoted(schema.format().as_bytes())))?;
    match &data_type {
        DataType::Dictionary(indices, _) if !indices.is_integer() => {
            Err("a dictionary of no integers".to_owned())
        }
        DataType::Dictionary(..)
        | DataType::Null
        | DataType::Int32
        | DataType::UInt32
        | DataType::Int64
        | DataType::UInt64
        | DataType::FixedSizeBinary(4 | 16)
        | DataType::Utf8
        | DataType::Binary
        | DataType::LargeUtf8
        | DataType::LargeBinary
        | DataType::Utf8View
        | DataType::BinaryView => Ok(data_type),
        other => Err(other.to_string()),
    }
}

/// A cell of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrowCell<'a> {
    Null,
    Number(u32),
    Text(&'a [u8]),
    Packed(&'a [u8]),
}

/// The cells of a column: its buffers, each as long as it has to be.
#[derive(Debug)]
pub(crate) struct ArrowCells<'a> {
    len: usize,
    /// Where the first cell is in the buffers.
    offset: usize,
    /// A bit for each cell that is there, unless all are.
    validity: Option<&'a [u8]>,
    values: CellBuffers<'a>,
}

#[derive(Debug)]
enum CellBuffers<'a> {
    Null,
    Number {
        bytes: &'a [u8],
        width: usize,
        is_signed: bool,
    },
    Packed(&'a [u8], usize),
    Bytes {
        is_text: bool,
        is_large: bool,
        ends: &'a [u8],
        bytes: &'a [u8],
    },
    Views {
        is_text: bool,
        views: &'a [u8],
        buffers: Vec<&'a [u8]>,
    },
    Indices {
        width: usize,
        is_signed: bool,
        indices: &'a [u8],
        words: Box<ArrowCells<'a>>,
    },
}

const COUNTS: CellError<'static> = CellError::Broken("its counts make no sense");
const MISSING: CellError<'static> = CellError::Broken("a buffer is missing");
const OUTSIDE: CellError<'static> = CellError::Broken("an offset points outside the data");

impl<'a> ArrowCells<'a> {
    /// The cells of integers of so many bytes that lie side by side, none of them null.
    pub(crate) fn of_integers(bytes: &'a [u8], width: usize, is_signed: bool) -> Self {
        Self {
            len: bytes.len() / width,
            offset: 0,
            validity: None,
            values: CellBuffers::Number {
                bytes,
                width,
                is_signed,
            },
        }
    }

    /// The cells of an array of that type, which [`column_type`] returned.
    ///
    /// # Errors
    /// [`CellError::Broken`] if its counts and buffers are not those of a column.
    pub(crate) fn of(
        array: &'a FFI_ArrowArray,
        data_type: &DataType,
    ) -> Result<Self, CellError<'a>> {
        // A negative number became a very high one.
        let count = |number| match isize::try_from(number) {
            Ok(_) => Ok(number),
            Err(_) => Err(COUNTS),
        };
        let (len, offset) = (count(array.len())?, count(array.offset())?);
        // How many cells the buffers hold, and the bytes of so many elements.
        let all = len.checked_add(offset).ok_or(COUNTS)?;
        let bytes = |count: usize, size: usize| count.checked_mul(size).ok_or(COUNTS);
        let buffer = |index, len| c_data::buffer(array, index, len).ok_or(MISSING);
        let buffers = count(array.num_buffers())?;
        let expect = |expected| match buffers == expected {
            true => Ok(()),
            false => Err(CellError::Broken("it has not the buffers of its type")),
        };
        let width_of = |integers: &DataType| integers.primitive_width().unwrap_or_default();
        let fixed = |width| {
            expect(2)?;
            buffer(1, bytes(all, width)?)
        };
        let is_text = data_type.is_string();
        let values = match data_type {
            // Offsets of no cells may be missing.
            _ if len == 0 => CellBuffers::Null,
            DataType::Int32 | DataType::UInt32 | DataType::Int64 | DataType::UInt64 => {
                let width = width_of(data_type);
                CellBuffers::Number {
                    bytes: fixed(width)?,
                    width,
                    is_signed: data_type.is_signed_integer(),
                }
            }
            DataType::FixedSizeBinary(width) => {
                let width = *width as usize;
                CellBuffers::Packed(fixed(width)?, width)
            }
            DataType::Utf8 | DataType::Binary | DataType::LargeUtf8 | DataType::LargeBinary => {
                expect(3)?;
                let is_large = matches!(data_type, DataType::LargeUtf8 | DataType::LargeBinary);
                let width = if is_large { 8 } else { 4 };
                let ends = buffer(1, bytes(all.checked_add(1).ok_or(COUNTS)?, width)?)?;
                let last = offset_at(ends, is_large, all).ok_or(OUTSIDE)?;
                CellBuffers::Bytes {
                    is_text,
                    is_large,
                    ends,
                    bytes: buffer(2, last)?,
                }
            }
            DataType::Utf8View | DataType::BinaryView => {
                let variadic = buffers.checked_sub(3).ok_or(COUNTS)?;
                let lens = buffer(buffers - 1, bytes(variadic, 8)?)?;
                let lens = lens.as_chunks::<8>().0.iter();
                let lens = lens.map(|len| count(u64::from_ne_bytes(*len) as usize));
                let data = lens.enumerate().map(|(at, len)| buffer(2 + at, len?));
                CellBuffers::Views {
                    is_text,
                    views: buffer(1, bytes(all, 16)?)?,
                    buffers: data.collect::<Result<_, _>>()?,
                }
            }
            DataType::Dictionary(numbers, words) => {
                let width = width_of(numbers);
                let indices = fixed(width)?;
                let dictionary = array.dictionary();
                let dictionary =
                    dictionary.ok_or(CellError::Broken("its dictionary is missing"))?;
                CellBuffers::Indices {
                    width,
                    is_signed: numbers.is_signed_integer(),
                    indices,
                    words: Box::new(Self::of(dictionary, words)?),
                }
            }
            _ => CellBuffers::Null,
        };
        let validity = match values {
            CellBuffers::Null => None,
            _ if array.null_count() == 0 => None,
            _ => c_data::buffer(array, 0, all.div_ceil(8)),
        };
        Ok(Self {
            len,
            offset,
            validity,
            values,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// All cells as addresses, if they lie in memory as such; those that are null may be any.
    pub(crate) fn numbers(&self) -> Option<&'a [u32]> {
        let CellBuffers::Number {
            bytes,
            width: 4,
            is_signed: false,
        } = self.values
        else {
            return None;
        };
        numbers(bytes)?.get(self.offset..self.offset + self.len)
    }

    /// The words of a dictionary, to which [`ArrowCells::index`] leads.
    pub(crate) fn words(&self) -> Option<&ArrowCells<'a>> {
        match &self.values {
            CellBuffers::Indices { words, .. } => Some(words),
            _ => None,
        }
    }

    /// The number of the word of a cell, from 0; `None` for null.
    ///
    /// # Errors
    /// [`CellError::Broken`] if there is no such word.
    #[inline(always)]
    pub(crate) fn index(&self, row: usize) -> Result<Option<usize>, CellError<'a>> {
        const NO_INDEX: CellError<'static> =
            CellError::Broken("an index points outside the dictionary");
        if !self.is_valid(row) {
            return Ok(None);
        }
        let CellBuffers::Indices {
            width,
            is_signed,
            indices,
            words,
        } = &self.values
        else {
            return Ok(None);
        };
        let place = (self.offset + row) * width;
        let bytes = indices.get(place..place + width).ok_or(NO_INDEX)?;
        let index = match *bytes {
            [byte] => u64::from(byte),
            [a, b] => u64::from(u16::from_ne_bytes([a, b])),
            [a, b, c, d] => u64::from(u32::from_ne_bytes([a, b, c, d])),
            _ => u64::from_ne_bytes(*bytes.first_chunk().ok_or(NO_INDEX)?),
        };
        // A negative number has the highest bit of its width.
        let is_negative = *is_signed && index >> (8 * width - 1) != 0;
        let index = usize::try_from(index).ok().filter(|_| !is_negative);
        let index = index.filter(|index| *index < words.len);
        index.map(Some).ok_or(NO_INDEX)
    }

    #[inline(always)]
    pub(crate) fn is_valid(&self, row: usize) -> bool {
        is_set(self.validity, self.offset + row)
    }

    /// What [`ArrowCells::cell`] returns for text, but faster: the kind is found out once.
    #[inline(always)]
    pub(crate) fn texts(&self) -> Option<impl Fn(usize) -> Result<ArrowCell<'a>, CellError<'a>>> {
        let CellBuffers::Bytes {
            is_text: true,
            is_large: false,
            ends,
            bytes,
        } = self.values
        else {
            return None;
        };
        let (offset, validity) = (self.offset, self.validity);
        Some(move |row| match is_set(validity, offset + row) {
            true => between(ends, false, bytes, offset + row).map(ArrowCell::Text),
            false => Ok(ArrowCell::Null),
        })
    }

    /// The cell of a row.
    ///
    /// # Errors
    /// [`CellError::Broken`] if it lies outside of the buffers, [`CellError::Number`] for a number that is no address.
    #[inline(always)]
    pub(crate) fn cell(&self, row: usize) -> Result<ArrowCell<'a>, CellError<'a>> {
        if row >= self.len || !self.is_valid(row) {
            return Ok(ArrowCell::Null);
        }
        let place = self.offset + row;
        let kind = |is_text| {
            if is_text {
                ArrowCell::Text
            } else {
                ArrowCell::Packed
            }
        };
        match &self.values {
            CellBuffers::Null => Ok(ArrowCell::Null),
            CellBuffers::Number {
                bytes,
                width,
                is_signed,
            } => {
                let word = bytes.get(place * width..(place + 1) * width);
                let number = integer(word.ok_or(OUTSIDE)?, *is_signed).ok_or(OUTSIDE)?;
                let fits = u32::try_from(number);
                fits.map(ArrowCell::Number)
                    .map_err(|_| CellError::Number(number))
            }
            CellBuffers::Packed(bytes, width) => {
                let bytes = bytes.get(place * width..(place + 1) * width);
                bytes.map(ArrowCell::Packed).ok_or(OUTSIDE)
            }
            CellBuffers::Bytes {
                is_text,
                is_large,
                ends,
                bytes,
            } => between(ends, *is_large, bytes, place).map(kind(*is_text)),
            CellBuffers::Views {
                is_text,
                views,
                buffers,
            } => {
                let view: &[u8; 16] = views.as_chunks().0.get(place).ok_or(OUTSIDE)?;
                let word = |at| u32_at(view, at).map(|word| word as usize);
                let len = word(0).ok_or(OUTSIDE)?;
                let bytes = if len <= 12 {
                    view.get(4..4 + len)
                } else {
                    word(8).zip(word(12)).and_then(|(buffer, start)| {
                        let end = start.checked_add(len)?;
                        buffers.get(buffer)?.get(start..end)
                    })
                };
                bytes.map(kind(*is_text)).ok_or(OUTSIDE)
            }
            CellBuffers::Indices { words, .. } => match self.index(row)? {
                Some(index) => words.cell(index),
                None => Ok(ArrowCell::Null),
            },
        }
    }
}

#[inline(always)]
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk()
        .copied()
        .map(u32::from_ne_bytes)
}

/// The integer of 4 or 8 bytes.
#[inline(always)]
fn integer(bytes: &[u8], is_signed: bool) -> Option<i128> {
    Some(match *bytes {
        [a, b, c, d] if is_signed => i32::from_ne_bytes([a, b, c, d]).into(),
        [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]).into(),
        _ if is_signed => i64::from_ne_bytes(*bytes.first_chunk()?).into(),
        _ => u64::from_ne_bytes(*bytes.first_chunk()?).into(),
    })
}

#[inline(always)]
fn is_set(bits: Option<&[u8]>, place: usize) -> bool {
    let byte = bits.map(|bits| bits.get(place / 8));
    byte.is_none_or(|byte| byte.is_some_and(|byte| byte >> (place % 8) & 1 != 0))
}

/// The bytes between two offsets.
#[inline(always)]
fn between<'a>(
    ends: &'a [u8],
    is_large: bool,
    bytes: &'a [u8],
    place: usize,
) -> Result<&'a [u8], CellError<'a>> {
    let start = offset_at(ends, is_large, place).ok_or(OUTSIDE)?;
    let end = offset_at(ends, is_large, place + 1).ok_or(OUTSIDE)?;
    bytes.get(start..end).ok_or(OUTSIDE)
}

/// The offset of that number; `None` if there is none, or a negative one.
#[inline(always)]
fn offset_at(ends: &[u8], is_large: bool, number: usize) -> Option<usize> {
    if is_large {
        let end = ends.as_chunks().0.get(number)?;
        usize::try_from(i64::from_ne_bytes(*end)).ok()
    } else {
        let end = ends.as_chunks().0.get(number)?;
        usize::try_from(i32::from_ne_bytes(*end)).ok()
    }
}
