//! Tables whose routes change, and their readers.

use core::ptr::NonNull;

use popfib::{
    Address, Guard, ImageWriter, Kernel, Leaf, LiveFib, LongestFib, NextHop, Options, Prefix,
    Reader, Rib,
};

use crate::error::{Errno, Result};
use crate::memory::{Memory, hand_out, take_back};
use crate::reader::{self, Readers};
use crate::typed::{Answers, Route, Routes};

/// A table and its writer.
pub(crate) struct Live<A: Address, L: Leaf> {
    fib: LiveFib<A, L, Memory>,
    /// Made when the caller asks for it, gone with the next change. Rejected: to follow changes, which is a second Rib
    /// and twice the time of each.
    longest: Option<LongestFib<A, Memory>>,
    options: Options,
    kernel: Kernel,
}

impl<A: Address, L: Leaf> Live<A, L> {
    pub(crate) fn new(options: Options, kernel: Kernel, memory: Memory) -> Result<Self> {
        Ok(Self {
            fib: LiveFib::from_rib(Rib::new_in(memory), options.clone())?,
            longest: None,
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

impl<A: Address, L: Leaf> Routes for Live<A, L> {
    type Address = A;
    type NextHop = L;

    fn kernel(&self) -> Kernel {
        self.kernel
    }

    fn route_count(&self) -> usize {
        self.fib.rib().len()
    }

    fn bytes(&self) -> usize {
        let longest = self.longest.as_ref().map_or(0, LongestFib::bytes);
        self.fib.rib().bytes() + self.fib.bytes().arrays + longest
    }

    fn announce(&mut self, prefix: Prefix<A>, next_hop: NextHop) -> Result<()> {
        self.fib.announce(prefix, next_hop)?;
        self.longest = None;
        Ok(())
    }

    fn withdraw(&mut self, prefix: Prefix<A>) -> Result<()> {
        self.fib.withdraw(prefix)?.ok_or(Errno::NO_ENTRY)?;
        self.longest = None;
        Ok(())
    }

    fn reclaim(&mut self) {
        self.fib.reclaim();
    }

    fn compile_prefixes(&mut self) -> Result<()> {
        if self.longest.is_none() {
            let rib = self.fib.rib();
            let longest = LongestFib::compile_in(rib, &self.options, *rib.allocator())?;
            self.longest = Some(longest);
        }
        Ok(())
    }

    fn lookup(&self, address: A) -> L {
        self.fib.lookup(address)
    }

    fn lookup_batch(&self, addresses: &[A], next_hops: &mut [L]) {
        self.fib
            .lookup_batch_with(self.kernel, addresses, next_hops);
    }

    fn get(&self, prefix: Prefix<A>) -> Result<Option<NextHop>> {
        Ok(self.fib.rib().get(prefix))
    }

    fn longest_match(&self, address: A) -> Result<Option<Route<A>>> {
        Ok(match &self.longest {
            Some(longest) => longest.longest_match(address),
            None => self.fib.longest_match(address),
        })
    }

    fn longest_matches(
        &self,
        addresses: &[A],
        mut found: impl FnMut(usize, Option<Route<A>>),
    ) -> Result<()> {
        match &self.longest {
            Some(longest) => longest.longest_matches_with(self.kernel, addresses, found),
            None => {
                for (at, address) in addresses.iter().enumerate() {
                    found(at, self.fib.longest_match(*address));
                }
            }
        }
        Ok(())
    }

    fn routes(&self) -> Result<impl Iterator<Item = Route<A>>> {
        Ok(self.fib.rib().iter())
    }

    fn supernets(&self, of: Prefix<A>) -> Result<impl Iterator<Item = Route<A>>> {
        Ok(self.fib.rib().supernets(of))
    }

    fn subnets(&self, of: Prefix<A>) -> Result<impl Iterator<Item = Route<A>>> {
        Ok(self.fib.rib().subnets(of))
    }

    fn save(&self, image: &mut ImageWriter, keep_routes: bool) -> Result<()> {
        image.table(self.fib.rib(), &self.options, keep_routes)?;
        Ok(())
    }
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
    /// The reader, used without a guard.
    fn reader(&mut self) -> &mut Reader<A, L, Memory> {
        assert!(self.guard.is_none());
        // SAFETY: ours, and no guard borrows it.
        unsafe { self.reader.as_mut() }
    }

    /// Inside the table for these lookups only. A function of its own, lest the registers that it needs
    /// be saved for a reader that is online.
    #[inline(never)]
    fn lookup_batch_offline(&mut self, addresses: &[A], next_hops: &mut [L]) {
        let kernel = self.kernel;
        let guard = self.reader().pin();
        guard.lookup_batch_with(kernel, addresses, next_hops);
    }
}

impl<A: Address, L: Leaf> Answers for LiveReader<A, L> {
    type Address = A;
    type NextHop = L;

    fn kernel(&self) -> Kernel {
        self.kernel
    }

    #[inline]
    fn lookup(&mut self, address: A) -> L {
        match &self.guard {
            Some(guard) => guard.lookup(address),
            None => self.reader().lookup(address),
        }
    }

    #[inline(always)]
    fn lookup_batch(&mut self, addresses: &[A], next_hops: &mut [L]) {
        match &self.guard {
            Some(guard) => guard.lookup_batch_with(self.kernel, addresses, next_hops),
            None => self.lookup_batch_offline(addresses, next_hops),
        }
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
