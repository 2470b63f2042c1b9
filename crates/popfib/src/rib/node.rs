//! A node of the Rib: 64 branches, and the prefixes that end inside it.
//!
//! A node at depth `d` (a multiple of 6) holds the prefixes of `d + 1` to
//! `d + 6` bits below its address, so the many /24 of a BGP table lie in
//! nodes at depth 18, one bit each. The root also holds the default route.
//! A prefix's place in the node is its vertex in a binary tree of six levels,
//! numbered as a heap: the root is 1, the children of `v` are `2v` and
//! `2v + 1`, the last level is 64 to 127.

use super::runs::RunSlot;
use crate::address::Address;

pub(super) use crate::address::STRIDE;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RibNode<A> {
    /// Vertices 1 to 63 that carry a route: bit `v` is vertex `v`.
    pub(super) short: u64,
    /// Vertices 64 to 127: bit `c` is the prefix that takes the whole chunk `c`.
    pub(super) full: u64,
    /// Chunks with a child node.
    pub(super) children: u64,
    /// The run of next hops: those of `short`, then those of `full`.
    pub(super) values: u32,
    /// The run of child nodes, by chunk.
    pub(super) nodes: u32,
    /// The bits above the node, a one after them, then zeros: address and depth in one number, as
    /// there are bits left below each node. Apart from the address the depth of an IPv6 node would
    /// take 16 bytes.
    pub(super) place: A,
}

impl<A: Address> RunSlot for RibNode<A> {
    fn link(next: u32) -> Self {
        Self {
            nodes: next,
            ..Self::default()
        }
    }

    fn linked(&self) -> u32 {
        self.nodes
    }
}

/// The first `depth` bits of an address, a one after them, then zeros.
#[inline]
fn place<A: Address>(bits: A, depth: u8) -> A {
    bits & A::mask(depth) | A::from_leading(1, 1) >> depth
}

/// The number of set bits of `map` below bit `at`.
#[inline(always)]
fn rank(map: u64, at: u32) -> usize {
    (map & ((1 << at) - 1)).count_ones() as usize
}

/// `ANCESTORS[c]`: the vertices 1 to 63 on the way to chunk `c`.
const ANCESTORS: [u64; 64] = {
    let mut table = [0; 64];
    let mut c = 0;
    while c < 64 {
        let mut vertex = (64 | c) >> 1;
        while vertex > 0 {
            table[c] |= 1 << vertex;
            vertex >>= 1;
        }
        c += 1;
    }
    table
};

/// The vertices 1 to 63 on the way to `chunk`.
#[inline]
pub(super) fn ancestors(chunk: u32) -> u64 {
    ANCESTORS[chunk as usize]
}

impl<A: Address> RibNode<A> {
    pub(super) fn new(bits: A, depth: u8) -> Self {
        Self {
            place: place(bits, depth),
            ..Self::default()
        }
    }

    /// Whether it is the node of `depth` on the way to `bits`.
    #[inline]
    pub(super) fn is_at(&self, bits: A, depth: u8) -> bool {
        self.place == place(bits, depth)
    }

    /// Bits above the node. A child may lie deeper than its parent's depth plus 6: nodes with one
    /// child and no prefix are left out.
    #[inline]
    pub(super) fn depth(&self) -> u8 {
        A::WIDTH - 1 - self.place.to_u128().trailing_zeros() as u8
    }

    /// The `len` bits after the first `offset`, all above the node.
    #[inline]
    pub(super) fn extract(&self, offset: u8, len: u8) -> u32 {
        self.place.extract(offset, len)
    }

    /// The first address below a chunk.
    #[inline]
    pub(super) fn address(&self, chunk: u32) -> A {
        // What is added turns the one after the node's own bits into the first of the chunk.
        let chunk = A::from_leading(chunk << 2 ^ 0x80, 8);
        self.place ^ chunk >> self.depth()
    }

    /// How many of the first bits `address` has in common with the way to this node; from its depth on, no matter how many.
    #[inline]
    pub(super) fn common(&self, address: A) -> u8 {
        (address ^ self.place).leading_zeros()
    }

    #[inline]
    pub(super) fn value_count(&self) -> usize {
        (self.short.count_ones() + self.full.count_ones()) as usize
    }

    #[inline]
    pub(super) fn child_count(&self) -> usize {
        self.children.count_ones() as usize
    }

    #[inline]
    pub(super) fn has_vertex(&self, vertex: u32) -> bool {
        let map = if vertex < 64 { self.short } else { self.full };
        map >> (vertex & 63) & 1 != 0
    }

    /// Marks or clears a vertex.
    pub(super) fn toggle_vertex(&mut self, vertex: u32) {
        let map = if vertex < 64 {
            &mut self.short
        } else {
            &mut self.full
        };
        *map ^= 1 << (vertex & 63);
    }

    /// Where a vertex's next hop is, or would go, in the run of values.
    #[inline]
    pub(super) fn value_rank(&self, vertex: u32) -> usize {
        if vertex < 64 {
            rank(self.short, vertex)
        } else {
            self.short.count_ones() as usize + rank(self.full, vertex & 63)
        }
    }

    #[inline]
    pub(super) fn has_child(&self, chunk: u32) -> bool {
        self.children >> chunk & 1 != 0
    }

    /// Where the child of a chunk is, or would go, in the run of children.
    #[inline]
    pub(super) fn child_rank(&self, chunk: u32) -> usize {
        rank(self.children, chunk)
    }

    /// The index of the child of a chunk that has one.
    #[inline]
    pub(super) fn child(&self, chunk: u32) -> u32 {
        self.nodes + self.child_rank(chunk) as u32
    }

    /// Whether `address` lies below this node.
    #[inline]
    pub(super) fn holds(&self, address: A) -> bool {
        self.common(address) >= self.depth()
    }

    /// Whether all below this node comes after `address`.
    #[inline]
    pub(super) fn is_after(&self, address: A) -> bool {
        self.place > address && !self.holds(address)
    }

    /// The deepest vertex with a route on the way to `chunk`; 0 if there is none.
    #[inline]
    pub(super) fn longest_vertex(&self, chunk: u32) -> u32 {
        if self.full >> chunk & 1 != 0 {
            return 64 | chunk;
        }
        // Deeper vertices have higher numbers.
        let on_path = self.short & ancestors(chunk);
        63 - (on_path | 1).leading_zeros()
    }
}

/// The depth of the node that holds prefixes of length `len`.
#[inline]
pub(super) fn node_depth(len: u8) -> u8 {
    len.saturating_sub(1) / STRIDE * STRIDE
}

/// The vertex of the prefix `bits/len` in its node.
#[inline]
pub(super) fn vertex_of<A: Address>(bits: A, len: u8) -> u32 {
    let depth = node_depth(len);
    let level = len - depth;
    1 << level | bits.extract(depth, STRIDE) >> (STRIDE - level)
}

/// The depth of a vertex in its node, 0 to 6.
#[inline]
pub(super) fn vertex_level(vertex: u32) -> u8 {
    (31 - vertex.leading_zeros()) as u8
}

/// `STARTS[c]`: the vertices 1 to 63 whose first chunk is `c`, that is, those a
/// walk in prefix order meets just before the full prefix of chunk `c`.
pub(super) const STARTS: [u64; 64] = {
    let mut table = [0; 64];
    let mut vertex = 1;
    while vertex < 64 {
        let level = 31 - (vertex as u32).leading_zeros();
        let first = (vertex << (6 - level)) & 63;
        table[first] |= 1 << vertex;
        vertex += 1;
    }
    table
};
