//! Addresses to look up, one a line.

use std::net::{IpAddr, Ipv4Addr};
use std::str;

use crate::error::quote;
use crate::lines::Lines;
use crate::text_table::not_text;
use crate::{Input, ReadError, ipv4};

/// A stream of addresses, one a line, of both families.
///
/// Empty lines and comments (from `#` or `;` on) are skipped; lines end in LF
/// or CR LF. Each address is handed out as soon as its line has arrived, so
/// that a slow pipe gets its answers at once.
///
/// An item is an error for a line that holds anything but one address; the
/// next item comes from behind it. An input that can't be read on is an error,
/// too, and the last item.
#[derive(Debug)]
pub struct AddressReader {
    lines: Lines,
}

impl AddressReader {
    /// Reads addresses from `input`. Takes 256 KiB.
    pub fn new(input: Input) -> Self {
        Self {
            lines: Lines::new(input),
        }
    }

    /// Whether the next item is here already.
    ///
    /// If not, getting it may take as long as a slow pipe likes, and answers
    /// given so far should be flushed first.
    pub fn is_buffered(&self) -> bool {
        self.lines.is_buffered(|line| !content(line).is_empty())
    }

    fn next_address(&mut self) -> Result<Option<IpAddr>, ReadError> {
        while self.lines.advance()? {
            let text = content(self.lines.line());
            if text.is_empty() {
                continue;
            }
            return match parse(text) {
                Some(address) => Ok(Some(address)),
                None => Err(not_text(&self.lines).unwrap_or_else(|| {
                    self.lines
                        .invalid(format!("{}: not an address", quote(text)))
                })),
            };
        }
        Ok(None)
    }
}

impl Iterator for AddressReader {
    type Item = Result<IpAddr, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_address().transpose()
    }
}

/// A line without its comment and the blanks around the rest.
#[inline]
fn content(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|b| matches!(b, b'#' | b';'));
    line[..end.unwrap_or(line.len())].trim_ascii()
}

#[inline]
fn parse(text: &[u8]) -> Option<IpAddr> {
    match ipv4::address(text) {
        Some((bits, read)) if read == text.len() => Some(IpAddr::V4(Ipv4Addr::from(bits))),
        _ => str::from_utf8(text).ok()?.parse().ok(),
    }
}
