//! Lookup in a binary trie, without checks of indices.

use popfib::Address;

use super::Node;
use crate::loops::Find;

/// The nodes.
///
/// Invariants, by `grow`, the only maker: there is a root; a `pair` that is not
/// 0 is the index of two nodes; children come after their parents, so chains
/// end; a string has at most 32 bits, and at most what is left of the key.
#[derive(Clone, Copy)]
pub struct View<'a, N> {
    pub(super) nodes: &'a [N],
}

impl<A: Address, N: Node> Find<A> for View<'_, N> {
    #[inline(always)]
    fn find(self, address: A) -> u32 {
        let mut rest = address;
        let mut best = 0;
        let mut index = 0;
        loop {
            debug_assert!((index as usize) < self.nodes.len());
            // SAFETY: the root, or one of a pair: there is such a node.
            let node = unsafe { self.nodes.get_unchecked(index as usize) };
            // Empty for all nodes of a radix tree, and then the compiler leaves this out.
            let (string, skip) = node.string();
            if rest.leading(skip) != string {
                return best;
            }
            let end = node.end();
            if end.next_hop != 0 {
                best = end.next_hop;
            }
            if end.pair == 0 {
                return best;
            }
            rest = rest.skip_bits(skip);
            index = end.pair + rest.leading(1);
            rest = rest.skip_bits(1);
        }
    }
}
