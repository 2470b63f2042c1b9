//! Lookup in a binary radix tree, without checks of indices.

use popfib::Address;

use super::Node;
use crate::lpm::Find;

/// The nodes.
///
/// Invariants, by `grow`, the only maker: there is a root; a `pair` that is not
/// 0 is the index of two nodes; children come behind their parents, so chains end.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(super) nodes: &'a [Node],
}

impl<A: Address> Find<A> for View<'_> {
    #[inline(always)]
    fn find(self, address: A) -> u32 {
        let mut rest = address;
        let mut best = 0;
        let mut index = 0;
        loop {
            debug_assert!((index as usize) < self.nodes.len());
            // SAFETY: the root, or one of a pair: there is such a node.
            let node = unsafe { self.nodes.get_unchecked(index as usize) };
            if node.next_hop != 0 {
                best = node.next_hop;
            }
            if node.pair == 0 {
                return best;
            }
            index = node.pair + rest.leading(1);
            rest = rest.skip_bits(1);
        }
    }
}
