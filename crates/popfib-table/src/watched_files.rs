//! [`WatchedFiles`]: the paths of files that are published again and again in, whether they are others now out.
//!
//! Their metadata is asked for: that works on every system and file system, where notifications of changes do not.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Files, and the state of each when it was read last. The files of a folder and of those in it belong to it.
#[derive(Debug)]
pub struct WatchedFiles {
    paths: Vec<PathBuf>,
    before: Vec<(PathBuf, Option<FileState>)>,
}

/// What shows that a file at a path is another, or has other content.
#[derive(Debug, PartialEq, Eq)]
struct FileState {
    /// Device and inode, if the system has them.
    file: Option<(u64, u64)>,
    length: u64,
    written: Option<SystemTime>,
}

impl FileState {
    /// `None` of what is not there, and of what cannot be read twice.
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        if !(metadata.is_file() || metadata.is_dir()) {
            return None;
        }
        #[cfg(unix)]
        let file = {
            use std::os::unix::fs::MetadataExt;
            Some((metadata.dev(), metadata.ino()))
        };
        #[cfg(not(unix))]
        let file = None;
        // A folder changes by its files, which are looked at.
        let metadata = metadata.is_file().then_some(metadata);
        Some(Self {
            file,
            length: metadata.as_ref().map_or(0, Metadata::len),
            written: metadata.and_then(|metadata| metadata.modified().ok()),
        })
    }

    /// Whether it may be incomplete: it is the file that was there `before`, and was written to lately. Who puts a file in the
    /// place of another has finished it. A time in the future is that of another clock, and counts as old.
    fn is_unfinished(&self, before: &Self) -> bool {
        let age = self.written.and_then(|written| written.elapsed().ok());
        self.file == before.file && age.is_some_and(|age| age < WatchedFiles::INTERVAL)
    }
}

impl WatchedFiles {
    /// How often to look, unless there is a reason for another time; for as long nothing may have been written to a file that is
    /// overwritten in place before it is read again.
    pub const INTERVAL: Duration = Duration::from_secs(1);

    /// The files at these paths, which are read next.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        let before = states(&paths);
        Self { paths, before }
    }

    /// The paths.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Whether each is there, and can be read again.
    pub fn are_there(&self) -> bool {
        self.before.iter().all(|(_, state)| state.is_some())
    }

    /// Whether to read them again: always with `anyway`, otherwise if one has changed or is gone. Reading reports one that is gone.
    pub fn are_replaced(&mut self, anyway: bool) -> bool {
        let now = states(&self.paths);
        let is_unfinished = |(path, now): &(PathBuf, Option<FileState>)| {
            let before = self.before.iter().find(|(known, _)| known == path);
            let both = before
                .and_then(|(_, before)| before.as_ref())
                .zip(now.as_ref());
            both.is_some_and(|(before, now)| now != before && now.is_unfinished(before))
        };
        let is_read = anyway || now != self.before && !now.iter().any(is_unfinished);
        if is_read {
            self.before = now;
        }
        is_read
    }
}

/// The state of each path, and of what is in those that are folders and in the folders there, but for links and what begins with a dot.
fn states(paths: &[PathBuf]) -> Vec<(PathBuf, Option<FileState>)> {
    let mut found = paths.to_vec();
    let mut folders = paths.to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let is_folder = !is_hidden && entry.file_type().is_ok_and(|kind| kind.is_dir());
            folders.extend(is_folder.then(|| entry.path()));
            found.push(entry.path());
        }
    }
    found.sort_unstable();
    let states = found.into_iter().map(|path| {
        let state = FileState::of(&path);
        (path, state)
    });
    states.collect()
}
