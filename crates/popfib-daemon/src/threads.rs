//! Threads that are started while the process runs: a closure in, its thread out, or the reason why the system refuses one.

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
