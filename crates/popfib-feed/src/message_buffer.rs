//! Pieces of a stream of bytes in, whole messages out, for protocols whose messages begin with their length.

use crate::transaction::DecodeError;

/// Bytes that were received and not yet returned. It grows with received bytes, never by a length in a header.
#[derive(Debug, Default)]
pub(crate) struct MessageBuffer {
    bytes: Vec<u8>,
    start: usize,
}

impl MessageBuffer {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        } else if self.start > 0 && self.start >= self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message; `length` reads its length from its header of `head` bytes. `None` until it is complete.
    pub(crate) fn next(
        &mut self,
        head: usize,
        length: impl FnOnce(&[u8]) -> Result<usize, DecodeError>,
    ) -> Result<Option<&[u8]>, DecodeError> {
        let bytes = &self.bytes[self.start..];
        let Some(head) = bytes.get(..head) else {
            return Ok(None);
        };
        let length = length(head)?;
        let Some(message) = bytes.get(..length) else {
            return Ok(None);
        };
        self.start += length;
        Ok(Some(message))
    }
}
