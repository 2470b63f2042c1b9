//! What every call passes on its way in and out: pointers of C become references and values, results become numbers
//! and what C finds in its places, panics end here.
//!
//! What C has to keep stands in popfib.h, and nothing of it can be checked here but null, alignment and overlap. The
//! `# Safety` section of each function that C calls says which of it the function relies on, in these words:
//!
//! * A handle is **live** from the function that made it (`..._create`, `..._open`, ...) until the call of its `..._free`.
//! * A table is **not changed meanwhile** if no other thread is in a function of it that popfib.h marks \[writer\], until the
//!   call returns: what the mark \[table\] asks for. A table or groups are **the caller's alone** if no other thread is in any
//!   function of theirs, except those of readers and those marked \[any\]: the mark \[writer\]. A reader is the caller's
//!   alone if no other thread is in a function of this reader: the mark \[reader\].
//! * A **place** is aligned memory for one value, which may be uninitialised and which nobody else uses meanwhile.
//! * An **array** of so many elements, an **address** (4 or 16 bytes, by the table's family, of any alignment) and a
//!   **string** (bytes up to a zero) can be read, and do not change meanwhile.
//!
//! "Meanwhile" is until the call returns, and all arguments stay as long. The helpers below turn each kind of pointer into
//! what Rust knows; they ask for the same, in the same words.

use core::ffi::{CStr, c_char, c_int};
use core::mem;
use core::ops::ControlFlow;
use core::ptr;
use std::panic::{self, AssertUnwindSafe};

use crate::error::{Errno, Result};

/// Runs the body of a function that C calls and makes a number of its result: 0, unless it fails.
#[inline(always)]
pub(crate) fn border(body: impl FnOnce() -> Result<()>) -> c_int {
    border_code(|| body().map(|()| 0))
}

/// As [`border`], for a body that has a number of its own.
///
/// A panic becomes `-ENOTRECOVERABLE`. Whether what it left may be used again is for the body to see to
/// (`CTable::change` does), hence `AssertUnwindSafe`.
#[inline(always)]
pub(crate) fn border_code(body: impl FnOnce() -> Result<c_int>) -> c_int {
    match border_or(Err(Errno::PANIC), body) {
        Ok(code) => code,
        Err(error) => error.report(),
    }
}

/// Runs the body of a function that C calls; `otherwise` is the result of a panic.
#[inline(always)]
pub(crate) fn border_or<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    match panic::catch_unwind(AssertUnwindSafe(body)) {
        Ok(value) => value,
        Err(payload) => {
            // Its destructor may panic in turn.
            mem::forget(payload);
            otherwise
        }
    }
}

/// What a handle stands for; -EINVAL for null.
///
/// # Safety
/// `handle` is null or live, and nobody changes what `T` does not let change through a shared reference.
#[inline(always)]
pub(crate) unsafe fn required<'a, T>(handle: *const T) -> Result<&'a T> {
    // SAFETY: null, or a value that lives until it is freed, as the caller promises.
    unsafe { handle.as_ref() }.ok_or(Errno::INVALID)
}

/// As [`required`], to change it.
///
/// # Safety
/// `handle` is null, or live and the caller's alone.
#[inline(always)]
pub(crate) unsafe fn required_mut<'a, T>(handle: *mut T) -> Result<&'a mut T> {
    // SAFETY: null, or a value that lives until it is freed and that nobody else uses, as the caller promises.
    unsafe { handle.as_mut() }.ok_or(Errno::INVALID)
}

/// Runs the body of a function that makes a handle, and writes the handle to its place; null if the body fails.
///
/// # Safety
/// `place` is null or a place for a pointer.
pub(crate) unsafe fn make_handle<T>(
    place: *mut *mut T,
    make: impl FnOnce() -> Result<*mut T>,
) -> c_int {
    border(|| {
        if place.is_null() {
            return Err(Errno::INVALID);
        }
        // SAFETY: not null, hence a place for a pointer.
        unsafe { place.write(ptr::null_mut()) };
        let handle = make()?;
        // SAFETY: the same place.
        unsafe { place.write(handle) };
        Ok(())
    })
}

/// Runs the body of a function that frees a handle, unless that is null.
pub(crate) fn free_handle<T>(handle: *mut T, free: impl FnOnce(*mut T)) {
    border_or((), || {
        if !handle.is_null() {
            free(handle);
        }
    });
}

/// The bytes of a string, without its zero; -EINVAL for null.
///
/// # Safety
/// `string` is null or a string.
pub(crate) unsafe fn string<'a>(string: *const c_char) -> Result<&'a CStr> {
    if string.is_null() {
        return Err(Errno::INVALID);
    }
    // SAFETY: not null, hence a string.
    Ok(unsafe { CStr::from_ptr(string) })
}

/// Text that an image holds; -EINVAL for null, -EILSEQ if it is not UTF-8.
///
/// # Safety
/// `text` is null or a string.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str> {
    // SAFETY: it asks for the same.
    let text = unsafe { string(text)? };
    text.to_str().map_err(|_| Errno::BAD_TEXT)
}

/// Writes a result to its place, if C wants it.
///
/// # Safety
/// `place` is null or a place for a `T`.
#[inline(always)]
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: not null, hence a place for a `T`.
        unsafe { place.write(value) };
    }
}

/// What writes a route to its places, those that C wants: the bytes of the prefix, its length, its next hop.
///
/// # Safety
/// Each is null or a place, for as long as the result is used: `bytes` for as many bytes as an address of the table has.
pub(crate) unsafe fn put_route(
    bytes: *mut u8,
    len: *mut u8,
    next_hop: *mut u32,
) -> impl FnMut(&[u8], u8, u32) -> ControlFlow<c_int> {
    move |found, found_len, found_next_hop| {
        // SAFETY: null or places, as the caller promises; `found` is an address of the table.
        unsafe {
            if !bytes.is_null() {
                ptr::copy_nonoverlapping(found.as_ptr(), bytes, found.len());
            }
            put(len, found_len);
            put(next_hop, found_next_hop);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_number() {
        assert_eq!(border(|| panic!("on purpose")), -libc::ENOTRECOVERABLE);
        assert_eq!(border_or(7, || panic!("on purpose")), 7);
    }

    #[test]
    fn a_panic_with_a_destructor_that_panics_too_becomes_a_number() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("again");
            }
        }
        let code = border(|| panic::panic_any(Bomb));
        assert_eq!(code, -libc::ENOTRECOVERABLE);
    }
}
