//! The handle `popfib_reader`.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::{self, NonNull};

use crate::border::{border, border_or, put_route, required_mut};
use crate::engine::{Lookup, Order};
use crate::error::{Errno, Result};
use crate::kernel::c_name;
use crate::memory::{Memory, hand_out, take_back};

/// `popfib_reader_lookup_bulk_host`, for readers of one type.
type BulkHost = unsafe extern "C" fn(*mut Reader, *const c_void, *mut c_void, usize) -> c_int;

/// What a `popfib_reader` points to: the head of a [`Whole`].
///
/// A burst of 64 addresses takes a tenth of a microsecond, of which each call, and each pointer to be followed before
/// the first address can be, is a percent. So these bulk lookups are called directly, and lie beside the head.
pub(crate) struct Reader {
    bulk_host: BulkHost,
    /// Everything else; in the same `Whole`.
    lookups: NonNull<dyn Lookup>,
    // SAFETY: asks for what `free::<T>` does: a reader that `make::<T>` handed out and nobody uses again.
    free: unsafe fn(*mut Reader),
}

/// Makes readers; used while another thread changes the table.
pub(crate) trait Readers {
    /// One as C has it.
    fn reader(&self) -> Result<*mut Reader>;
}

#[repr(C)]
struct Whole<T> {
    head: Reader,
    lookups: T,
    memory: Memory,
}

impl Reader {
    /// A reader as C has it, to be freed by `free`.
    pub(crate) fn make<T: Lookup + 'static>(lookups: T, memory: Memory) -> Result<*mut Self> {
        let head = Self {
            bulk_host: bulk_host::<T>,
            lookups: NonNull::<T>::dangling(),
            free: free::<T>,
        };
        let whole = hand_out(memory.own(Whole {
            head,
            lookups,
            memory,
        })?);
        // SAFETY: nobody else has it yet.
        unsafe {
            (*whole).head.lookups = NonNull::new_unchecked(&raw mut (*whole).lookups);
        }
        Ok(whole.cast())
    }

    /// # Safety
    /// Nobody else uses the reader meanwhile.
    unsafe fn lookups(&mut self) -> &mut dyn Lookup {
        // SAFETY: the head of a `Whole`, whose other parts are used through this alone.
        unsafe { self.lookups.as_mut() }
    }
}

/// # Safety
/// A reader made of a `T`, which nobody uses any more.
unsafe fn free<T>(reader: *mut Reader) {
    let whole = reader.cast::<Whole<T>>();
    // SAFETY: the caller's.
    drop(unsafe { take_back(whole, (*whole).memory) });
}

/// # Safety
/// As for `popfib_reader_lookup_bulk_host`, of a reader made of a `T`.
unsafe extern "C" fn bulk_host<T: Lookup>(
    reader: *mut Reader,
    from: *const c_void,
    to: *mut c_void,
    count: usize,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        unsafe {
            let lookups = &mut (*reader.cast::<Whole<T>>()).lookups;
            lookups.lookup_bulk(from, to, count, Order::Host)?;
        }
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_free(reader: *mut Reader) {
    border_or((), || {
        if !reader.is_null() {
            // SAFETY: the caller gives it up.
            unsafe { ((*reader).free)(reader) };
        }
    });
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_lookup(reader: *mut Reader, address: *const u8) -> u32 {
    border_or(0, || {
        // SAFETY: the caller's.
        match unsafe { reader.as_mut() } {
            // SAFETY: the caller's; the address is there.
            Some(reader) if !address.is_null() => unsafe { reader.lookups().lookup(address) },
            _ => 0,
        }
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_lookup_bulk(
    reader: *mut Reader,
    addresses: *const c_void,
    next_hops: *mut c_void,
    count: usize,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        unsafe {
            required_mut(reader)?.lookups().lookup_bulk(
                addresses,
                next_hops,
                count,
                Order::Network,
            )?;
        }
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_lookup_bulk_host(
    reader: *mut Reader,
    addresses: *const c_void,
    next_hops: *mut c_void,
    count: usize,
) -> c_int {
    if reader.is_null() {
        return Errno::INVALID.code();
    }
    // SAFETY: the caller's.
    unsafe { ((*reader).bulk_host)(reader, addresses, next_hops, count) }
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_longest_match(
    reader: *mut Reader,
    address: *const u8,
    bytes: *mut u8,
    len: *mut u8,
    next_hop: *mut u32,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let lookups = unsafe { required_mut(reader)?.lookups() };
        if address.is_null() {
            return Err(Errno::INVALID);
        }
        // SAFETY: the caller's.
        unsafe { lookups.longest_match(address, &mut put_route(bytes, len, next_hop))? };
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_longest_match_bulk(
    reader: *mut Reader,
    addresses: *const c_void,
    lengths: *mut u8,
    next_hops: *mut c_void,
    count: usize,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        unsafe {
            let lookups = required_mut(reader)?.lookups();
            lookups.longest_match_bulk(addresses, lengths, next_hops, count)?;
        }
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_online(reader: *mut Reader) -> c_int {
    // SAFETY: the caller's.
    border(|| unsafe { state(reader, |reader| reader.online()) })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_offline(reader: *mut Reader) -> c_int {
    // SAFETY: the caller's.
    border(|| unsafe { state(reader, |reader| reader.offline()) })
}

/// # Safety
/// As popfib.h says.
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
    set(unsafe { required_mut(reader)?.lookups() });
    Ok(0)
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_kernel(reader: *const Reader) -> *const c_char {
    border_or(ptr::null(), || {
        // SAFETY: the caller's.
        unsafe { reader.as_ref() }.map_or(ptr::null(), |reader| {
            // SAFETY: the caller's.
            c_name(unsafe { reader.lookups.as_ref() }.kernel())
        })
    })
}
