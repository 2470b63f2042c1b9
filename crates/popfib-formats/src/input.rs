//! Where data comes from: a file, standard input, or any reader; decompressed bytes out.
//!
//! An input can be looked at before it is read ([`Input::peek`]), which is how formats are found: what was looked at is read again.
//! It never waits for more bytes than were asked for, so that a format is recognised and routes flow while a pipe is still slow.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use popfib::image::{ImageTable, Source};

use crate::date;
use crate::decompress::{Decompressor, RawFile};
use crate::error::{FilePlace, ReadError};

/// The most that [`Input::peek`] looks at.
pub(crate) const HEAD: usize = 64 << 10;

/// An opened file or standard input, decompressed by content, with the name
/// that error messages give it.
///
/// gzip, bzip2 and zstd are recognised by their first bytes, whatever the name
/// says; files of several members or frames are read to the end of the last.
/// Memory is constant, apart from zstd's window (256 MiB at most). Compressed
/// data that grows beyond a limit is an error: see [`Input::max_size`].
pub struct Input {
    /// What is known of the data before it is read: its name, and the time at which the file was written.
    source: Source,
    pub(crate) kind: InputKind,
    state: InputState,
    /// What was peeked at and is still to be read, from `taken` on.
    head: Vec<u8>,
    taken: usize,
    max_size: u64,
    /// How much came out of compressed data.
    decompressed: u64,
    /// How much came out until the mark of a tar archive was passed, and whether all of the mark so far was there.
    seen: usize,
    has_mark: bool,
    /// Whether lines end with a zero byte.
    ends_with_zero: bool,
    progress: Progress,
}

/// What there is to read.
pub(crate) enum InputKind {
    /// Bytes, whose format is recognised.
    Bytes,
    /// The built-in table.
    BuiltIn,
    /// Tables of an image that is open already.
    Image(Vec<ImageTable>),
}

/// How far an input is.
enum InputState {
    /// Nothing read so far. Opening must not wait for a slow pipe's first byte. The function then chooses the
    /// decompressor.
    Unread(RawFile, fn(RawFile) -> io::Result<Decompressor>),
    Reading(Decompressor),
    /// Stopped by an error while peeking: to be reported after the bytes before it.
    Failed(String, io::Error),
    /// At the end, or stopped by an error.
    Done,
}

/// The bytes that may begin a text of UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Where a tar archive says that it is one. Its first file may be anything that popfib reads, with more after it.
const TAR: (usize, &[u8]) = (257, b"ustar");

impl Input {
    /// The limit of [`Input::max_size`] unless another is set: 64 GiB. The
    /// largest tables there are, as text, stay below half of it.
    pub const DEFAULT_MAX_SIZE: u64 = 64 << 30;

    /// Opens the file at `path`; `-` is standard input.
    ///
    /// # Errors
    /// If there is no such file, it may not be read, or it is a directory.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        if path.as_os_str() == "-" {
            return Ok(Self::from_reader("<stdin>", io::stdin()));
        }
        let name = path.display().to_string();
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        match opened {
            Ok((metadata, _)) if metadata.is_dir() => {
                Err(ReadError::file(&name, "is a directory, not a file"))
            }
            Ok((metadata, file)) => {
                let mut input = Self::from_reader(name, file);
                if metadata.is_file() {
                    input.progress.total = Some(metadata.len());
                    let modified = metadata.modified().ok();
                    input.source.date = modified.and_then(date::of_time).unwrap_or_default();
                }
                Ok(input)
            }
            Err(error) => Err(ReadError::opening(&name, error)),
        }
    }

    /// The data of `reader`, compressed or not, under a name for error messages.
    ///
    /// Nothing is read yet.
    pub fn from_reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        let source = Source::named(name);
        Self::new(source, Box::new(reader), Decompressor::detect)
    }

    /// Data of the program itself.
    pub(crate) fn embedded(source: Source, data: &'static [u8], kind: InputKind) -> Self {
        let mut input = Self::new(source, Box::new(data), Decompressor::plain);
        input.kind = kind;
        input
    }

    /// As [`Input::from_reader`], of data that is taken as it is: programs that use nothing else of inputs link
    /// no decompressor.
    pub fn plain(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        let source = Source::named(name);
        Self::new(source, Box::new(reader), Decompressor::plain)
    }

    fn new(
        source: Source,
        reader: Box<dyn Read + Send>,
        choose: fn(RawFile) -> io::Result<Decompressor>,
    ) -> Self {
        let progress = Progress::default();
        Self {
            source,
            kind: InputKind::Bytes,
            state: InputState::Unread(RawFile::new(reader, progress.read.clone()), choose),
            head: Vec::new(),
            taken: 0,
            max_size: Self::DEFAULT_MAX_SIZE,
            decompressed: 0,
            seen: 0,
            has_mark: true,
            ends_with_zero: false,
            progress,
        }
    }

    /// What is known of the data before it is read.
    pub(crate) fn source(&self) -> Source {
        self.source.clone()
    }

    /// Limits the size of decompressed data: beyond `bytes`, reading ends with an error. So a small file that
    /// decompresses to a huge one (a "zip bomb") takes bounded time. Plain data has no limit.
    pub fn max_size(mut self, bytes: u64) -> Self {
        self.max_size = bytes;
        self
    }

    /// Takes zero bytes for the ends of lines, as `grep -z` does: they and the line ends inside of lines change places.
    pub fn ending_with_zero(mut self, is_so: bool) -> Self {
        self.ends_with_zero = is_so;
        self
    }

    /// The name of the file; `<stdin>` for standard input.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// How much of the file has been read; other threads can watch it.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Looks at the first decompressed bytes without taking them: as many as it
    /// needs until `enough` says so, at most 64 KiB, fewer only at the end.
    ///
    /// `enough` is what a slow pipe is waited for and no more. An error of
    /// reading ends the peek; the read that gets to it reports it.
    pub(crate) fn peek(&mut self, enough: impl Fn(&[u8]) -> bool) -> &[u8] {
        while self.head.len() < HEAD && !enough(&self.head) {
            let old = self.head.len();
            self.head.resize(HEAD, 0);
            let mut head = std::mem::take(&mut self.head);
            let read = self.decode(&mut head[old..]);
            let n = match read {
                Ok(n) => n,
                Err((reason, error)) => {
                    self.state = InputState::Failed(reason, error);
                    0
                }
            };
            head.truncate(old + n);
            self.head = head;
            if n == 0 {
                break;
            }
        }
        &self.head
    }

    /// Reads decompressed bytes into `buf`, as many as are there without
    /// waiting for more, at least one; 0 at the end. `place` is what to name in
    /// an error.
    pub(crate) fn read(&mut self, buf: &mut [u8], place: FilePlace) -> Result<usize, ReadError> {
        if self.taken < self.head.len() {
            let rest = &self.head[self.taken..];
            let n = rest.len().min(buf.len());
            buf[..n].copy_from_slice(&rest[..n]);
            self.taken += n;
            if self.taken == self.head.len() {
                self.taken = 0;
                self.head = Vec::new();
            }
            return Ok(n);
        }
        self.decode(buf)
            .map_err(|(reason, error)| ReadError::stopped(self.name(), place, reason, error))
    }

    /// All bytes, for what is held in memory as a whole. `check` is asked about
    /// what is there from time to time, and stops the reading by a reason.
    ///
    /// Compressed data may grow to 16 times its file and 8 MiB: a small file must
    /// not take gigabytes before anything in it is known to be right.
    pub(crate) fn read_whole(
        &mut self,
        check: impl Fn(&[u8]) -> Result<(), String>,
    ) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::new();
        let mut block = vec![0; 64 << 10];
        loop {
            let read = self.read(&mut block, FilePlace::Byte(bytes.len() as u64))?;
            if read == 0 {
                return Ok(bytes);
            }
            bytes.extend_from_slice(&block[..read]);
            check(&bytes).map_err(|reason| ReadError::file(self.name(), reason))?;
            if !self.may_hold(bytes.len()) {
                let reason =
                    "the compressed data grows to more than 16 times its size: unpack it first";
                return Err(ReadError::file(self.name(), reason));
            }
        }
    }

    /// Whether so many bytes of it may be held in memory at a time: of compressed data, 16 times what
    /// was read of the file and 8 MiB.
    pub(crate) fn may_hold(&self, bytes: usize) -> bool {
        const GROWTH: u64 = 16;
        const SLACK: u64 = 8 << 20;
        self.decompressed == 0 || bytes as u64 <= self.progress.read() * GROWTH + SLACK
    }

    /// Whether the data is a tar archive, as its next bytes show.
    fn is_tar(&mut self, bytes: &[u8]) -> bool {
        let (begin, mark) = TAR;
        let end = begin + mark.len();
        if self.seen >= end {
            return false;
        }
        for (at, byte) in (self.seen..end).zip(bytes) {
            self.has_mark &= at < begin || *byte == mark[at - begin];
        }
        self.seen += bytes.len();
        self.seen >= end && self.has_mark
    }

    /// Reads decompressed bytes past the head; the reason of an error is in words, since only the decompressor knows it.
    fn decode(&mut self, buf: &mut [u8]) -> Result<usize, (String, io::Error)> {
        // Done unless reading goes well: nothing is read again after an end or an error.
        let mut decoder = match std::mem::replace(&mut self.state, InputState::Done) {
            InputState::Unread(raw, choose) => {
                choose(raw).map_err(|e| (format!("cannot read: {e}"), e))?
            }
            InputState::Reading(decoder) => decoder,
            InputState::Failed(reason, error) => return Err((reason, error)),
            InputState::Done => return Ok(0),
        };
        match decoder.read(buf) {
            Ok(0) => Ok(0),
            Ok(n) if self.is_tar(&buf[..n]) => {
                let reason = "this is a tar archive: unpack it first, as by `tar -xf`".to_owned();
                Err((reason, io::ErrorKind::InvalidData.into()))
            }
            Ok(n) => {
                if self.ends_with_zero {
                    swap_line_ends(&mut buf[..n]);
                }
                if !self.progress.has_text() {
                    // Nor is the mark of UTF-8 text.
                    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || BOM.contains(byte);
                    let has_text = !buf[..n].iter().all(is_blank);
                    self.progress.has_text.store(has_text, Ordering::Relaxed);
                }
                if decoder.is_compressed() {
                    self.decompressed += n as u64;
                    if self.decompressed > self.max_size {
                        let reason = format!(
                            "decompressed, this is more than {} bytes, the limit for compressed data",
                            self.max_size
                        );
                        return Err((reason, io::ErrorKind::FileTooLarge.into()));
                    }
                }
                self.state = InputState::Reading(decoder);
                Ok(n)
            }
            Err(e) => Err((decoder.explain(&e), e)),
        }
    }
}

/// Puts zero bytes in place of line ends and the reverse ([`Input::ending_with_zero`]).
pub fn swap_line_ends(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = match *byte {
            0 => b'\n',
            b'\n' => 0,
            other => other,
        };
    }
}

/// The whole lines of a file's head, without their ends; what was cut off in
/// the middle is left out, and so is all from a line with a NUL on, which is no text. For the `detect` functions of formats.
pub(crate) fn head_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let head = head.strip_prefix(BOM).unwrap_or(head);
    let whole = match memchr::memrchr(b'\n', head) {
        Some(end) if head.len() >= HEAD => &head[..end],
        _ => head,
    };
    whole
        .split(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .take_while(|line| !line.contains(&0))
}

/// The same as text; a line that is none is empty.
pub(crate) fn head_text(head: &[u8]) -> impl Iterator<Item = &str> {
    head_lines(head).map(|line| std::str::from_utf8(line).unwrap_or_default())
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("name", &self.source.name)
            .finish_non_exhaustive()
    }
}

/// How far the reading of an [`Input`] has come, in bytes of the file as it is:
/// compressed, if it is.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    read: Arc<AtomicU64>,
    has_text: Arc<AtomicBool>,
    total: Option<u64>,
}

impl Progress {
    /// The bytes read so far.
    pub fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Whether what was read so far is more than blanks.
    pub(crate) fn has_text(&self) -> bool {
        self.has_text.load(Ordering::Relaxed)
    }

    /// The length of the file; `None` for a pipe.
    pub fn total(&self) -> Option<u64> {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn read_all(input: &mut Input) -> Result<Vec<u8>, String> {
        let mut all = Vec::new();
        let mut buf = [0; 1000];
        loop {
            let place = FilePlace::Byte(all.len() as u64);
            match input.read(&mut buf, place).map_err(|e| e.to_string())? {
                0 => return Ok(all),
                n => all.extend_from_slice(&buf[..n]),
            }
        }
    }

    #[test]
    fn peeking_takes_nothing() {
        let data: Vec<u8> = (0..200_000u32).map(|n| (n % 251) as u8).collect();
        for size in [0, 1, 3, 1000, HEAD - 1, HEAD, HEAD + 1, data.len()] {
            let data = &data[..size];
            let mut input = Input::from_reader("t", Cursor::new(data.to_vec()));
            let peeked = input.peek(|_| false).len();
            assert_eq!(peeked, size.min(HEAD));
            assert_eq!(input.peek(|_| false), &data[..peeked]);
            assert!(read_all(&mut input).unwrap() == data, "{size}");
            assert_eq!(input.progress().read(), size as u64);
        }
    }

    #[test]
    fn peeking_waits_for_no_more_than_needed() {
        /// Fails when asked again.
        struct Once(bool);
        impl Read for Once {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                if std::mem::replace(&mut self.0, true) {
                    return Err(io::Error::other("would wait"));
                }
                buf[..3].copy_from_slice(b"abc");
                Ok(3)
            }
        }
        let mut input = Input::from_reader("t", Once(false));
        assert_eq!(input.peek(|head| head.contains(&b'c')), b"abc");
        // The failure is reported after what came before it, and once.
        assert_eq!(input.peek(|_| false), b"abc");
        let error = read_all(&mut input).unwrap_err();
        assert_eq!(error, "t: byte 3: cannot read after byte 3: would wait");
        assert_eq!(read_all(&mut input).unwrap(), b"");
    }

    #[test]
    fn tar_archives_are_known_however_they_come() {
        /// At most so many bytes at a time.
        struct Pieces(Cursor<Vec<u8>>, usize);
        impl Read for Pieces {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                let most = buf.len().min(self.1);
                self.0.read(&mut buf[..most])
            }
        }
        let mut archive = vec![0; 1024];
        archive[..5].copy_from_slice(b"a.csv");
        archive[TAR.0..][..5].copy_from_slice(TAR.1);
        for size in [1, 2, 257, 258, 260, 262, 1024] {
            let input = |data: &[u8]| {
                let pieces = Pieces(Cursor::new(data.to_vec()), size);
                read_all(&mut Input::from_reader("t", pieces))
            };
            let error = input(&archive).unwrap_err();
            assert!(error.contains("this is a tar archive"), "{size}: {error}");
            archive[TAR.0 + 4] = b'x';
            assert_eq!(input(&archive).unwrap(), archive);
            archive[TAR.0 + 4] = b'r';
        }
    }

    #[test]
    fn compressed_data_has_a_limit() {
        use std::io::Write;
        let level = flate2::Compression::best();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
        encoder.write_all(&[0; 5_000_000]).unwrap();
        let bomb = encoder.finish().unwrap();
        let input = |limit| Input::from_reader("t", Cursor::new(bomb.clone())).max_size(limit);
        assert_eq!(read_all(&mut input(5_000_000)).unwrap().len(), 5_000_000);
        let error = read_all(&mut input(4_999_999)).unwrap_err();
        assert!(error.contains("more than 4999999 bytes"), "{error}");
        let plain = Input::from_reader("t", Cursor::new(vec![0; 1000]));
        assert_eq!(read_all(&mut plain.max_size(1)).unwrap().len(), 1000);
    }

    #[test]
    fn lines_of_a_head() {
        let lines = |head: &[u8]| -> Vec<String> {
            let text = |line| String::from_utf8_lossy(line).into_owned();
            head_lines(head).map(text).collect()
        };
        assert_eq!(lines(b"\xef\xbb\xbfa\r\nb\n\nc"), ["a", "b", "", "c"]);
        let mut long = b"a\nb\n".to_vec();
        long.resize(HEAD, b'c');
        assert_eq!(lines(&long), ["a", "b"]);
    }
}
