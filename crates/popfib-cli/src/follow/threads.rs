//! Threads that are started while the process runs, which the system may refuse.

use std::thread::{Builder, JoinHandle};

/// Starts a thread.
///
/// # Errors
/// The system allows no more; `std::thread::spawn` would panic.
pub(super) fn start<T: Send + 'static>(
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, String> {
    let started = Builder::new().spawn(run);
    started.map_err(|error| format!("no thread can be started: {error}"))
}
