//! Writes an image to a file so that nobody ever sees half of it.
//!
//! The bytes go to a new file beside the old one, are synced, and take its place
//! by a rename: readers that have mapped the old file keep it, and a disk that
//! is full leaves it as it was.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use super::write::ImageWriter;

/// Names that are tried for the new file.
const ATTEMPTS: u32 = 100;

impl ImageWriter {
    /// Writes the image to `out`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        self.pieces(|piece| out.write_all(piece))
    }

    /// Puts the image in the place of the file at `path`, or makes the file.
    ///
    /// It is there as a whole and on the disk when this returns; if it fails,
    /// what was there before is untouched and nothing else is left behind.
    /// Behind a symbolic link, the file that it leads to is replaced.
    ///
    /// # Errors
    /// A directory that can't be written to, a full disk, a path that is there
    /// and is no regular file.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let path = match fs::metadata(path) {
            // A device in its place would be gone after the rename.
            Ok(data) if !data.is_file() => {
                let error = "there is something that is not a regular file";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
            }
            Ok(_) => fs::canonicalize(path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(error),
        };
        let (mut file, temporary) = Temporary::beside(&path)?;
        self.write(&mut file)?;
        file.sync_all()?;
        drop(file);
        temporary.rename_to(&path)
    }
}

/// A file that is removed unless it gets its final name.
struct Temporary(Option<PathBuf>);

impl Temporary {
    fn beside(path: &Path) -> io::Result<(File, Self)> {
        let name = path
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no name of a file"))?;
        let mut attempt = 0;
        loop {
            let mut temporary = OsString::from(".");
            temporary.push(name);
            temporary.push(format!(".{}.{attempt}.tmp", process::id()));
            let temporary = path.with_file_name(temporary);
            match OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&temporary)
            {
                Ok(file) => return Ok((file, Self(Some(temporary)))),
                // Of another thread, or of a process that was killed.
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS =>
                {
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn rename_to(mut self, path: &Path) -> io::Result<()> {
        if let Some(temporary) = &self.0 {
            fs::rename(temporary, path)?;
            self.0 = None;
        }
        // The new name is on the disk once its directory is. Only Unix opens directories.
        #[cfg(unix)]
        {
            let directory = match path.parent() {
                Some(directory) if !directory.as_os_str().is_empty() => directory,
                _ => Path::new("."),
            };
            File::open(directory)?.sync_all()?;
        }
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // It failed already, for a reason that matters more.
            let _ = fs::remove_file(path);
        }
    }
}
