//! The bytes of an MRT file in (RFC 6396, section 2), its records out, one at a time.
//!
//! ```text
//! 5f5e1000  000d  0002  00000031      the time, the type TABLE_DUMP_V2, the subtype RIB_IPV4_UNICAST, 49 bytes
//! ...                                 the body
//! ```
//! Bodies lie in one buffer, which grows with the data that is really there, never by what a header promises.

use std::io;
use std::ops::Range;

use super::kinds::HEADER;
use crate::error::{FilePlace, ReadError};
use crate::input::Input;

/// The longest body there may be. The largest known are peer tables and
/// prefixes with thousands of paths, well below one MiB.
const MAX_BODY: usize = 16 << 20;

const BUFFER: usize = 256 << 10;

/// A record: where it begins in the file, its header, its body.
pub(super) struct MrtRecord<'a> {
    pub(super) offset: u64,
    pub(super) seconds: u32,
    pub(super) kind: u16,
    pub(super) subtype: u16,
    pub(super) body: &'a [u8],
}

/// Reads records; what it hands out is borrowed from its buffer.
#[derive(Debug)]
pub(super) struct MrtRecords {
    input: Input,
    buffer: Vec<u8>,
    /// What is in the buffer and still to be handed out, and where in the file
    /// it begins.
    start: usize,
    end: usize,
    offset: u64,
    /// How much of an oversized body is still to be skipped.
    skip: usize,
    /// The header of the last record without its length, and how much of its body is handed out again.
    last: (u64, u32, u16, u16),
    again: usize,
}

impl MrtRecords {
    pub(super) fn new(input: Input) -> Self {
        Self {
            input,
            buffer: vec![0; BUFFER],
            start: 0,
            end: 0,
            offset: 0,
            skip: 0,
            last: (0, 0, 0, 0),
            again: 0,
        }
    }

    /// The next record is the last one, of whose body this many bytes at the end are left, after the four that begin a body.
    pub(super) fn again(&mut self, rest: usize) {
        if rest > 0 {
            self.again = rest + 4;
        }
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// A record that is too long (the next call skips it), a file that ends
    /// inside of one or can't be read on.
    pub(super) fn next(&mut self) -> Result<Option<MrtRecord<'_>>, ReadError> {
        if self.again > 0 {
            let body = self.start - std::mem::take(&mut self.again)..self.start;
            return Ok(Some(self.record(body)));
        }
        let offset = self.offset;
        while self.skip > 0 {
            let step = self.skip.min(BUFFER);
            self.need(step, offset)?;
            self.advance(step);
            self.skip -= step;
        }
        let offset = self.offset;
        if self.start == self.end && !self.fill()? {
            return Ok(None);
        }
        self.need(HEADER, offset)?;
        let header = &self.buffer[self.start..][..HEADER];
        let [s0, s1, s2, s3, k0, k1, t0, t1, l0, l1, l2, l3] = *header else {
            unreachable!("a header has 12 bytes");
        };
        let length = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
        // Passed over by the next call, so that the error comes at once.
        if length > MAX_BODY {
            self.advance(HEADER);
            self.skip = length;
            let reason = format!("a record of {length} bytes, more than {MAX_BODY}");
            return Err(self.invalid(offset, &reason));
        }
        self.need(HEADER + length, offset)?;
        let body = self.start + HEADER;
        self.advance(HEADER + length);
        self.last = (
            offset,
            u32::from_be_bytes([s0, s1, s2, s3]),
            u16::from_be_bytes([k0, k1]),
            u16::from_be_bytes([t0, t1]),
        );
        Ok(Some(self.record(body..body + length)))
    }

    /// The last record, its body in this place of the buffer.
    #[inline]
    fn record(&self, body: Range<usize>) -> MrtRecord<'_> {
        let (offset, seconds, kind, subtype) = self.last;
        MrtRecord {
            offset,
            seconds,
            kind,
            subtype,
            body: &self.buffer[body],
        }
    }

    /// An error about the record at `offset`.
    pub(super) fn invalid(&self, offset: u64, reason: &str) -> ReadError {
        ReadError::invalid(self.input.name(), FilePlace::Byte(offset), reason)
    }

    /// Goes on by `count` bytes, which are in the buffer.
    fn advance(&mut self, count: usize) {
        self.start += count;
        self.offset += count as u64;
    }

    /// Makes sure that `count` bytes are in the buffer, of the record at `offset`.
    #[inline]
    fn need(&mut self, count: usize, offset: u64) -> Result<(), ReadError> {
        while self.end - self.start < count {
            if !self.fill()? {
                let have = self.end - self.start;
                self.start = self.end;
                self.skip = 0;
                return Err(ReadError::stopped(
                    self.input.name(),
                    FilePlace::Byte(offset),
                    format!("the file ends in a record: {have} of {count} bytes"),
                    io::ErrorKind::UnexpectedEof.into(),
                ));
            }
        }
        Ok(())
    }

    /// Reads once, after what there is; false at the end.
    #[cold]
    fn fill(&mut self) -> Result<bool, ReadError> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        } else if self.end == self.buffer.len() {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            } else {
                // Full of one record. It grew this far because the data was there.
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        let place = FilePlace::Byte(self.offset + (self.end - self.start) as u64);
        let read = self.input.read(&mut self.buffer[self.end..], place);
        match read {
            Ok(count) => {
                self.end += count;
                Ok(count > 0)
            }
            Err(e) => {
                self.start = self.end;
                self.skip = 0;
                Err(e)
            }
        }
    }
}
