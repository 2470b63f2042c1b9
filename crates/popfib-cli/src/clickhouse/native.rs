//! Blocks of ClickHouse's format Native: those of standard input in, columns of addresses out. For answers, what comes before
//! the values of a block (`column.rs` writes the values).
//!
//! A block is the numbers of its columns and rows, then of each column its name, its type and its values. Counts and
//! lengths are varints (LEB128), and a text stands after its length. Numbers are little-endian and lie one after the other;
//! IPv6 is in network order. A Nullable column has a byte for each row first, 1 for null, and then values for all rows.
//!
//! The reader has a buffer of its own, since a value has to lie in it in one piece; that of a `BufReader` may end within one.

use std::io::{ErrorKind, Read};
use std::net::IpAddr;

use popfib_formats::Escaped;
use popfib_formats::addresses::{parse_address, parse_ipv4_at};
use popfib_program::failure::Failure;
use popfib_table::AddressColumn;

use crate::stream::output_buffer::OutputBuffer;

/// How many bytes are read at a time.
const BUFFER: usize = 1 << 18;

/// No address is as long as this; longer texts are skipped.
const LONGEST: usize = 64;

/// The name of a column or type is not longer either.
const LONGEST_NAME: usize = 4096;

/// The name of the column of answers: that of ClickHouse's setting `return_name`, unless the configuration has another.
const RESULT: &str = "result";

/// What the addresses of a column are.
#[derive(Clone, Copy)]
pub(super) enum ArgumentType {
    Text,
    Ipv4,
    Ipv6,
}

/// What addresses are in a column of the type of this name, and whether rows may be null.
///
/// # Errors
/// Addresses are never of that type.
pub(super) fn argument_type(type_name: &str) -> Result<(ArgumentType, bool), String> {
    let nullable = type_name
        .strip_prefix("Nullable(")
        .and_then(|name| name.strip_suffix(')'));
    let argument_type = match nullable.unwrap_or(type_name) {
        "String" => ArgumentType::Text,
        "IPv4" | "UInt32" => ArgumentType::Ipv4,
        "IPv6" | "FixedString(16)" => ArgumentType::Ipv6,
        _ => {
            let name = Escaped(type_name);
            return Err(format!(
                "an argument of the type {name}; addresses are String, IPv4, UInt32, IPv6 or FixedString(16)"
            ));
        }
    };
    Ok((argument_type, nullable.is_some()))
}

/// Reads the blocks of a stream, as columns of addresses.
pub(super) struct NativeReader<R> {
    from: R,
    buffer: Vec<u8>,
    /// Where in the buffer lies what is read and not used yet.
    start: usize,
    end: usize,
    unmap: bool,
    /// How many blocks have begun.
    count: u64,
    nulls: Vec<u8>,
}

impl<R: Read> NativeReader<R> {
    /// Reads this stream; IPv4-mapped addresses become IPv4 if `unmap`.
    pub(super) fn new(from: R, unmap: bool) -> Self {
        Self {
            from,
            buffer: vec![0; BUFFER],
            start: 0,
            end: 0,
            unmap,
            count: 0,
            nulls: Vec::new(),
        }
    }

    /// The addresses of the next block; false at the end of the stream.
    pub(super) fn next(&mut self, column: &mut AddressColumn) -> Result<bool, Failure> {
        column.clear();
        self.count += 1;
        if self.fill(1)? == 0 {
            return Ok(false);
        }
        let columns = self.varint()?;
        if columns != 1 {
            let reason = format!(
                "{columns} columns, and not the one argument of a function; the format has to be Native, without \
                 send_chunk_header"
            );
            return Err(self.error(&reason));
        }
        let rows = self.varint()?;
        let rows = u32::try_from(rows)
            .map_err(|_| self.error(&format!("{rows} rows are more than a block has")))?;
        self.name()?;
        let name = self.name()?;
        let (argument_type, is_nullable) =
            argument_type(&name).map_err(|reason| self.error(&reason))?;
        let mut nulls = std::mem::take(&mut self.nulls);
        nulls.clear();
        if is_nullable {
            self.numbers(rows, |[null]: [u8; 1]| nulls.push(null))?;
        }
        self.column(argument_type, rows, &nulls, column)?;
        self.nulls = nulls;
        if self.unmap {
            column.unmap();
        }
        Ok(true)
    }

    /// Reads the values of a column; `nulls` is empty if the column is not Nullable.
    fn column(
        &mut self,
        argument_type: ArgumentType,
        rows: u32,
        nulls: &[u8],
        column: &mut AddressColumn,
    ) -> Result<(), Failure> {
        let mut row = 0;
        let mut push = |address: Option<IpAddr>| {
            let is_null = nulls.get(row).is_some_and(|&null| null != 0);
            row += 1;
            column.push(address.filter(|_| !is_null));
        };
        match argument_type {
            ArgumentType::Text => (0..rows).try_for_each(|_| {
                push(self.text_address()?);
                Ok(())
            }),
            ArgumentType::Ipv4 => self.numbers(rows, |bytes| {
                push(Some(u32::from_le_bytes(bytes)).map(|bits| IpAddr::V4(bits.into())))
            }),
            ArgumentType::Ipv6 => self.numbers(rows, |bytes: [u8; 16]| push(Some(bytes.into()))),
        }
    }

    /// Hands each of `rows` values of `N` bytes to `each`.
    fn numbers<const N: usize>(
        &mut self,
        rows: u32,
        mut each: impl FnMut([u8; N]),
    ) -> Result<(), Failure> {
        let mut left = rows as usize;
        while left > 0 {
            self.need(N)?;
            let (values, _) = self.buffer[self.start..self.end].as_chunks();
            let values = &values[..values.len().min(left)];
            values.iter().for_each(|&value| each(value));
            left -= values.len();
            self.start += values.len() * N;
        }
        Ok(())
    }

    /// The next text as an address, if it is one.
    #[inline]
    fn text_address(&mut self) -> Result<Option<IpAddr>, Failure> {
        let len = self.varint()?;
        if len > LONGEST as u64 {
            self.skip(len)?;
            return Ok(None);
        }
        let len = len as usize;
        self.need(len)?;
        let start = self.start;
        self.start += len;
        if let Some(bits) = parse_ipv4_at(&self.buffer, start, len) {
            return Ok(Some(IpAddr::V4(bits.into())));
        }
        Ok(parse_address(&self.buffer[start..self.start]))
    }

    /// The name of a column or type.
    fn name(&mut self) -> Result<String, Failure> {
        let len = self.varint()?;
        if len > LONGEST_NAME as u64 {
            return Err(self.error(&format!(
                "a name of {len} bytes; the format has to be Native"
            )));
        }
        let len = len as usize;
        self.need(len)?;
        let name = String::from_utf8_lossy(&self.buffer[self.start..][..len]).into_owned();
        self.start += len;
        Ok(name)
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, Failure> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            if self.start == self.end {
                self.need(1)?;
            }
            let byte = self.buffer[self.start];
            self.start += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.error("a number of more than 64 bits; the format has to be Native"))
    }

    /// Skips the next `len` bytes.
    fn skip(&mut self, mut len: u64) -> Result<(), Failure> {
        while len > 0 {
            self.need(1)?;
            let skipped = len.min((self.end - self.start) as u64);
            self.start += skipped as usize;
            len -= skipped;
        }
        Ok(())
    }

    /// Makes sure that the next `len` bytes are in the buffer.
    #[inline]
    fn need(&mut self, len: usize) -> Result<(), Failure> {
        if self.end - self.start < len && self.fill(len)? < len {
            return Err(self.error("the input ends within it"));
        }
        Ok(())
    }

    /// Reads until the buffer has `len` unused bytes, or the stream ends. Returns how many it has.
    fn fill(&mut self, len: usize) -> Result<usize, Failure> {
        if self.buffer.len() - self.start < len {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        while self.end - self.start < len {
            match self.from.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(format!("standard input: {error}").into()),
            }
        }
        Ok(self.end - self.start)
    }

    fn error(&self, reason: &str) -> Failure {
        format!("standard input: block {}: {reason}", self.count).into()
    }
}

/// Writes what comes before the values of the only column of a block.
pub(super) fn begin(rows: usize, type_name: &str, out: &mut OutputBuffer) {
    let mut bytes = vec![1];
    varint(rows as u64, &mut bytes);
    text(RESULT, &mut bytes);
    text(type_name, &mut bytes);
    out.put(&bytes);
}

/// Writes a text.
pub(super) fn text(text: &str, to: &mut Vec<u8>) {
    varint(text.len() as u64, to);
    to.extend_from_slice(text.as_bytes());
}

fn varint(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}
