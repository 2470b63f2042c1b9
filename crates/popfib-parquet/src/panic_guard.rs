//! A call of the Parquet library in, its result out, with an error in place of a panic: on some damaged files the library panics.
//!
//! A caught panic is an error like any other. The standard library prints a panic's message before it can be caught, so a hook keeps it
//! back: it is silent on a thread inside the guard, and leaves other threads as they were.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use parquet::errors::{ParquetError, Result};

thread_local! {
    /// Whether this thread is inside the guard.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a part of the library that panics on some damaged files. One guard inside another does no harm.
///
/// # Errors
/// The library's, and one in place of a panic.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                others(panic);
            }
        }));
    });
    let was_guarded = IS_GUARDED.replace(true);
    // Unwind safe, because callers use nothing of what the work has touched after an error.
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(was_guarded);
    result.unwrap_or_else(|_| Err(ParquetError::General("the file is damaged".to_owned())))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// The only test that calls `guarded` in this program, so that its hook is set before.
    #[test]
    fn a_panic_inside_is_an_error_and_prints_nothing() {
        static PRINTED: AtomicUsize = AtomicUsize::new(0);
        panic::set_hook(Box::new(|_| {
            PRINTED.fetch_add(1, Ordering::Relaxed);
        }));
        let fails = || -> Result<()> { panic!("inside") };
        assert!(guarded(fails).is_err());
        assert!(guarded(|| guarded(fails).or_else(|_| fails())).is_err());
        assert_eq!(PRINTED.load(Ordering::Relaxed), 0);
        assert!(guarded(|| Ok(())).is_ok());
        assert!(panic::catch_unwind(|| panic!("outside")).is_err());
        assert_eq!(PRINTED.load(Ordering::Relaxed), 1);
    }
}
