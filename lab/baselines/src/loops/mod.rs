//! The loops that lookups run in, the same for every structure.
//!
//! A generic x86-64 build has no instruction for population counts or leading
//! zeros and shifts by a variable in three steps. So each loop is compiled a
//! second time for CPUs that have them, with the structure's
//! [`Find`] inlined, and chosen at run time: what popfib does
//! for itself, done for all.

mod lookup;

use std::hint::black_box;

use popfib::Address;

pub(crate) use lookup::{chain, each, one, prefetch};

/// The lookup of one address, to be inlined into loops that are compiled for
/// the CPU's instructions: borrowed arrays, all by value.
pub trait Find<A>: Copy {
    /// The next hop of the longest prefix that holds `address`; 0 if there is none.
    fn find(self, address: A) -> u32;
}

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

/// The loop of [`dependent`] with no lookup in it: what the loop itself, and
/// reading the addresses, takes.
#[inline(never)]
pub fn empty<A: Address>(addresses: &[A]) -> u32 {
    dependent(addresses, |address| address.to_u128() as u32)
}
