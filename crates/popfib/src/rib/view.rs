//! A Rib as walks see it: its arrays, in whatever memory.

use super::node::{RibNode, STRIDE, vertex_level};
use crate::address::Address;
use crate::next_hop::NextHop;
use crate::prefix::Prefix;

/// The most nodes on a way down: one for each chunk of the longest key.
pub(super) const MAX_PATH: usize = 128usize.div_ceil(STRIDE as usize);

/// The arrays of a Rib, borrowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RibView<'a, A> {
    pub(super) nodes: &'a [RibNode<A>],
    pub(super) values: &'a [u32],
    pub(super) root: &'a RibNode<A>,
}

impl<'a, A: Address> RibView<'a, A> {
    /// The child of a chunk of `node` that has one.
    #[inline]
    pub(super) fn child(&self, node: &RibNode<A>, chunk: u32) -> &'a RibNode<A> {
        &self.nodes[node.child(chunk) as usize]
    }

    #[inline]
    pub(super) fn value(&self, run: u32, rank: usize) -> NextHop {
        NextHop::new(self.values[run as usize + rank]).expect("a stored next hop is not 0")
    }

    /// The prefix of a vertex of `node`.
    pub(super) fn prefix_of(&self, node: &RibNode<A>, vertex: u32) -> Prefix<A> {
        let level = vertex_level(vertex);
        let chunk = (vertex << (STRIDE - level)) & 63;
        // The last chunk of a key may reach beyond its end.
        Prefix::clamped(node.address(chunk), (node.depth() + level).min(A::WIDTH))
    }

    /// The route of a vertex of `node`.
    #[inline]
    pub(super) fn route(&self, node: &RibNode<A>, vertex: u32) -> (Prefix<A>, NextHop) {
        let next_hop = self.value(node.values, node.value_rank(vertex));
        (self.prefix_of(node, vertex), next_hop)
    }
}
