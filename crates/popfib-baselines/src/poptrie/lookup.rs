//! Scalar lookup: Algorithms 1, 2 and 3 of the paper.
//!
//! One address at a time, generic over key, leaf and node form, so that no
//! option is tested inside the loop. Indices are not checked: the layout's
//! invariants (`check.rs`) put each of them in range.
//!
//! A generic x86-64 build has no population count instruction, and counting
//! without it takes a dozen others. So what lies below the direct table is
//! compiled a second time with `popcnt` and chosen at run time; the direct
//! table, which answers most random addresses, stays inline in the caller.

use popfib::fold::STRIDE;
use popfib::{Address, Leaf};

use super::layout::{DIRECT_LEAF, Node, View};

/// The next hop of `address`; 0 if there is none.
#[inline]
pub(super) fn lookup<A: Address, L: Leaf, N: Node>(view: View<'_, L, N>, address: A) -> L {
    let entry = direct_entry(view, address);
    if entry & DIRECT_LEAF != 0 {
        return L::from_u32(entry & !DIRECT_LEAF);
    }
    let rest = address.skip_bits(view.direct_bits);
    #[cfg(target_arch = "x86_64")]
    if has_popcnt() {
        // SAFETY: the CPU has what the function was compiled for.
        return unsafe { popcnt::descend(view.nodes, view.leaves, entry, rest) };
    }
    descend(view.nodes, view.leaves, entry, rest)
}

/// Looks up each of `addresses`; `next_hops` is as long.
pub(super) fn lookup_each<A: Address, L: Leaf, N: Node>(
    view: View<'_, L, N>,
    addresses: &[A],
    next_hops: &mut [L],
) {
    #[cfg(target_arch = "x86_64")]
    if has_popcnt() {
        // SAFETY: the CPU has what the function was compiled for.
        unsafe { popcnt::each(view, addresses, next_hops) };
        return;
    }
    each(view, addresses, next_hops);
}

#[inline(always)]
fn direct_entry<A: Address, L: Leaf, N: Node>(view: View<'_, L, N>, address: A) -> u32 {
    let index = address.leading(view.direct_bits) as usize;
    debug_assert!(index < view.direct.len());
    // SAFETY: invariant 1: `direct` has 2^s entries, and s bits number fewer.
    unsafe { *view.direct.get_unchecked(index) }
}

/// From the node with index `node` down to the leaf. `rest` is the address
/// without its direct bits, moved to the top: each step reads the first six.
///
/// The two slices and not the whole view: they travel in registers where this
/// is a call.
#[inline(always)]
fn descend<A: Address, L: Leaf, N: Node>(nodes: &[N], leaves: &[L], node: u32, rest: A) -> L {
    let mut rest = rest;
    let mut index = node;
    loop {
        debug_assert!((index as usize) < nodes.len());
        // SAFETY: invariants 2 and 3: direct entries and child runs lie inside `nodes`.
        let node = unsafe { nodes.get_unchecked(index as usize) };
        let slot = rest.extract(0, STRIDE);
        let (vector, below) = (node.vector(), (1u64 << slot) - 1);
        if vector >> slot & 1 == 0 {
            // The slot's own bit counts too; the first run begins at or before it.
            let rank = (node.leafvec() & (below << 1 | 1)).count_ones();
            let leaf = node.base0().wrapping_add(rank).wrapping_sub(1);
            debug_assert!((leaf as usize) < leaves.len());
            // SAFETY: invariant 4: every slot without a child has its leaf inside `leaves`.
            return unsafe { *leaves.get_unchecked(leaf as usize) };
        }
        index = node.base1().wrapping_add((vector & below).count_ones());
        rest = rest.skip_bits(STRIDE);
    }
}

#[inline(always)]
fn each<A: Address, L: Leaf, N: Node>(view: View<'_, L, N>, addresses: &[A], next_hops: &mut [L]) {
    for (address, next_hop) in addresses.iter().zip(next_hops) {
        let entry = direct_entry(view, *address);
        *next_hop = if entry & DIRECT_LEAF != 0 {
            L::from_u32(entry & !DIRECT_LEAF)
        } else {
            let rest = address.skip_bits(view.direct_bits);
            descend(view.nodes, view.leaves, entry, rest)
        };
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_popcnt() -> bool {
    // A constant where the whole build is for such a CPU.
    std::arch::is_x86_feature_detected!("popcnt")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
}

/// The same code compiled for CPUs with `popcnt`, and with the shifts of BMI2.
#[cfg(target_arch = "x86_64")]
mod popcnt {
    use super::{Address, Leaf, Node, View};

    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    pub(super) fn descend<A: Address, L: Leaf, N: Node>(
        nodes: &[N],
        leaves: &[L],
        node: u32,
        rest: A,
    ) -> L {
        super::descend(nodes, leaves, node, rest)
    }

    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    pub(super) fn each<A: Address, L: Leaf, N: Node>(
        view: View<'_, L, N>,
        addresses: &[A],
        next_hops: &mut [L],
    ) {
        super::each(view, addresses, next_hops);
    }
}
