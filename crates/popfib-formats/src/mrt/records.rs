//! The bytes of an MRT file in (RFC 6396, section 2), its records out, one at a time.
//!
//! ```text
//! 5f5e1000  000d  0002  00000031      the time, the type TABLE_DUMP_V2, the subtype RIB_IPV4_UNICAST, 49 bytes
//! ...                                 the body
//! ```
//! Bodies lie in an [`InputWindow`].

use std::io;
use std::mem;
use std::ops::Range;

use super::kinds::HEADER;
use crate::error::{FilePlace, ReadError};
use crate::input::Input;
use crate::window::InputWindow;

/// The longest body there may be. The largest known are peer tables and
/// prefixes with thousands of paths, well below one MiB.
const MAX_BODY: usize = 16 << 20;

/// How much of a longer one is skipped at a time.
const STEP: usize = 256 << 10;

/// A record: where it begins in the file, its header, its body.
pub(super) struct MrtRecord<'a> {
    pub(super) offset: u64,
    pub(super) seconds: u32,
    pub(super) kind: u16,
    pub(super) subtype: u16,
    pub(super) body: &'a [u8],
}

/// Reads records; what it hands out is borrowed from its window.
#[derive(Debug)]
pub(super) struct MrtRecords {
    window: InputWindow,
    /// How much of the window the last record takes.
    taken: usize,
    /// How much of an oversized body is still to be skipped.
    skip: usize,
    /// The header of the last record without its length, and how much of its body is handed out again.
    last: (u64, u32, u16, u16),
    again: usize,
}

impl MrtRecords {
    pub(super) fn new(input: Input) -> Self {
        Self {
            window: InputWindow::new(input, HEADER + MAX_BODY),
            taken: 0,
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
            let body = self.taken - mem::take(&mut self.again)..self.taken;
            return Ok(Some(self.record(body)));
        }
        self.window.take(mem::take(&mut self.taken));
        let offset = self.window.offset();
        while self.skip > 0 {
            let step = self.skip.min(STEP);
            self.need(step, offset)?;
            self.window.take(step);
            self.skip -= step;
        }
        let offset = self.window.offset();
        if self.window.data().is_empty() && !self.window.fill(FilePlace::Byte(offset))? {
            return Ok(None);
        }
        self.need(HEADER, offset)?;
        let header = &self.window.data()[..HEADER];
        let [s0, s1, s2, s3, k0, k1, t0, t1, l0, l1, l2, l3] = *header else {
            unreachable!("a header has 12 bytes");
        };
        let length = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
        // Passed over by the next call, so that the error comes at once.
        if length > MAX_BODY {
            self.window.take(HEADER);
            self.skip = length;
            let reason = format!("a record of {length} bytes, more than {MAX_BODY}");
            return Err(self.invalid(offset, &reason));
        }
        self.need(HEADER + length, offset)?;
        self.taken = HEADER + length;
        self.last = (
            offset,
            u32::from_be_bytes([s0, s1, s2, s3]),
            u16::from_be_bytes([k0, k1]),
            u16::from_be_bytes([t0, t1]),
        );
        Ok(Some(self.record(HEADER..self.taken)))
    }

    /// The last record, its body in this place of the window.
    #[inline]
    fn record(&self, body: Range<usize>) -> MrtRecord<'_> {
        let (offset, seconds, kind, subtype) = self.last;
        MrtRecord {
            offset,
            seconds,
            kind,
            subtype,
            body: &self.window.data()[body],
        }
    }

    /// An error about the record at `offset`.
    pub(super) fn invalid(&self, offset: u64, reason: &str) -> ReadError {
        ReadError::invalid(self.window.name(), FilePlace::Byte(offset), reason)
    }

    /// Makes sure that `count` bytes are in the window, of the record at `offset`.
    #[inline]
    fn need(&mut self, count: usize, offset: u64) -> Result<(), ReadError> {
        while self.window.data().len() < count {
            let have = self.window.data().len();
            let place = FilePlace::Byte(self.window.offset() + have as u64);
            let filled = self.window.fill(place);
            if !matches!(filled, Ok(true)) {
                self.skip = 0;
            }
            if !filled? {
                self.window.take(have);
                return Err(ReadError::stopped(
                    self.window.name(),
                    FilePlace::Byte(offset),
                    format!("the file ends in a record: {have} of {count} bytes"),
                    io::ErrorKind::UnexpectedEof.into(),
                ));
            }
        }
        Ok(())
    }
}
