//! Lookup in the paper's Poptrie, without checks of indices: Algorithms 1, 2 and 3.
//!
//! Generic over key, leaf and node form, so that no option is tested inside the
//! loop. Indices are not checked: the layout's invariants (`check.rs`) put each
//! of them in range.

use popfib::Address;
use popfib::fold::STRIDE;

use super::layout::{DIRECT_LEAF, Node, View};
use crate::loops::Find;
use crate::lpm::Width;

impl<A: Address, L: Width, N: Node> Find<A> for View<'_, L, N> {
    #[inline(always)]
    fn find(self, address: A) -> u32 {
        let index = address.leading(self.direct_bits) as usize;
        debug_assert!(index < self.direct.len());
        // SAFETY: invariant 1: `direct` has 2^s entries, and s bits number fewer.
        let entry = unsafe { *self.direct.get_unchecked(index) };
        if entry & DIRECT_LEAF != 0 {
            return entry & !DIRECT_LEAF;
        }
        // Each step reads the first six bits of what is left.
        let mut rest = address.skip_bits(self.direct_bits);
        let mut index = entry;
        loop {
            debug_assert!((index as usize) < self.nodes.len());
            // SAFETY: invariants 2 and 3: direct entries and child runs lie inside `nodes`.
            let node = unsafe { self.nodes.get_unchecked(index as usize) };
            let slot = rest.extract(0, STRIDE);
            let (vector, below) = (node.vector(), (1u64 << slot) - 1);
            if vector >> slot & 1 == 0 {
                // The slot's own bit counts too; the first run begins at or before it.
                let rank = (node.leafvec() & (below << 1 | 1)).count_ones();
                let leaf = node.base0().wrapping_add(rank).wrapping_sub(1);
                debug_assert!((leaf as usize) < self.leaves.len());
                // SAFETY: invariant 4: every slot without a child has its leaf inside `leaves`.
                return unsafe { *self.leaves.get_unchecked(leaf as usize) }.to_u32();
            }
            index = node.base1().wrapping_add((vector & below).count_ones());
            rest = rest.skip_bits(STRIDE);
        }
    }
}
