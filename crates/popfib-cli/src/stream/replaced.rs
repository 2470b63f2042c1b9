//! Files that may be replaced while a command runs: their paths in, whether to read them again out.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::args::{is_embedded, is_stdin};

/// How long nothing may have been written to a file before it is read again: one that is overwritten in place is incomplete at
/// first.
const SETTLED: Duration = Duration::from_secs(1);

/// Files, and the state of each when it was read last.
pub(super) struct WatchedFiles(Vec<(PathBuf, Option<FileState>)>);

/// What shows that a file at a path is another, or has other content.
#[derive(PartialEq, Eq)]
struct FileState {
    /// Device and inode, if the system has them.
    file: Option<(u64, u64)>,
    length: u64,
    written: Option<SystemTime>,
}

impl FileState {
    /// `None` of what is no regular file, and so cannot be read twice.
    fn of(path: &Path) -> Option<Self> {
        if is_stdin(path) {
            return None;
        }
        let metadata = fs::metadata(path).ok().filter(Metadata::is_file)?;
        #[cfg(unix)]
        let file = {
            use std::os::unix::fs::MetadataExt;
            Some((metadata.dev(), metadata.ino()))
        };
        #[cfg(not(unix))]
        let file = None;
        Some(Self {
            file,
            length: metadata.len(),
            written: metadata.modified().ok(),
        })
    }

    /// Whether nothing was written lately. A time in the future is that of another clock, and counts as settled.
    fn is_settled(&self) -> bool {
        let age = self.written.and_then(|written| written.elapsed().ok());
        age.is_none_or(|age| age >= SETTLED)
    }
}

impl WatchedFiles {
    /// The files among `paths`, which are read next; `None` if there are none, or one can only be read once, as a pipe.
    pub(super) fn new(paths: &[impl AsRef<Path>]) -> Option<Self> {
        let files = paths.iter().map(AsRef::as_ref);
        let files = files.filter(|path| !is_embedded(path));
        let files = files.map(|path| Some((path.to_path_buf(), Some(FileState::of(path)?))));
        let files = files.collect::<Option<Vec<_>>>()?;
        (!files.is_empty()).then_some(Self(files))
    }

    /// Whether to read them again: always with `anyway`, otherwise if one has changed or is gone. Reading reports one that is gone.
    pub(super) fn are_replaced(&mut self, anyway: bool) -> bool {
        let now: Vec<_> = self.0.iter().map(|(path, _)| FileState::of(path)).collect();
        let is_other = self
            .0
            .iter()
            .zip(&now)
            .any(|((_, before), now)| before != now);
        let is_settled = now.iter().flatten().all(FileState::is_settled);
        if !(anyway || is_other && is_settled) {
            return false;
        }
        for ((_, before), now) in self.0.iter_mut().zip(now) {
            *before = now;
        }
        true
    }

    /// Their names, for people.
    pub(super) fn names(&self) -> String {
        let names = self.0.iter();
        let names = names.map(|(path, _)| path.display().to_string().escape_debug().to_string());
        names.collect::<Vec<_>>().join(", ")
    }
}
