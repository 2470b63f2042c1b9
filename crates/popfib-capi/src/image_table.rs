//! Tables in images: as those whose routes change, but read-only and open to all threads at once.

use core::ffi::{c_int, c_void};
use core::ops::ControlFlow;
use std::sync::Arc;

use popfib::{Address, Fib, Image, ImageTable, ImageWriter, Kernel, Leaf, NextHop, Prefix};

use crate::bulk;
use crate::engine::{
    Engine, Lookup, Order, RawPrefix, Readers, Visit, Walk, address, prefix, tell,
};
use crate::error::{Errno, Result};
use crate::live::family;
use crate::memory::Memory;
use crate::reader::Reader;

/// The width of answers, with the image's Fib for it.
pub(crate) trait ImageLeaf: Leaf {
    fn fib<A: Address>(table: &ImageTable<A>) -> Option<&Fib<A, Self>>;
}

impl ImageLeaf for u16 {
    fn fib<A: Address>(table: &ImageTable<A>) -> Option<&Fib<A, Self>> {
        table.narrow_fib()
    }
}

impl ImageLeaf for u32 {
    fn fib<A: Address>(table: &ImageTable<A>) -> Option<&Fib<A, Self>> {
        Some(table.fib())
    }
}

/// The table of one family of an image.
pub(crate) struct Frozen<A: Address, L: Leaf> {
    image: Arc<Image>,
    lookups: FrozenReader<A, L>,
}

impl<A: Address, L: ImageLeaf> Frozen<A, L> {
    pub(crate) fn new(image: &Arc<Image>, kernel: Kernel) -> Result<Self> {
        let table = image.table::<A>().ok_or(Errno::NO_ENTRY)?;
        let fib = L::fib(table).ok_or(Errno::RANGE)?;
        Ok(Self {
            image: Arc::clone(image),
            lookups: FrozenReader {
                fib: Arc::new(fib.try_clone()?),
                kernel,
            },
        })
    }

    pub(crate) fn readers(&self) -> FrozenReader<A, L> {
        self.lookups.clone()
    }

    /// The table, if it has its routes.
    fn routes(&self) -> Result<&ImageTable<A>> {
        self.image
            .table()
            .filter(|table| table.has_routes())
            .ok_or(Errno::NO_DATA)
    }
}

/// The number of the first route at or behind `prefix`; one more than there are if there is none.
fn first_from<A: Address>(table: &ImageTable<A>, prefix: Prefix<A>) -> u32 {
    let is_before = |number| table.route(number).is_some_and(|route| route.0 < prefix);
    // `before` is the number of a route before the prefix, or 0.
    let (mut before, mut behind) = (0, table.route_count() as u32 + 1);
    while behind - before > 1 {
        let middle = before + (behind - before) / 2;
        if is_before(middle) {
            before = middle;
        } else {
            behind = middle;
        }
    }
    behind
}

/// The next hop of exactly `prefix`. O(log routes).
fn exact<A: Address>(table: &ImageTable<A>, prefix: Prefix<A>) -> Option<NextHop> {
    let (found, next_hop) = table.route(first_from(table, prefix))?;
    (found == prefix).then_some(next_hop)
}

// Pointers are the header's business, see `Engine`.
impl<A: Address, L: ImageLeaf> Engine for Frozen<A, L> {
    fn family(&self) -> u32 {
        family::<A>()
    }

    fn next_hop_bits(&self) -> u32 {
        8 * size_of::<L>() as u32
    }

    fn kernel(&self) -> Kernel {
        self.lookups.kernel
    }

    fn route_count(&self) -> usize {
        self.image.table::<A>().map_or(0, ImageTable::route_count)
    }

    fn bytes(&self) -> usize {
        self.image.bytes()
    }

    // SAFETY: see `Engine`; follows no pointer.
    unsafe fn add(&mut self, _: RawPrefix, _: u32) -> Result<()> {
        Err(Errno::READ_ONLY)
    }

    // SAFETY: see `Engine`; follows no pointer.
    unsafe fn delete(&mut self, _: RawPrefix) -> Result<()> {
        Err(Errno::READ_ONLY)
    }

    fn reclaim(&mut self) {}

    // SAFETY: see `Engine`.
    unsafe fn get(&self, raw: RawPrefix) -> Result<u32> {
        // SAFETY: the caller's.
        let prefix = unsafe { prefix(raw)? };
        let next_hop = exact(self.routes()?, prefix).ok_or(Errno::NO_ENTRY)?;
        Ok(next_hop.get())
    }

    // SAFETY: see `Engine`.
    unsafe fn lookup(&self, bytes: *const u8) -> u32 {
        // SAFETY: the caller's.
        unsafe { self.lookups.one(bytes) }
    }

    // SAFETY: see `Engine`.
    unsafe fn lookup_bulk(
        &self,
        from: *const c_void,
        to: *mut c_void,
        count: usize,
        order: Order,
    ) -> Result<()> {
        // SAFETY: the caller's.
        unsafe { self.lookups.many(from, to, count, order) }
    }

    // SAFETY: see `Engine`.
    unsafe fn longest_match(&self, bytes: *const u8, visit: &mut Visit<'_>) -> Result<()> {
        // SAFETY: the caller's.
        let address = unsafe { address(bytes) };
        let route = self.routes()?.longest_match(address);
        let _ = tell(visit, route.ok_or(Errno::NO_ENTRY)?);
        Ok(())
    }

    // SAFETY: see `Engine`.
    unsafe fn walk(&self, walk: Walk, visit: &mut Visit<'_>) -> Result<ControlFlow<c_int>> {
        let table = self.routes()?;
        Ok(match walk {
            Walk::All => table.routes().try_for_each(|route| tell(visit, route)),
            Walk::Covering(raw) => {
                // SAFETY: the caller's.
                let of = unsafe { prefix::<A>(raw)? };
                (0..=of.len())
                    .filter_map(|len| {
                        let prefix = Prefix::new_masked(of.address(), len).ok()?;
                        Some((prefix, exact(table, prefix)?))
                    })
                    .try_for_each(|route| tell(visit, route))
            }
            Walk::Covered(raw) => {
                // SAFETY: the caller's.
                let within = unsafe { prefix(raw)? };
                (first_from(table, within)..)
                    .map_while(|number| table.route(number))
                    .take_while(|(prefix, _)| within.covers(prefix))
                    .try_for_each(|route| tell(visit, route))
            }
        })
    }

    fn save(&self, image: &mut ImageWriter, keep_routes: bool) -> Result<()> {
        let table = self.routes()?;
        image.table(&table.rib(), &table.options(), keep_routes)?;
        Ok(())
    }
}

/// A reader of a table that nobody changes, and what makes more of them.
#[derive(Clone)]
pub(crate) struct FrozenReader<A: Address, L: Leaf> {
    /// Shares the image's memory and keeps it.
    fib: Arc<Fib<A, L>>,
    kernel: Kernel,
}

impl<A: Address, L: Leaf> FrozenReader<A, L> {
    /// # Safety
    /// As for [`Lookup::lookup`].
    #[inline(always)]
    unsafe fn one(&self, bytes: *const u8) -> u32 {
        // SAFETY: the caller's.
        self.fib.lookup(unsafe { address(bytes) }).to_u32()
    }

    /// # Safety
    /// As for [`Lookup::lookup_bulk`].
    #[inline(always)]
    unsafe fn many(
        &self,
        from: *const c_void,
        to: *mut c_void,
        count: usize,
        order: Order,
    ) -> Result<()> {
        // SAFETY: the caller's.
        unsafe {
            bulk::each(from, to, count, order, |addresses, next_hops| {
                self.fib
                    .lookup_batch_with(self.kernel, addresses, next_hops);
            })
        }
    }
}

impl<A: Address, L: Leaf> Readers for FrozenReader<A, L> {
    fn reader(&self) -> Result<*mut Reader> {
        Reader::make(self.clone(), Memory::Heap)
    }
}

impl<A: Address, L: Leaf> Lookup for FrozenReader<A, L> {
    fn kernel(&self) -> Kernel {
        self.kernel
    }

    // SAFETY: see `Lookup`.
    unsafe fn lookup(&mut self, bytes: *const u8) -> u32 {
        // SAFETY: the caller's.
        unsafe { self.one(bytes) }
    }

    #[inline(always)]
    // SAFETY: see `Lookup`.
    unsafe fn lookup_bulk(
        &mut self,
        from: *const c_void,
        to: *mut c_void,
        count: usize,
        order: Order,
    ) -> Result<()> {
        // SAFETY: the caller's.
        unsafe { self.many(from, to, count, order) }
    }

    fn quiescent(&mut self) {}

    fn online(&mut self) {}

    fn offline(&mut self) {}
}
