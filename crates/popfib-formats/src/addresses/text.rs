//! Addresses in lines of text: log files, lists. Blocks of whole lines in, batches out whose rows are these lines.
//!
//! A block of whole lines is read into the batch, where the lines stay as they are; then the
//! addresses are looked for in each (`finder`). That may be done by other threads while the next block is read
//! ([`AddressSource::next_block`]).

use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::batch::AddressBatch;
use super::choice::{LineMembers, PlaceChoice};
use super::field_names::FieldNames;
use super::finder::AddressFinder;
use super::options::{AddressOptions, LinePart};
use super::source::{AddressEntry, AddressSource};
use crate::error::{FilePlace, ReadError, quote};
use crate::input::Input;
use crate::lines::{KIND_BYTES, kind};

pub(super) static TEXT: AddressEntry = AddressEntry {
    name: "text",
    description: "lines of text that hold addresses: logs, lists",
    can: &[],
    detect: |_| false,
    open: |input, options| Ok(Box::new(LineAddresses::new(input, options))),
};

/// What is read at a time. A quarter of it is as fast on one thread, and too little work to hand to another.
const BLOCK: usize = 512 << 10;

/// The longest line. It is held in memory.
const MAX_LINE: usize = 1 << 30;

/// An [`AddressSource`] of lines of text, which are its rows: each comes once, in order.
///
/// A line, or a part of it that was asked for, in which there is no address counts as one without.
pub(super) struct LineAddresses {
    input: Input,
    /// The beginning of the next line.
    rest: Vec<u8>,
    /// How many lines were handed out.
    lines: u64,
    finder: AddressFinder,
    choice: PlaceChoice,
    /// The line that has the names of the fields, which stay what they are.
    heading: Option<FieldNames>,
    is_done: bool,
}

impl LineAddresses {
    /// Reads `input`; nothing yet. Takes a few times 512 KiB, or twice the longest line.
    fn new(input: Input, options: &AddressOptions) -> Self {
        Self::headed(input, options, None, LineMembers::None)
    }

    /// The same with a line that has the names of the fields, and with what else is in lines.
    pub(super) fn headed(
        input: Input,
        options: &AddressOptions,
        heading: Option<FieldNames>,
        members: LineMembers,
    ) -> Self {
        let finder = AddressFinder::new(options);
        Self {
            choice: PlaceChoice::new(members, options, finder.chosen()),
            input,
            rest: Vec::new(),
            lines: 0,
            finder,
            heading,
            is_done: false,
        }
    }

    /// As many as say what is no text, or the first line if that is shorter: the same however the
    /// input comes in pieces.
    fn first_bytes(&mut self) -> &[u8] {
        let first_line = |head: &[u8]| memchr(b'\n', head);
        let is_enough = |head: &[u8]| head.len() >= KIND_BYTES || first_line(head).is_some();
        let head = self.input.peek(is_enough);
        &head[..first_line(head).unwrap_or(head.len())]
    }

    /// Reads whole lines into `batch`, neither counted nor cut; false at the end.
    fn read_block(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        if self.is_done {
            return Ok(false);
        }
        // A zip archive or UTF-16 would give no addresses and no error: the first bytes tell.
        if self.lines == 0
            && self.rest.is_empty()
            && let Some(kind) = kind(self.first_bytes())
        {
            self.is_done = true;
            let reason = format!("this is {kind}");
            return Err(ReadError::file(self.input.name(), reason));
        }
        let text = batch.text();
        text.push(&self.rest);
        self.rest.clear();
        let is_more = loop {
            let old = text.bytes().len();
            // Doubled for a long line, so that it is not copied for each block.
            let room = text.room(BLOCK.max(old));
            let len = room.len();
            let place = FilePlace::Line(self.lines + 1);
            let read = self.input.read(room, place);
            // An end and an error are final.
            self.is_done = !matches!(read, Ok(1..));
            let read = read.inspect_err(|_| text.set_len(0))?;
            text.set_len(old + read);
            if let Some(end) = memrchr(b'\n', &text.bytes()[old..]) {
                self.rest.extend_from_slice(&text.bytes()[old + end + 1..]);
                text.set_len(old + end + 1);
                // A read that fills its room may have left more in the input.
                break read == len;
            }
            if read == 0 {
                break false;
            }
            let whole = text.bytes().len();
            if whole > MAX_LINE || !self.input.may_hold(whole) {
                self.is_done = true;
                let reason = match whole {
                    len if len > MAX_LINE => format!("the line is longer than {MAX_LINE} bytes"),
                    _ => "compressed data grows to more than 16 times its size in one line: unpack it first".to_owned(),
                };
                text.set_len(0);
                let line = self.lines + 1;
                return Err(ReadError::invalid_line(self.input.name(), line, reason));
            }
        };
        let mut result = Ok(());
        if let Some(heading) = self.heading.as_ref().filter(|heading| heading.is_used)
            && let Some(start) = other_names(text.bytes(), heading)
        {
            let line = self.lines + 1 + memchr_iter(b'\n', &text.bytes()[..start]).count() as u64;
            let reason = format!(
                "the fields change here; a file has one heading: {}",
                quote(
                    text.bytes()[start..]
                        .split(|&byte| byte == b'\n')
                        .next()
                        .unwrap_or_default()
                )
            );
            let place = FilePlace::Line(line);
            result = Err(ReadError::at(self.input.name(), place, reason));
            self.is_done = true;
            text.set_len(start);
        }
        self.choice.look(text.bytes());
        let is_empty = text.bytes().is_empty();
        batch.set_full(is_more);
        result.map(|()| !is_empty)
    }
}

/// Where in `text` a line begins that has other names of fields than `heading`.
fn other_names(text: &[u8], heading: &FieldNames) -> Option<usize> {
    let mut marks = memmem::find_iter(text, &heading.mark);
    marks.find(|&start| {
        let line = text[start..].split(|&byte| byte == b'\n').next();
        let is_line = start == 0 || text[start - 1] == b'\n';
        is_line && line.unwrap_or_default().trim_ascii_end() != heading.line
    })
}

impl AddressSource for LineAddresses {
    fn next_block(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        let is_more = self.read_block(batch)?;
        self.lines += memchr_iter(b'\n', batch.text().bytes()).count() as u64;
        Ok(is_more)
    }

    fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        let is_more = self.read_block(batch);
        self.finder.find(batch);
        // The lines are cut now, and need no count of their own.
        self.lines += batch.rows().len() as u64;
        is_more
    }

    fn finder(&self) -> Option<AddressFinder> {
        Some(self.finder.clone())
    }

    fn heading(&self) -> Option<&[u8]> {
        self.heading.as_ref().map(|heading| &heading.mark[..])
    }

    fn field(&self, name: &str) -> Option<LinePart> {
        self.heading.as_ref()?.field(name)
    }

    fn missing(&self) -> Vec<Option<String>> {
        self.finder.missing()
    }

    fn notes(&self) -> Vec<String> {
        let choice = self.choice.note().into_iter();
        choice.chain(self.finder.notes()).collect()
    }
}
