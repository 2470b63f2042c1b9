//! Cuts a JSON document into items without parsing them: bytes in, the texts of items with their keys and lines out.
//!
//! ```text
//! [{"prefix": "10.0.0.0/8"}, {"prefix": "::/0"}]                  two items
//! {"routes": {"10.0.0.0/8": [...], "192.0.2.0/24": [...]}}        two, if the caller opens "routes"
//! ```
//! Items are the elements of an outermost array, the members of an outermost object,
//! and what is in those lists and objects inside that the caller wants opened; several
//! documents may follow each other. Brackets and strings are all that the cutting looks
//! at. Memory is that of one item, which has a limit.
//!
//! Rejected: serde_json's own stream of values. It knows documents that follow each other, not the elements of one array, and so
//! would hold all of a file of gigabytes.

use std::io;

use crate::error::{FilePlace, NO_UTF8, ReadError, not, quote};
use crate::input::Input;

/// The longest item: a prefix with thousands of paths is well below.
const MAX_ITEM: usize = 16 << 20;

/// How deep items may be nested in objects.
const MAX_DEPTH: usize = 16;

/// A reader of items: [`Items::advance`], then the rest.
#[derive(Debug)]
pub(crate) struct Items {
    input: Input,
    buffer: Box<[u8]>,
    at: usize,
    end: usize,
    /// The number of the line that `at` is in, and the line of the item.
    current_line: u64,
    line: u64,
    /// The open brackets, innermost last, as what closes them.
    open: Vec<u8>,
    /// Whether a comma has to come before the next item.
    separated: bool,
    /// Whether anything but blanks was read, after which a byte order mark is none.
    begun: bool,
    is_damaged: bool,
    key: String,
    json: Vec<u8>,
}

impl Items {
    pub(crate) fn new(input: Input) -> Self {
        Self {
            input,
            buffer: vec![0; 64 << 10].into_boxed_slice(),
            at: 0,
            end: 0,
            current_line: 1,
            line: 1,
            open: Vec::new(),
            separated: true,
            begun: false,
            is_damaged: false,
            key: String::new(),
            json: Vec::new(),
        }
    }

    /// Goes to the next item; false at the end of the last document. `opens`
    /// says of a member whose value is an object or, told by `true`, a list whether what is
    /// inside are items; it is asked with an empty key for an outermost object.
    ///
    /// # Errors
    /// After one, nothing is known to be an item, and there are no more.
    pub(crate) fn advance(
        &mut self,
        opens: impl FnMut(&str, bool) -> bool,
    ) -> Result<bool, ReadError> {
        if self.is_damaged {
            return Ok(false);
        }
        let found = self.find(opens);
        self.is_damaged = found.is_err();
        found
    }

    /// The loop of [`Items::advance`]: one byte that is no blank decides what comes next.
    fn find(&mut self, mut opens: impl FnMut(&str, bool) -> bool) -> Result<bool, ReadError> {
        loop {
            let Some(byte) = self.peek_token()? else {
                if self.open.is_empty() {
                    return Ok(false);
                }
                return Err(self.cut());
            };
            match (self.open.last().copied(), byte) {
                (Some(close), byte) if byte == close => {
                    self.open.pop();
                    self.separated = false;
                    self.at += 1;
                }
                (Some(_), b',') if !self.separated => {
                    self.separated = true;
                    self.at += 1;
                }
                (Some(_), _) if !self.separated => return Err(self.unexpected()),
                (None, b'[') => self.descend(b']')?,
                (None, b'{') if opens("", false) => self.descend(b'}')?,
                (None, b'{') => {
                    self.key.clear();
                    self.take_value()?;
                    return Ok(true);
                }
                (None, _) => return Err(self.unexpected()),
                (Some(b']'), _) => {
                    self.key.clear();
                    self.take_value()?;
                    self.separated = false;
                    return Ok(true);
                }
                (Some(_), b'"') => {
                    self.take_key()?;
                    match self.peek_token()? {
                        Some(b'{') if opens(&self.key, false) => {
                            self.descend(b'}')?;
                            continue;
                        }
                        Some(b'[') if opens(&self.key, true) => {
                            self.descend(b']')?;
                            continue;
                        }
                        _ => {}
                    }
                    self.take_value()?;
                    self.separated = false;
                    return Ok(true);
                }
                (Some(_), _) => return Err(self.unexpected()),
            }
        }
    }

    /// Whether going to the next item waits for more of the input, as far as is known before its first byte.
    pub(crate) fn is_drained(&self) -> bool {
        let rest = &self.buffer[self.at..self.end];
        rest.iter()
            .all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b']' | b'}'))
    }

    /// The bytes of the item.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.json
    }

    /// The text of the item.
    pub(crate) fn json(&self) -> Result<&str, ReadError> {
        let text = std::str::from_utf8(&self.json);
        text.map_err(|_| self.invalid(self.line, NO_UTF8))
    }

    /// The key of the item, empty for an element.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// The number of the line in which the item begins, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// An error about an item that begins in `line`.
    pub(crate) fn invalid(&self, line: u64, reason: impl Into<String>) -> ReadError {
        ReadError::invalid_line(self.input.name(), line, reason)
    }

    /// Goes into a list or object, whose members are the next items.
    fn descend(&mut self, close: u8) -> Result<(), ReadError> {
        if self.open.len() == MAX_DEPTH {
            return Err(self.stopped("nested too deeply", io::ErrorKind::InvalidData));
        }
        self.open.push(close);
        self.separated = true;
        self.at += 1;
        Ok(())
    }

    /// Takes the key and the colon after it.
    fn take_key(&mut self) -> Result<(), ReadError> {
        self.take_value()?;
        match serde_json::from_slice(&self.json) {
            Ok(key) => self.key = key,
            Err(_) => {
                let reason = not(&self.json, "a string");
                return Err(self.stopped(&reason, io::ErrorKind::InvalidData));
            }
        }
        match self.peek_token()? {
            Some(b':') => self.at += 1,
            Some(_) => return Err(self.unexpected()),
            None => return Err(self.cut()),
        }
        Ok(())
    }

    /// Takes the value that begins here, up to its end, into `json`.
    fn take_value(&mut self) -> Result<(), ReadError> {
        self.json.clear();
        let Some(first) = self.peek_token()? else {
            return Err(self.cut());
        };
        self.line = self.current_line;
        if matches!(first, b',' | b':' | b']' | b'}') {
            return Err(self.unexpected());
        }
        let mut state = ValueScan {
            depth: 0,
            in_string: false,
            escaped: false,
            is_word: !matches!(first, b'{' | b'[' | b'"'),
        };
        loop {
            let rest = &self.buffer[self.at..self.end];
            let (len, ended) = state.scan(rest);
            self.current_line += rest[..len].iter().filter(|&&b| b == b'\n').count() as u64;
            self.json.extend_from_slice(&rest[..len]);
            self.at += len;
            if ended {
                return Ok(());
            }
            if self.json.len() > MAX_ITEM {
                let reason = format!(
                    "an item that begins in line {} is longer than {MAX_ITEM} bytes",
                    self.line
                );
                return Err(self.stopped(&reason, io::ErrorKind::InvalidData));
            }
            if !self.fill()? {
                // A number at the end of the data has no sign after it.
                return if state.is_word {
                    Ok(())
                } else {
                    Err(self.cut())
                };
            }
        }
    }

    /// The next byte that is no blank; `None` at the end.
    fn peek_token(&mut self) -> Result<Option<u8>, ReadError> {
        loop {
            while self.at < self.end {
                match self.buffer[self.at] {
                    b'\n' => self.current_line += 1,
                    b' ' | b'\t' | b'\r' => {}
                    // A byte order mark.
                    0xef | 0xbb | 0xbf if !self.begun => {}
                    byte => {
                        self.begun = true;
                        return Ok(Some(byte));
                    }
                }
                self.at += 1;
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Reads once; false at the end. Only if the buffer is used up.
    fn fill(&mut self) -> Result<bool, ReadError> {
        self.at = 0;
        self.end = 0;
        self.end = self
            .input
            .read(&mut self.buffer, FilePlace::Line(self.current_line))?;
        Ok(self.end > 0)
    }

    /// The error shows the rest of the line, the same however the input comes in pieces.
    fn unexpected(&mut self) -> ReadError {
        /// One more than is quoted.
        const SHOWN: usize = 61;
        let mut shown = Vec::new();
        loop {
            let rest = &self.buffer[self.at..self.end];
            let line = rest.split(|&b| b == b'\n').next().unwrap_or_default();
            shown.extend_from_slice(&line[..line.len().min(SHOWN)]);
            if line.len() < rest.len() || shown.len() >= SHOWN || !matches!(self.fill(), Ok(true)) {
                break;
            }
        }
        shown.truncate(SHOWN);
        let shown = quote(shown.trim_ascii_end());
        self.stopped(
            &format!("{shown}: not what should stand here in JSON"),
            io::ErrorKind::InvalidData,
        )
    }

    /// The error of a document that ends inside of an item.
    fn cut(&self) -> ReadError {
        self.stopped("the JSON is cut off", io::ErrorKind::UnexpectedEof)
    }

    /// An error at the place at hand, after which nothing can be read.
    fn stopped(&self, reason: &str, kind: io::ErrorKind) -> ReadError {
        let place = FilePlace::Line(self.current_line);
        ReadError::stopped(self.input.name(), place, reason, kind.into())
    }
}

/// Where in a value the scan is.
struct ValueScan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// A number, `true`, `false` or `null`: it ends where something else begins.
    is_word: bool,
}

impl ValueScan {
    /// How many of `bytes` belong to the value, and whether it ends with them.
    fn scan(&mut self, bytes: &[u8]) -> (usize, bool) {
        for (n, &byte) in bytes.iter().enumerate() {
            if self.is_word {
                if matches!(
                    byte,
                    b',' | b':' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n'
                ) {
                    return (n, true);
                }
                continue;
            }
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return (n + 1, true);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return (n + 1, true);
                    }
                }
                _ => {}
            }
        }
        (bytes.len(), false)
    }
}

/// The methods of a visitor for which numbers, booleans and null are this and no more.
macro_rules! pass_over_scalars {
    ($value:expr) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

pub(crate) use pass_over_scalars;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Read};

    /// Hands out its data in pieces of one length.
    struct Pieces(Cursor<Vec<u8>>, usize);

    impl Read for Pieces {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let n = buf.len().min(self.1);
            self.0.read(&mut buf[..n])
        }
    }

    fn cut(text: &str, piece: usize) -> Vec<Result<String, String>> {
        let data = Pieces(Cursor::new(text.into()), piece);
        let mut items = Items::new(Input::from_reader("t", data));
        let mut seen = Vec::new();
        loop {
            match items.advance(|key, _| key.is_empty() || key == "in") {
                Ok(true) => seen.push(Ok(format!(
                    "{}:{}={}",
                    items.line(),
                    items.key(),
                    items.json().unwrap()
                ))),
                Ok(false) => return seen,
                Err(e) => {
                    seen.push(Err(e.to_string()));
                    return seen;
                }
            }
        }
    }

    fn items(text: &str) -> Vec<String> {
        let seen = cut(text, usize::MAX);
        for piece in [1, 2, 3, 7] {
            assert_eq!(cut(text, piece), seen, "{text} in pieces of {piece}");
        }
        seen.into_iter()
            .map(|item| item.unwrap_or_else(|e| e))
            .collect()
    }

    #[test]
    fn elements_and_members_are_items() {
        assert_eq!(
            items(r#"[1, {"a":[1,"]"]},"x\"]"]"#),
            ["1:=1", r#"1:={"a":[1,"]"]}"#, r#"1:="x\"]""#]
        );
        assert_eq!(
            items("{\"a\": 1,\n \"in\": {\"b\": [\n1],\n\"c\":null}, \"d\":{\"in\":{}}}\n"),
            ["1:a=1", "2:b=[\n1]", "4:c=null", "4:d={\"in\":{}}"]
        );
        assert_eq!(
            items(r#"{"in":[1,{"in":2},[3]],"b":[4]}"#),
            ["1:=1", r#"1:={"in":2}"#, "1:=[3]", "1:b=[4]"]
        );
        assert_eq!(items("\u{feff} {\"a\":1}\n[2]\n"), ["1:a=1", "2:=2"]);
        for nothing in ["", " \n", "[]", "{}", "{\"in\":{}}"] {
            assert!(items(nothing).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn what_is_no_json_stops() {
        for (text, error) in [
            ("[1", "t:1: the JSON is cut off"),
            ("[1,\n\"a", "t:2: the JSON is cut off"),
            ("{\"a\"", "t:1: the JSON is cut off"),
            ("{\"a\":", "t:1: the JSON is cut off"),
            ("{\"in\":{\"a\":1}", "t:1: the JSON is cut off"),
        ] {
            assert_eq!(
                items(text).last().map(String::as_str),
                Some(error),
                "{text}"
            );
        }
        for text in [
            "x",
            "[1 2]",
            "[,1]",
            "{1:2}",
            "{\"a\" 1}",
            "{\"a\":}",
            "[1}",
            "}",
            "{\"a\":1 \"b\":2}",
            "{\"\\q\":1}",
        ] {
            let seen = cut(text, usize::MAX);
            let error = seen.last().unwrap().as_ref().unwrap_err();
            assert!(error.starts_with("t:1: "), "{text}: {error}");
        }
    }

    #[test]
    fn depth_and_length_have_limits() {
        let deep = "{\"in\":".repeat(100);
        assert!(items(&deep).last().unwrap().contains("too deeply"));
        let long = format!("[\"{}", "x".repeat(MAX_ITEM + (1 << 20)));
        let seen = cut(&long, usize::MAX);
        assert!(seen[0].as_ref().unwrap_err().contains("longer than"));
    }
}
