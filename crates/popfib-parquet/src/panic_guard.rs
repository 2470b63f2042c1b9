//! Parts of the Parquet library that panic on some damaged files, where they should say so.
//!
//! A caught panic is an error like any other, so its message, which the standard library prints before anybody can
//! catch it, is kept back: by a hook that is silent on a thread inside the guard and leaves all others as they were.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use parquet::errors::{ParquetError, Result};

thread_local! {
    /// Whether this thread is inside the guard.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a part of the library that panics on some damaged files. Inside of itself it does nothing more.
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
    // Who gets the error reads and writes no further.
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
