//! Lines of an input, one at a time, in a buffer of fixed size: bytes in, lines and their numbers out.
//!
//! Blocks are read as they come and cut at line ends found by memchr; a line
//! is handed out as soon as its end is in the buffer, without waiting for a
//! full block. A line that is longer than the buffer is meant for is an error, and
//! skipped without being kept.
//!
//! Rejected: `BufRead::read_until`. It copies each line, knows no limit, and says nothing about where a file stops being text.

use std::io;
use std::ops::Range;
use std::str;

use memchr::{memchr, memchr_iter};

use crate::error::{FilePlace, NO_UTF8, ReadError};
use crate::input::Input;

/// The longest line that is read, without its end, unless a format has longer ones.
pub(crate) const MAX_LINE: usize = 128 << 10;

/// Room for the start of a line and a good deal more: few reads, still in the L2 cache.
const BUFFER: usize = 256 << 10;

/// A reader of lines: [`Lines::advance`], then [`Lines::line`].
pub(crate) struct Lines {
    input: Input,
    max_line: usize,
    /// It grows for a line that is longer than a half of it.
    buffer: Vec<u8>,
    /// Where the data that is not handed out yet begins, up to where it is
    /// known to hold no line end, and where it ends.
    start: usize,
    searched: usize,
    end: usize,
    at_end: bool,
    /// Inside of a line that was too long.
    skipping: bool,
    line: Range<usize>,
    number: u64,
    /// How many bytes of the input came before the buffer's first.
    offset: u64,
}

impl Lines {
    pub(crate) fn new(input: Input) -> Self {
        Self::up_to(MAX_LINE, input)
    }

    /// Reads lines of up to `max_line` bytes, which is a power of 2 that is no less than [`MAX_LINE`].
    pub(crate) fn up_to(max_line: usize, input: Input) -> Self {
        Self {
            input,
            max_line,
            buffer: vec![0; BUFFER],
            start: 0,
            searched: 0,
            end: 0,
            at_end: false,
            skipping: false,
            line: 0..0,
            number: 0,
            offset: 0,
        }
    }

    /// Goes to the next line that is not empty; false at the end.
    ///
    /// # Errors
    /// A line that is too long (the next call goes on after
    /// it), or a failure of the input.
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<bool, ReadError> {
        loop {
            if self.start == self.searched && !self.skipping {
                let run = line_ends(&self.buffer[self.start..self.end]);
                self.start += run;
                self.searched = self.start;
                self.number += run as u64;
            }
            if let Some(found) = memchr(b'\n', &self.buffer[self.searched..self.end]) {
                let end = self.searched + found;
                let start = self.start;
                self.start = end + 1;
                self.searched = self.start;
                if std::mem::take(&mut self.skipping) {
                    continue;
                }
                return self.set_line(start, end);
            }
            if !self.fill()? {
                return Ok(false);
            }
            if self.at_end {
                // The last line, without a line end.
                let start = self.start;
                self.start = self.end;
                self.searched = self.end;
                return if start == self.end || self.skipping {
                    Ok(false)
                } else {
                    self.set_line(start, self.end)
                };
            }
        }
    }

    /// Whether the next call of [`Lines::advance`] finds a line in what has been read.
    pub(crate) fn has_next(&self) -> bool {
        let rest = &self.buffer[self.searched..self.end];
        memchr(b'\n', &rest[line_ends(rest)..]).is_some()
    }

    /// The line that [`Lines::advance`] went to, without its end.
    #[inline]
    pub(crate) fn line(&self) -> &[u8] {
        &self.buffer[self.line.clone()]
    }

    /// An error about the current line.
    pub(crate) fn invalid(&self, reason: impl Into<String>) -> ReadError {
        ReadError::invalid_line(self.input.name(), self.number, reason)
    }

    /// The current line as text without control characters but tabs.
    ///
    /// # Errors
    /// Says where it is none. What has several zeros is binary data, and its lines
    /// are no places that anybody could find: the error names a byte.
    pub(crate) fn text(&self) -> Result<&str, ReadError> {
        text(self.line()).map_err(|reason| self.no_text(reason))
    }

    /// The error of a line that is no text up to its comment: whatever else may
    /// be wrong with a binary file, that it is one says more.
    #[cold]
    pub(crate) fn not_text(&self) -> Option<ReadError> {
        let line = self.line();
        let end = line.iter().position(|b| matches!(b, b'#' | b';'));
        let reason = text(&line[..end.unwrap_or(line.len())]).err()?;
        Some(self.no_text(reason))
    }

    /// An error about the current line, for a reason; that it isn't even text says more.
    #[cold]
    pub(crate) fn not_text_or(&self, reason: String) -> ReadError {
        self.not_text().unwrap_or_else(|| self.invalid(reason))
    }

    #[cold]
    fn no_text(&self, reason: String) -> ReadError {
        let line = self.line();
        let kind = Some(line).filter(|_| self.number == 1).and_then(kind);
        let reason = kind.map_or(reason, |kind| format!("this is {kind}"));
        if memchr_iter(0, line).count() < 3 {
            return self.invalid(reason);
        }
        let valid = line.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let at = valid.find(is_control).unwrap_or(valid.len());
        let place = FilePlace::Byte(self.offset + (self.line.start + at) as u64);
        ReadError::invalid(self.input.name(), place, reason)
    }

    /// An error about a line that was read before.
    pub(crate) fn invalid_at(&self, line: u64, reason: impl Into<String>) -> ReadError {
        ReadError::invalid_line(self.input.name(), line, reason)
    }

    /// An error about the current line that nothing can be read after.
    pub(crate) fn stopped(&self, reason: impl Into<String>) -> ReadError {
        let place = FilePlace::Line(self.number);
        let error = io::ErrorKind::InvalidData.into();
        ReadError::stopped(self.input.name(), place, reason, error)
    }

    /// The number of the current line, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    #[inline]
    fn set_line(&mut self, start: usize, mut end: usize) -> Result<bool, ReadError> {
        self.number += 1;
        if end > start && self.buffer[end - 1] == b'\r' {
            end -= 1;
        }
        if end - start > self.max_line {
            return Err(self.too_long());
        }
        let bom = if self.number == 1 && self.buffer[start..end].starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        self.line = start + bom..end;
        Ok(true)
    }

    fn too_long(&self) -> ReadError {
        self.invalid(format!("the line is longer than {} bytes", self.max_line))
    }

    /// Reads once, after data that holds no line end. False if the end was
    /// known already; notes it otherwise.
    #[cold]
    fn fill(&mut self) -> Result<bool, ReadError> {
        if self.at_end {
            return Ok(false);
        }
        if self.skipping {
            self.start = self.end;
        } else if self.end - self.start > self.max_line + 1 {
            // Too long even if it ended in CR LF right here.
            self.skipping = true;
            self.start = self.end;
            self.number += 1;
            self.searched = self.end;
            return Err(self.too_long());
        }
        // Moved to the front only when the room after runs short: many short
        // reads, as from a slow pipe, don't move the same bytes each time.
        if self.start == self.end || self.buffer.len() - self.end < MAX_LINE {
            self.buffer.copy_within(self.start..self.end, 0);
            self.offset += self.start as u64;
            self.end -= self.start;
            self.start = 0;
            if self.end > self.buffer.len() / 2 + 1 {
                self.buffer.resize(2 * self.buffer.len(), 0);
            }
        }
        self.searched = self.end;
        let read = self.input.read(
            &mut self.buffer[self.end..],
            FilePlace::Line(self.number + 1),
        );
        // An error of the input is an end, too: what is left of a line cut in
        // the middle could be read as another route than was meant.
        match read {
            Ok(0) => self.at_end = true,
            Ok(n) => self.end += n,
            Err(e) => {
                self.at_end = true;
                self.start = self.end;
                self.searched = self.end;
                return Err(e);
            }
        }
        Ok(true)
    }
}

/// How many line ends `bytes` begins with: as fast as memory, because compressed
/// data can hold gigabytes of them.
#[inline]
fn line_ends(bytes: &[u8]) -> usize {
    if bytes.first() != Some(&b'\n') {
        return 0;
    }
    let (blocks, _) = bytes.as_chunks::<64>();
    let is_blank = |block: &&[u8; 64]| block.iter().fold(true, |all, &b| all & (b == b'\n'));
    let at = 64 * blocks.iter().take_while(is_blank).count();
    at + bytes[at..].iter().take_while(|&&b| b == b'\n').count()
}

/// Whether a comment of a text format begins with the sign `#` or `;` at `at`: after a blank, or a semicolon before one.
pub(crate) fn begins_comment(line: &[u8], at: usize) -> bool {
    let is_blank = |at: Option<usize>| {
        let byte = at.and_then(|at| line.get(at));
        byte.is_none_or(u8::is_ascii_whitespace)
    };
    is_blank(at.checked_sub(1)) || line.get(at) != Some(&b'#') && is_blank(Some(at + 1))
}

/// A line as text without control characters but tabs.
pub(crate) fn text(line: &[u8]) -> Result<&str, String> {
    // Most lines are ASCII, whose characters need not be found one by one.
    let is_plain = line
        .iter()
        .fold(true, |all, b| all & matches!(b, b' '..=b'~' | b'\t'));
    let line = str::from_utf8(line).map_err(|_| NO_UTF8.to_owned())?;
    let control = (!is_plain).then(|| line.chars().find(|&c| is_control(c)));
    match control.flatten() {
        None => Ok(line),
        Some(c) => Err(format!(
            "this is not text: control character U+{:04X}",
            u32::from(c)
        )),
    }
}

/// Whether a character is none of text; tabs are.
fn is_control(c: char) -> bool {
    c.is_control() && c != '\t'
}

/// As many bytes of a file as [`kind`] looks at, so that what it says does not hang on how many more
/// are there.
pub(crate) const KIND_BYTES: usize = 12;

/// What a file is that begins with `head` and is no text, and what to do about it.
pub(crate) fn kind(head: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 10] = [
        (b"\xff\xfe", UTF16),
        (b"\xfe\xff", UTF16),
        (b"PK\x03\x04", "a zip archive: unpack it first"),
        (b"\xfd7zXZ", "xz data: unpack it first, as by `xz -dc`"),
        (
            b"\x1f\x9d",
            "data of compress (.Z): unpack it first, as by `gzip -dc`",
        ),
        (
            b"\x04\x22\x4d\x18",
            "lz4 data: unpack it first, as by `lz4 -dc`",
        ),
        (b"7z\xbc\xaf", "a 7z archive: unpack it first"),
        (
            b"\x1f\x8b",
            "gzip data where text is expected: unpack it first, as by `gzip -dc`",
        ),
        (
            b"BZh",
            "bzip2 data where text is expected: unpack it first, as by `bzip2 -dc`",
        ),
        (
            b"\x28\xb5\x2f\xfd",
            "zstd data where text is expected: unpack it first, as by `zstd -dc`",
        ),
    ];
    let head = &head[..head.len().min(KIND_BYTES)];
    const UTF16: &str =
        "text in UTF-16: convert it to UTF-8 first, as by `iconv -f UTF-16 -t UTF-8`";
    let known = KNOWN.iter().find(|(magic, _)| head.starts_with(magic));
    let without_mark = match *head {
        [a, b, c, d, ..] => [a, b, c, d].map(|byte| byte == 0),
        _ => [false; 4],
    };
    let is_utf16 = [[false, true, false, true], [true, false, true, false]].contains(&without_mark);
    // BGP and its successors in MRT before RFC 6396: a time, a type of 5 to 10, a subtype, a length.
    let is_old_mrt = matches!(
        *head,
        [1..=255, _, _, _, 0, 5..=10, 0, 0..=7, 0, _, _, _, ..]
    );
    let old_mrt = "MRT of a type that RFC 6396 calls deprecated, as collectors wrote it until 1999: `bgpdump -m` makes text of it";
    let others = [(is_utf16, UTF16), (is_old_mrt, old_mrt)];
    let other = others
        .iter()
        .find_map(|&(is_it, what)| is_it.then_some(what));
    known.map(|&(_, what)| what).or(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{self, Cursor, Read};

    fn all(input: Input) -> Vec<Result<String, String>> {
        let mut lines = Lines::new(input);
        let mut seen = Vec::new();
        loop {
            match lines.advance() {
                Ok(true) => seen.push(Ok(String::from_utf8_lossy(lines.line()).into_owned())),
                Ok(false) => return seen,
                Err(e) => seen.push(Err(e.to_string())),
            }
        }
    }

    fn text(text: impl Into<Vec<u8>>) -> Input {
        Input::from_reader("t", Cursor::new(text.into()))
    }

    /// Hands out its data in pieces of the given length, however much is asked for.
    struct Pieces(Cursor<Vec<u8>>, usize);

    impl Read for Pieces {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let n = buf.len().min(self.1);
            self.0.read(&mut buf[..n])
        }
    }

    #[test]
    fn cuts_lines_at_either_line_end() {
        let lines =
            |t: &str| -> Vec<String> { all(text(t)).into_iter().map(Result::unwrap).collect() };
        assert_eq!(lines("a\nb\r\n\nc"), ["a", "b", "c"]);
        assert_eq!(lines("a\n"), ["a"]);
        assert_eq!(lines("\u{feff}a\n\u{feff}b\n"), ["a", "\u{feff}b"]);
        assert_eq!(lines("a\r"), ["a"]);
        assert_eq!(lines("\r\n"), [""]);
        assert!(lines("").is_empty());
    }

    /// Empty lines are passed over, and counted.
    #[test]
    fn runs_of_line_ends() {
        for run in (1..200).chain([BUFFER - 1, BUFFER, BUFFER + 1, 3 * BUFFER + 7]) {
            for piece in [usize::MAX, 1000, 7] {
                let data = format!("{0}a{0}\r\nb", "\n".repeat(run)).into_bytes();
                let mut lines =
                    Lines::new(Input::from_reader("t", Pieces(Cursor::new(data), piece)));
                for (number, wanted) in [(run + 1, "a"), (2 * run + 1, ""), (2 * run + 2, "b")] {
                    assert!(lines.advance().unwrap());
                    assert_eq!(
                        (lines.number(), lines.line()),
                        (number as u64, wanted.as_bytes())
                    );
                }
                assert!(!lines.advance().unwrap());
            }
        }
    }

    #[test]
    fn lines_over_block_borders_stay_whole() {
        let wanted: Vec<String> = (0..40_000)
            .map(|n| format!("line {n} {}", "x".repeat(n % 97)))
            .collect();
        let data = wanted.join("\n").into_bytes();
        for piece in [1, 7, 4096, BUFFER, usize::MAX] {
            let input = Input::from_reader("t", Pieces(Cursor::new(data.clone()), piece));
            let seen: Vec<String> = all(input).into_iter().map(Result::unwrap).collect();
            assert!(seen == wanted, "pieces of {piece}");
        }
    }

    #[test]
    fn a_line_of_the_greatest_length_passes_and_one_more_byte_does_not() {
        let longest = "x".repeat(MAX_LINE);
        for end in ["\n", "\r\n", ""] {
            for piece in [usize::MAX, 1000] {
                let ok = format!("a\n{longest}{end}").into_bytes();
                let seen = all(Input::from_reader("t", Pieces(Cursor::new(ok), piece)));
                assert!(seen == [Ok("a".into()), Ok(longest.clone())]);
                let after = if end.is_empty() { "" } else { "b" };
                let long = format!("a\nx{longest}{end}{after}").into_bytes();
                let seen = all(Input::from_reader("t", Pieces(Cursor::new(long), piece)));
                let error = Err("t:2: the line is longer than 131072 bytes".to_string());
                assert_eq!(seen[..2], [Ok("a".into()), error]);
                let rest: Vec<_> = if end.is_empty() {
                    vec![]
                } else {
                    vec![Ok("b".into())]
                };
                assert_eq!(seen[2..], rest);
            }
        }
    }

    #[test]
    fn line_numbers_go_on_behind_a_line_too_long() {
        let mut data = vec![b'x'; 3_000_000];
        data.extend_from_slice(b"\nb\n");
        data.extend(vec![b'y'; 400_000]);
        let seen = all(text(data));
        assert_eq!(seen.len(), 3);
        assert!(seen[0].as_ref().is_err_and(|e| e.starts_with("t:1: ")));
        assert_eq!(seen[1], Ok("b".into()));
        assert!(seen[2].as_ref().is_err_and(|e| e.starts_with("t:3: ")));
    }

    #[test]
    fn a_line_is_handed_out_before_more_is_read() {
        /// Panics when read from once more than its lines need.
        struct OneByOne(Vec<&'static [u8]>);
        impl Read for OneByOne {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                let piece = self.0.remove(0);
                buf[..piece.len()].copy_from_slice(piece);
                Ok(piece.len())
            }
        }
        let mut lines = Lines::new(Input::from_reader(
            "t",
            OneByOne(vec![b"1.", b"1\n2", b"\n3\n4\n"]),
        ));
        for wanted in ["1.1", "2", "3", "4"] {
            assert!(lines.advance().unwrap());
            assert_eq!(lines.line(), wanted.as_bytes());
        }
    }

    #[test]
    fn a_failing_reader_ends_the_lines_without_the_cut_one() {
        struct Fails(usize);
        impl Read for Fails {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                match self.0 {
                    1 => Err(io::ErrorKind::Interrupted.into()),
                    2 => {
                        buf[..4].copy_from_slice(b"1\n2\n");
                        Ok(4)
                    }
                    3 => {
                        buf[..1].copy_from_slice(b"3");
                        Ok(1)
                    }
                    _ => Err(io::Error::other("disk on fire")),
                }
            }
        }
        let seen = all(Input::from_reader("t", Fails(0)));
        let error = "t:3: cannot read after byte 5: disk on fire".to_string();
        assert_eq!(seen, [Ok("1".into()), Ok("2".into()), Err(error)]);
    }
}
