//! The loops that lookups run in, the same for every structure.
//!
//! A generic x86-64 build has no instruction for population counts or leading
//! zeros and shifts by a variable in three steps. So each loop is compiled a
//! second time for CPUs that have them, with the structure's
//! [`Find`](crate::lpm::Find) inlined, and chosen at run time: what popfib does
//! for itself, done for all.

mod lookup;

use std::hint::black_box;

use popfib::{Address, Leaf};

pub(crate) use lookup::{chain, each, one, prefetch};

/// Looks up one address after the other by `lookup`, each only once the answer
/// before it is known: the latency of a lookup, not its rate. Returns the last answer.
///
/// Each address is combined with the answer before it by a mask that is zero,
/// which neither the compiler nor the CPU can know in advance. For the same
/// loop without lookups see [`empty`].
#[inline(always)]
pub fn dependent<A: Address>(addresses: &[A], lookup: impl Fn(A) -> u32) -> u32 {
    let mask = black_box(0u32);
    let mut answer = 0u32;
    for &address in addresses {
        answer = lookup(address ^ A::truncate(u128::from(answer & mask)));
    }
    answer
}

/// Looks up `addresses` by a batch lookup with answers of another width.
///
/// # Panics
/// If the slices differ in length.
pub(crate) fn widened<A, L: Leaf>(
    addresses: &[A],
    next_hops: &mut [u32],
    batch: impl Fn(&[A], &mut [L]),
) {
    assert_eq!(
        addresses.len(),
        next_hops.len(),
        "one next hop for each address"
    );
    let mut leaves = [L::default(); 256];
    for (addresses, next_hops) in addresses.chunks(256).zip(next_hops.chunks_mut(256)) {
        let leaves = &mut leaves[..addresses.len()];
        batch(addresses, leaves);
        for (next_hop, leaf) in next_hops.iter_mut().zip(leaves) {
            *next_hop = leaf.to_u32();
        }
    }
}

/// The loop of [`dependent`] with no lookup in it: what the loop itself, and
/// reading the addresses, takes.
#[inline(never)]
pub fn empty<A: Address>(addresses: &[A]) -> u32 {
    dependent(addresses, |address| address.to_u128() as u32)
}
