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
//! On other systems the new file has a name from the start, which begins with `.popfib-` and ends in `.tmp`.
//!
//! What has a name too early is removed by the crate `tempfile`. Rejected: all of this by the crate `atomic-write-file`, which cannot write
//! to a directory that may not be read, nor to a file with a long name, and keeps the permission to run as the old file's owner.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use popfib::ImageWriter;
use tempfile::TempPath;

/// Symbolic links that are followed, as many as Linux does.
const MAX_LINKS: u32 = 40;

/// A file that is written beside its place, and takes it with [`NewFile::finish`].
///
/// Dropped before that, it leaves nothing behind. Writes are not buffered.
///
/// ```
/// use std::io::Write;
///
/// let path = std::env::temp_dir().join("popfib-new-file-example");
/// let mut file = popfib_table::NewFile::create(&path)?;
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
    /// The name that it has until then, if any; removed if the file does not get there.
    named: Option<TempPath>,
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
        // A pipe or a device need not know how to sync.
        let Some(FinalPath { path, named }) = self.place else {
            return Ok(());
        };
        let named = {
            // Closed at the end: not every system renames an open file.
            let file = self.file;
            file.sync_all()?;
            match named {
                Some(named) => named,
                None => named_beside(&path, |name| nameless::name(&file, name))?.0,
            }
        };
        named.persist(&path)?;
        // The new name is on the disk once its directory is. Only Unix opens directories. The file is
        // in its place: where that cannot be done, it is no failure.
        #[cfg(unix)]
        if let Ok(directory) = File::open(directory(&path)) {
            let _ = directory.sync_all();
        }
        Ok(())
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
        let (named, file) = match nameless::create(directory(&path), &options) {
            Some(file) => (None, file),
            None => {
                options.create_new(true);
                let (named, file) = named_beside(&path, |name| options.open(name))?;
                (Some(named), file)
            }
        };
        if let Some(old) = old {
            file.set_permissions(permissions(old, &file)?)?;
        }
        let place = Some(FinalPath { path, named });
        Ok(Self { file, place })
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

/// Writes an image to the file at `path`, or replaces it, by means of a [`NewFile`]: no process ever sees half of an image, and those
/// that have mapped the old one keep it.
///
/// When this returns, the whole file is on the disk. If it fails,
/// an existing file is unchanged and no other file is left.
/// If `path` is a symbolic link, the file that it points to is replaced.
///
/// # Errors
/// The directory cannot be written to, the disk is full, or `path` exists
/// and is not a regular file: only regular files can be mapped.
pub fn save_image(image: &ImageWriter, path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        let error = "this path exists and is not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
    }
    let mut file = NewFile::create(path)?;
    image.write(&mut file)?;
    file.finish()
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

/// A free name beside `path` by which `make` makes a file, and what it returns.
fn named_beside<T>(
    path: &Path,
    mut make: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<(TempPath, T)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        // Not made of the file's name, which may be as long as names can be. Nor drawn by tempfile: its random numbers ask for the
        // number of the thread, which std then keeps until the end of a C program, and valgrind reports.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".popfib-{}-{number}.tmp", process::id());
        let name = std::path::absolute(directory(path).join(name))?;
        match make(&name) {
            // Left by a process of the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => {
                let made = made?;
                return Ok((TempPath::try_from_path(name)?, made));
            }
        }
    }
}

/// Files without a name, of Linux.
#[cfg(target_os = "linux")]
mod nameless {
    use std::fs::{self, File, OpenOptions};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, OFlags, linkat};

    /// One in `directory`; `None` where the file system has none, or it could not be named later.
    pub(super) fn create(directory: &Path, options: &OpenOptions) -> Option<File> {
        let mut options = options.clone();
        options.custom_flags(OFlags::TMPFILE.bits() as i32);
        let file = options.open(directory).ok()?;
        fs::symlink_metadata(link(&file)).ok()?;
        Some(file)
    }

    /// Names it. (`fs::hard_link` does not follow links.)
    pub(super) fn name(file: &File, name: &Path) -> io::Result<()> {
        Ok(linkat(CWD, link(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
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
