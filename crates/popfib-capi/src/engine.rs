//! What a table and a reader can do, whatever their family and origin: the interface between the
//! functions that C calls and the generic code.
//!
//! Prefixes and changes come as values. Addresses come as pointers in network order, unread, since only the table's type
//! says how many bytes an address has and a next hop; and a copy on the way would cost a lookup more than the call.

use core::ffi::{c_int, c_void};
use core::ops::ControlFlow;
use core::ptr;

use popfib::image::Keep;
use popfib::{Address, ImageWriter, Kernel, NextHop, Prefix};

use crate::error::{Errno, Result};

/// The order of the bytes of the addresses of a bulk lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Network,
    Host,
}

/// A prefix as C hands it over: its address in network order, of which IPv4 uses the first 4 bytes, and its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawPrefix {
    pub(crate) bytes: [u8; 16],
    pub(crate) len: u8,
}

impl RawPrefix {
    /// The prefix of an argument; -EINVAL for null.
    ///
    /// # Safety
    /// `bytes` is null or an address of `family`.
    pub(crate) unsafe fn read(family: u32, bytes: *const u8, len: u8) -> Result<Self> {
        if bytes.is_null() {
            return Err(Errno::INVALID);
        }
        let mut raw = Self {
            bytes: [0; 16],
            len,
        };
        let width = if family == 4 { 4 } else { 16 };
        // SAFETY: not null, hence an address, of so many bytes.
        unsafe { ptr::copy_nonoverlapping(bytes, raw.bytes.as_mut_ptr(), width) };
        Ok(raw)
    }

    /// The prefix of a family; -EINVAL if it is too long or has host bits set.
    pub(crate) fn prefix<A: Address>(&self) -> Result<Prefix<A>> {
        const { assert!(size_of::<A::Bytes>() <= 16) };
        // SAFETY: the array has as many bytes as the longest address.
        let address = unsafe { address(self.bytes.as_ptr()) };
        Prefix::new(address, self.len).map_err(|error| {
            Errno::INVALID.saying(format_args!("a prefix of length {}: {error}", self.len))
        })
    }
}

/// `struct popfib_change`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct CChange {
    pub(crate) prefix: [u8; 16],
    pub(crate) len: u8,
    pub(crate) reserved: [u8; 3],
    /// 0 removes the route.
    pub(crate) next_hop: u32,
}

/// What is called with a route: the bytes of its prefix, the length, the next hop.
pub(crate) type RouteVisitor<'a> = dyn FnMut(&[u8], u8, u32) -> ControlFlow<c_int> + 'a;

/// Which routes a walk meets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WalkScope {
    All,
    Covering(RawPrefix),
    Covered(RawPrefix),
}

/// What a table and a reader of one family answer.
pub(crate) trait LookupEngine {
    fn kernel(&self) -> Kernel;
    /// # Safety
    /// `address` is an address of the family.
    unsafe fn lookup(&self, address: *const u8) -> u32;
    /// # Safety
    /// `from` is null or an array of `count` addresses of the family in this order; `to` is null or `count` places for next
    /// hops.
    unsafe fn lookup_bulk(
        &self,
        from: *const c_void,
        to: *mut u32,
        count: usize,
        order: ByteOrder,
    ) -> Result<()>;
    /// Calls the visitor with the match, or fails if there is none.
    ///
    /// # Safety
    /// `address` is null or an address of the family.
    unsafe fn longest_match(&self, address: *const u8, visit: &mut RouteVisitor<'_>) -> Result<()>;
    /// # Safety
    /// `from` is null or an array of `count` addresses of the family in network order; `lengths` is null or `count` places
    /// for a byte, `to` is null or `count` places for next hops.
    unsafe fn longest_match_bulk(
        &self,
        from: *const c_void,
        lengths: *mut u8,
        to: *mut u32,
        count: usize,
    ) -> Result<()>;
}

/// What a table does without an address or a prefix.
pub(crate) trait WholeTable {
    fn route_count(&self) -> usize;
    fn bytes(&self) -> usize;
    fn reclaim(&mut self);
    /// Compiles a table of prefixes for longest matches, which the next change drops.
    fn compile_prefixes(&mut self) -> Result<()>;
    fn save(&self, image: &mut ImageWriter, keep: Keep) -> Result<()>;
}

/// A table of one family.
pub(crate) trait TableEngine: LookupEngine + WholeTable {
    fn family(&self) -> u32;
    fn add(&mut self, prefix: RawPrefix, next_hop: u32) -> Result<()>;
    fn delete(&mut self, prefix: RawPrefix) -> Result<()>;
    fn apply(&mut self, changes: &[CChange]) -> Result<()>;

    fn get(&self, prefix: RawPrefix) -> Result<u32>;
    fn walk(&self, scope: WalkScope, visit: &mut RouteVisitor<'_>) -> Result<ControlFlow<c_int>>;
}

/// A reader of a table of one family. If nobody changes the table, it has nothing to do when it goes online or offline.
pub(crate) trait ReaderEngine: LookupEngine {
    fn quiescent(&mut self) {}
    fn online(&mut self) {}
    fn offline(&mut self) {}
}

/// The address whose bytes in network order are at `bytes`.
///
/// # Safety
/// There are as many bytes as the address has.
#[inline(always)]
pub(crate) unsafe fn address<A: Address>(bytes: *const u8) -> A {
    // SAFETY: as many bytes as the caller promises; `A::Bytes` is an array of bytes, so needs no alignment.
    A::from_be_bytes(unsafe { bytes.cast::<A::Bytes>().read_unaligned() })
}

/// Calls the visitor with a route.
pub(crate) fn visit_route<A: Address>(
    visit: &mut RouteVisitor<'_>,
    (prefix, next_hop): (Prefix<A>, NextHop),
) -> ControlFlow<c_int> {
    visit(
        prefix.address().to_be_bytes().as_ref(),
        prefix.len(),
        next_hop.get(),
    )
}
