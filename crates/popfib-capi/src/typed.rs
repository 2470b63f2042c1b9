//! Tables and readers of one family: the pointers and numbers of an engine's calls in, calls with
//! addresses, prefixes and slices out.
//!
//! `live.rs` and `image_table.rs` implement [`TypedLookups`] and [`TypedTable`] without a raw pointer of C. What makes a
//! [`LookupEngine`] and a [`TableEngine`] of them is here, once.

use core::ffi::{c_int, c_void};
use core::ops::ControlFlow;

use popfib::{Address, Kernel, NextHop, Prefix};

use crate::bulk;
use crate::engine::{
    ByteOrder, CChange, LookupEngine, RawPrefix, RouteVisitor, TableEngine, WalkScope, WholeTable,
    address, visit_route,
};
use crate::error::{Errno, Result};

/// A prefix and its next hop.
pub(crate) type TypedRoute<A> = (Prefix<A>, NextHop);

/// What a table and a reader answer. Functions that return routes fail if there is only what is compiled from them.
pub(crate) trait TypedLookups {
    type Address: Address;

    fn kernel(&self) -> Kernel;
    fn lookup(&self, address: Self::Address) -> u32;
    fn lookup_batch(&self, addresses: &[Self::Address], next_hops: &mut [u32]);
    fn longest_match(&self, address: Self::Address) -> Result<Option<TypedRoute<Self::Address>>>;
    /// Calls `found` with the place and the match of each address.
    fn longest_matches(
        &self,
        addresses: &[Self::Address],
        found: impl FnMut(usize, Option<TypedRoute<Self::Address>>),
    ) -> Result<()>;
}

/// A table.
pub(crate) trait TypedTable: TypedLookups + WholeTable {
    fn announce(&mut self, prefix: Prefix<Self::Address>, next_hop: NextHop) -> Result<()>;
    fn withdraw(&mut self, prefix: Prefix<Self::Address>) -> Result<()>;
    /// Makes several changes as one batch.
    fn apply(&mut self, changes: Vec<(Prefix<Self::Address>, Option<NextHop>)>) -> Result<()>;

    fn get(&self, prefix: Prefix<Self::Address>) -> Result<Option<NextHop>>;
    fn routes(&self) -> Result<impl Iterator<Item = TypedRoute<Self::Address>>>;
    fn supernets(
        &self,
        of: Prefix<Self::Address>,
    ) -> Result<impl Iterator<Item = TypedRoute<Self::Address>>>;
    fn subnets(
        &self,
        of: Prefix<Self::Address>,
    ) -> Result<impl Iterator<Item = TypedRoute<Self::Address>>>;
}

impl<T: TypedLookups> LookupEngine for T {
    fn kernel(&self) -> Kernel {
        TypedLookups::kernel(self)
    }

    #[inline]
    // SAFETY: asks for what the trait does.
    unsafe fn lookup(&self, bytes: *const u8) -> u32 {
        // SAFETY: an address of the family, as the caller promises.
        TypedLookups::lookup(self, unsafe { address(bytes) })
    }

    #[inline(always)]
    // SAFETY: asks for what the trait does.
    unsafe fn lookup_bulk(
        &self,
        from: *const c_void,
        to: *mut u32,
        count: usize,
        order: ByteOrder,
    ) -> Result<()> {
        // SAFETY: it asks for the same arrays.
        unsafe {
            bulk::each(from, to, count, order, |addresses, next_hops| {
                self.lookup_batch(addresses, next_hops);
            })
        }
    }

    // SAFETY: asks for what the trait does.
    unsafe fn longest_match(&self, bytes: *const u8, visit: &mut RouteVisitor<'_>) -> Result<()> {
        if bytes.is_null() {
            return Err(Errno::INVALID);
        }
        // SAFETY: not null, hence an address of the family.
        let address = unsafe { address(bytes) };
        let route = TypedLookups::longest_match(self, address)?.ok_or(Errno::NO_ENTRY)?;
        let _ = visit_route(visit, route);
        Ok(())
    }

    // SAFETY: asks for what the trait does.
    unsafe fn longest_match_bulk(
        &self,
        from: *const c_void,
        lengths: *mut u8,
        to: *mut u32,
        count: usize,
    ) -> Result<()> {
        // SAFETY: it asks for the same arrays.
        unsafe {
            bulk::each_with_length::<T::Address>(
                from,
                lengths,
                to,
                count,
                |addresses, lengths, next_hops| {
                    self.longest_matches(addresses, write_matches(lengths, next_hops))
                },
            )
        }
    }
}

impl<T: TypedTable> TableEngine for T {
    fn family(&self) -> u32 {
        if T::Address::WIDTH == 32 { 4 } else { 6 }
    }

    fn add(&mut self, raw: RawPrefix, next_hop: u32) -> Result<()> {
        self.announce(
            raw.prefix()?,
            NextHop::new(next_hop).ok_or_else(|| {
                Errno::INVALID
                    .saying("the next hop is 0, which stands for no route: they begin at 1")
            })?,
        )
    }

    fn delete(&mut self, raw: RawPrefix) -> Result<()> {
        self.withdraw(raw.prefix()?)
    }

    fn apply(&mut self, changes: &[CChange]) -> Result<()> {
        let mut list = Vec::new();
        let refused = |_| Errno::NO_MEMORY;
        list.try_reserve_exact(changes.len()).map_err(refused)?;
        for change in changes {
            let raw = RawPrefix {
                bytes: change.prefix,
                len: change.len,
            };
            let prefix = raw.prefix()?;
            if change.reserved != [0; 3] {
                return Err(Errno::INVALID);
            }
            list.push((prefix, NextHop::new(change.next_hop)));
        }
        TypedTable::apply(self, list)
    }

    fn get(&self, raw: RawPrefix) -> Result<u32> {
        let next_hop = TypedTable::get(self, raw.prefix()?)?.ok_or(Errno::NO_ENTRY)?;
        Ok(next_hop.get())
    }

    fn walk(&self, scope: WalkScope, visit: &mut RouteVisitor<'_>) -> Result<ControlFlow<c_int>> {
        let each = |route| visit_route(visit, route);
        Ok(match scope {
            WalkScope::All => self.routes()?.try_for_each(each),
            WalkScope::Covering(raw) => self.supernets(raw.prefix()?)?.try_for_each(each),
            WalkScope::Covered(raw) => self.subnets(raw.prefix()?)?.try_for_each(each),
        })
    }
}

/// What writes the length and the next hop of each match into their places.
fn write_matches<A: Address>(
    lengths: &mut [u8],
    next_hops: &mut [u32],
) -> impl FnMut(usize, Option<TypedRoute<A>>) {
    |at, route| {
        let (len, next_hop) = route.map_or((0, 0), |(p, n)| (p.len(), n.get()));
        lengths[at] = len;
        next_hops[at] = next_hop;
    }
}
