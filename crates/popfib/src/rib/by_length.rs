//! The walk by length: the shortest prefixes first, those of one length by address.
//!
//! One pass over the nodes for each length. A node holds the prefixes of six
//! lengths, some fifteen of them in a BGP table, so that the passes together
//! visit about as many nodes as there are routes; sorting the routes would need
//! memory for all of them.

use super::node::{RibNode, STRIDE, node_depth};
use super::view::{MAX_PATH, RibView};
use crate::address::Address;
use crate::next_hop::NextHop;
use crate::prefix::Prefix;

/// All routes of a [`Rib`](super::Rib), the shortest prefixes first.
#[derive(Clone, Debug)]
pub struct ByLength<'a, A: Address> {
    rib: RibView<'a, A>,
    /// The nodes above, of which the first `depth` count.
    path: [&'a RibNode<A>; MAX_PATH],
    depth: usize,
    node: &'a RibNode<A>,
    /// The length of this pass, and the node's vertices of that length that are
    /// still to come: bits of its map `short` or, for six bits, `full`.
    len: u8,
    vertices: u64,
    left: usize,
}

impl<'a, A: Address> ByLength<'a, A> {
    pub(super) fn new(rib: RibView<'a, A>, routes: usize) -> Self {
        let mut walk = Self {
            rib,
            path: [rib.root; MAX_PATH],
            depth: 0,
            node: rib.root,
            len: 0,
            vertices: 0,
            left: routes,
        };
        walk.enter(rib.root);
        walk
    }

    /// Bits of the length below the node.
    fn level(&self) -> u8 {
        self.len.wrapping_sub(self.node.depth())
    }

    fn enter(&mut self, node: &'a RibNode<A>) {
        self.node = node;
        self.vertices = if node.depth() != node_depth(self.len) {
            0
        } else if self.level() == STRIDE {
            node.full
        } else {
            // From 2^level on, as many.
            let level = (1 << (1 << self.level())) - 1;
            node.short & level << (1 << self.level())
        };
    }

    /// Goes to the next node that is not too deep for the length; false if there is none.
    fn advance(&mut self) -> bool {
        let deepest = node_depth(self.len);
        let mut node = self.node;
        let mut rest = node.children;
        if node.depth() == deepest {
            rest = 0;
        }
        loop {
            while rest != 0 {
                let child = self.rib.child(node, rest.trailing_zeros());
                rest &= rest - 1;
                if child.depth() <= deepest {
                    self.path[self.depth] = node;
                    self.depth += 1;
                    self.enter(child);
                    return true;
                }
            }
            let Some(above) = self.depth.checked_sub(1) else {
                return false;
            };
            let left = node;
            self.depth = above;
            node = self.path[above];
            // Two steps, as a shift by 64 is none.
            rest = node.children & u64::MAX << left.extract(node.depth(), STRIDE) << 1;
        }
    }
}

impl<A: Address> Iterator for ByLength<'_, A> {
    type Item = (Prefix<A>, NextHop);

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        while self.vertices == 0 {
            if !self.advance() {
                self.len += 1;
                self.enter(self.rib.root);
            }
        }
        let bit = self.vertices.trailing_zeros();
        self.vertices &= self.vertices - 1;
        self.left -= 1;
        let vertex = if self.level() == STRIDE {
            64 | bit
        } else {
            bit
        };
        Some(self.rib.route(self.node, vertex))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<A: Address> ExactSizeIterator for ByLength<'_, A> {}

impl<A: Address> core::iter::FusedIterator for ByLength<'_, A> {}
