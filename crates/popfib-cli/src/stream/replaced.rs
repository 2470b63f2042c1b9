//! Files that may be replaced while a command runs.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::args::{is_special, is_stdin};

/// How long a file has to be as it is before it is read: one that is written at its place is cut until it is whole.
const SETTLED: Duration = Duration::from_secs(1);

/// Files, and what each was when it was read last.
pub(super) struct Files(Vec<(PathBuf, Option<State>)>);

/// What tells one file at a path from the next.
#[derive(PartialEq, Eq)]
struct State {
    file: Option<(u64, u64)>,
    length: u64,
    written: Option<SystemTime>,
}

impl State {
    /// `None` of what is no file, and so cannot be read twice.
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

    /// Whether nothing was written of late. A time to come is that of another clock.
    fn is_settled(&self) -> bool {
        let age = self.written.and_then(|written| written.elapsed().ok());
        age.is_none_or(|age| age >= SETTLED)
    }
}

impl Files {
    /// The files among `paths`, to be read now; `None` if there are none, or one can be read once only, as a pipe.
    pub(super) fn new(paths: &[impl AsRef<Path>]) -> Option<Self> {
        let files = paths.iter().map(AsRef::as_ref);
        let files = files.filter(|path| !is_special(path));
        let files = files.map(|path| Some((path.to_path_buf(), Some(State::of(path)?))));
        let files = files.collect::<Option<Vec<_>>>()?;
        (!files.is_empty()).then_some(Self(files))
    }

    /// Whether they are to be read again: one is another than before, or is gone, which reading it says. With `anyway` they
    /// are.
    pub(super) fn are_replaced(&mut self, anyway: bool) -> bool {
        let now: Vec<_> = self.0.iter().map(|(path, _)| State::of(path)).collect();
        let is_other = self
            .0
            .iter()
            .zip(&now)
            .any(|((_, before), now)| before != now);
        let is_settled = now.iter().flatten().all(State::is_settled);
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
