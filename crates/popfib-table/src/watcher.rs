//! [`Watcher`]: files that are published again and again in; the newest table that could be made of them out, at any moment.
//!
//! A thread of its own looks at the files' metadata at intervals and reads them. Others wait for nothing of that: the newest table
//! takes the place of the one before by the exchange of a pointer, and memory is freed when nobody uses it any more. Rejected: the
//! crate `arc-swap`. A reader costs the same by a version beside a lock of std, and what that crate keeps for each thread is a leak
//! to those who look for leaks in C.

use std::fmt::{self, Debug, Display};
use std::io;
use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::watched_files::WatchedFiles;

/// The newest table of files, or what a program makes of them.
///
/// A file that can't be read, also one that is gone, leaves what was current, and its error is reported once. It is read again when it
/// has changed: at once if another takes its place, as renaming does, otherwise when nothing has been written to it for a second.
///
/// ```
/// use popfib_table::{Table, WatchedFiles, Watcher};
///
/// let path = std::env::temp_dir().join("popfib-watcher-example");
/// std::fs::write(&path, "192.0.2.0/24")?;
/// let file = path.clone();
/// // With popfib-formats: `Ok(load(Input::open(&file)?, &options)?.content)`.
/// let load = move || -> Result<Table, std::io::Error> {
///     let prefix = std::fs::read_to_string(&file)?.parse();
///     Ok([(prefix.map_err(std::io::Error::other)?, "office")].into_iter().collect())
/// };
/// let tell = |news: Result<(), std::io::Error>| match news {
///     Ok(()) => eprintln!("read again"),
///     Err(error) => eprintln!("{error}; the table before is used"),
/// };
/// let watcher = Watcher::start(vec![path.clone()], WatchedFiles::INTERVAL, load, tell)?;
/// assert!(watcher.current().lookup("192.0.2.7".parse()?).is_some());
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Watcher<T, E> {
    shared: Arc<WatchedTable<T, E>>,
    /// Dropped to end the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct WatchedTable<T, E> {
    /// Locked only to exchange one pointer.
    current: RwLock<Arc<T>>,
    version: AtomicU64,
    reading: Mutex<WatchedLoad<T, E>>,
}

/// What only one thread at a time does.
struct WatchedLoad<T, E> {
    files: WatchedFiles,
    load: Box<dyn FnMut() -> Result<T, E> + Send>,
    /// The error that was told, empty after success.
    told: String,
}

impl<T: Send + Sync + 'static, E: Display + From<io::Error> + 'static> Watcher<T, E> {
    /// Calls `load`, and from then on whenever one of the files at `paths` has changed, which is asked for every `interval`. A folder
    /// among them changes with each of its files. After that `tell` is called: with `Ok` if something new is current, with the error
    /// otherwise, if it is not the one that was told last. It must not drop the watcher.
    ///
    /// # Errors
    /// Those of `load` now, or that the system has no more threads.
    pub fn start(
        paths: Vec<PathBuf>,
        interval: Duration,
        mut load: impl FnMut() -> Result<T, E> + Send + 'static,
        mut tell: impl FnMut(Result<(), E>) + Send + 'static,
    ) -> Result<Self, E> {
        // First, so that what is put there meanwhile is seen as new.
        let files = WatchedFiles::new(paths);
        let current = RwLock::new(Arc::new(load()?));
        let (load, told): (Box<_>, _) = (Box::new(load), String::new());
        let reading = Mutex::new(WatchedLoad { files, load, told });
        let version = AtomicU64::new(1);
        let shared = Arc::new(WatchedTable {
            current,
            version,
            reading,
        });
        let (stop, stopped) = mpsc::channel::<()>();
        let follow = Arc::clone(&shared);
        let thread = thread::Builder::new().name("popfib-watcher".into());
        let thread = thread.spawn(move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                // Without the lock.
                if let Some(news) = follow.read(false) {
                    tell(news);
                }
            }
        });
        Ok(Self {
            shared,
            stop: Some(stop),
            thread: Some(thread?),
        })
    }

    /// What is newest. All lookups that belong together should use what one call returned. It does not wait while files are read; in
    /// a loop a [reader](Self::reader) is faster.
    pub fn current(&self) -> Arc<T> {
        self.shared.current()
    }

    /// The same for lookups in a loop of one thread.
    pub fn reader(&self) -> WatchReader<T, E> {
        let (version, current) = (self.version(), self.current());
        let shared = Arc::clone(&self.shared);
        WatchReader {
            shared,
            version,
            current,
        }
    }

    /// How often something has become current; a program that asks for this first and then for what is current has this or a newer
    /// one.
    pub fn version(&self) -> u64 {
        self.shared.version.load(Ordering::Acquire)
    }

    /// Reads the files now, whether they have changed or not, without a call of `tell`: after a signal, or when they are known to
    /// be new.
    ///
    /// # Errors
    /// Those of the function that loads; what was current stays.
    pub fn reload(&self) -> Result<(), E> {
        self.shared.read(true).unwrap_or(Ok(()))
    }
}

impl<T, E> WatchedTable<T, E> {
    fn current(&self) -> Arc<T> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T, E: Display> WatchedTable<T, E> {
    /// Reads the files, if they have changed or `anyway`; `None` if there is nothing to tell.
    fn read(&self, anyway: bool) -> Option<Result<(), E>> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if !reading.files.are_replaced(anyway) {
            return None;
        }
        let loaded = (reading.load)();
        let text = loaded.as_ref().err().map(E::to_string).unwrap_or_default();
        let is_told = text == mem::replace(&mut reading.told, text.clone());
        match loaded {
            Ok(new) => {
                let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
                let before = mem::replace(&mut *current, Arc::new(new));
                // Freed, if nobody has it, without the lock.
                drop((current, before));
                self.version.fetch_add(1, Ordering::Release);
                Some(Ok(()))
            }
            Err(error) => (anyway || !is_told).then_some(Err(error)),
        }
    }
}

impl<T, E> Drop for Watcher<T, E> {
    /// Ends following the files, and waits until nothing is told any more.
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl<T, E> Debug for Watcher<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").finish_non_exhaustive()
    }
}

/// What is newest, for lookups in a loop of one thread.
pub struct WatchReader<T, E> {
    shared: Arc<WatchedTable<T, E>>,
    version: u64,
    current: Arc<T>,
}

impl<T, E> WatchReader<T, E> {
    /// What is newest. One atomic load, if that has not changed since the last call.
    #[inline]
    pub fn current(&mut self) -> &Arc<T> {
        let version = self.shared.version.load(Ordering::Acquire);
        if version != self.version {
            (self.version, self.current) = (version, self.shared.current());
        }
        &self.current
    }
}

impl<T, E> Debug for WatchReader<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchReader").finish_non_exhaustive()
    }
}
