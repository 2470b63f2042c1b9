//! What every call from DuckDB passes: errors and panics end here and become errors of DuckDB's; values go to DuckDB as
//! pointers, and come back once, to be freed.

use core::ffi::{c_char, c_void};
use std::ffi::CString;
use std::panic::{self, AssertUnwindSafe};

use crate::api::DuckDbHandle;

/// Runs the body of a function that DuckDB calls; its error, or a panic, is handed to `set_error`.
///
/// # Safety
/// `info` is that of the call, and `set_error` DuckDB's function for infos of its kind.
pub(crate) unsafe fn border(
    set_error: unsafe extern "C" fn(DuckDbHandle, *const c_char),
    info: DuckDbHandle,
    body: impl FnOnce() -> Result<(), String>,
) {
    let result = panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        // Its destructor may panic in turn.
        core::mem::forget(payload);
        Err("internal error in popfib".to_owned())
    });
    if let Err(error) = result {
        let error = format!("popfib: {error}").replace('\0', "\\0");
        let error = CString::new(error).unwrap_or_default();
        // SAFETY: the function for this info; DuckDB copies the string.
        unsafe { set_error(info, error.as_ptr()) }
    }
}

/// Hands a value over to DuckDB, which gives it to [`drop_box`] of the same type.
pub(crate) fn into_raw<T: Send + Sync>(value: T) -> *mut c_void {
    Box::into_raw(Box::new(value)).cast()
}

/// Frees what [`into_raw`] handed over.
///
/// # Safety
/// `value` is what [`into_raw`] returned for a `T`, and nobody uses it any more.
pub(crate) unsafe extern "C" fn drop_box<T>(value: *mut c_void) {
    // SAFETY: from the box of a `T`, which is nobody else's any more.
    let value = unsafe { Box::from_raw(value.cast::<T>()) };
    // A panic must not get to DuckDB.
    let _ = panic::catch_unwind(AssertUnwindSafe(|| drop(value)));
}
