//! The handle `popfib_table` and what it answers by itself.

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use allocator_api2::unsize_box;
use popfib::{Address, Kernel, Leaf};

use crate::border::{border, border_or, put, put_route, required, required_mut};
use crate::bulk::array;
use crate::config::{self, Config, Form};
use crate::engine::{Change, Engine, Order, RawPrefix};
use crate::error::{Errno, Result};
use crate::kernel::c_name;
use crate::live::{Live, Matches, NextHops, Numbers};
use crate::memory::{Memory, Own, hand_out, take_back};
use crate::reader::{Reader, Readers};

/// What a `popfib_table` points to.
pub(crate) struct Table {
    /// Changed by one thread, while others may use `readers`.
    engine: UnsafeCell<Own<dyn Engine>>,
    readers: Own<dyn Readers>,
    memory: Memory,
    pub(crate) family: u32,
    next_hop_bits: u32,
    kernel: Kernel,
    /// Walks under way: while a callback runs, the routes must stay.
    walks: AtomicUsize,
    /// Whether a panic may have left the routes half changed.
    is_broken: AtomicBool,
}

impl Table {
    pub(crate) fn new(
        engine: impl Engine + 'static,
        readers: impl Readers + 'static,
        memory: Memory,
    ) -> Result<Own<Self>> {
        let (family, next_hop_bits) = (engine.family(), engine.next_hop_bits());
        let kernel = engine.kernel();
        let (engine, readers) = (memory.own(engine)?, memory.own(readers)?);
        memory.own(Self {
            engine: UnsafeCell::new(unsize_box!(engine)),
            readers: unsize_box!(readers),
            memory,
            family,
            next_hop_bits,
            kernel,
            walks: AtomicUsize::new(0),
            is_broken: AtomicBool::new(false),
        })
    }

    /// The engine for lookups, which work whatever happened: the compiled table changes in single,
    /// complete steps.
    ///
    /// # Safety
    /// No other thread changes the table meanwhile.
    #[inline(always)]
    unsafe fn engine(&self) -> &dyn Engine {
        // SAFETY: the caller's.
        unsafe { &**self.engine.get() }
    }

    /// The engine for everything that reads routes.
    ///
    /// # Safety
    /// As for [`Table::engine`].
    pub(crate) unsafe fn routes(&self) -> Result<&dyn Engine> {
        if self.is_broken.load(Ordering::Relaxed) {
            return Err(Errno::PANIC);
        }
        // SAFETY: the caller's.
        Ok(unsafe { self.engine() })
    }

    /// Runs a change. If it panics, all that comes after is refused.
    ///
    /// # Safety
    /// No other thread uses the table meanwhile, but to make readers.
    unsafe fn change(&self, change: impl FnOnce(&mut dyn Engine) -> Result<()>) -> Result<()> {
        if self.walks.load(Ordering::Relaxed) != 0 {
            return Err(Errno::BUSY);
        }
        if self.is_broken.swap(true, Ordering::Relaxed) {
            return Err(Errno::PANIC);
        }
        // SAFETY: the caller's, and no walk of this thread has a reference either.
        let result = change(unsafe { &mut **self.engine.get() });
        self.is_broken.store(false, Ordering::Relaxed);
        result
    }

    /// Says that routes are in use until the result is dropped.
    pub(crate) fn walking(&self) -> Walking<'_> {
        self.walks.fetch_add(1, Ordering::Relaxed);
        Walking(&self.walks)
    }
}

/// A walk under way.
pub(crate) struct Walking<'a>(&'a AtomicUsize);

impl Drop for Walking<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn live<A: Address, L: Leaf, N: Numbers<A>>(config: &Config) -> Result<Own<Table>> {
    // SAFETY: the caller of `popfib_create` promises that the name is one.
    let kernel = unsafe { config.kernel()? };
    let memory = config.memory()?;
    let engine = Live::<A, L, N>::new(config.options()?, kernel, memory)?;
    let readers = engine.readers()?;
    Table::new(engine, readers, memory)
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_create(config: *const Config, table: *mut *mut Table) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let place = unsafe { required_mut(table)? };
        *place = ptr::null_mut();
        // SAFETY: the caller's.
        let config = unsafe { config::read(config)? };
        let table = match (config.form()?, config.keeps_prefixes()?) {
            (Form::Ipv4Wide, true) => live::<u32, u32, Matches>(&config)?,
            (Form::Ipv6Wide, true) => live::<u128, u32, Matches>(&config)?,
            (Form::Ipv4Narrow, _) => live::<u32, u16, NextHops>(&config)?,
            (Form::Ipv4Wide, false) => live::<u32, u32, NextHops>(&config)?,
            (Form::Ipv6Narrow, _) => live::<u128, u16, NextHops>(&config)?,
            (Form::Ipv6Wide, false) => live::<u128, u32, NextHops>(&config)?,
        };
        *place = hand_out(table);
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_free(table: *mut Table) {
    border_or((), || {
        if !table.is_null() {
            // SAFETY: from `hand_out`, and the caller gives it up.
            drop(unsafe { take_back(table, (*table).memory) });
        }
    });
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reader_create(table: *const Table, reader: *mut *mut Reader) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let place = unsafe { required_mut(reader)? };
        *place = ptr::null_mut();
        // SAFETY: the caller's. Of the table nothing is used that its writer changes.
        let table = unsafe { required(table)? };
        *place = table.readers.reader()?;
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_add(
    table: *mut Table,
    bytes: *const u8,
    len: u8,
    next_hop: u32,
) -> c_int {
    border(|| {
        let prefix = RawPrefix { bytes, len };
        // SAFETY: the caller's.
        unsafe { required(table)?.change(|engine| engine.add(prefix, next_hop))? };
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_delete(table: *mut Table, bytes: *const u8, len: u8) -> c_int {
    border(|| {
        let prefix = RawPrefix { bytes, len };
        // SAFETY: the caller's.
        unsafe { required(table)?.change(|engine| engine.delete(prefix))? };
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_apply(
    table: *mut Table,
    changes: *const Change,
    count: usize,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        unsafe {
            let changes = array(changes, count)?;
            required(table)?.change(|engine| engine.apply(changes))?;
        }
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_reclaim(table: *mut Table) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        unsafe {
            required(table)?.change(|engine| {
                engine.reclaim();
                Ok(())
            })?;
        }
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_get(
    table: *const Table,
    bytes: *const u8,
    len: u8,
    next_hop: *mut u32,
) -> c_int {
    border(|| {
        let prefix = RawPrefix { bytes, len };
        // SAFETY: the caller's.
        unsafe { put(next_hop, required(table)?.routes()?.get(prefix)?) };
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_lookup(table: *const Table, address: *const u8) -> u32 {
    border_or(0, || {
        // SAFETY: the caller's.
        match unsafe { table.as_ref() } {
            // SAFETY: the caller's; the address is there.
            Some(table) if !address.is_null() => unsafe { table.engine().lookup(address) },
            _ => 0,
        }
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_lookup_bulk(
    table: *const Table,
    addresses: *const c_void,
    next_hops: *mut c_void,
    count: usize,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { lookup_bulk(table, addresses, next_hops, count, Order::Network) }
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_lookup_bulk_host(
    table: *const Table,
    addresses: *const c_void,
    next_hops: *mut c_void,
    count: usize,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { lookup_bulk(table, addresses, next_hops, count, Order::Host) }
}

/// # Safety
/// As the two above.
#[inline(always)]
unsafe fn lookup_bulk(
    table: *const Table,
    from: *const c_void,
    to: *mut c_void,
    count: usize,
    order: Order,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        unsafe {
            required(table)?
                .engine()
                .lookup_bulk(from, to, count, order)?
        };
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_longest_match(
    table: *const Table,
    address: *const u8,
    bytes: *mut u8,
    len: *mut u8,
    next_hop: *mut u32,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let engine = unsafe { required(table)?.routes()? };
        if address.is_null() {
            return Err(Errno::INVALID);
        }
        // SAFETY: the caller's.
        unsafe { engine.longest_match(address, &mut put_route(bytes, len, next_hop))? };
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_longest_match_bulk(
    table: *const Table,
    addresses: *const c_void,
    lengths: *mut u8,
    next_hops: *mut c_void,
    count: usize,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        unsafe {
            let engine = required(table)?.routes()?;
            engine.longest_match_bulk(addresses, lengths, next_hops, count)?;
        }
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_compile_prefixes(table: *mut Table) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        unsafe { required(table)?.change(|engine| engine.compile_prefixes())? };
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_family(table: *const Table) -> u32 {
    // SAFETY: the caller's.
    unsafe { ask(table, 0, |table| table.family) }
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_next_hop_bits(table: *const Table) -> u32 {
    // SAFETY: the caller's.
    unsafe { ask(table, 0, |table| table.next_hop_bits) }
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_count(table: *const Table) -> usize {
    // SAFETY: the caller's.
    unsafe { ask(table, 0, |table| table.engine().route_count()) }
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_bytes(table: *const Table) -> usize {
    // SAFETY: the caller's.
    unsafe { ask(table, 0, |table| table.engine().bytes()) }
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_kernel(table: *const Table) -> *const c_char {
    // SAFETY: the caller's.
    unsafe { ask(table, ptr::null(), |table| c_name(table.kernel)) }
}

/// # Safety
/// Null or a table.
unsafe fn ask<T>(table: *const Table, otherwise: T, ask: impl FnOnce(&Table) -> T) -> T
where
    T: Copy,
{
    border_or(otherwise, || {
        // SAFETY: the caller's.
        unsafe { table.as_ref() }.map_or(otherwise, ask)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_whose_change_panicked_answers_lookups_and_nothing_else() {
        let config = Config {
            size: size_of::<Config>(),
            family: 4,
            next_hop_bits: 16,
            direct_bits: 0,
            flags: 0,
            kernel: c"scalar".as_ptr(),
            allocate: None,
            release: None,
            user: ptr::null_mut(),
        };
        let mut table = ptr::null_mut();
        let prefix = [10, 0, 0, 0].as_ptr();
        // SAFETY: as popfib.h wants it.
        unsafe {
            assert_eq!(popfib_create(&config, &mut table), 0);
            assert_eq!(popfib_add(table, prefix, 8, 1), 0);
            let code = border(|| {
                (*table).change(|_| panic!("on purpose"))?;
                Ok(0)
            });
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
