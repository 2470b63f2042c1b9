//! A file that is there as a whole or not at all, compressed as its name says.
//!
//! Everything goes to a new file beside it, which is synced and takes the name
//! at the end; whatever fails before that, a full disk or a bad route, leaves
//! the old file as it was and nothing else behind. What is no regular file (a
//! device, a named pipe) cannot be replaced and is written as it is.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress};

/// Names that are tried for the new file.
const ATTEMPTS: u32 = 100;

/// A file to be written: a new one beside `path` until [`OutputFile::finish`].
///
/// Names that end in `.gz`, `.bz2` and `.zst` are compressed. Dropped without
/// being finished, it leaves nothing behind.
pub struct OutputFile {
    encoder: Encoder,
    /// `None` for what cannot be replaced.
    replaces: Option<Replacement>,
}

impl OutputFile {
    /// Begins a file that will be at `path`.
    ///
    /// Behind a symbolic link, the file that it leads to will be replaced.
    ///
    /// # Errors
    /// If no file can be made there, or it is a directory.
    pub fn create(path: &Path) -> io::Result<Self> {
        let (file, replaces) = match fs::metadata(path) {
            Ok(data) if data.is_file() => Replacement::of(fs::canonicalize(path)?)?,
            // A directory is an error here.
            Ok(_) => (OpenOptions::new().write(true).open(path)?, None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Replacement::of(path.to_owned())?
            }
            Err(error) => return Err(error),
        };
        Ok(Self {
            encoder: Encoder::by_name(path, file),
            replaces,
        })
    }

    /// Ends the compression, and gives the file its place once it is on the disk.
    ///
    /// # Errors
    /// A full disk, among others; the old file is untouched then.
    pub fn finish(self) -> io::Result<()> {
        let file = self.encoder.finish()?;
        match self.replaces {
            Some(replacement) => {
                file.sync_all()?;
                drop(file);
                replacement.take_place()
            }
            // A pipe or a device need not know how to sync.
            None => Ok(()),
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.encoder {
            Encoder::Plain(file) => file.write(bytes),
            Encoder::Gzip(encoder) => encoder.write(bytes),
            Encoder::Bzip2(encoder) => encoder.write(bytes),
            Encoder::Zstd(encoder) => encoder.write(bytes),
        }
    }

    /// Nothing that is written here is to be seen before the end, so nothing is hurried.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Encoder {
    Plain(BufWriter<File>),
    Gzip(Box<GzEncoder<BufWriter<File>>>),
    Bzip2(Box<BzEncoder<BufWriter<File>>>),
    Zstd(ZstdFrames),
}

impl Encoder {
    fn by_name(path: &Path, file: File) -> Self {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        let out = BufWriter::with_capacity(64 << 10, file);
        match extension.to_ascii_lowercase().as_str() {
            "gz" => Self::Gzip(Box::new(GzEncoder::new(
                out,
                flate2::Compression::default(),
            ))),
            "bz2" => Self::Bzip2(Box::new(BzEncoder::new(out, bzip2::Compression::default()))),
            "zst" => Self::Zstd(ZstdFrames {
                out,
                frame: Vec::with_capacity(FRAME),
            }),
            _ => Self::Plain(out),
        }
    }

    fn finish(self) -> io::Result<File> {
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

/// zstd data in frames of a few MiB, one behind the other, as pzstd makes it.
///
/// The library's compressor takes data from a reader instead of being given it,
/// so a frame is collected first; one frame for all would hold the whole file.
struct ZstdFrames {
    out: BufWriter<File>,
    frame: Vec<u8>,
}

impl ZstdFrames {
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

    fn finish(mut self) -> io::Result<BufWriter<File>> {
        self.end_frame()?;
        Ok(self.out)
    }
}

/// A new file that is removed unless it takes the place of the old one.
struct Replacement {
    new: PathBuf,
    old: PathBuf,
    is_placed: bool,
}

impl Replacement {
    /// A new file beside `old`, which may or may not be there.
    fn of(old: PathBuf) -> io::Result<(File, Option<Self>)> {
        let name = old
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a file name"))?;
        let mut attempt = 0;
        loop {
            let mut new = OsString::from(".");
            new.push(name);
            new.push(format!(".{}.{attempt}.tmp", process::id()));
            let new = old.with_file_name(new);
            match OpenOptions::new().write(true).create_new(true).open(&new) {
                Ok(file) => {
                    let is_placed = false;
                    let this = Self {
                        new,
                        old,
                        is_placed,
                    };
                    if let Ok(data) = fs::metadata(&this.old) {
                        // Who could read the old file may read the new one, and nobody else.
                        file.set_permissions(data.permissions())?;
                    }
                    return Ok((file, Some(this)));
                }
                // Of another thread, or of a process that was killed.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn take_place(mut self) -> io::Result<()> {
        fs::rename(&self.new, &self.old)?;
        self.is_placed = true;
        // The new name is on the disk once its directory is. Only Unix opens directories.
        #[cfg(unix)]
        {
            let directory = match self.old.parent() {
                Some(directory) if !directory.as_os_str().is_empty() => directory,
                _ => Path::new("."),
            };
            File::open(directory)?.sync_all()?;
        }
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.is_placed {
            // It failed already, for a reason that matters more.
            let _ = fs::remove_file(&self.new);
        }
    }
}
