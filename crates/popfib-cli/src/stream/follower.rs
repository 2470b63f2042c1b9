//! New tables for a stream while it goes on: paths of files that may be replaced, or the socket of a running `popfibd`, in;
//! the next state of the tables out, when there is one.
//!
//! Each batch is answered by one state, with the code and at the rate of a table that does not change. The table of another
//! process is fetched as an image. Rejected: asking that process for each batch. Its answers would be those of the moment, but
//! texts of answers could not be made before addresses come, and one process would look up for all of its clients.
//!
//! The state of files is only looked at when a batch comes. Rejected: a thread that watches them, since the first line after a
//! pause would have to wait for it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use popfib_formats::LoadOptions;
use popfib_program::failure::Failure;
use popfib_program::files::shown;
use popfib_table::WatchedFiles;

use crate::args::{ReadArgs, TableArgs, is_embedded, is_stdin};
use crate::live::FollowSocket;
use crate::output::note;

use super::table::NamedTable;

/// The minimum time from one look to the next, also as a multiple of the time that the last look took.
const EVERY: Duration = WatchedFiles::INTERVAL;
const SHARE: u32 = 20;

/// Where the next state comes from, and when to ask.
pub(crate) struct Follower<'a, T> {
    /// Fetches the current state; `None` if it has not changed. With `true` it is fetched even so.
    fetch: Box<dyn FnMut(bool) -> Result<Option<T>, Failure> + Send + 'a>,
    due: Instant,
    /// Set by the signal that asks to read again.
    is_asked: Arc<AtomicBool>,
    has_failed: bool,
}

impl<'a, T> Follower<'a, T> {
    fn new(fetch: impl FnMut(bool) -> Result<Option<T>, Failure> + Send + 'a) -> Self {
        let is_asked = Arc::default();
        // Where there is no such signal, or it cannot be had, the state is fetched when it has changed.
        #[cfg(unix)]
        let _ = signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::clone(&is_asked));
        Self {
            fetch: Box::new(fetch),
            due: Instant::now() + EVERY,
            is_asked,
            has_failed: false,
        }
    }

    /// The state of these files, as `load` reads it, and what fetches later ones; `None` if the files cannot be read twice.
    pub(crate) fn of_files(
        paths: &[impl AsRef<Path>],
        mut load: impl FnMut() -> Result<T, Failure> + Send + 'a,
    ) -> Result<(T, Option<Self>), Failure> {
        let paths = paths.iter().map(AsRef::as_ref);
        let paths: Vec<_> = paths
            .filter(|path| !is_embedded(path))
            .map(Path::to_path_buf)
            .collect();
        let is_once = paths.is_empty() || paths.iter().any(|path| is_stdin(path));
        let mut files = WatchedFiles::new(paths);
        let is_once = is_once || !files.are_there();
        let state = load()?;
        let follower = (!is_once).then(|| {
            Self::new(move |is_asked| {
                if !files.are_replaced(is_asked) {
                    return Ok(None);
                }
                let state = load()?;
                let names: Vec<_> = files.paths().iter().map(|path| shown(path)).collect();
                note!("{} read again", names.join(", "));
                Ok(Some(state))
            })
        });
        Ok((state, follower))
    }

    /// What `make` makes of the table at a socket, which is fetched as an image, and what fetches later ones.
    pub(crate) fn of_socket(
        socket: &Path,
        read: &ReadArgs,
        with_prefixes: bool,
        mut make: impl FnMut(NamedTable) -> Result<T, Failure> + Send + 'a,
    ) -> Result<(T, Option<Self>), Failure> {
        let place = FollowSocket::new(socket, read)?;
        let mut tag = None;
        let mut fetch = move || {
            let Some((of_current, opened)) = place.image(tag.as_deref())? else {
                return Ok(None);
            };
            tag = of_current;
            let loaded = popfib_formats::load(opened.input(), &LoadOptions::new())?;
            make(NamedTable::of_loaded(None, loaded, with_prefixes)?).map(Some)
        };
        let first = fetch()?.expect("no version of it is known");
        Ok((first, Some(Self::new(move |_| fetch()))))
    }

    /// The same of the table that `args` name, with its prefixes.
    pub(crate) fn of(
        args: &'a TableArgs,
        mut make: impl FnMut(NamedTable) -> Result<T, Failure> + Send + 'a,
    ) -> Result<(T, Option<Self>), Failure> {
        match &args.live {
            Some(socket) => Self::of_socket(socket, &args.read, true, make),
            None => Self::of_files(args.table.as_slice(), move || make(NamedTable::of(args)?)),
        }
    }

    /// The current state, if it has changed and it is time to look. No line is lost if a file is gone or cannot be read: the last
    /// state goes on answering, which is noted once.
    pub(crate) fn newer(&mut self) -> Option<T> {
        let start = Instant::now();
        let is_asked = self.is_asked.load(Ordering::Relaxed);
        if start < self.due && !is_asked {
            return None;
        }
        self.is_asked.store(false, Ordering::Relaxed);
        let fetched = (self.fetch)(is_asked);
        self.due = start + EVERY.max(start.elapsed() * SHARE);
        match fetched {
            Ok(state) => {
                self.has_failed = false;
                state
            }
            Err(failure) => {
                if !self.has_failed {
                    note!("{failure}; the routes of before are used");
                }
                self.has_failed = true;
                None
            }
        }
    }
}
