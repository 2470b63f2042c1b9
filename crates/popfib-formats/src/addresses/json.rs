//! JSON objects as records of addresses: one a line, or the elements of an array, which may be spread over lines. Out come
//! batches whose rows are one object each, in one line.
//!
//! ```text
//! {"time": 1, "src": {"ip": "192.0.2.1"}}          one a line: read as any text is (`text`)
//!
//! [{"src": {"ip": "192.0.2.1"}},                   an array, or an object over several lines
//!  {"src":
//!    {"ip": "192.0.2.2"}}]
//! ```
//! The elements of an array, and objects that are spread over lines, are cut as those of tables are ([`Items`]), and made lines:
//! line ends inside of them are left out. Where in an object addresses are, `json_path` says.

use super::batch::AddressBatch;
use super::finder::AddressFinder;
use super::json_path::unmarked;
use super::source::{AddressEntry, AddressSource};
use super::text::LineAddresses;
use crate::error::ReadError;
use crate::items::Items;
use crate::registry::FormatCapabilities;

pub(super) static JSON_LINES: AddressEntry = AddressEntry {
    name: "json-lines",
    description: "JSON objects, one a line, or an array of them",
    can: FormatCapabilities::NONE,
    detect: |head| {
        matches!(
            shape(head),
            Some(ObjectLayout::Lines | ObjectLayout::Spread)
        )
    },
    open: |mut input, options| match shape(input.peek(|head| shape(head).is_some())) {
        Some(ObjectLayout::Spread) => Ok(Box::new(SpreadObjects {
            items: Items::new(input),
            finder: AddressFinder::new(options),
            error: None,
            is_done: false,
        })),
        _ => Ok(Box::new(LineAddresses::new(input, options))),
    },
};

/// How JSON objects stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectLayout {
    /// One begins and goes on in its line.
    Lines,
    /// In an array, or spread over lines.
    Spread,
    /// What begins is none.
    Other,
}

/// What begins with `head`; `None` if more bytes are needed to say so.
///
/// A `{` or `[{` is not enough: lines of text may begin with a name in brackets.
pub(super) fn shape(head: &[u8]) -> Option<ObjectLayout> {
    let (first, rest) = unmarked(head).trim_ascii_start().split_first()?;
    let is_object = |rest: &[u8]| Some(matches!(rest.trim_ascii_start().first()?, b'"' | b'}'));
    let shape = match first {
        b'{' => {
            let blanks = rest.len() - rest.trim_ascii_start().len();
            match (is_object(rest)?, rest[..blanks].contains(&b'\n')) {
                (false, _) => ObjectLayout::Other,
                (true, false) => ObjectLayout::Lines,
                (true, true) => ObjectLayout::Spread,
            }
        }
        b'[' => match rest.trim_ascii_start().split_first()? {
            (b'{', rest) if is_object(rest)? => ObjectLayout::Spread,
            _ => ObjectLayout::Other,
        },
        _ => ObjectLayout::Other,
    };
    Some(shape)
}

/// How much text a batch gets.
const BLOCK: usize = 256 << 10;

/// An [`AddressSource`] of objects that are elements of arrays or spread over lines; each is a row, in one line.
#[derive(Debug)]
struct SpreadObjects {
    items: Items,
    finder: AddressFinder,
    /// What came after the rows that were handed out last.
    error: Option<ReadError>,
    is_done: bool,
}

impl SpreadObjects {
    /// Adds objects as lines; false at the end. Does not wait for more of the input while it has some.
    fn read_lines(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        let text = batch.text();
        while text.bytes().len() < BLOCK {
            if !text.bytes().is_empty() && self.items.is_drained() {
                return Ok(true);
            }
            if !self.items.advance(|_, _| false)? {
                return Ok(false);
            }
            let mut rest = self.items.bytes();
            while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
                text.push(&rest[..end]);
                rest = rest[end..].trim_ascii_start();
            }
            text.push(rest);
            text.push(b"\n");
        }
        batch.set_full(true);
        Ok(true)
    }
}

impl AddressSource for SpreadObjects {
    fn next_block(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        batch.clear();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if self.is_done {
            return Ok(false);
        }
        let read = self.read_lines(batch);
        let is_empty = batch.text().bytes().is_empty();
        self.is_done = !matches!(read, Ok(true));
        match read {
            Ok(_) => {}
            Err(error) if is_empty => return Err(error),
            Err(error) => self.error = Some(error),
        }
        Ok(!is_empty)
    }

    fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        let is_more = self.next_block(batch)?;
        self.finder.find(batch);
        Ok(is_more)
    }

    fn finder(&self) -> Option<AddressFinder> {
        Some(self.finder.clone())
    }

    fn missing(&self) -> Vec<Option<String>> {
        self.finder.missing()
    }

    fn notes(&self) -> Vec<String> {
        self.finder.notes()
    }
}
