//! Tables and readers of one family and one width of next hops, as Rust has them.
//!
//! `live.rs` and `image_table.rs` implement these traits without a raw pointer; what makes an [`Engine`] or
//! a [`Lookup`] of any of them, and so of the pointers of C addresses, prefixes and slices, is here once.

use core::ffi::{c_int, c_void};
use core::ops::ControlFlow;

use popfib::image::Keep;
use popfib::{Address, ImageWriter, Kernel, Leaf, NextHop, Prefix};

use crate::bulk;
use crate::engine::{Change, Engine, Lookup, Order, RawPrefix, Visit, Walk, address, prefix, tell};
use crate::error::{Errno, Result};

/// A prefix and its next hop.
pub(crate) type Route<A> = (Prefix<A>, NextHop);

/// A table. What asks for routes fails where the table has none of its own.
pub(crate) trait Routes {
    type Address: Address;
    type NextHop: Leaf;

    fn kernel(&self) -> Kernel;
    fn route_count(&self) -> usize;
    fn bytes(&self) -> usize;

    fn announce(&mut self, prefix: Prefix<Self::Address>, next_hop: NextHop) -> Result<()>;
    fn withdraw(&mut self, prefix: Prefix<Self::Address>) -> Result<()>;
    /// Makes several changes as one batch.
    fn apply(&mut self, changes: Vec<(Prefix<Self::Address>, Option<NextHop>)>) -> Result<()>;
    fn reclaim(&mut self);
    /// Gets ready to answer longest matches by a compiled table, until the next change.
    fn compile_prefixes(&mut self) -> Result<()>;

    fn lookup(&self, address: Self::Address) -> Self::NextHop;
    fn lookup_batch(&self, addresses: &[Self::Address], next_hops: &mut [Self::NextHop]);
    fn get(&self, prefix: Prefix<Self::Address>) -> Result<Option<NextHop>>;
    fn longest_match(&self, address: Self::Address) -> Result<Option<Route<Self::Address>>>;
    /// Hands out the match of each address, with its place.
    fn longest_matches(
        &self,
        addresses: &[Self::Address],
        found: impl FnMut(usize, Option<Route<Self::Address>>),
    ) -> Result<()>;
    fn routes(&self) -> Result<impl Iterator<Item = Route<Self::Address>>>;
    fn supernets(
        &self,
        of: Prefix<Self::Address>,
    ) -> Result<impl Iterator<Item = Route<Self::Address>>>;
    fn subnets(
        &self,
        of: Prefix<Self::Address>,
    ) -> Result<impl Iterator<Item = Route<Self::Address>>>;

    fn save(&self, image: &mut ImageWriter, keep: Keep) -> Result<()>;
}

impl<T: Routes> Engine for T {
    fn family(&self) -> u32 {
        if T::Address::WIDTH == 32 { 4 } else { 6 }
    }

    fn next_hop_bits(&self) -> u32 {
        8 * size_of::<T::NextHop>() as u32
    }

    fn kernel(&self) -> Kernel {
        Routes::kernel(self)
    }

    fn route_count(&self) -> usize {
        Routes::route_count(self)
    }

    fn bytes(&self) -> usize {
        Routes::bytes(self)
    }

    // SAFETY: see `Engine`.
    unsafe fn add(&mut self, raw: RawPrefix, next_hop: u32) -> Result<()> {
        // SAFETY: the caller's.
        let prefix = unsafe { prefix(raw)? };
        self.announce(prefix, NextHop::new(next_hop).ok_or(Errno::INVALID)?)
    }

    // SAFETY: see `Engine`.
    unsafe fn delete(&mut self, raw: RawPrefix) -> Result<()> {
        // SAFETY: the caller's.
        self.withdraw(unsafe { prefix(raw)? })
    }

    fn apply(&mut self, changes: &[Change]) -> Result<()> {
        let mut list = Vec::new();
        let refused = |_| Errno::NO_MEMORY;
        list.try_reserve_exact(changes.len()).map_err(refused)?;
        for change in changes {
            let raw = RawPrefix {
                bytes: change.prefix.as_ptr(),
                len: change.len,
            };
            // SAFETY: there are as many bytes as the longest address has.
            let prefix = unsafe { prefix(raw)? };
            if change.reserved != [0; 3] {
                return Err(Errno::INVALID);
            }
            list.push((prefix, NextHop::new(change.next_hop)));
        }
        Routes::apply(self, list)
    }

    fn reclaim(&mut self) {
        Routes::reclaim(self);
    }

    fn compile_prefixes(&mut self) -> Result<()> {
        Routes::compile_prefixes(self)
    }

    // SAFETY: see `Engine`.
    unsafe fn get(&self, raw: RawPrefix) -> Result<u32> {
        // SAFETY: the caller's.
        let prefix = unsafe { prefix(raw)? };
        let next_hop = Routes::get(self, prefix)?.ok_or(Errno::NO_ENTRY)?;
        Ok(next_hop.get())
    }

    // SAFETY: see `Engine`.
    unsafe fn lookup(&self, bytes: *const u8) -> u32 {
        // SAFETY: the caller's.
        Routes::lookup(self, unsafe { address(bytes) }).to_u32()
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
                self.lookup_batch(addresses, next_hops);
            })
        }
    }

    // SAFETY: see `Engine`.
    unsafe fn longest_match(&self, bytes: *const u8, visit: &mut Visit<'_>) -> Result<()> {
        // SAFETY: the caller's.
        let address = unsafe { address(bytes) };
        let route = Routes::longest_match(self, address)?.ok_or(Errno::NO_ENTRY)?;
        let _ = tell(visit, route);
        Ok(())
    }

    // SAFETY: see `Engine`.
    unsafe fn longest_match_bulk(
        &self,
        from: *const c_void,
        lengths: *mut u8,
        to: *mut c_void,
        count: usize,
    ) -> Result<()> {
        // SAFETY: the caller's.
        unsafe {
            bulk::each_with_length::<T::Address, T::NextHop>(
                from,
                lengths,
                to,
                count,
                |addresses, lengths, next_hops| {
                    self.longest_matches(addresses, into(lengths, next_hops))
                },
            )
        }
    }

    // SAFETY: see `Engine`.
    unsafe fn walk(&self, walk: Walk, visit: &mut Visit<'_>) -> Result<ControlFlow<c_int>> {
        let each = |route| tell(visit, route);
        Ok(match walk {
            Walk::All => self.routes()?.try_for_each(each),
            Walk::Covering(raw) => {
                // SAFETY: the caller's.
                let of = unsafe { prefix(raw)? };
                self.supernets(of)?.try_for_each(each)
            }
            Walk::Covered(raw) => {
                // SAFETY: the caller's.
                let of = unsafe { prefix(raw)? };
                self.subnets(of)?.try_for_each(each)
            }
        })
    }

    fn save(&self, image: &mut ImageWriter, keep: Keep) -> Result<()> {
        Routes::save(self, image, keep)
    }
}

/// What puts the length and the next hop of each match into their places.
fn into<A: Address, L: Leaf>(
    lengths: &mut [u8],
    next_hops: &mut [L],
) -> impl FnMut(usize, Option<Route<A>>) {
    |at, route| {
        let (len, next_hop) = route.map_or((0, 0), |(p, n)| (p.len(), n.get()));
        lengths[at] = len;
        next_hops[at] = L::from_u32(next_hop);
    }
}

/// A reader. One of a table that nobody changes is always online.
pub(crate) trait Answers {
    type Address: Address;
    type NextHop: Leaf;

    fn kernel(&self) -> Kernel;
    fn lookup(&mut self, address: Self::Address) -> Self::NextHop;
    fn lookup_batch(&mut self, addresses: &[Self::Address], next_hops: &mut [Self::NextHop]);
    /// Fails where the table keeps no prefixes for readers.
    fn longest_match(&mut self, address: Self::Address) -> Result<Option<Route<Self::Address>>>;
    /// As [`longest_match`](Self::longest_match), handed out with their places.
    fn longest_matches(
        &mut self,
        addresses: &[Self::Address],
        found: impl FnMut(usize, Option<Route<Self::Address>>),
    ) -> Result<()>;
    fn quiescent(&mut self) {}
    fn online(&mut self) {}
    fn offline(&mut self) {}
}

impl<T: Answers> Lookup for T {
    fn kernel(&self) -> Kernel {
        Answers::kernel(self)
    }

    #[inline]
    // SAFETY: see `Lookup`.
    unsafe fn lookup(&mut self, bytes: *const u8) -> u32 {
        // SAFETY: the caller's.
        Answers::lookup(self, unsafe { address(bytes) }).to_u32()
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
        unsafe {
            bulk::each(from, to, count, order, |addresses, next_hops| {
                self.lookup_batch(addresses, next_hops);
            })
        }
    }

    // SAFETY: see `Lookup`.
    unsafe fn longest_match(&mut self, bytes: *const u8, visit: &mut Visit<'_>) -> Result<()> {
        // SAFETY: the caller's.
        let address = unsafe { address(bytes) };
        let route = Answers::longest_match(self, address)?.ok_or(Errno::NO_ENTRY)?;
        let _ = tell(visit, route);
        Ok(())
    }

    // SAFETY: see `Lookup`.
    unsafe fn longest_match_bulk(
        &mut self,
        from: *const c_void,
        lengths: *mut u8,
        to: *mut c_void,
        count: usize,
    ) -> Result<()> {
        // SAFETY: the caller's.
        unsafe {
            bulk::each_with_length::<T::Address, T::NextHop>(
                from,
                lengths,
                to,
                count,
                |addresses, lengths, next_hops| {
                    self.longest_matches(addresses, into(lengths, next_hops))
                },
            )
        }
    }

    fn quiescent(&mut self) {
        Answers::quiescent(self);
    }

    fn online(&mut self) {
        Answers::online(self);
    }

    fn offline(&mut self) {
        Answers::offline(self);
    }
}
