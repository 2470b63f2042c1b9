//! The loops, compiled for the instructions that the CPU has.

use popfib::Address;

use super::{Find, dependent};

/// Looks up one address.
#[inline]
pub(crate) fn one<A: Address, F: Find<A>>(view: F, address: A) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if has_bit_instructions() {
        // SAFETY: the CPU has what the function was compiled for.
        return unsafe { bits::one(view, address) };
    }
    view.find(address)
}

/// Looks up each of `addresses`, one after the other; `next_hops` is as long.
pub(crate) fn each<A: Address, F: Find<A>>(view: F, addresses: &[A], next_hops: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if has_bit_instructions() {
        // SAFETY: the CPU has what the function was compiled for.
        unsafe { bits::each(view, addresses, next_hops) };
        return;
    }
    plain_each(view, addresses, next_hops);
}

/// Looks up one address after the other, each only once the answer before it is known.
pub(crate) fn chain<A: Address, F: Find<A>>(view: F, addresses: &[A]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if has_bit_instructions() {
        // SAFETY: the CPU has what the function was compiled for.
        return unsafe { bits::chain(view, addresses) };
    }
    dependent(addresses, |address| view.find(address))
}

#[inline(always)]
fn plain_each<A: Address, F: Find<A>>(view: F, addresses: &[A], next_hops: &mut [u32]) {
    for (address, next_hop) in addresses.iter().zip(next_hops) {
        *next_hop = view.find(*address);
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_bit_instructions() -> bool {
    // A constant where the whole build is for such a CPU.
    std::arch::is_x86_feature_detected!("popcnt")
        && std::arch::is_x86_feature_detected!("lzcnt")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
}

#[cfg(target_arch = "x86_64")]
mod bits {
    use super::{Address, Find, dependent, plain_each};

    #[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2")]
    pub(super) fn one<A: Address, F: Find<A>>(view: F, address: A) -> u32 {
        view.find(address)
    }

    #[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2")]
    pub(super) fn each<A: Address, F: Find<A>>(view: F, addresses: &[A], next_hops: &mut [u32]) {
        plain_each(view, addresses, next_hops);
    }

    #[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2")]
    pub(super) fn chain<A: Address, F: Find<A>>(view: F, addresses: &[A]) -> u32 {
        dependent(addresses, |address| view.find(address))
    }
}

/// Asks for the cache line of `items[index]`, if there is one; a hint that reads nothing.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        let place = items.as_ptr().wrapping_add(index);
        // SAFETY: a prefetch reads nothing and does not fault, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}
