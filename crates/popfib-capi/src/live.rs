//! Tables whose routes change, and their readers.

use core::ffi::{c_int, c_void};
use core::ops::ControlFlow;
use core::ptr::NonNull;

use popfib::{Address, Guard, ImageWriter, Kernel, Leaf, LiveFib, NextHop, Options, Reader, Rib};

use crate::bulk;
use crate::engine::{
    Engine, Lookup, Order, RawPrefix, Readers, Visit, Walk, address, prefix, tell,
};
use crate::error::{Errno, Result};
use crate::memory::{Memory, hand_out, take_back};
use crate::reader;

/// A table and its writer.
pub(crate) struct Live<A: Address, L: Leaf> {
    fib: LiveFib<A, L, Memory>,
    options: Options,
    kernel: Kernel,
}

impl<A: Address, L: Leaf> Live<A, L> {
    pub(crate) fn new(options: Options, kernel: Kernel, memory: Memory) -> Result<Self> {
        Ok(Self {
            fib: LiveFib::from_rib(Rib::new_in(memory), options.clone())?,
            options,
            kernel,
        })
    }

    /// What makes readers of this table.
    pub(crate) fn readers(&self) -> Result<LiveReaders<A, L>> {
        Ok(LiveReaders {
            model: self.fib.try_reader()?,
            kernel: self.kernel,
            memory: *self.fib.rib().allocator(),
        })
    }
}

// Pointers are the header's business, see `Engine`.
impl<A: Address, L: Leaf> Engine for Live<A, L> {
    fn family(&self) -> u32 {
        family::<A>()
    }

    fn next_hop_bits(&self) -> u32 {
        8 * size_of::<L>() as u32
    }

    fn kernel(&self) -> Kernel {
        self.kernel
    }

    fn route_count(&self) -> usize {
        self.fib.rib().len()
    }

    fn bytes(&self) -> usize {
        self.fib.rib().bytes() + self.fib.bytes().arrays
    }

    // SAFETY: see `Engine`.
    unsafe fn add(&mut self, raw: RawPrefix, next_hop: u32) -> Result<()> {
        // SAFETY: the caller's.
        let prefix = unsafe { prefix(raw)? };
        let next_hop = NextHop::new(next_hop).ok_or(Errno::INVALID)?;
        self.fib.announce(prefix, next_hop)?;
        Ok(())
    }

    // SAFETY: see `Engine`.
    unsafe fn delete(&mut self, raw: RawPrefix) -> Result<()> {
        // SAFETY: the caller's.
        let prefix = unsafe { prefix(raw)? };
        self.fib.withdraw(prefix)?.ok_or(Errno::NO_ENTRY)?;
        Ok(())
    }

    fn reclaim(&mut self) {
        self.fib.reclaim();
    }

    // SAFETY: see `Engine`.
    unsafe fn get(&self, raw: RawPrefix) -> Result<u32> {
        // SAFETY: the caller's.
        let prefix = unsafe { prefix(raw)? };
        let next_hop = self.fib.rib().get(prefix).ok_or(Errno::NO_ENTRY)?;
        Ok(next_hop.get())
    }

    // SAFETY: see `Engine`.
    unsafe fn lookup(&self, bytes: *const u8) -> u32 {
        // SAFETY: the caller's.
        self.fib.lookup(unsafe { address(bytes) }).to_u32()
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
        unsafe {
            bulk::each(from, to, count, order, |addresses, next_hops| {
                self.fib
                    .lookup_batch_with(self.kernel, addresses, next_hops);
            })
        }
    }

    // SAFETY: see `Engine`.
    unsafe fn longest_match(&self, bytes: *const u8, visit: &mut Visit<'_>) -> Result<()> {
        // SAFETY: the caller's.
        let address = unsafe { address(bytes) };
        let route = self.fib.longest_match(address).ok_or(Errno::NO_ENTRY)?;
        let _ = tell(visit, route);
        Ok(())
    }

    // SAFETY: see `Engine`.
    unsafe fn walk(&self, walk: Walk, visit: &mut Visit<'_>) -> Result<ControlFlow<c_int>> {
        let rib = self.fib.rib();
        Ok(match walk {
            Walk::All => rib.iter().try_for_each(|route| tell(visit, route)),
            Walk::Covering(raw) => {
                // SAFETY: the caller's.
                let of = unsafe { prefix(raw)? };
                rib.supernets(of).try_for_each(|route| tell(visit, route))
            }
            Walk::Covered(raw) => {
                // SAFETY: the caller's.
                let within = unsafe { prefix(raw)? };
                rib.subnets(within).try_for_each(|route| tell(visit, route))
            }
        })
    }

    fn save(&self, image: &mut ImageWriter, keep_routes: bool) -> Result<()> {
        image.table(self.fib.rib(), &self.options, keep_routes)?;
        Ok(())
    }
}

/// 4 or 6.
pub(crate) fn family<A: Address>() -> u32 {
    if A::WIDTH == 32 { 4 } else { 6 }
}

/// Makes readers: clones of one that never looks up.
pub(crate) struct LiveReaders<A: Address, L: Leaf> {
    model: Reader<A, L, Memory>,
    kernel: Kernel,
    memory: Memory,
}

impl<A: Address, L: Leaf> Readers for LiveReaders<A, L> {
    fn reader(&self) -> Result<*mut reader::Reader> {
        let reader = self.memory.own(self.model.try_clone()?)?;
        // SAFETY: a box is not null.
        let reader = unsafe { NonNull::new_unchecked(hand_out(reader)) };
        // Refused, the value is dropped, and frees the reader.
        let reader = LiveReader {
            guard: None,
            reader,
            kernel: self.kernel,
            memory: self.memory,
        };
        reader::Reader::make(reader, self.memory)
    }
}

/// A reader, and, while it is online, its guard.
struct LiveReader<A: Address, L: Leaf> {
    /// Borrows `reader`, which nothing else uses meanwhile.
    guard: Option<Guard<'static, A, L, Memory>>,
    /// From a box; freed after the guard.
    reader: NonNull<Reader<A, L, Memory>>,
    kernel: Kernel,
    memory: Memory,
}

impl<A: Address, L: Leaf> LiveReader<A, L> {
    /// Comes in for one bulk lookup. A function of its own, lest the registers that it needs
    /// be saved for a reader that is online.
    ///
    /// # Safety
    /// As for `Lookup::lookup_bulk`.
    #[inline(never)]
    unsafe fn lookup_bulk_offline(
        &mut self,
        from: *const c_void,
        to: *mut c_void,
        count: usize,
        order: Order,
    ) -> Result<()> {
        let kernel = self.kernel;
        // SAFETY: ours, and no guard borrows it.
        let mut guard = unsafe { self.reader.as_mut() }.pin();
        // SAFETY: the caller's.
        unsafe {
            bulk::each(from, to, count, order, |addresses, next_hops| {
                guard.quiescent();
                guard.lookup_batch_with(kernel, addresses, next_hops);
            })
        }
    }
}

impl<A: Address, L: Leaf> Lookup for LiveReader<A, L> {
    fn kernel(&self) -> Kernel {
        self.kernel
    }

    #[inline]
    // SAFETY: see `Lookup`.
    unsafe fn lookup(&mut self, bytes: *const u8) -> u32 {
        // SAFETY: the caller's.
        let address = unsafe { address(bytes) };
        let next_hop = match &self.guard {
            Some(guard) => guard.lookup(address),
            // SAFETY: ours, and no guard borrows it.
            None => unsafe { self.reader.as_mut() }.lookup(address),
        };
        next_hop.to_u32()
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
        let kernel = self.kernel;
        if let Some(guard) = &self.guard {
            // SAFETY: the caller's.
            return unsafe {
                bulk::each(from, to, count, order, |addresses, next_hops| {
                    guard.lookup_batch_with(kernel, addresses, next_hops);
                })
            };
        }
        // SAFETY: the caller's.
        unsafe { self.lookup_bulk_offline(from, to, count, order) }
    }

    fn quiescent(&mut self) {
        if let Some(guard) = &mut self.guard {
            guard.quiescent();
        }
    }

    fn online(&mut self) {
        if self.guard.is_none() {
            let mut reader = self.reader;
            // SAFETY: it lives until `drop` has dropped the guard, and is not used until then, or
            // until `offline`.
            self.guard = Some(unsafe { reader.as_mut() }.pin());
        }
    }

    fn offline(&mut self) {
        self.guard = None;
    }
}

impl<A: Address, L: Leaf> Drop for LiveReader<A, L> {
    fn drop(&mut self) {
        self.guard = None;
        // SAFETY: made from a box in `reader`, and no guard borrows it any more.
        drop(unsafe { take_back(self.reader.as_ptr(), self.memory) });
    }
}
