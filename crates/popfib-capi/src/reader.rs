//! The handle `popfib_reader`: passes lookups of one thread on to a reader of whatever type its table has.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::{self, NonNull};

use crate::border::{border, border_or, free_handle, put_route, required_mut};
use crate::engine::{ByteOrder, ReaderEngine};
use crate::error::{Errno, Result};
use crate::kernel::c_name;
use crate::memory::{CAllocator, hand_out, take_back};

/// `popfib_reader_lookup_bulk_host`, for readers of one type.
type BulkHostFn = unsafe extern "C" fn(*mut CReader, *const c_void, *mut u32, usize) -> c_int;

/// What a `popfib_reader` points to: the head of a [`CReaderWith`].
///
/// A burst of 64 addresses takes a tenth of a microsecond. Each call, and each pointer that is followed before the first
/// address is read, takes a percent of that. So these bulk lookups are called directly, and their reader lies beside the head.
pub(crate) struct CReader {
    bulk_host: BulkHostFn,
    /// For all other calls; in the same `CReaderWith`.
    engine: NonNull<dyn ReaderEngine>,
    // SAFETY: asks for what `free::<T>` does: a reader that `make::<T>` handed out and nobody uses again.
    free: unsafe fn(*mut CReader),
}

/// Makes readers of a table, also while another thread changes it.
pub(crate) trait ReaderFactory {
    /// A new reader, to be freed by `popfib_reader_free`.
    fn reader(&self) -> Result<*mut CReader>;
}

#[repr(C)]
struct CReaderWith<T> {
    head: CReader,
    engine: T,
    allocator: CAllocator,
}

impl CReader {
    /// A new handle, to be freed by its `free`.
    pub(crate) fn make<T: ReaderEngine + 'static>(
        engine: T,
        allocator: CAllocator,
    ) -> Result<*mut Self> {
        let head = Self {
            bulk_host: bulk_host::<T>,
            engine: NonNull::<T>::dangling(),
            free: free::<T>,
        };
        let whole = hand_out(allocator.own(CReaderWith {
            head,
            engine,
            allocator,
        })?);
        // SAFETY: just made, and nobody else has it yet.
        unsafe {
            (*whole).head.engine = NonNull::new_unchecked(&raw mut (*whole).engine);
        }
        Ok(whole.cast())
    }

    /// What answers for this reader.
    ///
    /// # Safety
    /// The reader is the caller's alone while the result is used.
    unsafe fn engine(&mut self) -> &mut dyn ReaderEngine {
        // SAFETY: `make` set it to the engine beside this head, which lives as long; nobody else uses it meanwhile.
        unsafe { self.engine.as_mut() }
    }
}

/// # Safety
/// `make::<T>` made `reader`, and nobody uses it any more.
unsafe fn free<T>(reader: *mut CReader) {
    let whole = reader.cast::<CReaderWith<T>>();
    // SAFETY: `make` handed it out, with its own allocator.
    drop(unsafe { take_back(whole, (*whole).allocator) });
}

/// # Safety
/// `reader` is live and the caller's alone, and `make::<T>` made it; the arrays are as for `popfib_reader_lookup_bulk_host`.
unsafe extern "C" fn bulk_host<T: ReaderEngine>(
    reader: *mut CReader,
    from: *const c_void,
    to: *mut u32,
    count: usize,
) -> c_int {
    // SAFETY: the head of a `CReaderWith<T>` that nobody else uses, and such arrays, as the caller promises.
    border(|| unsafe {
        let engine = &mut (*reader.cast::<CReaderWith<T>>()).engine;
        engine.lookup_bulk(from, to, count, ByteOrder::Host)
    })
}

/// # Safety
/// `reader` is null, or live and the caller's alone, and not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_free(reader: *mut CReader) {
    free_handle(reader, |reader| {
        // SAFETY: live and the caller's alone, hence from the `make` that set `free`, and not used again.
        unsafe { ((*reader).free)(reader) };
    });
}

/// # Safety
/// `reader` is null, or live and the caller's alone; `address` is null or an address of its table's family.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_lookup(reader: *mut CReader, address: *const u8) -> u32 {
    border_or(0, || {
        // SAFETY: null, or live and the caller's alone, as the caller promises.
        match unsafe { reader.as_mut() } {
            // SAFETY: not null, hence the caller's alone; `address`, not null, is one of the table's family.
            Some(reader) if !address.is_null() => unsafe { reader.engine().lookup(address) },
            _ => 0,
        }
    })
}

/// # Safety
/// `reader` is null, or live and the caller's alone; `addresses` is null or an array of `count` addresses of its
/// table's family; `next_hops` is null or `count` places for next hops.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_lookup_bulk(
    reader: *mut CReader,
    addresses: *const c_void,
    next_hops: *mut u32,
    count: usize,
) -> c_int {
    // SAFETY: as the caller promises, of reader and arrays.
    border(|| unsafe {
        let engine = required_mut(reader)?.engine();
        engine.lookup_bulk(addresses, next_hops, count, ByteOrder::Network)
    })
}

/// # Safety
/// `reader` is null, or live and the caller's alone; `addresses` is null or an array of `count` integers that are
/// addresses of its table's family; `next_hops` is null or `count` places for next hops.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_lookup_bulk_host(
    reader: *mut CReader,
    addresses: *const c_void,
    next_hops: *mut u32,
    count: usize,
) -> c_int {
    if reader.is_null() {
        return Errno::INVALID.code();
    }
    // SAFETY: not null, hence live and the caller's alone; `make` set the function for its type.
    unsafe { ((*reader).bulk_host)(reader, addresses, next_hops, count) }
}

/// # Safety
/// `reader` is null, or live and the caller's alone; `address` is null or an address of its table's family; `bytes`
/// is null or a place for such an address; `len` and `next_hop` are null or places.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_longest_match(
    reader: *mut CReader,
    address: *const u8,
    bytes: *mut u8,
    len: *mut u8,
    next_hop: *mut u32,
) -> c_int {
    border(|| {
        // SAFETY: null, or live and the caller's alone, as the caller promises.
        let engine = unsafe { required_mut(reader)?.engine() };
        // SAFETY: null or an address of the table's family; null or places, as the caller promises.
        unsafe { engine.longest_match(address, &mut put_route(bytes, len, next_hop)) }
    })
}

/// # Safety
/// `reader` is null, or live and the caller's alone; `addresses` is null or an array of `count` addresses of its
/// table's family; `lengths` is null or `count` places for a byte, `next_hops` is null or `count` places for next hops.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_longest_match_bulk(
    reader: *mut CReader,
    addresses: *const c_void,
    lengths: *mut u8,
    next_hops: *mut u32,
    count: usize,
) -> c_int {
    // SAFETY: as the caller promises, of reader and arrays.
    border(|| unsafe {
        let engine = required_mut(reader)?.engine();
        engine.longest_match_bulk(addresses, lengths, next_hops, count)
    })
}

/// # Safety
/// `reader` is null, or live and the caller's alone.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_online(reader: *mut CReader) -> c_int {
    // SAFETY: null, or live and the caller's alone, as the caller promises.
    border(|| unsafe { set_state(reader, |reader| reader.online()) })
}

/// # Safety
/// `reader` is null, or live and the caller's alone.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_offline(reader: *mut CReader) -> c_int {
    // SAFETY: null, or live and the caller's alone, as the caller promises.
    border(|| unsafe { set_state(reader, |reader| reader.offline()) })
}

/// # Safety
/// `reader` is null, or live and the caller's alone.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_quiescent(reader: *mut CReader) -> c_int {
    // SAFETY: null, or live and the caller's alone, as the caller promises.
    border(|| unsafe { set_state(reader, |reader| reader.quiescent()) })
}

/// # Safety
/// `reader` is null, or live and the caller's alone.
#[inline(always)]
unsafe fn set_state(reader: *mut CReader, set: impl FnOnce(&mut dyn ReaderEngine)) -> Result<()> {
    // SAFETY: as the caller promises.
    set(unsafe { required_mut(reader)?.engine() });
    Ok(())
}

/// # Safety
/// `reader` is null, or live and the caller's alone.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_kernel(reader: *const CReader) -> *const c_char {
    border_or(ptr::null(), || {
        // SAFETY: null, or live and the caller's alone, as the caller promises.
        unsafe { reader.as_ref() }.map_or(ptr::null(), |reader| {
            // SAFETY: as in `CReader::engine`.
            c_name(unsafe { reader.engine.as_ref() }.kernel())
        })
    })
}
