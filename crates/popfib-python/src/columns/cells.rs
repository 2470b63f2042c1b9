//! The cells of an Arrow column: from counts and buffers that may say anything to the bytes of each cell.
//!
//! Producers check less than one hopes: text from Parquet files need not be UTF-8, and arrays that were made of
//! buffers by hand contradict themselves. So text stays bytes, and every offset, view and index is looked up in the
//! slice that it points into when its cell is read: no pass over the column before, and nothing outside of it is ever
//! read, not even if somebody changes it meanwhile.

use std::fmt::{self, Display};

use super::c_data::{Array, Schema, numbers};
use crate::quote::Quoted;

/// Why a column, or one of its cells, can't be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wrong<'a> {
    /// Text that is no address.
    Text(&'a [u8]),
    /// A packed address of that many bytes.
    Length(usize),
    /// A number that no IPv4 address has.
    Number(i128),
    /// Arrow data that contradicts itself.
    Broken(&'static str),
}

impl Display for Wrong<'_> {
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

/// What the cells of a column are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    /// Integers of so many bytes, 4 or 8, with a sign or without, each an IPv4 address if it fits.
    Number {
        width: usize,
        is_signed: bool,
    },
    /// Packed addresses of so many bytes.
    Packed(usize),
    /// Of any length: text or packed addresses, with offsets of 32 or of 64 bits.
    Bytes {
        is_text: bool,
        is_large: bool,
    },
    /// The same by views.
    Views {
        is_text: bool,
    },
    /// Indices of so many bytes, with a sign or without, of cells of another kind.
    Indices {
        width: usize,
        is_signed: bool,
        words: Box<Self>,
    },
}

impl Kind {
    /// The kind that a schema tells.
    ///
    /// # Errors
    /// Of other types the name.
    pub(crate) fn of(schema: &Schema) -> Result<Self, String> {
        let format = schema.format();
        if let Some(words) = schema.dictionary() {
            let (width, is_signed) = match format {
                b"c" | b"C" => (1, format == b"c"),
                b"s" | b"S" => (2, format == b"s"),
                b"i" | b"I" => (4, format == b"i"),
                b"l" | b"L" => (8, format == b"l"),
                _ => return Err("a dictionary of no integers".to_owned()),
            };
            if words.dictionary().is_some() {
                return Err("a dictionary of dictionaries".to_owned());
            }
            let words = Box::new(Self::of(words)?);
            return Ok(Self::Indices {
                width,
                is_signed,
                words,
            });
        }
        let is_text = format.ends_with(b"u") || format.ends_with(b"U");
        Ok(match format {
            b"n" => Self::Null,
            b"i" | b"I" | b"l" | b"L" => Self::Number {
                width: if matches!(format, b"i" | b"I") { 4 } else { 8 },
                is_signed: matches!(format, b"i" | b"l"),
            },
            b"w:4" => Self::Packed(4),
            b"w:16" => Self::Packed(16),
            b"u" | b"z" | b"U" | b"Z" => {
                let is_large = matches!(format, b"U" | b"Z");
                Self::Bytes { is_text, is_large }
            }
            b"vu" | b"vz" => Self::Views { is_text },
            _ => return Err(name(format)),
        })
    }
}

/// What a type is called that holds no addresses.
fn name(format: &[u8]) -> String {
    match format {
        b"b" => "bool",
        b"c" => "int8",
        b"C" => "uint8",
        b"s" => "int16",
        b"S" => "uint16",
        b"e" | b"f" | b"g" => "floating-point numbers",
        b"+s" => "struct (a table; name one of its columns)",
        b"+r" => "run-end-encoded values (pyarrow.compute.run_end_decode makes plain ones of them)",
        [b'+', ..] => "lists or other nested values",
        [b't', ..] => "dates or times",
        [b'd', ..] => "decimals",
        _ => return format!("Arrow type {}", Quoted(format)),
    }
    .to_owned()
}

/// A cell of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell<'a> {
    Null,
    Number(u32),
    Text(&'a [u8]),
    Packed(&'a [u8]),
}

/// The cells of a column: its buffers, each as long as it has to be.
#[derive(Debug)]
pub(crate) struct Cells<'a> {
    len: usize,
    /// Where the first cell is in the buffers.
    offset: usize,
    /// A bit for each cell that is there, unless all are.
    validity: Option<&'a [u8]>,
    values: Values<'a>,
}

#[derive(Debug)]
enum Values<'a> {
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
        words: Box<Cells<'a>>,
    },
}

const COUNTS: Wrong<'static> = Wrong::Broken("its counts make no sense");
const MISSING: Wrong<'static> = Wrong::Broken("a buffer is missing");
const OUTSIDE: Wrong<'static> = Wrong::Broken("an offset points outside the data");

impl<'a> Cells<'a> {
    /// The cells of integers of so many bytes that lie side by side, none of them null.
    pub(crate) fn of_integers(bytes: &'a [u8], width: usize, is_signed: bool) -> Self {
        Self {
            len: bytes.len() / width,
            offset: 0,
            validity: None,
            values: Values::Number {
                bytes,
                width,
                is_signed,
            },
        }
    }

    /// The cells of an array, whose schema told its kind.
    ///
    /// # Errors
    /// [`Wrong::Broken`] if its counts and buffers are not those of a column.
    pub(crate) fn of(array: &'a Array, kind: &Kind) -> Result<Self, Wrong<'a>> {
        let count = |number: i64| usize::try_from(number).map_err(|_| COUNTS);
        let (len, offset) = (count(array.len())?, count(array.offset())?);
        // How many cells the buffers hold, and the bytes of so many elements.
        let all = len.checked_add(offset).ok_or(COUNTS)?;
        let bytes = |count: usize, size: usize| count.checked_mul(size).ok_or(COUNTS);
        let buffer = |index, len| array.buffer(index, len).ok_or(MISSING);
        let buffers = count(array.buffer_count())?;
        let expect = |expected| match buffers == expected {
            true => Ok(()),
            false => Err(Wrong::Broken("it has not the buffers of its type")),
        };
        let values = match *kind {
            // Offsets of no cells may be missing.
            _ if len == 0 => Values::Null,
            Kind::Null => Values::Null,
            Kind::Number { width, is_signed } => {
                expect(2)?;
                Values::Number {
                    bytes: buffer(1, bytes(all, width)?)?,
                    width,
                    is_signed,
                }
            }
            Kind::Packed(width) => {
                expect(2)?;
                Values::Packed(buffer(1, bytes(all, width)?)?, width)
            }
            Kind::Bytes { is_text, is_large } => {
                expect(3)?;
                let width = if is_large { 8 } else { 4 };
                let ends = buffer(1, bytes(all.checked_add(1).ok_or(COUNTS)?, width)?)?;
                let last = offset_at(ends, is_large, all).ok_or(OUTSIDE)?;
                Values::Bytes {
                    is_text,
                    is_large,
                    ends,
                    bytes: buffer(2, last)?,
                }
            }
            Kind::Views { is_text } => {
                let variadic = buffers.checked_sub(3).ok_or(COUNTS)?;
                let lens = buffer(buffers - 1, bytes(variadic, 8)?)?;
                let lens = lens.as_chunks::<8>().0.iter();
                let lens = lens.map(|len| count(i64::from_ne_bytes(*len)));
                let data = lens.enumerate().map(|(at, len)| buffer(2 + at, len?));
                Values::Views {
                    is_text,
                    views: buffer(1, bytes(all, 16)?)?,
                    buffers: data.collect::<Result<_, _>>()?,
                }
            }
            Kind::Indices {
                width,
                is_signed,
                ref words,
            } => {
                expect(2)?;
                let dictionary = array.dictionary();
                let dictionary = dictionary.ok_or(Wrong::Broken("its dictionary is missing"))?;
                Values::Indices {
                    width,
                    is_signed,
                    indices: buffer(1, bytes(all, width)?)?,
                    words: Box::new(Self::of(dictionary, words)?),
                }
            }
        };
        let validity = match values {
            Values::Null => None,
            _ if array.null_count() == 0 || !array.has_buffer(0) => None,
            _ => Some(buffer(0, all.div_ceil(8))?),
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

    /// All cells as addresses where they lie so in memory; those that are null may be any.
    pub(crate) fn numbers(&self) -> Option<&'a [u32]> {
        let Values::Number {
            bytes,
            width: 4,
            is_signed: false,
        } = self.values
        else {
            return None;
        };
        numbers(bytes)?.get(self.offset..self.offset + self.len)
    }

    /// The words of a dictionary, to which [`Cells::index`] leads.
    pub(crate) fn words(&self) -> Option<&Cells<'a>> {
        match &self.values {
            Values::Indices { words, .. } => Some(words),
            _ => None,
        }
    }

    /// The number of the word of a cell, from 0; `None` for null.
    ///
    /// # Errors
    /// If there is no such word.
    #[inline(always)]
    pub(crate) fn index(&self, row: usize) -> Result<Option<usize>, Wrong<'a>> {
        const NO_INDEX: Wrong<'static> = Wrong::Broken("an index points outside the dictionary");
        if !self.is_valid(row) {
            return Ok(None);
        }
        let Values::Indices {
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

    /// What [`Cells::cell`] says of text, faster: the kind is found out once.
    #[inline(always)]
    pub(crate) fn texts(&self) -> Option<impl Fn(usize) -> Result<Cell<'a>, Wrong<'a>>> {
        let Values::Bytes {
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
            true => between(ends, false, bytes, offset + row).map(Cell::Text),
            false => Ok(Cell::Null),
        })
    }

    /// The cell of a row.
    ///
    /// # Errors
    /// [`Wrong::Broken`] if it lies nowhere.
    #[inline(always)]
    pub(crate) fn cell(&self, row: usize) -> Result<Cell<'a>, Wrong<'a>> {
        if row >= self.len || !self.is_valid(row) {
            return Ok(Cell::Null);
        }
        let place = self.offset + row;
        let kind = |is_text| if is_text { Cell::Text } else { Cell::Packed };
        match &self.values {
            Values::Null => Ok(Cell::Null),
            Values::Number {
                bytes,
                width,
                is_signed,
            } => {
                let word = bytes.get(place * width..(place + 1) * width);
                let number = integer(word.ok_or(OUTSIDE)?, *is_signed).ok_or(OUTSIDE)?;
                let fits = u32::try_from(number);
                fits.map(Cell::Number).map_err(|_| Wrong::Number(number))
            }
            Values::Packed(bytes, width) => {
                let bytes = bytes.get(place * width..(place + 1) * width);
                bytes.map(Cell::Packed).ok_or(OUTSIDE)
            }
            Values::Bytes {
                is_text,
                is_large,
                ends,
                bytes,
            } => between(ends, *is_large, bytes, place).map(kind(*is_text)),
            Values::Views {
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
            Values::Indices { words, .. } => match self.index(row)? {
                Some(index) => words.cell(index),
                None => Ok(Cell::Null),
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
) -> Result<&'a [u8], Wrong<'a>> {
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
