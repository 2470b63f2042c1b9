//! The arrays of a bulk lookup: checked, seen as slices, turned from network order.

use core::mem::MaybeUninit;
use core::slice;

use popfib::{Address, Leaf};

use crate::engine::{Bulk, Order, address};
use crate::error::{Errno, Result};

/// Addresses that are looked up at a time: a reader tells the writer between two of these that it
/// goes on.
const BURST: usize = 4096;

/// Addresses that are turned from network order at a time, on the stack. The kernels overlap more lookups
/// the more there are; beyond this, little is won.
const TURNED: usize = 256;

/// Gives all addresses to `lookup`, some at a time.
///
/// # Safety
/// The arrays are null, or arrays of `bulk.count` addresses (for the host's order: an `A` each) and
/// next hops (an `L` each) that nobody else uses.
#[inline]
pub(crate) unsafe fn each<A: Address, L: Leaf>(
    bulk: Bulk,
    mut lookup: impl FnMut(&[A], &mut [L]),
) -> Result<()> {
    let Bulk {
        order,
        addresses,
        next_hops,
        count,
    } = bulk;
    if count == 0 {
        return Ok(());
    }
    let (from, to) = (addresses.cast::<A>(), next_hops.cast::<L>());
    if addresses.is_null()
        || next_hops.is_null()
        || !to.is_aligned()
        || (order == Order::Host && !from.is_aligned())
        // No array is longer: a negative number or nonsense.
        || count > isize::MAX as usize / size_of::<A>()
    {
        return Err(Errno::INVALID);
    }
    let (from_end, to_end) = (from.wrapping_add(count), to.wrapping_add(count));
    if from.cast::<u8>() < to_end.cast() && to.cast::<u8>().cast_const() < from_end.cast() {
        return Err(Errno::INVALID);
    }
    // SAFETY: aligned, as long as the caller promises, and apart from the addresses.
    let next_hops = unsafe { slice::from_raw_parts_mut(to, count) };
    if order == Order::Host {
        // SAFETY: as above.
        let addresses = unsafe { slice::from_raw_parts(from, count) };
        for (addresses, next_hops) in addresses.chunks(BURST).zip(next_hops.chunks_mut(BURST)) {
            lookup(addresses, next_hops);
        }
        return Ok(());
    }
    let mut turned = [const { MaybeUninit::<A>::uninit() }; TURNED];
    let mut at = addresses.cast::<A::Bytes>();
    for next_hops in next_hops.chunks_mut(TURNED) {
        let turned = &mut turned[..next_hops.len()];
        for key in &mut *turned {
            // SAFETY: there are `count` addresses, and as many keys in all.
            key.write(unsafe { address(at.cast()) });
            at = at.wrapping_add(1);
        }
        // SAFETY: all of them have just been written.
        let keys = unsafe { slice::from_raw_parts(turned.as_ptr().cast::<A>(), turned.len()) };
        lookup(keys, next_hops);
    }
    Ok(())
}
