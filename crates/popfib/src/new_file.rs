//! Files that are there as a whole or not at all.
//!
//! What is written goes to a new file beside the old one, which is synced and
//! takes its name at the end. Whatever fails before that, a full disk among
//! it, leaves the old file as it was and nothing else behind; who has the old
//! file open or mapped keeps it. What cannot be replaced (a device, a pipe, an
//! open file of this process such as `/dev/stdout`) is written as it is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process;

/// Names that are tried for the new file: others' and those of killed processes are passed over.
const ATTEMPTS: u32 = 1000;

/// How names of new files begin and end; between are the process and a number.
const NAME: (&str, &str) = (".popfib-", ".tmp");

/// A file that is written beside its place, and takes it with [`NewFile::finish`].
///
/// Dropped before that, it leaves nothing behind. Writes are not buffered.
///
/// ```
/// use std::io::Write;
///
/// let path = std::env::temp_dir().join("popfib-new-file-example");
/// let mut file = popfib::NewFile::create(&path)?;
/// file.write_all(b"10.0.0.0/8 east\n")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"10.0.0.0/8 east\n");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct NewFile {
    file: File,
    /// `None` for what cannot be replaced.
    names: Option<Names>,
}

impl NewFile {
    /// Begins a file that will be at `path`.
    ///
    /// Behind a symbolic link, the file that it leads to will be replaced; the
    /// permissions of the old file will be those of the new one.
    ///
    /// # Errors
    /// If no file can be made there, or it is a directory.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        match fs::metadata(path) {
            Ok(old) if old.is_file() && !is_open_here(path) => {
                Self::beside(fs::canonicalize(path)?, Some(old.permissions()))
            }
            // A directory is an error here. To append keeps what `>> FILE` on
            // the command line is about.
            Ok(_) => Ok(Self {
                file: OpenOptions::new().append(true).open(path)?,
                names: None,
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Self::beside(path.to_owned(), None)
            }
            Err(error) => Err(error),
        }
    }

    /// Puts the file in its place once it is on the disk.
    ///
    /// # Errors
    /// A full disk, among others; the old file is untouched then.
    pub fn finish(self) -> io::Result<()> {
        let Self { file, names } = self;
        match names {
            Some(names) => {
                file.sync_all()?;
                drop(file);
                names.exchange()
            }
            // A pipe or a device need not know how to sync.
            None => Ok(()),
        }
    }

    /// Whether `path` is named as a file that is not finished: by a process that still writes
    /// it, or by one that was killed.
    pub fn is_unfinished(path: impl AsRef<Path>) -> bool {
        let name = path.as_ref().file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(NAME.0) && name.ends_with(NAME.1))
    }

    fn beside(place: PathBuf, permissions: Option<fs::Permissions>) -> io::Result<Self> {
        if place.file_name().is_none() {
            let error = "not the name of a file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // Who may not read the old file shall not open the new one in time.
        #[cfg(unix)]
        if let Some(permissions) = &permissions {
            options.mode(permissions.mode() & 0o777);
        }
        let mut attempt = 0;
        loop {
            // Not made of the place's name, which may be as long as names can be.
            let name = format!("{}{}-{attempt}{}", NAME.0, process::id(), NAME.1);
            let new = place.with_file_name(name);
            match options.open(&new) {
                Ok(file) => {
                    let names = Names {
                        new,
                        place,
                        is_exchanged: false,
                    };
                    if let Some(permissions) = permissions {
                        file.set_permissions(permissions)?;
                    }
                    return Ok(Self {
                        file,
                        names: Some(names),
                    });
                }
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS =>
                {
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Whether `path` names an open file by its number, as `/dev/stdout` does.
fn is_open_here(path: &Path) -> bool {
    let is_number = |path: &Path| {
        let parent = path.parent();
        path.starts_with("/dev/fd")
            || path.starts_with("/proc") && parent.is_some_and(|parent| parent.ends_with("fd"))
    };
    is_number(path) || fs::read_link(path).is_ok_and(|target| is_number(&target))
}

/// The name of a new file, which is removed, and of its place.
#[derive(Debug)]
struct Names {
    new: PathBuf,
    place: PathBuf,
    is_exchanged: bool,
}

impl Names {
    fn exchange(mut self) -> io::Result<()> {
        fs::rename(&self.new, &self.place)?;
        self.is_exchanged = true;
        // The new name is on the disk once its directory is. Only Unix opens directories.
        #[cfg(unix)]
        {
            let directory = match self.place.parent() {
                Some(directory) if !directory.as_os_str().is_empty() => directory,
                _ => Path::new("."),
            };
            File::open(directory)?.sync_all()?;
        }
        Ok(())
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        if !self.is_exchanged {
            // It failed already, for a reason that matters more.
            let _ = fs::remove_file(&self.new);
        }
    }
}
