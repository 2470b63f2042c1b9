//! The handle `popfib_reader`.

use core::ffi::{c_char, c_int, c_void};
use core::ptr;

use crate::border::{border, border_or, required, required_mut};
use crate::engine::{Lookup, Order};
use crate::error::Result;
use crate::kernel::c_name;
use crate::memory::{Memory, Own, hand_out, take_back};
use crate::table::Table;

/// What a `popfib_reader` points to.
struct Reader(Own<dyn Lookup>, Memory);

/// See popfib.h.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_create(table: *const Table, reader: *mut *mut Reader) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let place = unsafe { required_mut(reader)? };
        *place = ptr::null_mut();
        // SAFETY: the caller's. Of the table nothing is used that its writer changes.
        let table = unsafe { required(table)? };
        let reader = Reader(table.readers.reader()?, table.memory);
        *place = hand_out(table.memory.own(reader)?);
        Ok(0)
    })
}

/// See popfib.h.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_free(reader: *mut Reader) {
    border_or((), || {
        if !reader.is_null() {
            // SAFETY: from `hand_out`, and the caller gives it up.
            drop(unsafe { take_back(reader, (*reader).1) });
        }
    });
}

/// See popfib.h.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_lookup(reader: *mut Reader, address: *const u8) -> u32 {
    border_or(0, || {
        // SAFETY: the caller's.
        match unsafe { reader.as_mut() } {
            // SAFETY: the caller's; the address is there.
            Some(reader) if !address.is_null() => unsafe { reader.0.lookup(address) },
            _ => 0,
        }
    })
}

/// See popfib.h.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_lookup_bulk(
    reader: *mut Reader,
    addresses: *const c_void,
    next_hops: *mut c_void,
    count: usize,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { lookup_bulk(reader, addresses, next_hops, count, Order::Network) }
}

/// See popfib.h.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_lookup_bulk_host(
    reader: *mut Reader,
    addresses: *const c_void,
    next_hops: *mut c_void,
    count: usize,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { lookup_bulk(reader, addresses, next_hops, count, Order::Host) }
}

/// # Safety
/// As the two above.
#[inline(always)]
unsafe fn lookup_bulk(
    reader: *mut Reader,
    from: *const c_void,
    to: *mut c_void,
    count: usize,
    order: Order,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        unsafe {
            required_mut(reader)?
                .0
                .lookup_bulk(from, to, count, order)?
        };
        Ok(0)
    })
}

/// See popfib.h.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_online(reader: *mut Reader) -> c_int {
    // SAFETY: the caller's.
    border(|| unsafe { state(reader, |reader| reader.online()) })
}

/// See popfib.h.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_offline(reader: *mut Reader) -> c_int {
    // SAFETY: the caller's.
    border(|| unsafe { state(reader, |reader| reader.offline()) })
}

/// See popfib.h.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_quiescent(reader: *mut Reader) -> c_int {
    // SAFETY: the caller's.
    border(|| unsafe { state(reader, |reader| reader.quiescent()) })
}

/// # Safety
/// As the three above.
#[inline(always)]
unsafe fn state(reader: *mut Reader, set: impl FnOnce(&mut dyn Lookup)) -> Result<c_int> {
    // SAFETY: the caller's.
    set(unsafe { required_mut(reader)? }.0.as_mut());
    Ok(0)
}

/// See popfib.h.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_kernel(reader: *const Reader) -> *const c_char {
    border_or(ptr::null(), || {
        // SAFETY: the caller's.
        unsafe { reader.as_ref() }.map_or(ptr::null(), |reader| c_name(reader.0.kernel()))
    })
}
