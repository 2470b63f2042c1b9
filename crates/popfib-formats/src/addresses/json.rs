//! JSON objects as records: one a line, or the elements of an array, which may be spread over lines.
//!
//! Lines are read as any text is. The elements of an array, and objects that are spread over lines, are made lines: a scan
//! that knows strings and brackets and nothing else finds where each ends, and line ends inside of it are left out.

use super::batch::AddressBatch;
use super::finder::AddressFinder;
use super::json_path::unmarked;
use super::options::AddressOptions;
use super::source::{AddressEntry, AddressSource};
use super::text::LineAddresses;
use super::window::Window;
use crate::error::{Place, ReadError};
use crate::input::Input;
use crate::registry::Capabilities;

pub(super) static JSON_LINES: AddressEntry = AddressEntry {
    name: "json-lines",
    description: "JSON objects, one a line, or an array of them",
    can: Capabilities::NONE,
    detect: |head| matches!(shape(head), Some(Shape::Lines | Shape::Spread)),
    open: |mut input, options| match shape(input.peek(|head| shape(head).is_some())) {
        Some(Shape::Spread) => Ok(Box::new(SpreadObjects::new(input, options))),
        _ => Ok(Box::new(LineAddresses::new(input, options))),
    },
};

/// How JSON objects stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
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
pub(super) fn shape(head: &[u8]) -> Option<Shape> {
    let (first, rest) = unmarked(head).trim_ascii_start().split_first()?;
    let is_object = |rest: &[u8]| Some(matches!(rest.trim_ascii_start().first()?, b'"' | b'}'));
    let shape = match first {
        b'{' => {
            let blanks = rest.len() - rest.trim_ascii_start().len();
            match (is_object(rest)?, rest[..blanks].contains(&b'\n')) {
                (false, _) => Shape::Other,
                (true, false) => Shape::Lines,
                (true, true) => Shape::Spread,
            }
        }
        b'[' => match rest.trim_ascii_start().split_first()? {
            (b'{', rest) if is_object(rest)? => Shape::Spread,
            _ => Shape::Other,
        },
        _ => Shape::Other,
    };
    Some(shape)
}

/// How much text a batch gets.
const BLOCK: usize = 256 << 10;

/// The longest object.
const MAX_OBJECT: usize = 16 << 20;

/// An [`AddressSource`] of objects that are elements of arrays or spread over lines; each is a row, in one line.
#[derive(Debug)]
struct SpreadObjects {
    window: Window,
    finder: AddressFinder,
    /// Lines that were taken.
    lines: u64,
    is_in_array: bool,
    /// Whether an element is before, so that a comma or the end of the array comes next.
    is_after_element: bool,
    scan: Scan,
    error: Option<ReadError>,
    is_done: bool,
}

/// How far the value at the start of the window is read.
#[derive(Clone, Copy, Debug, Default)]
struct Scan {
    at: usize,
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

/// What came of looking for the next object.
enum Next {
    Object(usize),
    /// Its end is not in the window yet.
    Part,
    End,
}

impl SpreadObjects {
    fn new(input: Input, options: &AddressOptions) -> Self {
        Self {
            window: Window::new(input, MAX_OBJECT),
            finder: AddressFinder::new(options),
            lines: 0,
            is_in_array: false,
            is_after_element: false,
            scan: Scan::default(),
            error: None,
            is_done: false,
        }
    }

    /// Takes the first `count` bytes of the window.
    fn take(&mut self, count: usize) {
        let taken = &self.window.data()[..count];
        self.lines += memchr::memchr_iter(b'\n', taken).count() as u64;
        self.window.take(count);
    }

    /// Goes to the next value, which is then at the start of the window; false if the window ends before.
    fn find_value(&mut self) -> Result<bool, ReadError> {
        if self.scan.at > 0 {
            return Ok(true);
        }
        if self.window.offset() == 0 {
            let data = self.window.data();
            self.window.take(data.len() - unmarked(data).len());
        }
        let data = self.window.data();
        for (at, &byte) in data.iter().enumerate() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {}
                b',' if self.is_in_array && self.is_after_element => self.is_after_element = false,
                b'[' if !self.is_in_array => {
                    self.is_in_array = true;
                    self.is_after_element = false;
                }
                b']' if self.is_in_array => self.is_in_array = false,
                _ => {
                    let is_value = match self.is_in_array {
                        true => !self.is_after_element && byte != b',',
                        false => byte == b'{',
                    };
                    self.take(at);
                    let missing = match self.is_in_array {
                        true => "an element and a comma before it",
                        false => "an object or array",
                    };
                    return match is_value {
                        true => Ok(true),
                        false => {
                            Err(self.invalid(&format!("no JSON here, where {missing} should be")))
                        }
                    };
                }
            }
        }
        self.take(data.len());
        Ok(false)
    }

    /// The length of the value at the start of the window, if its end is there.
    fn scan_value(&mut self) -> Option<usize> {
        let scan = &mut self.scan;
        let data = self.window.data();
        while let Some(&byte) = data.get(scan.at) {
            if scan.is_in_string {
                match byte {
                    _ if scan.is_escaped => scan.is_escaped = false,
                    b'\\' => scan.is_escaped = true,
                    b'"' => scan.is_in_string = false,
                    _ => {}
                }
            } else {
                match byte {
                    b'"' => scan.is_in_string = true,
                    b'{' | b'[' => scan.depth += 1,
                    // Of a number, the array's.
                    b',' | b']' | b'}' if scan.depth == 0 => return Some(scan.at),
                    b']' | b'}' => scan.depth -= 1,
                    _ => {}
                }
                if scan.depth == 0 && matches!(byte, b'}' | b']') {
                    return Some(scan.at + 1);
                }
            }
            scan.at += 1;
        }
        None
    }

    fn next(&mut self) -> Result<Next, ReadError> {
        if !self.find_value()? {
            return match (self.window.is_at_end(), self.is_in_array) {
                (false, _) => Ok(Next::Part),
                (true, false) => Ok(Next::End),
                (true, true) => Err(self.invalid("the file is cut off: its array has no end")),
            };
        }
        match self.scan_value() {
            Some(len) => Ok(Next::Object(len)),
            None if self.window.is_at_end() => {
                Err(self.invalid("the file is cut off inside of this JSON object"))
            }
            None => Ok(Next::Part),
        }
    }

    /// Adds objects as lines; false at the end.
    fn read_lines(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        while batch.text().bytes().len() < BLOCK {
            match self.next()? {
                Next::Object(len) => {
                    let mut rest = &self.window.data()[..len];
                    while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
                        batch.text().push(&rest[..end]);
                        rest = rest[end..].trim_ascii_start();
                    }
                    batch.text().push(rest);
                    batch.text().push(b"\n");
                    self.take(len);
                    self.scan = Scan::default();
                    self.is_after_element = true;
                }
                Next::End => return Ok(false),
                Next::Part if !batch.text().bytes().is_empty() => return Ok(true),
                Next::Part => {
                    let place = Place::Line(self.lines + 1);
                    if !self.window.fill(place)? && !self.window.is_at_end() {
                        let reason = format!("the JSON object is longer than {MAX_OBJECT} bytes");
                        return Err(self.invalid(&reason));
                    }
                }
            }
        }
        batch.set_full(true);
        Ok(true)
    }

    #[cold]
    fn invalid(&self, reason: &str) -> ReadError {
        ReadError::file(
            self.window.name(),
            format!("line {}: {reason}", self.lines + 1),
        )
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
