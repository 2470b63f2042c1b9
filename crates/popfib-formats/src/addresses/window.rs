//! The bytes of an input that are read and not taken yet, for records that may be longer than any one read: blocks of pcap, rows
//! of CSV. Grows to the longest record, up to a limit.
//!
//! ```text
//! buffer   [ taken | data, up to where was read | room for the next read ]
//!                  ^ start                      ^ end
//! ```
//! What is taken is overwritten when the room becomes short, and not before: many short reads do not move the same bytes each time.

use crate::error::{FilePlace, ReadError};
use crate::input::Input;

/// Room that reads get, unless a record takes it.
const ROOM: usize = 256 << 10;

/// The window over the bytes of an input.
pub(super) struct InputWindow {
    input: Input,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// How many bytes came before `start`.
    offset: u64,
    /// The longest record.
    limit: usize,
    at_end: bool,
}

impl InputWindow {
    /// Reads `input`; nothing yet. A record may have up to `limit` bytes.
    pub(super) fn new(input: Input, limit: usize) -> Self {
        Self {
            input,
            buffer: vec![0; ROOM],
            start: 0,
            end: 0,
            offset: 0,
            limit,
            at_end: false,
        }
    }

    pub(super) fn name(&self) -> &str {
        self.input.name()
    }

    /// What is here.
    #[inline]
    pub(super) fn data(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// How many bytes of the input came before [`InputWindow::data`].
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether the input has ended, so that there is nothing after [`InputWindow::data`].
    pub(super) fn is_at_end(&self) -> bool {
        self.at_end
    }

    /// Takes the first `count` bytes of the data.
    #[inline]
    pub(super) fn take(&mut self, count: usize) {
        self.start += count;
        self.offset += count as u64;
        debug_assert!(self.start <= self.end);
    }

    /// Ends the input here.
    pub(super) fn close(&mut self) {
        self.at_end = true;
        self.start = self.end;
    }

    /// Makes the data longer, by one read; false if it has reached the end of
    /// the input, or the limit of a record. `place` is what a failure names.
    pub(super) fn fill(&mut self, place: FilePlace) -> Result<bool, ReadError> {
        let len = self.end - self.start;
        if self.at_end || len >= self.limit {
            return Ok(false);
        }
        if self.buffer.len() - self.end < ROOM / 2 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.start = 0;
            self.end = len;
            if self.buffer.len() - len < ROOM / 2 {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        match self.input.read(&mut self.buffer[self.end..], place) {
            Ok(0) => self.at_end = true,
            Ok(read) => self.end += read,
            Err(error) => {
                // What is left of a record cut in the middle must not be read as one.
                self.close();
                return Err(error);
            }
        }
        Ok(!self.at_end)
    }
}
