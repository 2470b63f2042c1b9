//! How far reading has come, as a bar on the terminal.
//!
//! A thread of its own looks at the reader's count and draws: the reader does
//! nothing for it. Only what takes a while gets a bar, and only on a terminal.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use popfib_formats::Progress;

/// How long there is no bar, and how long it stays the same.
const PATIENCE: Duration = Duration::from_millis(500);
const FRAME: Duration = Duration::from_millis(100);

/// A bar that is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Watch(Option<(Sender<()>, JoinHandle<()>)>);

/// Draws `progress` on standard error from now on, if that is a terminal.
pub(crate) fn watch(progress: Progress) -> Watch {
    if !io::stderr().is_terminal() {
        return Watch(None);
    }
    let (sender, stopped) = channel();
    let thread = thread::spawn(move || {
        let mut wait = PATIENCE;
        let mut bar = None;
        // Nothing is ever sent: the other end is dropped when it is time to stop.
        while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            wait = FRAME;
            bar.get_or_insert_with(|| new_bar(progress.total()))
                .set_position(progress.read());
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    });
    Watch(Some((sender, thread)))
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            // It can't fail, and if it did, the work is more than its bar.
            let _ = thread.join();
        }
    }
}

fn new_bar(total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (
            ProgressBar::new(total),
            "reading {bar:40} {bytes}/{total_bytes} {eta}",
        ),
        None => (ProgressBar::no_length(), "reading {spinner} {bytes}"),
    };
    bar.with_style(ProgressStyle::with_template(template).expect("a valid template"))
}
