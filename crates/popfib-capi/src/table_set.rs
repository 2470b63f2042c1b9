//! The handle `popfib_table_set`: the tables of an image, of one family, in; numbers of tables and addresses in, next hops out.

use core::ffi::{c_int, c_void};

use popfib::image::ImageTable;
use popfib::{Address, Fib, FibSet, Kernel, Options, Rib};

use crate::border::{border, make_handle, required};
use crate::bulk::{array, each, is_wrong};
use crate::config::{self, CConfig, TableFamily};
use crate::engine::ByteOrder;
use crate::error::{Errno, Result};
use crate::image::CImage;
use crate::memory::{CAllocator, free_on_heap, make_on_heap};

/// What a `popfib_table_set` points to.
struct CTableSet {
    kernel: Kernel,
    tables: SetOfFamily,
}

enum SetOfFamily {
    Ipv4(FibSet<u32>),
    Ipv6(FibSet<u128>),
}

/// The Fib of values of this family; `Some(None)` without routes.
fn values<A: Address>(table: &ImageTable) -> Option<Option<&Fib<A>>> {
    match table.family::<A>() {
        Some(family) if family.route_count() > 0 => family.fib().map(Some),
        _ => Some(None),
    }
}

fn compile<A: Address>(tables: &[ImageTable], options: &Options) -> Result<FibSet<A>> {
    // Where several have their blocks in common nothing has to be compiled.
    if tables.len() > 1
        && *options == Options::default()
        && let Some(fibs) = tables.iter().map(values).collect::<Option<Vec<_>>>()
        && let Some(set) = FibSet::of_fibs(&fibs)?
    {
        return Ok(set);
    }
    let rib = |table: &ImageTable| match table.family::<A>() {
        Some(family) if family.has_routes() => Ok(family.rib()),
        Some(family) if family.route_count() > 0 => Err(Errno::NO_DATA),
        _ => Ok(Rib::new()),
    };
    let ribs = tables.iter().map(rib).collect::<Result<Vec<_>>>()?;
    Ok(FibSet::compile(&ribs, options)?)
}

/// # Safety
/// `image` is null or live. `config` is null or a structure of the size that it says, whose `kernel` is null or a string. `set` is
/// null or a place for a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_table_set(
    image: *const CImage,
    config: *const CConfig,
    set: *mut *mut CTableSet,
) -> c_int {
    let make = || {
        // SAFETY: null or live; null or such a structure, as the caller promises.
        let (tables, config) = unsafe { (required(image)?.tables(), config::read(config)?) };
        if config.direct_bits != 0
            || config.keeps_prefixes()
            || !matches!(config.allocator()?, CAllocator::Heap)
        {
            return Err(Errno::INVALID);
        }
        let options = config.options()?;
        let tables = match config.table_family()? {
            TableFamily::Ipv4 => SetOfFamily::Ipv4(compile(tables, &options)?),
            TableFamily::Ipv6 => SetOfFamily::Ipv6(compile(tables, &options)?),
        };
        // SAFETY: copied from a structure whose `kernel` is null or a string.
        let kernel = unsafe { config.kernel()? };
        make_on_heap(CTableSet { kernel, tables })
    };
    // SAFETY: null or a place for a pointer, as the caller promises.
    unsafe { make_handle(set, make) }
}

/// # Safety
/// `set` is null, or live and used by no other thread, and not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_table_set_free(set: *mut CTableSet) {
    // SAFETY: null, or from `make_on_heap`, live and not used again, as the caller promises.
    unsafe { free_on_heap(set) }
}

/// # Safety
/// `set` is null or live; `tables` is null or an array of `count` numbers, `addresses` null or an array of as many addresses of
/// the set's family; `next_hops` is null or `count` places for next hops.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_lookup_many_bulk(
    set: *const CTableSet,
    tables: *const u32,
    addresses: *const c_void,
    next_hops: *mut u32,
    count: usize,
) -> c_int {
    border(|| {
        // SAFETY: null or live; null or an array of `count` numbers, as the caller promises.
        let (set, ids) = unsafe { (required(set)?, array(tables, count)?) };
        if count > 0
            && is_wrong::<u32, u32>(tables.cast(), next_hops.cast(), count, align_of::<u32>())
        {
            return Err(Errno::INVALID);
        }
        // SAFETY: null or arrays of `count` elements, of addresses of the family.
        unsafe {
            match &set.tables {
                SetOfFamily::Ipv4(tables) => {
                    look_up(tables, set.kernel, ids, addresses, next_hops)?;
                }
                SetOfFamily::Ipv6(tables) => {
                    look_up(tables, set.kernel, ids, addresses, next_hops)?;
                }
            }
        }
        Ok(())
    })
}

/// # Safety
/// `from` is null or an array of as many addresses in network order as there are `ids`; `to` is null or as many places.
unsafe fn look_up<A: Address>(
    tables: &FibSet<A>,
    kernel: Kernel,
    ids: &[u32],
    from: *const c_void,
    to: *mut u32,
) -> Result<()> {
    let mut rest = ids;
    let burst = |addresses: &[A], next_hops: &mut [u32]| {
        let (ids, later) = rest.split_at(addresses.len());
        rest = later;
        tables.lookup_batch_with(kernel, ids, addresses, next_hops);
    };
    // SAFETY: it asks for the same.
    unsafe { each(from, to, ids.len(), ByteOrder::Network, burst) }
}
