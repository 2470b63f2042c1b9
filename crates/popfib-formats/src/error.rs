//! Why a file could not be read: one line that names file, line and reason.
//!
//! ```text
//! routes.txt:12: "10.0.0.1/8": host bits are set beyond the prefix length
//! rib.mrt: byte 1048576: the file ends in a record: 112 of 240 bytes
//! ```
//! The reason is made into text where the error arises, because that is where
//! the bytes to quote are. Quoted text is shortened and escaped: a hostile file
//! neither floods the terminal nor sends it control sequences.
//!
//! Rejected: an enum of all that can be wrong. Each of 40 formats has reasons of its own, no program acts on them, and what
//! programs do act on is asked by methods ([`ReadError::is_invalid_line`] and the like).

use std::error::Error;
use std::fmt;
use std::io;
use std::str::FromStr;

/// The reason of what is no text, and what may help.
pub(crate) const NO_UTF8: &str =
    "this is not text: invalid UTF-8; of Latin-1 `iconv -f LATIN1 -t UTF-8` makes text";

/// Why a file could not be read, or a line of it.
///
/// Displays as the one line `FILE:LINE: reason`, for binary files as
/// `FILE: byte OFFSET: reason`, or as `FILE: reason` where no place is
/// concerned.
pub struct ReadError(Box<ReadErrorParts>);

/// Where in a file, once decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilePlace {
    /// The number of a line, from 1.
    Line(u64),
    /// How many bytes come before.
    Byte(u64),
}

/// In a box, so that a `Result` with the error is as small as one without.
struct ReadErrorParts {
    file: String,
    place: Option<FilePlace>,
    reason: String,
    invalid_line: bool,
    no_table: bool,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ReadError {
    /// The file as a whole is at fault.
    pub(crate) fn file(file: &str, reason: impl Into<String>) -> Self {
        Self(Box::new(ReadErrorParts {
            file: file.to_owned(),
            place: None,
            reason: reason.into(),
            invalid_line: false,
            no_table: false,
            source: None,
        }))
    }

    /// The file cannot be opened.
    pub fn opening(file: &str, error: io::Error) -> Self {
        Self::file(file, format!("cannot open: {error}")).with_source(error)
    }

    /// Reading stopped at `place`, for good.
    pub(crate) fn stopped(
        file: &str,
        place: FilePlace,
        reason: impl Into<String>,
        source: io::Error,
    ) -> Self {
        Self::at(file, place, reason).with_source(source)
    }

    /// This one line is invalid; what follows it can still be read.
    pub(crate) fn invalid_line(file: &str, line: u64, reason: impl Into<String>) -> Self {
        Self::invalid(file, FilePlace::Line(line), reason)
    }

    /// The line or record at `place` is invalid; what follows it can still be read.
    pub(crate) fn invalid(file: &str, place: FilePlace, reason: impl Into<String>) -> Self {
        let mut error = Self::at(file, place, reason);
        error.0.invalid_line = true;
        error
    }

    /// The file is damaged at `place`, and what follows cannot be read either.
    pub(crate) fn at(file: &str, place: FilePlace, reason: impl Into<String>) -> Self {
        let mut error = Self::file(file, reason);
        error.0.place = Some(place);
        error
    }

    /// The same error with the error that caused it.
    pub(crate) fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The same of a text of which nothing says that it is a table: before this line there was no route.
    pub(crate) fn of_no_table(mut self) -> Self {
        self.0.no_table = true;
        self
    }

    /// The number of the invalid line, from 1; for truncated or unreadable data, the line in which reading
    /// stopped.
    pub fn line(&self) -> Option<u64> {
        match self.0.place? {
            FilePlace::Line(line) => Some(line),
            FilePlace::Byte(_) => None,
        }
    }

    /// In a binary file, the offset of the invalid record, or where reading stopped, in decompressed bytes.
    pub fn byte(&self) -> Option<u64> {
        match self.0.place? {
            FilePlace::Line(_) => None,
            FilePlace::Byte(offset) => Some(offset),
        }
    }

    /// Whether one line (in a binary file, one record) is invalid and reading may continue after it.
    pub fn is_invalid_line(&self) -> bool {
        self.0.invalid_line
    }

    /// Whether this is a text of which nothing says that it is a table: no format is recognised, and its first line that is no
    /// comment does not begin with a prefix.
    pub fn is_no_table(&self) -> bool {
        self.0.no_table
    }

    /// The place and the reason, for a line that names the file already.
    pub(crate) fn without_file(&self) -> String {
        let mut text = match self.0.place {
            Some(FilePlace::Line(line)) => format!("line {line}: "),
            Some(FilePlace::Byte(offset)) => format!("byte {offset}: "),
            None => String::new(),
        };
        // Escaped as in the displayed error, and for the same reason.
        let _ = escape(&self.0.reason, &mut text);
        text
    }

    /// Whether the data is truncated, and valid up to its end.
    pub fn is_cut(&self) -> bool {
        let source = self.0.source.as_ref();
        source
            .and_then(|source| source.downcast_ref::<io::Error>())
            .is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without this, a file's name could break the one line, or steer a terminal.
        escape(&self.0.file, f)?;
        match self.0.place {
            Some(FilePlace::Line(line)) => write!(f, ":{line}")?,
            Some(FilePlace::Byte(offset)) => write!(f, ": byte {offset}")?,
            None => {}
        }
        f.write_str(": ")?;
        // Reasons quote a file's bytes escaped, but other libraries' messages
        // inside them promise nothing.
        escape(&self.0.reason, f)
    }
}

impl fmt::Debug for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadError({self})")
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|e| e as _)
    }
}

/// `text` with its control characters escaped.
pub(crate) fn escape(text: &str, to: &mut impl fmt::Write) -> fmt::Result {
    for c in text.chars() {
        if is_unprintable(c) {
            write!(to, "{}", c.escape_default())?;
        } else {
            to.write_char(c)?;
        }
    }
    Ok(())
}

/// Text of a file, to be shown on a terminal or in a line: control characters and line ends are escaped.
///
/// ```
/// assert_eq!(popfib_formats::Escaped("a\x1b[2J").to_string(), r"a\u{1b}[2J");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Most texts are ASCII, in which characters need not be found.
        let is_plain = self.0.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if !is_plain && self.0.contains(is_unprintable) {
            escape(self.0, f)
        } else {
            f.write_str(self.0)
        }
    }
}

/// Control characters, and those that change the direction or the lines of the text around them.
fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The start of `text` in quotes, fit to be shown in a message.
pub fn quote(text: impl AsRef<[u8]>) -> String {
    const SHOWN: usize = 60;
    let bytes = text.as_ref();
    let head = &bytes[..bytes.len().min(SHOWN)];
    let mut quoted = String::from('"');
    // Writing to a String cannot fail.
    let _ = escape(&String::from_utf8_lossy(head), &mut quoted);
    if head.len() < bytes.len() {
        quoted.push_str("...");
    }
    quoted.push('"');
    quoted
}

/// The error that `text` is not `what`, such as an address.
pub(crate) fn not(text: impl AsRef<[u8]>, what: &str) -> String {
    format!("{}: not {what}", quote(text))
}

/// The value of `text`, which should be `what`, such as an address.
pub(crate) fn parsed<T: FromStr>(text: &str, what: &str) -> Result<T, String> {
    text.parse().map_err(|_| not(text, what))
}

/// What to say if no column is called `missing`: which names there are, the first twenty of them.
pub(crate) fn no_name<'n>(missing: &str, there: impl Iterator<Item = &'n str>) -> String {
    let there = there.take(20).map(quote);
    let (missing, there) = (quote(missing), there.collect::<Vec<_>>());
    format!("no column {missing} in {}", there.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_file_line_and_reason_on_one_line() {
        let error = ReadError::invalid_line("a b.txt", 7, "no");
        assert_eq!(error.to_string(), "a b.txt:7: no");
        assert_eq!(ReadError::file("t", "no").to_string(), "t: no");
        let error = ReadError::invalid("t", FilePlace::Byte(12), "no");
        assert_eq!(error.to_string(), "t: byte 12: no");
        let odd = ReadError::file("t\n\x1b[31m\u{202e}", "x\ry");
        assert_eq!(odd.to_string(), r"t\n\u{1b}[31m\u{202e}: x\ry");
        assert_eq!(odd.without_file(), r"x\ry");
    }

    #[test]
    fn quotes_are_short_and_harmless() {
        assert_eq!(quote(b"10.0.0.0/8"), "\"10.0.0.0/8\"");
        assert_eq!(quote("Zürich"), "\"Zürich\"");
        assert_eq!(quote(b"a\x1b[2J\xff"), "\"a\\u{1b}[2J\u{fffd}\"");
        assert_eq!(quote([b'x'; 100]), format!("\"{}...\"", "x".repeat(60)));
        assert!(quote([0; 1 << 20]).len() < 400);
    }

    #[test]
    fn carries_its_cause() {
        let eof = io::ErrorKind::UnexpectedEof;
        let error = ReadError::stopped("t", FilePlace::Line(3), "cut", eof.into());
        assert_eq!((error.line(), error.byte()), (Some(3), None));
        assert!(error.is_cut());
        assert!(!error.is_invalid_line());
        assert!(error.source().is_some_and(|s| s.is::<io::Error>()));
        assert!(ReadError::file("t", "no").source().is_none());
    }
}
