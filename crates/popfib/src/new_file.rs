//! Files that are written as a whole or not at all.
//!
//! Bytes go to a new file beside the old one, which is synced and takes the old one's name at the end. If anything
//! fails before that, such as a full disk, the old file is as it was and nothing else is left; whoever has the old
//! file open or mapped keeps it. What cannot be replaced (a device, a pipe, an
//! open file of this process such as `/dev/stdout`) is written as it is.
//!
//! If the system has files without a name (Linux, on most file systems), the new one
//! gets a name when it is finished, a moment before it takes its place. So a process
//! that is killed leaves nothing behind either. Rejected: to remove files from a
//! handler of signals. It belongs to the program and not to a library, and SIGKILL passes it by.
//! On other systems the new file has a name from the start; by that name, files that were left are recognised
//! ([`NewFile::is_unfinished`]).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::process;

/// Names that are tried for the new file: others' and those of killed processes are passed over.
const ATTEMPTS: u32 = 1000;

/// Symbolic links that are followed, as many as Linux does.
const MAX_LINKS: u32 = 40;

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
/// let mut file = popfib::new_file::NewFile::create(&path)?;
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
    place: Option<FinalPath>,
}

/// Where a new file will be.
#[derive(Debug)]
struct FinalPath {
    path: PathBuf,
    /// The name that it has until then, if any.
    named: Option<TemporaryName>,
}

impl NewFile {
    /// Begins a file that will be at `path`.
    ///
    /// Behind a symbolic link, the file that it leads to will be replaced or made. The new file has the permissions of the old one,
    /// without those to run as its owner or group, and its group; where this process may not set that, the group may do no
    /// more than all others.
    ///
    /// # Errors
    /// If no file can be made there, or it is a directory.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        match fs::metadata(path) {
            Ok(old) if old.is_file() && !is_open_here(path) => {
                Self::beside(fs::canonicalize(path)?, Some(&old))
            }
            // A directory is an error here. To append keeps what `>> FILE` on
            // the command line is about.
            Ok(_) => Ok(Self {
                file: OpenOptions::new().append(true).open(path)?,
                place: None,
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Self::beside(end_of_links(path)?, None)
            }
            Err(error) => Err(error),
        }
    }

    /// Puts the file in its place once it is on the disk.
    ///
    /// The new name is on the disk, too, where the directory may be read, which it need not be to be
    /// written to.
    ///
    /// # Errors
    /// A full disk, among others; the old file is untouched then.
    pub fn finish(self) -> io::Result<()> {
        match self.place {
            Some(place) => {
                self.file.sync_all()?;
                place.take(self.file)
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

    fn beside(path: PathBuf, old: Option<&fs::Metadata>) -> io::Result<Self> {
        if path.file_name().is_none() {
            let error = "not the name of a file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
        }
        let mut options = OpenOptions::new();
        options.write(true);
        // Who may not read the old file shall not open the new one in time.
        #[cfg(unix)]
        if let Some(old) = old {
            options.mode(old.mode() & 0o700);
        }
        let (file, named) = match nameless::create(directory(&path), &options) {
            Some(file) => (file, None),
            None => {
                options.create_new(true);
                let (file, named) = TemporaryName::first_free(&path, |name| options.open(name))?;
                (file, Some(named))
            }
        };
        if let Some(old) = old {
            file.set_permissions(permissions(old, &file)?)?;
        }
        let place = Some(FinalPath { path, named });
        Ok(Self { file, place })
    }
}

/// The permissions of a file in place of `old`, whose group it gets if it may.
fn permissions(old: &fs::Metadata, file: &File) -> io::Result<fs::Permissions> {
    #[cfg(unix)]
    {
        let mode = old.mode() & 0o777;
        let is_group_kept =
            file.metadata()?.gid() == old.gid() || fchown(file, None, Some(old.gid())).is_ok();
        let group = if is_group_kept { 0o70 } else { (mode & 7) << 3 };
        Ok(fs::Permissions::from_mode(mode & (0o707 | group)))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        Ok(old.permissions())
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

/// Where a path leads that names no file: itself, or what the last of its symbolic links names.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = directory(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The directory of a file.
fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    }
}

impl FinalPath {
    /// Gives the finished file its name.
    fn take(self, file: File) -> io::Result<()> {
        // Closes it: not every system renames an open file.
        let name = |file: File| match self.named {
            Some(named) => Ok(named),
            None => TemporaryName::first_free(&self.path, |name| nameless::name(&file, name))
                .map(|(_, named)| named),
        };
        name(file)?.rename(&self.path)?;
        // The new name is on the disk once its directory is. Only Unix opens directories. The file is
        // in its place: where that cannot be done, it is no failure.
        #[cfg(unix)]
        if let Ok(directory) = File::open(directory(&self.path)) {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

/// The name of a file that is not in its place, removed if it does not get there; empty once it has.
#[derive(Debug)]
struct TemporaryName(PathBuf);

impl TemporaryName {
    /// The first name beside `path` by which `make` makes a file, and what it returns.
    fn first_free<T>(
        path: &Path,
        mut make: impl FnMut(&Path) -> io::Result<T>,
    ) -> io::Result<(T, Self)> {
        let mut attempt = 0;
        loop {
            // Not made of the file's name, which may be as long as names can be.
            let name = format!("{}{}-{attempt}{}", NAME.0, process::id(), NAME.1);
            let name = path.with_file_name(name);
            match make(&name) {
                Ok(made) => return Ok((made, Self(name))),
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS =>
                {
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn rename(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.0, path)?;
        self.0 = PathBuf::new();
        Ok(())
    }
}

impl Drop for TemporaryName {
    fn drop(&mut self) {
        if self.0 != Path::new("") {
            // Something failed already, for a reason that matters more.
            let _ = fs::remove_file(&self.0);
        }
    }
}

/// Files without a name, of Linux.
#[cfg(target_os = "linux")]
mod nameless {
    use std::ffi::CString;
    use std::fs::{self, File, OpenOptions};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::{Path, PathBuf};

    /// One in `directory`; `None` where the file system has none, or it could not be named later.
    pub(super) fn create(directory: &Path, options: &OpenOptions) -> Option<File> {
        let mut options = options.clone();
        let file = options.custom_flags(libc::O_TMPFILE).open(directory).ok()?;
        fs::symlink_metadata(link(&file)).ok()?;
        Some(file)
    }

    /// Names it.
    pub(super) fn name(file: &File, name: &Path) -> io::Result<()> {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes());
        let (link, name) = (text(&link(file))?, text(name)?);
        // SAFETY: both are strings and live until the call returns. (`fs::hard_link` does not follow links.)
        let result = unsafe {
            libc::linkat(
                libc::AT_FDCWD,
                link.as_ptr(),
                libc::AT_FDCWD,
                name.as_ptr(),
                libc::AT_SYMLINK_FOLLOW,
            )
        };
        if result == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// A link to the file, by its number.
    fn link(file: &File) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
    }
}

#[cfg(not(target_os = "linux"))]
mod nameless {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::path::Path;

    pub(super) fn create(_: &Path, _: &OpenOptions) -> Option<File> {
        None
    }

    pub(super) fn name(_: &File, _: &Path) -> io::Result<()> {
        unreachable!("no file is without a name")
    }
}
