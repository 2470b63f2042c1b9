//! Addresses as text, one a line.
//!
//! Lines that are one dotted IPv4 address, as nearly all lines of big files
//! are, are read from the buffer 16 bytes at a time (`ipv4_line`); any other
//! line goes the general way, which also does what is special about the first
//! line, comments, and errors.

use super::ipv4_line::{self, WINDOW};
use super::{AddressBatch, AddressSource, not_an_address, parse_address};
use crate::lines::Lines;
use crate::text_table::not_text;
use crate::{Input, ReadError};

/// An [`AddressSource`] of text: one address a line, both families mixed.
///
/// Empty lines and comments (from `#` or `;` on) are skipped; lines end in LF
/// or CR LF.
#[derive(Debug)]
pub struct TextAddresses {
    lines: Lines,
    /// An error to be told when the addresses before it are handed out.
    error: Option<ReadError>,
}

impl TextAddresses {
    /// Reads `input`; nothing yet. Takes 256 KiB.
    pub fn new(input: Input) -> Self {
        Self {
            lines: Lines::new(input),
            error: None,
        }
    }

    /// Plain lines, as many as there are in a row.
    fn plain_lines(&mut self, batch: &mut AddressBatch, room: usize) -> usize {
        let rest = self.lines.rest();
        let mut at = 0;
        let mut count = 0;
        batch.extend_ipv4(std::iter::from_fn(|| {
            let window = rest.get(at..at + WINDOW)?.first_chunk()?;
            if count == room {
                return None;
            }
            let (address, len) = ipv4_line::address(window)?;
            at += match window[len..] {
                [b'\n', ..] => len + 1,
                [b'\r', b'\n', ..] => len + 2,
                _ => return None,
            };
            count += 1;
            Some(address)
        }));
        self.lines.skip(at, count);
        count
    }

    /// The next line, any kind; false at the end.
    fn any_line(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        if !self.lines.advance()? {
            return Ok(false);
        }
        let text = content(self.lines.line());
        if !text.is_empty() {
            match parse_address(text) {
                Some(address) => batch.push(address),
                None => {
                    return Err(not_text(&self.lines)
                        .unwrap_or_else(|| self.lines.invalid(not_an_address(text))));
                }
            }
        }
        Ok(true)
    }
}

impl AddressSource for TextAddresses {
    fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        batch.clear();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        // Lines, not addresses: that bounds the time, too.
        let mut room = AddressBatch::FULL;
        while room > 0 {
            room -= self.plain_lines(batch, room);
            if room == 0 || !batch.is_empty() && !self.lines.is_buffered(|_| true) {
                break;
            }
            match self.any_line(batch) {
                Ok(true) => room -= usize::from(!batch.is_empty()),
                Ok(false) => break,
                Err(error) if batch.is_empty() => return Err(error),
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
        }
        Ok(!batch.is_empty())
    }
}

/// A line without its comment and the blanks around the rest.
#[inline]
fn content(line: &[u8]) -> &[u8] {
    let end = memchr::memchr2(b'#', b';', line);
    line[..end.unwrap_or(line.len())].trim_ascii()
}

/// Whether a line is an address, perhaps with a comment.
pub(super) fn is_address(line: &[u8]) -> bool {
    parse_address(content(line)).is_some()
}
