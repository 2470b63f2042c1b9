//! Where data comes from: a file, standard input, or any reader.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::ReadError;
use crate::decompress::{Decoder, Raw};

/// An opened file or standard input, decompressed by content, with the name
/// that error messages give it.
///
/// gzip, bzip2 and zstd are recognised by their first bytes, whatever the name
/// says; files of several members or frames are read to the end of the last.
/// Memory is constant, apart from zstd's window (128 MiB at most).
pub struct Input {
    name: String,
    state: State,
}

enum State {
    /// Nothing read so far. Opening must not wait for a slow pipe's first byte.
    Unread(Raw),
    Reading(Decoder),
    /// At the end, or stopped by an error.
    Done,
}

impl Input {
    /// Opens the file at `path`; `-` is standard input.
    ///
    /// # Errors
    /// If there is no such file, it may not be read, or it is a directory.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        if path.as_os_str() == "-" {
            return Ok(Self::from_reader("<stdin>", io::stdin()));
        }
        let name = path.display().to_string();
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?.is_dir(), file)));
        match opened {
            Ok((false, file)) => Ok(Self::from_reader(name, file)),
            Ok((true, _)) => Err(ReadError::file(&name, "is a directory, not a file")),
            Err(e) => Err(ReadError::stopped(
                &name,
                None,
                format!("cannot open: {e}"),
                e,
            )),
        }
    }

    /// The data of `reader`, compressed or not, under a name for error messages.
    ///
    /// Nothing is read yet.
    pub fn from_reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        Self {
            name: name.into(),
            state: State::Unread(Raw::new(Box::new(reader))),
        }
    }

    /// The name of the file; `<stdin>` for standard input.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads decompressed bytes into `buf`, as many as are there without
    /// waiting for more, at least one; 0 at the end. `line` is the line to name
    /// in an error.
    pub(crate) fn read(&mut self, buf: &mut [u8], line: u64) -> Result<usize, ReadError> {
        // Done unless reading goes well: nothing is read again behind an end or an error.
        let mut decoder = match std::mem::replace(&mut self.state, State::Done) {
            State::Unread(raw) => Decoder::detect(raw)
                .map_err(|e| self.stopped(line, format!("cannot read: {e}"), e))?,
            State::Reading(decoder) => decoder,
            State::Done => return Ok(0),
        };
        match decoder.read(buf) {
            Ok(0) => Ok(0),
            Ok(n) => {
                self.state = State::Reading(decoder);
                Ok(n)
            }
            Err(e) => Err(self.stopped(line, decoder.explain(&e), e)),
        }
    }

    fn stopped(&self, line: u64, reason: String, error: io::Error) -> ReadError {
        ReadError::stopped(&self.name, Some(line), reason, error)
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
