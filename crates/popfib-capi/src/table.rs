//! The handle `popfib_table`: makes tables, passes changes and lookups of C on to the table's engine, and makes readers.
//!
//! A table is a [`TableEngine`] of one of a few types, and what all of them need: which calls a walk or a panic forbids.

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use allocator_api2::unsize_box;
use popfib::{Address, Kernel};

use crate::border::{border, border_or, free_handle, make_handle, put, put_route, required};
use crate::bulk::array;
use crate::config::{self, CConfig, TableFamily};
use crate::engine::{ByteOrder, CChange, RawPrefix, TableEngine};
use crate::error::{Errno, Result};
use crate::kernel::c_name;
use crate::live::{LiveEngine, NextHopEncoding, NextHopsAndLengths, PlainNextHops};
use crate::memory::{CAllocator, CBox, hand_out, take_back};
use crate::reader::{CReader, ReaderFactory};

/// What a `popfib_table` points to.
pub(crate) struct CTable {
    /// Changed by one thread, while others may use `readers`.
    engine: UnsafeCell<CBox<dyn TableEngine>>,
    readers: CBox<dyn ReaderFactory>,
    allocator: CAllocator,
    pub(crate) family: u32,
    kernel: Kernel,
    /// Walks under way: while a callback runs, the routes must stay.
    walks: AtomicUsize,
    /// Whether a panic may have left the routes half changed.
    is_broken: AtomicBool,
}

impl CTable {
    pub(crate) fn new(
        engine: impl TableEngine + 'static,
        readers: impl ReaderFactory + 'static,
        allocator: CAllocator,
    ) -> Result<CBox<Self>> {
        let (family, kernel) = (engine.family(), engine.kernel());
        let (engine, readers) = (allocator.own(engine)?, allocator.own(readers)?);
        allocator.own(Self {
            engine: UnsafeCell::new(unsize_box!(engine)),
            readers: unsize_box!(readers),
            allocator,
            family,
            kernel,
            walks: AtomicUsize::new(0),
            is_broken: AtomicBool::new(false),
        })
    }

    /// The engine for lookups, which work also after a panic in a change: the compiled table changes in single,
    /// complete steps.
    ///
    /// # Safety
    /// The table is not changed while the result is used.
    #[inline(always)]
    unsafe fn engine(&self) -> &dyn TableEngine {
        // SAFETY: only `change` makes a reference to write, and nobody calls it meanwhile.
        unsafe { &**self.engine.get() }
    }

    /// The engine for everything that reads routes; fails after a panic in a change.
    ///
    /// # Safety
    /// The table is not changed while the result is used.
    pub(crate) unsafe fn routes(&self) -> Result<&dyn TableEngine> {
        if self.is_broken.load(Ordering::Relaxed) {
            return Err(Errno::PANIC);
        }
        // SAFETY: as long as the result is used, the table is not changed.
        Ok(unsafe { self.engine() })
    }

    /// Runs a change, but not in a walk of this table. After a panic, other changes and all that reads routes fail.
    ///
    /// # Safety
    /// The table is the caller's alone.
    unsafe fn change(&self, change: impl FnOnce(&mut dyn TableEngine) -> Result<()>) -> Result<()> {
        if self.walks.load(Ordering::Relaxed) != 0 {
            return Err(Errno::BUSY);
        }
        if self.is_broken.swap(true, Ordering::Relaxed) {
            return Err(Errno::PANIC);
        }
        // SAFETY: no other thread has a reference to the engine, and no walk of this thread has one either.
        let result = change(unsafe { &mut **self.engine.get() });
        self.is_broken.store(false, Ordering::Relaxed);
        result
    }

    /// Forbids changes until the result is dropped.
    pub(crate) fn begin_walk(&self) -> WalkGuard<'_> {
        self.walks.fetch_add(1, Ordering::Relaxed);
        WalkGuard(&self.walks)
    }
}

/// A walk under way.
pub(crate) struct WalkGuard<'a>(&'a AtomicUsize);

impl Drop for WalkGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A table without routes.
fn new_table<A: Address, N: NextHopEncoding<A>>(
    config: &CConfig,
    kernel: Kernel,
) -> Result<CBox<CTable>> {
    let allocator = config.allocator()?;
    let engine = LiveEngine::<A, N>::new(config.options()?, kernel, allocator)?;
    let readers = engine.readers()?;
    CTable::new(engine, readers, allocator)
}

/// # Safety
/// `config` is null or a structure of the size that it says, whose `kernel` is null or a string and whose functions keep what
/// popfib.h asks of them. `table` is null or a place for a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_create(config: *const CConfig, table: *mut *mut CTable) -> c_int {
    let make = || {
        // SAFETY: null or such a structure, as the caller promises.
        let config = unsafe { config::read(config)? };
        let (family, keeps_prefixes) = (config.table_family()?, config.keeps_prefixes());
        // SAFETY: copied from a structure whose `kernel` is null or a string.
        let kernel = unsafe { config.kernel()? };
        let new = match (family, keeps_prefixes) {
            (TableFamily::Ipv4, true) => new_table::<u32, NextHopsAndLengths>,
            (TableFamily::Ipv6, true) => new_table::<u128, NextHopsAndLengths>,
            (TableFamily::Ipv4, false) => new_table::<u32, PlainNextHops>,
            (TableFamily::Ipv6, false) => new_table::<u128, PlainNextHops>,
        };
        Ok(hand_out(new(&config, kernel)?))
    };
    // SAFETY: null or a place for a pointer, as the caller promises.
    unsafe { make_handle(table, make) }
}

/// # Safety
/// `table` is null, or live and the caller's alone, and not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_free(table: *mut CTable) {
    free_handle(table, |table| {
        // SAFETY: live and the caller's alone, hence from `hand_out` with its own allocator, and not used again.
        drop(unsafe { take_back(table, (*table).allocator) });
    });
}

/// # Safety
/// `table` is null or live; it may be changed meanwhile, but not freed. `reader` is null or a place for a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_create(
    table: *const CTable,
    reader: *mut *mut CReader,
) -> c_int {
    // SAFETY: null or live, as the caller promises; `readers` is nothing that a change writes to.
    let make = || unsafe { required(table)? }.readers.reader();
    // SAFETY: null or a place for a pointer, as the caller promises.
    unsafe { make_handle(reader, make) }
}

/// # Safety
/// `table` is null, or live and the caller's alone; `bytes` is null or an address of its family.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_add(
    table: *mut CTable,
    bytes: *const u8,
    len: u8,
    next_hop: u32,
) -> c_int {
    // SAFETY: `table` is null, or live and the caller's alone; `bytes` is null or an address of its family.
    border(|| unsafe {
        let table = required(table)?;
        table.change(|engine| engine.add(RawPrefix::read(table.family, bytes, len)?, next_hop))
    })
}

/// # Safety
/// `table` is null, or live and the caller's alone; `bytes` is null or an address of its family.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_delete(table: *mut CTable, bytes: *const u8, len: u8) -> c_int {
    // SAFETY: `table` is null, or live and the caller's alone; `bytes` is null or an address of its family.
    border(|| unsafe {
        let table = required(table)?;
        table.change(|engine| engine.delete(RawPrefix::read(table.family, bytes, len)?))
    })
}

/// # Safety
/// `table` is null, or live and the caller's alone; `changes` is null or an array of `count` changes.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_apply(
    table: *mut CTable,
    changes: *const CChange,
    count: usize,
) -> c_int {
    // SAFETY: `table` is null, or live and the caller's alone; `changes` is null or an array of `count` changes.
    border(|| unsafe {
        let changes = array(changes, count)?;
        required(table)?.change(|engine| engine.apply(changes))
    })
}

/// # Safety
/// `table` is null, or live and the caller's alone.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reclaim(table: *mut CTable) -> c_int {
    // SAFETY: `table` is null, or live and the caller's alone.
    border(|| unsafe {
        required(table)?.change(|engine| {
            engine.reclaim();
            Ok(())
        })
    })
}

/// # Safety
/// `table` is null, or live and not changed meanwhile; `bytes` is null or an address of its family; `next_hop` is
/// null or a place.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_get(
    table: *const CTable,
    bytes: *const u8,
    len: u8,
    next_hop: *mut u32,
) -> c_int {
    // SAFETY: `table` is null, or live and not changed meanwhile; `bytes` is null or an address of its family; `next_hop` is
    // null or a place.
    border(|| unsafe {
        let table = required(table)?;
        let prefix = RawPrefix::read(table.family, bytes, len)?;
        put(next_hop, table.routes()?.get(prefix)?);
        Ok(())
    })
}

/// # Safety
/// `table` is null, or live and not changed meanwhile; `address` is null or an address of its family.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_lookup(table: *const CTable, address: *const u8) -> u32 {
    border_or(0, || {
        // SAFETY: null or live, as the caller promises.
        match unsafe { table.as_ref() } {
            // SAFETY: the table is not changed meanwhile; not null, `address` is one of its family.
            Some(table) if !address.is_null() => unsafe { table.engine().lookup(address) },
            _ => 0,
        }
    })
}

/// # Safety
/// `table` is null, or live and not changed meanwhile; `addresses` is null or an array of `count` addresses of its
/// family; `next_hops` is null or `count` places for next hops.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_lookup_bulk(
    table: *const CTable,
    addresses: *const c_void,
    next_hops: *mut u32,
    count: usize,
) -> c_int {
    // SAFETY: it asks for the same.
    unsafe { lookup_bulk(table, addresses, next_hops, count, ByteOrder::Network) }
}

/// # Safety
/// `table` is null, or live and not changed meanwhile; `addresses` is null or an array of `count` integers that are
/// addresses of its family; `next_hops` is null or `count` places for next hops.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_lookup_bulk_host(
    table: *const CTable,
    addresses: *const c_void,
    next_hops: *mut u32,
    count: usize,
) -> c_int {
    // SAFETY: it asks for the same.
    unsafe { lookup_bulk(table, addresses, next_hops, count, ByteOrder::Host) }
}

/// # Safety
/// `table` is null, or live and not changed meanwhile; `from` is null or an array of `count` addresses in this order; `to` is
/// null or `count` places for next hops.
#[inline(always)]
unsafe fn lookup_bulk(
    table: *const CTable,
    from: *const c_void,
    to: *mut u32,
    count: usize,
    order: ByteOrder,
) -> c_int {
    // SAFETY: as the caller promises, of table and arrays.
    border(|| unsafe {
        required(table)?
            .engine()
            .lookup_bulk(from, to, count, order)
    })
}

/// # Safety
/// `table` is null, or live and not changed meanwhile; `address` is null or an address of its family; `bytes` is null or
/// a place for such an address; `len` and `next_hop` are null or places.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_longest_match(
    table: *const CTable,
    address: *const u8,
    bytes: *mut u8,
    len: *mut u8,
    next_hop: *mut u32,
) -> c_int {
    border(|| {
        // SAFETY: null, or live and not changed meanwhile, as the caller promises.
        let engine = unsafe { required(table)?.routes()? };
        // SAFETY: null or an address of the table's family; null or places, as the caller promises.
        unsafe { engine.longest_match(address, &mut put_route(bytes, len, next_hop)) }
    })
}

/// # Safety
/// `table` is null, or live and not changed meanwhile; `addresses` is null or an array of `count` addresses of its
/// family; `lengths` is null or `count` places for a byte, `next_hops` is null or `count` places for next hops.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_longest_match_bulk(
    table: *const CTable,
    addresses: *const c_void,
    lengths: *mut u8,
    next_hops: *mut u32,
    count: usize,
) -> c_int {
    // SAFETY: `table` is null, or live and not changed meanwhile; the arrays are null, or have `count` elements of its types.
    border(|| unsafe {
        let engine = required(table)?.routes()?;
        engine.longest_match_bulk(addresses, lengths, next_hops, count)
    })
}

/// # Safety
/// `table` is null, or live and the caller's alone.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_compile_prefixes(table: *mut CTable) -> c_int {
    // SAFETY: `table` is null, or live and the caller's alone.
    border(|| unsafe { required(table)?.change(|engine| engine.compile_prefixes()) })
}

/// # Safety
/// `table` is null or live; it may be changed meanwhile.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_family(table: *const CTable) -> u32 {
    // SAFETY: null or live, as the caller promises.
    unsafe { ask(table, 0, |table| table.family) }
}

/// # Safety
/// `table` is null, or live and not changed meanwhile.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_count(table: *const CTable) -> usize {
    // SAFETY: null, or live and not changed meanwhile, as the caller promises.
    unsafe { ask(table, 0, |table| table.engine().route_count()) }
}

/// # Safety
/// `table` is null, or live and not changed meanwhile.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_bytes(table: *const CTable) -> usize {
    // SAFETY: null, or live and not changed meanwhile, as the caller promises.
    unsafe { ask(table, 0, |table| table.engine().bytes()) }
}

/// # Safety
/// `table` is null or live; it may be changed meanwhile.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_kernel(table: *const CTable) -> *const c_char {
    // SAFETY: null or live, as the caller promises.
    unsafe { ask(table, ptr::null(), |table| c_name(table.kernel)) }
}

/// What `ask` says of a table; `otherwise` for null.
///
/// # Safety
/// `table` is null or live.
unsafe fn ask<T>(table: *const CTable, otherwise: T, ask: impl FnOnce(&CTable) -> T) -> T
where
    T: Copy,
{
    border_or(otherwise, || {
        // SAFETY: null or live, as the caller promises.
        unsafe { table.as_ref() }.map_or(otherwise, ask)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_whose_change_panicked_answers_lookups_and_nothing_else() {
        let config = CConfig {
            size: size_of::<CConfig>(),
            family: 4,
            direct_bits: 0,
            flags: 0,
            kernel: c"scalar".as_ptr(),
            allocate: None,
            release: None,
            user: ptr::null_mut(),
        };
        let mut table = ptr::null_mut();
        let prefix = [10, 0, 0, 0].as_ptr();
        // SAFETY: one thread has the table, from `popfib_create` to `popfib_free`; `prefix` is an address of IPv4.
        unsafe {
            assert_eq!(popfib_create(&config, &mut table), 0);
            assert_eq!(popfib_add(table, prefix, 8, 1), 0);
            let code = border(|| (*table).change(|_| panic!("on purpose")));
            assert_eq!(code, -libc::ENOTRECOVERABLE);
            assert_eq!(popfib_add(table, prefix, 8, 1), code);
            assert_eq!(popfib_delete(table, prefix, 8), code);
            assert_eq!(popfib_reclaim(table), code);
            assert_eq!(popfib_get(table, prefix, 8, ptr::null_mut()), code);
            assert_eq!(popfib_lookup(table, prefix), 1);
            popfib_free(table);
        }
    }
}
