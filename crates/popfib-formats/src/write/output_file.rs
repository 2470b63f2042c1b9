//! Bytes in, a file out that is there as a whole or not at all ([`NewFile`]), compressed as
//! its name says.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use popfib_table::NewFile;
use ruzstd::encoding::{CompressionLevel, compress};

/// A file to be written: a new one beside `path` until [`OutputFile::finish`].
///
/// Names that end in `.gz`, `.bz2` and `.zst` are compressed. Dropped without
/// being finished, it leaves nothing behind. What cannot be replaced (a device,
/// a pipe) is written as it is.
pub struct OutputFile(Compressor);

impl OutputFile {
    /// Begins a file that will be at `path`.
    ///
    /// If `path` is a symbolic link, the file that it leads to will be replaced.
    ///
    /// # Errors
    /// If no file can be made there, or it is a directory.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self(Compressor::by_name(path, NewFile::create(path)?)))
    }

    /// Ends the compression, and gives the file its place once it is on the disk.
    ///
    /// # Errors
    /// A full disk, among others; the old file is untouched then.
    pub fn finish(self) -> io::Result<()> {
        self.0.finish()?.finish()
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Compressor::Plain(file) => file.write(bytes),
            Compressor::Gzip(encoder) => encoder.write(bytes),
            Compressor::Bzip2(encoder) => encoder.write(bytes),
            Compressor::Zstd(encoder) => encoder.write(bytes),
        }
    }

    /// Hands what was written to a pipe. Compressed data is not hurried, which
    /// would cost its size.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Compressor::Plain(file) => file.flush(),
            _ => Ok(()),
        }
    }
}

/// What bytes go through on their way to the file.
enum Compressor {
    Plain(BufWriter<NewFile>),
    Gzip(Box<GzEncoder<BufWriter<NewFile>>>),
    Bzip2(Box<BzEncoder<BufWriter<NewFile>>>),
    Zstd(ZstdFrameWriter),
}

impl Compressor {
    fn by_name(path: &Path, file: NewFile) -> Self {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        let out = BufWriter::with_capacity(64 << 10, file);
        match extension.to_ascii_lowercase().as_str() {
            "gz" => Self::Gzip(Box::new(GzEncoder::new(
                out,
                flate2::Compression::default(),
            ))),
            "bz2" => Self::Bzip2(Box::new(BzEncoder::new(out, bzip2::Compression::default()))),
            "zst" => Self::Zstd(ZstdFrameWriter {
                out,
                frame: Vec::with_capacity(FRAME),
            }),
            _ => Self::Plain(out),
        }
    }

    fn finish(self) -> io::Result<NewFile> {
        let out = match self {
            Self::Plain(out) => out,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Bzip2(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
        };
        out.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// Data in a frame of zstd.
const FRAME: usize = 4 << 20;

/// Writes zstd data in frames of a few MiB, one after the other, as pzstd does.
///
/// The library's compressor takes data from a reader instead of being given it,
/// so a frame is collected first; one frame for all would hold the whole file.
struct ZstdFrameWriter {
    out: BufWriter<NewFile>,
    frame: Vec<u8>,
}

impl ZstdFrameWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.frame.len() == FRAME {
            self.end_frame()?;
        }
        let taken = bytes.len().min(FRAME - self.frame.len());
        self.frame.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn end_frame(&mut self) -> io::Result<()> {
        // Into memory first: the compressor panics where a write fails.
        let mut compressed = Vec::new();
        let level = CompressionLevel::Fastest; // the only one there is
        compress(self.frame.as_slice(), &mut compressed, level);
        self.frame.clear();
        self.out.write_all(&compressed)
    }

    fn finish(mut self) -> io::Result<BufWriter<NewFile>> {
        self.end_frame()?;
        Ok(self.out)
    }
}
