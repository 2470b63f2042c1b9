//! Lookup in a Tree BitMap, without checks of indices.

use popfib::Address;

use super::layout::{Initial, Node};
use crate::loops::Find;
use crate::lpm::Width;

/// The arrays.
///
/// Invariants, by `build`, the only maker: `initial` has `2^initial_bits`
/// entries, each 0 or the number of a node; a node has a child for each bit of
/// its external bitmap and a result for each bit of its internal one; children
/// come after their parents, so chains end.
#[derive(Clone, Copy)]
pub struct View<'a, N, L> {
    pub(super) initial: &'a [Initial],
    pub(super) nodes: &'a [N],
    pub(super) results: &'a [L],
    pub(super) initial_bits: u8,
}

/// The bits below bit `index`, 0 to 63.
#[inline(always)]
fn below(bitmap: u64, index: u32) -> u32 {
    (bitmap & ((1 << index) - 1)).count_ones()
}

impl<A: Address, N: Node, L: Width> Find<A> for View<'_, N, L> {
    #[inline(always)]
    fn find(self, address: A) -> u32 {
        let index = address.leading(self.initial_bits) as usize;
        debug_assert!(index < self.initial.len());
        // SAFETY: the array has an entry for all that so many bits can be.
        let entry = unsafe { self.initial.get_unchecked(index) };
        if entry.node == 0 {
            return entry.next_hop;
        }
        let mut rest = address.skip_bits(self.initial_bits);
        let mut index = entry.node - 1;
        // The result to fetch, counted from 1.
        let mut best = 0;
        loop {
            debug_assert!((index as usize) < self.nodes.len());
            // SAFETY: the initial array and external bitmaps lead to nodes only.
            let node = unsafe { self.nodes.get_unchecked(index as usize) };
            let slot = rest.extract(0, N::STRIDE);
            let (internal, external) = (node.internal(), node.external());
            let matches = internal & N::PATHS[slot as usize % 64];
            if matches != 0 {
                let longest = 63 - matches.leading_zeros();
                best = node.results() + below(internal, longest) + 1;
            }
            if external >> slot & 1 == 0 {
                break;
            }
            index = node.children() + below(external, slot);
            rest = rest.skip_bits(N::STRIDE);
        }
        if best == 0 {
            return entry.next_hop;
        }
        debug_assert!((best as usize) <= self.results.len());
        // SAFETY: an internal bitmap counts results that are there.
        unsafe { self.results.get_unchecked(best as usize - 1) }.to_u32()
    }
}
