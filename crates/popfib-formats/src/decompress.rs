//! Decompression by content: the bytes of a file in, plain bytes out. The first bytes decide, a file's name does not.
//!
//! gzip, bzip2 and zstd may each consist of several members (frames) one after
//! the other, as `cat a.gz b.gz`, pbzip2 and pzstd make them; all are read.
//! Every checksum that the data carries is verified.
//!
//! The pieces, from the file up: [`RawFile`] counts bytes, a [`RawStream`] puts those that detection took in front again, and a
//! [`Decompressor`] is one of the formats, or none.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Size of the buffer between the file and a decompressor. Reads of plain data
/// that are at least as large go past it.
const BUFFER: usize = 64 << 10;

/// The file as it is, with what an error message needs to know about it.
pub(crate) struct RawFile {
    reader: Box<dyn Read + Send>,
    offset: u64,
    /// The offset for those who watch from another thread.
    progress: Arc<AtomicU64>,
    /// Whether reading failed: then no decompressor is to blame.
    failed: bool,
}

impl RawFile {
    pub(crate) fn new(reader: Box<dyn Read + Send>, progress: Arc<AtomicU64>) -> Self {
        Self {
            reader,
            offset: 0,
            progress,
            failed: false,
        }
    }
}

impl Read for RawFile {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.reader.read(buf) {
                Ok(n) => {
                    self.offset += n as u64;
                    self.progress.store(self.offset, Ordering::Relaxed);
                    return Ok(n);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.failed = true;
                    return Err(e);
                }
            }
        }
    }
}

/// The bytes that detection has taken, then the rest.
type RawStream = Chain<Cursor<Vec<u8>>, BufReader<RawFile>>;

/// The data of a file, decompressed.
pub(crate) enum Decompressor {
    Plain(RawStream),
    /// The compression's name. A trait object, so that programs that only read plain data link no decompressor.
    Compressed(&'static str, Box<dyn Decompress>),
}

/// What decompresses a stream.
pub(crate) trait Decompress: Read + Send {
    /// What it reads from.
    fn stream(&self) -> &RawStream;
}

/// The first bytes of each compression.
const GZIP: &[u8] = &[0x1f, 0x8b];
const BZIP2: &[u8] = b"BZh";
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// zstd's skippable frames begin with 0x50 to 0x5f and these. pzstd puts one first.
const ZSTD_SKIPPABLE: &[u8] = &[0x2a, 0x4d, 0x18];

/// Whether more bytes after `head` could still make it the start of compressed data.
fn is_undecided(head: &[u8]) -> bool {
    let starts = |magic: &[u8]| head.len() < magic.len() && magic.starts_with(head);
    starts(GZIP) || starts(BZIP2) || starts(ZSTD) || is_start_of_skippable(head) && head.len() < 4
}

/// Whether `head` may begin a skippable frame of zstd.
fn is_start_of_skippable(head: &[u8]) -> bool {
    match head {
        [] => true,
        [first, rest @ ..] => {
            first & 0xf0 == 0x50
                && rest
                    .iter()
                    .zip(ZSTD_SKIPPABLE)
                    .all(|(byte, magic)| byte == magic)
        }
    }
}

impl Decompressor {
    /// Takes the data as it is.
    pub(crate) fn plain(raw: RawFile) -> io::Result<Self> {
        let stream = Cursor::new(Vec::new()).chain(BufReader::with_capacity(BUFFER, raw));
        Ok(Self::Plain(stream))
    }

    /// Reads the first bytes and chooses.
    ///
    /// Never waits for a byte that can't change the choice: a pipe whose first
    /// line is `1.1.1.1` is recognised as text by its first byte.
    pub(crate) fn detect(mut raw: RawFile) -> io::Result<Self> {
        let mut head = Vec::with_capacity(4);
        while is_undecided(&head) {
            let mut bytes = [0; 4];
            let free = 4 - head.len();
            match raw.read(&mut bytes[..free])? {
                0 => break,
                n => head.extend_from_slice(&bytes[..n]),
            }
        }
        let kind = head.clone();
        let stream = Cursor::new(head).chain(BufReader::with_capacity(BUFFER, raw));
        Ok(if kind.starts_with(GZIP) {
            let members = AllMembers {
                decoder: GzDecoder::new(stream),
                begin: GzDecoder::new,
                stream: GzDecoder::get_ref,
                stream_mut: GzDecoder::get_mut,
            };
            Self::Compressed("gzip", Box::new(members))
        } else if kind.starts_with(BZIP2) {
            let members = AllMembers {
                decoder: BzDecoder::new(stream),
                begin: BzDecoder::new,
                stream: BzDecoder::get_ref,
                stream_mut: BzDecoder::get_mut,
            };
            Self::Compressed("bzip2", Box::new(members))
        } else if kind.starts_with(ZSTD) || kind.len() == 4 && is_start_of_skippable(&kind) {
            Self::Compressed("zstd", Box::new(ZstdReader::new(stream)))
        } else {
            Self::Plain(stream)
        })
    }

    /// Whether there is anything to decompress.
    pub(crate) fn is_compressed(&self) -> bool {
        !matches!(self, Self::Plain(_))
    }

    /// What went wrong when [`Decompressor::read`] returned `error`, in words.
    pub(crate) fn explain(&self, error: &io::Error) -> String {
        let (format, stream) = match self {
            Self::Plain(stream) => ("", stream),
            Self::Compressed(format, decoder) => (*format, decoder.stream()),
        };
        let (_, buffered) = stream.get_ref();
        let offset = buffered.get_ref().offset - buffered.buffer().len() as u64;
        if buffered.get_ref().failed || format.is_empty() {
            format!("cannot read after byte {offset}: {error}")
        } else if error.kind() == io::ErrorKind::UnexpectedEof {
            format!("the {format} data is cut off after {offset} bytes")
        } else {
            format!("the {format} data is damaged before byte {offset}: {error}")
        }
    }
}

impl Read for Decompressor {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buf),
            Self::Compressed(_, decoder) => decoder.read(buf),
        }
    }
}

/// The members of a gzip or bzip2 file, and the zeros after the last.
///
/// The libraries' own readers of several members take zeros, with which tapes
/// and disk images fill their blocks, for a damaged member.
struct AllMembers<D> {
    decoder: D,
    /// Makes one at the first byte of a member.
    begin: fn(RawStream) -> D,
    stream: fn(&D) -> &RawStream,
    /// What it reads from, at the byte after the member once that has ended.
    stream_mut: fn(&mut D) -> &mut RawStream,
}

impl<D: Read + Send> Decompress for AllMembers<D> {
    fn stream(&self) -> &RawStream {
        (self.stream)(&self.decoder)
    }
}

impl<D: Read + Send> AllMembers<D> {
    /// Begins the member after the zeros; false at the end of the data.
    fn next(&mut self) -> io::Result<bool> {
        let stream = (self.stream_mut)(&mut self.decoder);
        loop {
            let buffer = stream.fill_buf()?;
            if buffer.is_empty() {
                return Ok(false);
            }
            let zeros = buffer.iter().take_while(|&&byte| byte == 0).count();
            let is_over = zeros < buffer.len();
            stream.consume(zeros);
            if is_over {
                break;
            }
        }
        // The data is taken out of the old decoder and leaves it an empty one.
        let nothing =
            BufReader::with_capacity(0, RawFile::new(Box::new(io::empty()), Arc::default()));
        let nothing = Cursor::new(Vec::new()).chain(nothing);
        self.decoder = (self.begin)(std::mem::replace(stream, nothing));
        Ok(true)
    }
}

impl<D: Read + Send> Read for AllMembers<D> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.decoder.read(buf)? {
                0 if !buf.is_empty() && self.next()? => {}
                read => return Ok(read),
            }
        }
    }
}

/// The largest window of zstd data, which is the memory that it takes: what
/// `zstd --long=28` makes, and more than its highest levels do.
const MAX_WINDOW: u64 = 256 << 20;

/// A frame of nothing, with the smallest window.
const EMPTY_FRAME: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd, 0, 0, 1, 0, 0];

/// All frames of a zstd file; the library's own reader stops after the first.
///
/// It also checks no checksum and takes the data's end inside a frame for any
/// other error. Memory is a frame's window, [`MAX_WINDOW`] at most. The library holds back a window's length of data until the
/// frame ends, so a slow pipe of zstd data gets its lines late.
struct ZstdReader {
    stream: RawStream,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl Decompress for ZstdReader {
    fn stream(&self) -> &RawStream {
        &self.stream
    }
}

impl ZstdReader {
    fn new(stream: RawStream) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW);
        // The library makes room for a whole window from the second frame on only.
        // In the first it would grow, which takes half as much again.
        let _ = decoder.reset(EMPTY_FRAME);
        Self {
            stream,
            decoder,
            in_frame: false,
        }
    }

    /// Begins the next frame or skips a skippable one; false at the end of the data.
    fn begin(&mut self) -> io::Result<bool> {
        use FrameDecoderError::ReadFrameHeaderError as Header;
        if self.stream.fill_buf()?.is_empty() {
            return Ok(false);
        }
        match self.decoder.reset(&mut self.stream) {
            Ok(()) => self.in_frame = true,
            Err(Header(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let length = u64::from(length);
                let skipped = io::copy(&mut (&mut self.stream).take(length), &mut io::sink())?;
                if skipped < length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Err(FrameDecoderError::WindowSizeTooBig { requested, max }) => {
                let reason = format!("its window has {requested} bytes, more than {max}");
                return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
            }
            Err(e) => return Err(self.failure(e)),
        }
        Ok(true)
    }

    /// The error to report: one after which no data is left is the data's early end.
    fn failure(&mut self, error: FrameDecoderError) -> io::Error {
        let kind = match self.stream.fill_buf() {
            Ok([]) => io::ErrorKind::UnexpectedEof,
            Ok(_) => io::ErrorKind::InvalidData,
            Err(e) => return e,
        };
        io::Error::new(kind, error)
    }
}

impl Read for ZstdReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.in_frame {
                if !self.begin()? {
                    return Ok(0);
                }
            } else if self.decoder.can_collect() > 0 {
                return self.decoder.read(buf);
            } else if self.decoder.is_finished() {
                let stored = self.decoder.get_checksum_from_data();
                if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "wrong checksum"));
                }
                self.in_frame = false;
            } else {
                // One block at a time (128 KiB at most), so that memory stays bounded.
                let block = BlockDecodingStrategy::UptoBlocks(1);
                if let Err(e) = self.decoder.decode_blocks(&mut self.stream, block) {
                    return Err(self.failure(e));
                }
            }
        }
    }
}
