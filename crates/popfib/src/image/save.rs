//! Writes an image. No process ever sees half of a file: readers
//! that have mapped the old file keep it.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::write::ImageWriter;
use crate::new_file::NewFile;

impl ImageWriter {
    /// Writes the image to `out`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        self.pieces(|piece| out.write_all(piece))
    }

    /// Creates the file at `path`, or replaces it, by means of a [`NewFile`].
    ///
    /// When this returns, the whole file is on the disk. If it fails,
    /// an existing file is unchanged and no other file is left.
    /// If `path` is a symbolic link, the file that it points to is replaced.
    ///
    /// # Errors
    /// The directory cannot be written to, the disk is full, or `path` exists
    /// and is not a regular file: only regular files can be mapped.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            let error = "this path exists and is not a regular file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
        }
        let mut file = NewFile::create(path)?;
        self.write(&mut file)?;
        file.finish()
    }
}
