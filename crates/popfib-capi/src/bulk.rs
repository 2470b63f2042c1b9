//! Arrays of C become slices: null, misaligned and overlapping ones are refused, and addresses in network order are turned
//! into integers, some at a time, before a lookup gets them.
//!
//! A bulk lookup in the order of this machine hands C's own arrays to the kernel. Rejected: to copy addresses in network
//! order as a whole first, which takes memory by the length of the array.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::slice;

use popfib::Address;

use crate::engine::{ByteOrder, address};
use crate::error::{Errno, Result};

/// Addresses that are looked up at a time: a reader tells the writer between two of these that it
/// goes on.
const BURST: usize = 4096;

/// Addresses that are turned from network order at a time, on the stack. The kernels overlap more lookups
/// the more there are; beyond this, little is won.
const TURNED: usize = 256;

/// Addresses that were turned from network order, in whole cache lines: kernels load as much at a time.
#[repr(align(64))]
struct HostOrderBuffer<A>([MaybeUninit<A>; TURNED]);

/// Gives all addresses to `lookup`, some at a time.
///
/// A burst in the order of this machine goes straight through; all other cases are in a function of their own.
///
/// # Safety
/// `from` is null or an array of `count` addresses, each an `A` in the host's order, and as many bytes in network order.
/// `to` is null or `count` places, each for a next hop.
#[inline(always)]
pub(crate) unsafe fn each<A: Address>(
    from: *const c_void,
    to: *mut u32,
    count: usize,
    order: ByteOrder,
    mut lookup: impl FnMut(&[A], &mut [u32]),
) -> Result<()> {
    if order == ByteOrder::Network || count > BURST {
        // SAFETY: it asks for the same of both arrays.
        return unsafe { each_of_many(from, to, count, order, lookup) };
    }
    if is_wrong::<A, u32>(from, to.cast(), count, align_of::<A>()) {
        return if count == 0 {
            Ok(())
        } else {
            Err(Errno::INVALID)
        };
    }
    // SAFETY: neither null nor misaligned, of `count` elements as the caller promises, and apart from each other.
    let (addresses, next_hops) = unsafe {
        (
            slice::from_raw_parts(from.cast(), count),
            slice::from_raw_parts_mut(to, count),
        )
    };
    lookup(addresses, next_hops);
    Ok(())
}

/// An array of C's; empty if it has no elements, also if it is null then.
///
/// # Safety
/// `start` is null or an array of `count` elements.
pub(crate) unsafe fn array<'a, T>(start: *const T, count: usize) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    let is_wrong = start.is_null() || !start.is_aligned();
    if is_wrong || count > isize::MAX as usize / size_of::<T>() {
        return Err(Errno::INVALID);
    }
    // SAFETY: neither null nor misaligned, not longer than any array, and of `count` elements as the caller promises.
    Ok(unsafe { slice::from_raw_parts(start, count) })
}

/// As [`each`] in network order, with a length beside each next hop.
///
/// # Safety
/// `from` is null or an array of `count` addresses in network order; `lengths` is null or `count` places for a byte, `to` is
/// null or `count` places for a next hop.
pub(crate) unsafe fn each_with_length<A: Address>(
    from: *const c_void,
    lengths: *mut u8,
    to: *mut u32,
    count: usize,
    mut lookup: impl FnMut(&[A], &mut [u8], &mut [u32]) -> Result<()>,
) -> Result<()> {
    let longest = isize::MAX as usize / size_of::<A>();
    let is_apart = |count| {
        !is_wrong::<A, u8>(from, lengths.cast(), count, 1)
            && !is_wrong::<u8, u32>(lengths.cast(), to.cast(), count, 1)
    };
    if count > 0 && (count > longest || !is_apart(count)) {
        return Err(Errno::INVALID);
    }
    let (mut at, mut result) = (0, Ok(()));
    let with_lengths = |addresses: &[A], next_hops: &mut [u32]| {
        // SAFETY: the next of the `count` places, which are not null and apart from both arrays.
        let lengths = unsafe { slice::from_raw_parts_mut(lengths.add(at), next_hops.len()) };
        at += next_hops.len();
        if result.is_ok() {
            result = lookup(addresses, lengths, next_hops);
        }
    };
    // SAFETY: it asks for the same of `from` and `to`.
    unsafe { each(from, to, count, ByteOrder::Network, with_lengths)? };
    result
}

/// Whether an array is null or misaligned, or the two overlap; `count` is not so high that a length overflows.
#[inline(always)]
pub(crate) fn is_wrong<A, L>(
    from: *const c_void,
    to: *mut c_void,
    count: usize,
    align: usize,
) -> bool {
    let misaligned = from.addr() & (align - 1) | to.addr() & (align_of::<L>() - 1);
    from.is_null()
        | to.is_null()
        | (misaligned != 0)
        // If they overlap, the one that begins later begins inside the other; a difference below 0 is a very high number.
        | (to.addr().wrapping_sub(from.addr()) < count * size_of::<A>())
        | (from.addr().wrapping_sub(to.addr()) < count * size_of::<L>())
}

/// What [`each`] leaves: addresses in network order, and many addresses of either order.
///
/// # Safety
/// `from` is null or an array of `count` addresses in this order; `to` is null or `count` places, each for a next hop.
#[inline(never)]
unsafe fn each_of_many<A: Address>(
    from: *const c_void,
    to: *mut u32,
    count: usize,
    order: ByteOrder,
    mut lookup: impl FnMut(&[A], &mut [u32]),
) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let align = match order {
        ByteOrder::Network => 1,
        ByteOrder::Host => align_of::<A>(),
    };
    // No array is longer than that: the number was negative, or is nonsense.
    if count > isize::MAX as usize / size_of::<A>()
        || is_wrong::<A, u32>(from, to.cast(), count, align)
    {
        return Err(Errno::INVALID);
    }
    // SAFETY: neither null nor misaligned, `count` places as the caller promises, and apart from the addresses.
    let next_hops = unsafe { slice::from_raw_parts_mut(to, count) };
    if order == ByteOrder::Host {
        // SAFETY: neither null nor misaligned, and `count` addresses as the caller promises.
        let addresses: &[A] = unsafe { slice::from_raw_parts(from.cast(), count) };
        for (addresses, next_hops) in addresses.chunks(BURST).zip(next_hops.chunks_mut(BURST)) {
            lookup(addresses, next_hops);
        }
        return Ok(());
    }
    let mut turned = HostOrderBuffer([const { MaybeUninit::<A>::uninit() }; TURNED]);
    let mut at = from.cast::<A::Bytes>();
    for next_hops in next_hops.chunks_mut(TURNED) {
        let turned = &mut turned.0[..next_hops.len()];
        for key in &mut *turned {
            // SAFETY: there are `count` addresses, and the chunks of `next_hops` have as many elements in all.
            key.write(unsafe { address(at.cast()) });
            at = at.wrapping_add(1);
        }
        // SAFETY: all of them have just been written.
        let keys = unsafe { slice::from_raw_parts(turned.as_ptr().cast::<A>(), turned.len()) };
        lookup(keys, next_hops);
    }
    Ok(())
}
