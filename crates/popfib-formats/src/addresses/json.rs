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
use super::choice::{LineMembers, PlaceChoice};
use super::finder::AddressFinder;
use super::json_path::unmarked;
use super::source::{AddressEntry, AddressSource};
use super::text::LineAddresses;
use crate::error::ReadError;
use crate::items::Items;
use crate::names::note_left_out;

pub(super) static JSON_LINES: AddressEntry = AddressEntry {
    name: "json-lines",
    description: "JSON objects, one a line, or an array of them",
    can: &[],
    detect: |head| {
        matches!(
            shape(head),
            Some(ObjectLayout::Lines | ObjectLayout::Spread | ObjectLayout::Records)
        )
    },
    open: |mut input, options| match shape(input.peek(|head| shape(head).is_some())) {
        Some(layout @ (ObjectLayout::Spread | ObjectLayout::Records)) => {
            let finder = AddressFinder::new(options);
            Ok(Box::new(SpreadObjects {
                items: Items::new(input),
                are_records: layout == ObjectLayout::Records,
                beside: 0,
                choice: PlaceChoice::new(LineMembers::Json, options, finder.chosen()),
                finder,
            }))
        }
        _ => {
            let lines = LineAddresses::headed(input, options, None, LineMembers::Json);
            Ok(Box::new(lines))
        }
    },
};

/// How JSON objects stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectLayout {
    /// One begins and goes on in its line.
    Lines,
    /// In an array, or spread over lines.
    Spread,
    /// In the array that is the member [`RECORDS`] of an object.
    Records,
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
            if holds_records(rest.trim_ascii_start())? {
                return Some(ObjectLayout::Records);
            }
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

/// The member of an object whose elements are records: of logs of AWS CloudTrail.
const RECORDS: &str = "Records";

/// Whether the first member of an object is an array of records; `None` if more bytes are needed to say so.
fn holds_records(members: &[u8]) -> Option<bool> {
    let mut rest = members;
    for token in [b"\"".as_slice(), RECORDS.as_bytes(), b"\"", b":", b"["] {
        let is_mark = token.len() == 1 && token != b"\"";
        rest = if is_mark {
            rest.trim_ascii_start()
        } else {
            rest
        };
        match rest.strip_prefix(token) {
            Some(after) => rest = after,
            None if token.starts_with(rest) => return None,
            None => return Some(false),
        }
    }
    Some(true)
}

/// How much text a batch gets.
const BLOCK: usize = 256 << 10;

/// An [`AddressSource`] of objects that are elements of arrays or spread over lines; each is a row, in one line.
struct SpreadObjects {
    items: Items,
    are_records: bool,
    /// Members beside the records.
    beside: u64,
    finder: AddressFinder,
    choice: PlaceChoice,
}

impl SpreadObjects {
    /// Adds objects as lines. Does not wait for more of the input while it has some.
    fn read_lines(&mut self, batch: &mut AddressBatch) -> Result<(), ReadError> {
        let text = batch.text();
        while text.bytes().len() < BLOCK {
            if !text.bytes().is_empty() && self.items.is_drained() {
                return Ok(());
            }
            let is_open = |key: &str, is_list| key.is_empty() || is_list && key == RECORDS;
            let opens = |key: &str, is_list| self.are_records && is_open(key, is_list);
            if !self.items.advance(opens)? {
                return Ok(());
            }
            if !self.items.key().is_empty() {
                self.beside += 1;
                continue;
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
        Ok(())
    }
}

impl AddressSource for SpreadObjects {
    fn next_block(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        let read = self.read_lines(batch);
        self.choice.look(batch.text().bytes());
        read.map(|()| !batch.text().bytes().is_empty())
    }

    fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        let is_more = self.next_block(batch);
        self.finder.find(batch);
        is_more
    }

    fn finder(&self) -> Option<AddressFinder> {
        Some(self.finder.clone())
    }

    fn missing(&self) -> Vec<Option<String>> {
        self.finder.missing()
    }

    fn notes(&self) -> Vec<String> {
        let beside = note_left_out(self.beside, "member", " beside \"Records\"");
        let choice = self.choice.note().into_iter().chain(beside);
        choice.chain(self.finder.notes()).collect()
    }
}
