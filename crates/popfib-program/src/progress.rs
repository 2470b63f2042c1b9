//! A count of what is done in, a bar on the terminal out.
//!
//! A thread of its own looks at the count and draws: the work only counts. Work that takes a while gets a bar, and only if standard
//! error is a terminal. Other text that is written there erases the bar first, and it comes again after that text.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use popfib_formats::Progress;

#[cfg(unix)]
use crate::files::metadata;

/// After how long there is a bar, and how long it stays the same.
const PATIENCE: Duration = Duration::from_millis(500);
const FRAME: Duration = Duration::from_millis(100);

/// What a bar has to know of the terminal.
struct Terminal {
    bar: Option<ProgressBar>,
    /// The thread that draws.
    owner: Option<ThreadId>,
    /// Whether the last text did not end its line: a bar would erase it.
    is_in_line: bool,
}

static TERMINAL: Mutex<Terminal> = Mutex::new(Terminal {
    bar: None,
    owner: None,
    is_in_line: false,
});

fn terminal() -> MutexGuard<'static, Terminal> {
    let locked = TERMINAL.lock();
    locked.unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Terminal {
    fn erase(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// A bar, which is erased when this is dropped.
#[derive(Debug)]
pub struct BarGuard(Option<(Sender<()>, JoinHandle<()>)>);

/// Draws the reading of a file on standard error from now on, if that is a terminal.
pub fn watch(progress: Progress) -> BarGuard {
    let template = match progress.total() {
        Some(_) => "reading {wide_bar} {bytes}/{total_bytes} {eta}",
        None => "reading {spinner} {bytes}",
    };
    let total = progress.total();
    draw(template.to_owned(), total, move || progress.read())
}

/// The same for a step that does not know how far it is.
pub fn step(what: &str) -> BarGuard {
    draw(format!("{what} {{spinner}}"), None, || 0)
}

/// The same for `total` things, of which the work counts those that are done.
pub fn counted(what: &str, total: u64) -> (BarGuard, Arc<AtomicU64>) {
    let done = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&done);
    let template = format!("{what} {{wide_bar}} {{percent:>3}} % {{eta}}");
    let watch = draw(template, Some(total), move || count.load(Ordering::Relaxed));
    (watch, done)
}

fn draw(
    template: String,
    total: Option<u64>,
    position: impl Fn() -> u64 + Send + 'static,
) -> BarGuard {
    if !io::stderr().is_terminal() {
        return BarGuard(None);
    }
    let (sender, stopped) = channel();
    let thread = thread::Builder::new().spawn(move || {
        let mut wait = PATIENCE;
        let me = thread::current().id();
        // Nothing is ever sent: the other end is dropped when it is time to stop.
        while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            wait = FRAME;
            let mut terminal = terminal();
            if *terminal.owner.get_or_insert(me) != me || terminal.is_in_line {
                continue;
            }
            match &terminal.bar {
                Some(bar) => {
                    bar.set_position(position());
                    bar.tick();
                }
                None => {
                    let bar = new_bar(&template, total).with_position(position());
                    bar.reset_eta();
                    terminal.bar = Some(bar);
                }
            }
        }
        let mut terminal = terminal();
        if terminal.owner == Some(me) {
            terminal.erase();
            terminal.owner = None;
        }
    });
    // Work needs no bar.
    BarGuard(thread.ok().map(|thread| (sender, thread)))
}

impl Drop for BarGuard {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            // A bar that failed is no reason for the work to fail.
            let _ = thread.join();
        }
    }
}

fn new_bar(template: &str, total: Option<u64>) -> ProgressBar {
    let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
    bar.with_style(ProgressStyle::with_template(template).expect("a valid template"))
}

/// Calls `write`, which writes other text to the terminal, without the bar; that comes again when a line has ended.
pub fn apart<T>(ends_line: bool, write: impl FnOnce() -> T) -> T {
    let mut terminal = terminal();
    terminal.erase();
    terminal.is_in_line = !ends_line;
    write()
}

/// Whether there may be a bar while standard output is written: on a terminal both are written in turn, and a file is elsewhere. The
/// reader of a pipe, however, may write to the same terminal at any time.
pub fn is_apart() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;

        let stat = metadata(io::stdout());
        stat.is_some_and(|stat| !stat.file_type().is_fifo() && !stat.file_type().is_socket())
    }
    #[cfg(not(unix))]
    io::stdout().is_terminal()
}
