//! The binary tree of a Rib's routes, without the vertices that decide nothing.
//!
//! A vertex is a route's prefix or a fork, where two routes part; the root is
//! always there. So there are at most two vertices a route, at any key width.
//! Between a vertex and its child may be a **gap**: vertices left out, whose
//! other side is all leaves of the upper vertex's next hop.
//!
//! Built in one walk over the routes with a stack of the open vertices. A
//! vertex gets its index when it is closed, so children have lower indices than
//! their parent: a loop over the indices is a walk from the bottom to the top.

use alloc::vec::Vec;

use crate::address::Address;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// No child on this side.
const NONE: u32 = u32::MAX;

pub(super) struct RouteVertex<A> {
    pub(super) prefix: Prefix<A>,
    /// The longest match at the prefix itself; 0 for none.
    pub(super) next_hop: u32,
    children: [u32; 2],
}

impl<A: Address> RouteVertex<A> {
    fn new(prefix: Prefix<A>, next_hop: u32) -> Self {
        Self {
            prefix,
            next_hop,
            children: [NONE; 2],
        }
    }

    pub(super) fn is_leaf(&self) -> bool {
        self.children == [NONE; 2]
    }

    /// Makes a vertex, closed as `index`, the child on its side.
    fn adopt(&mut self, prefix: Prefix<A>, index: u32) {
        self.children[prefix.address().extract(self.prefix.len(), 1) as usize] = index;
    }
}

pub(super) struct RouteTree<A> {
    /// Children before their parent.
    vertices: Vec<RouteVertex<A>>,
}

/// What is on one side of a vertex.
pub(super) enum ChildSide {
    /// No route: all leaves of the vertex's next hop.
    Empty,
    /// A vertex, by its index, below a gap of as many levels.
    Child { index: usize, gap: u8 },
}

impl<A: Address> RouteTree<A> {
    /// The tree of `rib`. O(routes) time and memory.
    ///
    /// # Panics
    /// From 2^31 routes on.
    pub(super) fn new(rib: &Rib<A>) -> Self {
        let mut tree = Self {
            vertices: Vec::with_capacity(rib.len() + 1),
        };
        // Each covers the next, so there is at most one for each prefix length.
        let mut open = Vec::new();
        let mut top = RouteVertex::new(Prefix::DEFAULT_ROUTE, 0);
        for (prefix, next_hop) in rib {
            let mut below = None;
            while !top.prefix.covers(&prefix) {
                let parent = open.pop().expect("the root covers every prefix");
                below = Some(tree.close(&mut top, parent));
            }
            if prefix == top.prefix {
                // Only the root is there before its route.
                top.next_hop = next_hop.get();
                continue;
            }
            if let Some((sibling, index)) = below {
                let fork = common(prefix, sibling);
                if fork != top.prefix {
                    let mut fork = RouteVertex::new(fork, top.next_hop);
                    fork.adopt(sibling, index);
                    open.push(core::mem::replace(&mut top, fork));
                }
            }
            let vertex = RouteVertex::new(prefix, next_hop.get());
            open.push(core::mem::replace(&mut top, vertex));
        }
        while let Some(parent) = open.pop() {
            tree.close(&mut top, parent);
        }
        tree.vertices.push(top);
        tree
    }

    /// Stores `top` as a child of `parent`, which takes its place; returns
    /// prefix and index of what was stored.
    fn close(&mut self, top: &mut RouteVertex<A>, mut parent: RouteVertex<A>) -> (Prefix<A>, u32) {
        let index = u32::try_from(self.vertices.len())
            .ok()
            .filter(|&index| index != NONE)
            .expect("fewer than 2^31 routes");
        let prefix = top.prefix;
        parent.adopt(prefix, index);
        self.vertices.push(core::mem::replace(top, parent));
        (prefix, index)
    }

    /// The index of the root, which is the last.
    pub(super) fn root(&self) -> usize {
        self.vertices.len() - 1
    }

    /// All vertices, children before their parent.
    pub(super) fn vertices(&self) -> &[RouteVertex<A>] {
        &self.vertices
    }

    /// The two sides of a vertex.
    pub(super) fn sides(&self, vertex: &RouteVertex<A>) -> [ChildSide; 2] {
        vertex.children.map(|child| match child {
            NONE => ChildSide::Empty,
            child => {
                let index = child as usize;
                let gap = self.vertices[index].prefix.len() - vertex.prefix.len() - 1;
                ChildSide::Child { index, gap }
            }
        })
    }
}

/// The longest prefix that covers both; neither covers the other.
fn common<A: Address>(a: Prefix<A>, b: Prefix<A>) -> Prefix<A> {
    Prefix::clamped(a.address(), (a.address() ^ b.address()).leading_zeros())
}

/// The half of `prefix` that begins with the bit `side`.
pub(super) fn half<A: Address>(prefix: Prefix<A>, side: usize) -> Prefix<A> {
    let bit = A::from_leading(side as u32, 1) >> prefix.len();
    Prefix::clamped(prefix.address() | bit, prefix.len() + 1)
}

/// The other half of what `prefix` is a half of.
pub(super) fn sibling<A: Address>(prefix: Prefix<A>) -> Prefix<A> {
    let bit = A::from_leading(1, 1) >> (prefix.len() - 1);
    Prefix::clamped(prefix.address() ^ bit, prefix.len())
}
