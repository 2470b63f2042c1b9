//! Walks, with a function of C called for each route.

use core::ffi::{c_int, c_void};
use core::ops::ControlFlow;

use crate::border::{border, required};
use crate::engine::{RawPrefix, Walk};
use crate::error::{Errno, Result};
use crate::table::Table;

/// `popfib_walk_fn`.
type Callback = unsafe extern "C" fn(*mut c_void, *const u8, u8, u32) -> c_int;

/// # Safety
/// As for the functions below.
unsafe fn walk(
    table: *const Table,
    walk: Walk,
    callback: Option<Callback>,
    user: *mut c_void,
) -> Result<c_int> {
    // SAFETY: the caller's.
    let (table, engine) = unsafe {
        let table = required(table)?;
        (table, table.routes()?)
    };
    let callback = callback.ok_or(Errno::INVALID)?;
    let _walking = table.walking();
    let mut visit = |bytes: &[u8], len, next_hop| {
        // SAFETY: the caller's function; `bytes` lives until it returns.
        match unsafe { callback(user, bytes.as_ptr(), len, next_hop) } {
            0 => ControlFlow::Continue(()),
            stop => ControlFlow::Break(stop),
        }
    };
    // SAFETY: the caller's.
    match unsafe { engine.walk(walk, &mut visit)? } {
        ControlFlow::Continue(()) => Ok(0),
        ControlFlow::Break(stop) => Ok(stop),
    }
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_walk(
    table: *const Table,
    callback: Option<Callback>,
    user: *mut c_void,
) -> c_int {
    // SAFETY: the caller's.
    border(|| unsafe { walk(table, Walk::All, callback, user) })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_walk_covering(
    table: *const Table,
    bytes: *const u8,
    len: u8,
    callback: Option<Callback>,
    user: *mut c_void,
) -> c_int {
    let of = RawPrefix { bytes, len };
    // SAFETY: the caller's.
    border(|| unsafe { walk(table, Walk::Covering(of), callback, user) })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_walk_covered(
    table: *const Table,
    bytes: *const u8,
    len: u8,
    callback: Option<Callback>,
    user: *mut c_void,
) -> c_int {
    let within = RawPrefix { bytes, len };
    // SAFETY: the caller's.
    border(|| unsafe { walk(table, Walk::Covered(within), callback, user) })
}
