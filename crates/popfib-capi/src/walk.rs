//! Walks: the routes of a table, or those that cover a prefix or are inside it, in order, each handed to a function of C's.
//!
//! The function may look up in the table. While a walk is under way, the table refuses changes.

use core::ffi::{c_int, c_void};
use core::ops::ControlFlow;

use crate::border::{border_code, required};
use crate::engine::{RawPrefix, WalkScope};
use crate::error::{Errno, Result};
use crate::table::CTable;

/// `popfib_walk_fn`.
type WalkFn = unsafe extern "C" fn(*mut c_void, *const u8, u8, u32) -> c_int;

/// # Safety
/// `table` is not changed meanwhile; `callback` keeps what popfib.h asks of it, called with `user`.
unsafe fn walk(
    table: &CTable,
    scope: WalkScope,
    callback: Option<WalkFn>,
    user: *mut c_void,
) -> Result<c_int> {
    // SAFETY: the table is not changed meanwhile: not by others, and not by `callback`, whose changes are refused.
    let engine = unsafe { table.routes()? };
    let callback = callback.ok_or(Errno::INVALID)?;
    let _guard = table.begin_walk();
    let mut visit = |bytes: &[u8], len, next_hop| {
        // SAFETY: `popfib_walk_fn`, called with its `user`; `bytes` lives until it returns.
        match unsafe { callback(user, bytes.as_ptr(), len, next_hop) } {
            0 => ControlFlow::Continue(()),
            stop => ControlFlow::Break(stop),
        }
    };
    match engine.walk(scope, &mut visit)? {
        ControlFlow::Continue(()) => Ok(0),
        ControlFlow::Break(stop) => Ok(stop),
    }
}

/// # Safety
/// `table` is null, or live and not changed meanwhile; `callback` is null, or keeps what popfib.h asks of it, called with `user`.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_walk(
    table: *const CTable,
    callback: Option<WalkFn>,
    user: *mut c_void,
) -> c_int {
    // SAFETY: as the caller promises of table and callback.
    border_code(|| unsafe { walk(required(table)?, WalkScope::All, callback, user) })
}

/// # Safety
/// `table` is null, or live and not changed meanwhile; `bytes` is null or an address of its family; `callback` is null, or keeps
/// what popfib.h asks of it, called with `user`.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_walk_covering(
    table: *const CTable,
    bytes: *const u8,
    len: u8,
    callback: Option<WalkFn>,
    user: *mut c_void,
) -> c_int {
    // SAFETY: as the caller promises of table, prefix and callback.
    border_code(|| unsafe {
        let table = required(table)?;
        let prefix = RawPrefix::read(table.family, bytes, len)?;
        walk(table, WalkScope::Covering(prefix), callback, user)
    })
}

/// # Safety
/// `table` is null, or live and not changed meanwhile; `bytes` is null or an address of its family; `callback` is null, or keeps
/// what popfib.h asks of it, called with `user`.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_walk_covered(
    table: *const CTable,
    bytes: *const u8,
    len: u8,
    callback: Option<WalkFn>,
    user: *mut c_void,
) -> c_int {
    // SAFETY: as the caller promises of table, prefix and callback.
    border_code(|| unsafe {
        let table = required(table)?;
        let prefix = RawPrefix::read(table.family, bytes, len)?;
        walk(table, WalkScope::Covered(prefix), callback, user)
    })
}
