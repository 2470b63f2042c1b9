//! What every call passes on its way in and out: panics end here, pointers are checked.

use core::ffi::c_int;
use core::mem;
use core::ops::ControlFlow;
use core::ptr;
use std::panic::{self, AssertUnwindSafe};

use crate::error::{Errno, Result};

/// Runs the body of a function that C calls and makes a number of its result.
///
/// A panic becomes `-ENOTRECOVERABLE`. Whether what it left behind may be used again is for
/// the caller to say (see `Table::writer`), hence `AssertUnwindSafe`.
#[inline(always)]
pub(crate) fn border(body: impl FnOnce() -> Result<c_int>) -> c_int {
    match border_or(Err(Errno::PANIC), body) {
        Ok(code) => code,
        Err(error) => error.code(),
    }
}

/// Runs the body; what a panic returns instead is `otherwise`.
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

/// The value behind a pointer that must not be null.
///
/// # Safety
/// Null, or as for `&*pointer`.
#[inline(always)]
pub(crate) unsafe fn required<'a, T>(pointer: *const T) -> Result<&'a T> {
    // SAFETY: the caller's.
    unsafe { pointer.as_ref() }.ok_or(Errno::INVALID)
}

/// As [`required`], to change it.
///
/// # Safety
/// Null, or as for `&mut *pointer`.
#[inline(always)]
pub(crate) unsafe fn required_mut<'a, T>(pointer: *mut T) -> Result<&'a mut T> {
    // SAFETY: the caller's.
    unsafe { pointer.as_mut() }.ok_or(Errno::INVALID)
}

/// Writes a result to where C wants it, if it does.
///
/// # Safety
/// Null, or a place for a `T`.
#[inline(always)]
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the caller's.
        unsafe { place.write(value) };
    }
}

/// What writes a route to where C wants it: the bytes of the prefix, its length, its next hop.
///
/// # Safety
/// Each is null, or a place for as many bytes as an address of the table has, for a length and for a next hop,
/// for as long as the result is used.
pub(crate) unsafe fn put_route(
    bytes: *mut u8,
    len: *mut u8,
    next_hop: *mut u32,
) -> impl FnMut(&[u8], u8, u32) -> ControlFlow<c_int> {
    move |found, found_len, found_next_hop| {
        // SAFETY: the caller's.
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
