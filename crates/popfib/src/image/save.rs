//! Writes an image out, to a file so that nobody ever sees half of it: readers
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

    /// Puts the image in the place of the file at `path`, or makes the file, by
    /// a [`NewFile`].
    ///
    /// It is there as a whole and on the disk when this returns; if it fails,
    /// what was there before is untouched and nothing else is left behind.
    /// Behind a symbolic link, the file that it leads to is replaced.
    ///
    /// # Errors
    /// A directory that can't be written to, a full disk, a path that is there
    /// and is no regular file: an image is made to be mapped.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            let error = "there is something that is not a regular file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
        }
        let mut file = NewFile::create(path)?;
        self.write(&mut file)?;
        file.finish()
    }
}
