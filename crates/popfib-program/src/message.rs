//! One-line notes and errors on standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use anstyle::Style;
use popfib_formats::Escaped;
use serde::{Serialize, Serializer};

use crate::failure::with_options;
use crate::progress;
use crate::screen::{ERROR, Screen};

/// The name of the program, which is before what it says.
pub(crate) static NAME: OnceLock<String> = OnceLock::new();

/// One line on standard error, whatever is in it: what could steer a terminal is escaped.
pub fn note(line: impl Display) {
    tell_line(Style::new(), line);
}

/// The same for a text as `format!` makes it.
#[macro_export]
macro_rules! note {
    ($($text:tt)*) => {
        $crate::message::note(format_args!($($text)*))
    };
}

/// The same for an error.
pub fn error(line: impl Display) {
    tell_line(ERROR, line);
}

fn tell_line(style: Style, line: impl Display) {
    to_stderr(&text_of(style, line));
}

/// The line with the program's name before it.
fn text_of(style: Style, line: impl Display) -> String {
    let name = format!("{}:", NAME.get().map_or("popfib", |name| name));
    let name = Screen::stderr().paint(style, name);
    format!("{name} {}\n", Escaped(&with_options(&line.to_string())))
}

/// Writes to standard error, which has no buffer, in one piece: two programs that share it don't mix
/// their lines. A standard error that is gone is no reason to stop.
pub fn to_stderr(text: &str) {
    let Some(queue) = QUEUE.get() else {
        return write(text);
    };
    QUEUED.fetch_add(1, Ordering::Relaxed);
    if queue.try_send(text.to_owned()).is_err() {
        QUEUED.fetch_sub(1, Ordering::Relaxed);
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

fn write(text: &str) {
    let _ = progress::apart(true, || io::stderr().write_all(text.as_bytes()));
}

/// Lines that wait for the thread that writes them; the number of those that it has got, and of those that were dropped.
static QUEUE: OnceLock<SyncSender<String>> = OnceLock::new();
static QUEUED: AtomicUsize = AtomicUsize::new(0);
static DROPPED: AtomicUsize = AtomicUsize::new(0);
const MAX_QUEUED: usize = 1000;

/// Has a thread write all lines from now on, so that nobody waits for whoever reads standard error: while that does not go on, lines are
/// dropped and counted. If there is no thread, they are written as before.
pub fn write_apart() {
    let (queue, lines) = sync_channel::<String>(MAX_QUEUED);
    let pass = move || {
        for line in lines {
            write(&line);
            let dropped = DROPPED.swap(0, Ordering::Relaxed);
            if dropped > 0 {
                let dropped = format_args!("{dropped} lines dropped, which nobody read");
                write(&text_of(Style::new(), dropped));
            }
            QUEUED.fetch_sub(1, Ordering::Relaxed);
        }
    };
    if Builder::new().spawn(pass).is_ok() {
        let _ = QUEUE.set(queue);
    }
}

/// Waits until all lines are written, but no longer than this: at the end of a program.
pub fn wait_for_lines(time: Duration) {
    let begin = Instant::now();
    while QUEUED.load(Ordering::Relaxed) > 0 && begin.elapsed() < time {
        sleep(Duration::from_millis(1));
    }
}

/// Notes what was left out of the source called `name`, or changed in it.
pub fn tell(name: &str, remarks: &[String]) {
    for line in remarks {
        note!("{}: {line}", name.escape_debug());
    }
}

/// A value that is a string of JSON: its text.
#[derive(Debug)]
pub struct AsText<T>(pub T);

impl<T: Display> Serialize for AsText<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
