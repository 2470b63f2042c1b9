//! What a table and a reader can do, whatever their family, width and origin.
//!
//! Pointers come unchecked for what the type of the table alone can tell: how many bytes an address
//! has, and a next hop. Prefixes and single addresses are in network order.

use core::ffi::{c_int, c_void};
use core::ops::ControlFlow;

use popfib::image::Keep;
use popfib::{Address, ImageWriter, Kernel, NextHop, Prefix};

use crate::error::{Errno, Result};

/// The order of the bytes of the addresses of a bulk lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Network,
    Host,
}

/// A prefix as C hands it over: the bytes of an address in network order, and the length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawPrefix {
    pub(crate) bytes: *const u8,
    pub(crate) len: u8,
}

/// `struct popfib_change`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Change {
    pub(crate) prefix: [u8; 16],
    pub(crate) len: u8,
    pub(crate) reserved: [u8; 3],
    /// 0 removes the route.
    pub(crate) next_hop: u32,
}

/// What a walk says of each route: the bytes of the prefix, its length, the next hop.
pub(crate) type Visit<'a> = dyn FnMut(&[u8], u8, u32) -> ControlFlow<c_int> + 'a;

/// Which routes a walk meets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Walk {
    All,
    Covering(RawPrefix),
    Covered(RawPrefix),
}

/// A table of one family.
///
/// # Safety
/// Of the methods: pointers that are not null lead to what the header asks for.
pub(crate) trait Engine {
    fn family(&self) -> u32;
    fn next_hop_bits(&self) -> u32;
    fn kernel(&self) -> Kernel;
    fn route_count(&self) -> usize;
    fn bytes(&self) -> usize;

    unsafe fn add(&mut self, prefix: RawPrefix, next_hop: u32) -> Result<()>; // SAFETY: see the trait
    unsafe fn delete(&mut self, prefix: RawPrefix) -> Result<()>; // SAFETY: see the trait
    fn apply(&mut self, changes: &[Change]) -> Result<()>;
    fn reclaim(&mut self);
    fn compile_prefixes(&mut self) -> Result<()>;

    unsafe fn get(&self, prefix: RawPrefix) -> Result<u32>; // SAFETY: see the trait
    unsafe fn lookup(&self, address: *const u8) -> u32; // SAFETY: see the trait
    unsafe fn lookup_bulk(
        &self,
        from: *const c_void,
        to: *mut c_void,
        count: usize,
        order: Order,
    ) -> Result<()>; // SAFETY: see the trait
    /// Tells the visitor of one route.
    unsafe fn longest_match(&self, address: *const u8, visit: &mut Visit<'_>) -> Result<()>; // SAFETY: see the trait
    unsafe fn longest_match_bulk(
        &self,
        from: *const c_void,
        lengths: *mut u8,
        to: *mut c_void,
        count: usize,
    ) -> Result<()>; // SAFETY: see the trait
    unsafe fn walk(&self, walk: Walk, visit: &mut Visit<'_>) -> Result<ControlFlow<c_int>>; // SAFETY: see the trait

    fn save(&self, image: &mut ImageWriter, keep: Keep) -> Result<()>;
}

/// A reader.
///
/// # Safety
/// As for [`Engine`].
pub(crate) trait Lookup {
    fn kernel(&self) -> Kernel;
    unsafe fn lookup(&mut self, address: *const u8) -> u32; // SAFETY: see the trait
    unsafe fn lookup_bulk(
        &mut self,
        from: *const c_void,
        to: *mut c_void,
        count: usize,
        order: Order,
    ) -> Result<()>; // SAFETY: see the trait
    /// Tells the visitor of one route.
    unsafe fn longest_match(&mut self, address: *const u8, visit: &mut Visit<'_>) -> Result<()>; // SAFETY: see the trait
    unsafe fn longest_match_bulk(
        &mut self,
        from: *const c_void,
        lengths: *mut u8,
        to: *mut c_void,
        count: usize,
    ) -> Result<()>; // SAFETY: see the trait
    fn quiescent(&mut self);
    fn online(&mut self);
    fn offline(&mut self);
}

/// The address whose bytes in network order are at `bytes`.
///
/// # Safety
/// There are as many as the address has.
#[inline(always)]
pub(crate) unsafe fn address<A: Address>(bytes: *const u8) -> A {
    // SAFETY: the caller's; `A::Bytes` is an array of bytes, so needs no alignment.
    A::from_be_bytes(unsafe { bytes.cast::<A::Bytes>().read_unaligned() })
}

/// The prefix that C handed over.
///
/// # Safety
/// Null, or as for [`address`].
pub(crate) unsafe fn prefix<A: Address>(raw: RawPrefix) -> Result<Prefix<A>> {
    if raw.bytes.is_null() {
        return Err(Errno::INVALID);
    }
    // SAFETY: the caller's.
    Prefix::new(unsafe { address(raw.bytes) }, raw.len).map_err(|_| Errno::INVALID)
}

/// Tells the visitor of a route.
pub(crate) fn tell<A: Address>(
    visit: &mut Visit<'_>,
    (prefix, next_hop): (Prefix<A>, NextHop),
) -> ControlFlow<c_int> {
    visit(
        prefix.address().to_be_bytes().as_ref(),
        prefix.len(),
        next_hop.get(),
    )
}
