//! The Rib seen as the binary radix tree that the paper compiles from.
//!
//! A compiler asks for one vertex and the next `width` levels below it; where
//! the Rib's own nodes begin, and which it leaves out, does not show.

use super::Rib;
use super::RibView;
use super::node::{RibNode, STRIDE, ancestors};
use crate::address::Address;
use crate::cpu::counted;
use crate::memory::Allocator;
use crate::next_hop::NextHop;
use crate::prefix::Prefix;

/// A vertex of the binary radix tree with routes strictly below it.
#[derive(Clone, Copy, Debug)]
pub struct Vertex<'r, A> {
    /// The node that the vertex is in, or on the skipped path to.
    node: &'r RibNode<A>,
    /// The vertex in that node, 1 to 63; 1 on the path to it.
    heap: u32,
    /// Bits above the vertex.
    depth: u8,
}

impl<A> Vertex<'_, A> {
    /// Bits above the vertex.
    pub(crate) fn depth(&self) -> u8 {
        self.depth
    }
}

impl<A: Address, Al: Allocator + Clone> Rib<A, Al> {
    /// The root of the binary radix tree, and the default route's next hop (0 if none): where a
    /// [`Fold`](crate::fold::Fold) begins. O(1).
    pub fn root_vertex(&self) -> (Vertex<'_, A>, u32) {
        let vertex = Vertex {
            node: &self.root,
            heap: 1,
            depth: 0,
        };
        let default = if self.root.has_vertex(1) {
            *self.values.get(self.root.values)
        } else {
            0
        };
        (vertex, default)
    }

    counted! {
        /// What surrounds the place of `prefix` in the binary radix tree, whether or
        /// not there is a route: the next hop of the longest route that covers the
        /// prefix and is not its own (0 if there is none), and the prefix's vertex if
        /// there are routes strictly below.
        ///
        /// O(key width / 6); what a change of this one route concerns lies between the two.
        pub(crate) fn surroundings, surroundings_counted(
            &self,
            prefix: Prefix<A>
        ) -> (u32, Option<Vertex<'_, A>>) = surroundings_any
    }

    #[inline(always)]
    fn surroundings_any(&self, prefix: Prefix<A>) -> (u32, Option<Vertex<'_, A>>) {
        self.around(prefix, true)
    }

    counted! {
        /// The vertex of `prefix` if there are routes strictly below it.
        pub(crate) fn below, below_counted(
            &self,
            prefix: Prefix<A>
        ) -> Option<Vertex<'_, A>> = below_any
    }

    #[inline(always)]
    fn below_any(&self, prefix: Prefix<A>) -> Option<Vertex<'_, A>> {
        self.around(prefix, false).1
    }

    /// [`Self::surroundings`], without what is above unless that is asked.
    #[inline(always)]
    fn around(&self, prefix: Prefix<A>, asks_above: bool) -> (u32, Option<Vertex<'_, A>>) {
        let (bits, len) = (prefix.address(), prefix.len());
        let mut above = 0;
        let mut node = &self.root;
        loop {
            if node.depth() >= len {
                // At the node itself, or on the skipped path to it. Only the root may be empty.
                let is_above = node.depth() > len || has_below(node, 1, 0);
                let vertex = Vertex {
                    node,
                    heap: 1,
                    depth: len,
                };
                return (above, is_above.then_some(vertex));
            }
            let chunk = bits.extract(node.depth(), STRIDE);
            let levels = (len - node.depth()).min(STRIDE);
            if asks_above {
                // Vertices above level `levels` have numbers below 2^levels.
                let shorter = u64::MAX >> (64 - (1u64 << levels));
                let on_path = node.short & ancestors(chunk) & shorter;
                let vertex = if len - node.depth() > STRIDE && node.full >> chunk & 1 != 0 {
                    64 | chunk
                } else {
                    // 0 if there is none: bit 0 is no vertex.
                    63 - (on_path | 1).leading_zeros()
                };
                if vertex != 0 {
                    above = *self
                        .values
                        .get(node.values + node.value_rank(vertex) as u32);
                }
            }
            if levels < STRIDE {
                let heap = 1 << levels | chunk >> (STRIDE - levels);
                let vertex = Vertex {
                    node,
                    heap,
                    depth: len,
                };
                return (above, has_below(node, heap, levels).then_some(vertex));
            }
            if !node.has_child(chunk) {
                return (above, None);
            }
            node = self.nodes.get(node.child(chunk));
            if node.common(bits) < node.depth().min(len) {
                return (above, None);
            }
        }
    }

    /// Resolves the `width` levels (1 to 6) below `vertex` into `2^width` slots.
    ///
    /// A slot of `next_hops` is set to the longest match among the prefixes of
    /// these levels; where there is none it stays, so fill it with the
    /// inherited next hop. `below` is called for the slots with routes strictly
    /// below them, ascending, at most once each, with their vertices.
    ///
    /// # Panics
    /// If `next_hops` does not have `2^width` elements.
    pub(crate) fn expand<'r>(
        &'r self,
        vertex: Vertex<'r, A>,
        width: u8,
        next_hops: &mut [u32],
        below: impl FnMut(u8, Vertex<'r, A>),
    ) {
        self.view().expand(vertex, width, next_hops, below);
    }
}

impl<'r, A: Address> RibView<'r, A> {
    /// The only route strictly below `vertex`, if there is one; `None` also where others beside the vertex lie in the same node.
    #[inline]
    pub(crate) fn only_route_below(&self, vertex: Vertex<'_, A>) -> Option<(Prefix<A>, NextHop)> {
        let node = vertex.node;
        if node.children != 0 || node.value_count() != 1 {
            return None;
        }
        let bits = if node.short != 0 {
            node.short
        } else {
            node.full
        };
        let from = if node.short != 0 { 0 } else { 64 };
        let route = self.route(node, from + bits.trailing_zeros());
        // The root may have its own route alone.
        (route.0.len() > vertex.depth).then_some(route)
    }

    /// [`Rib::expand`].
    pub(crate) fn expand(
        &self,
        vertex: Vertex<'r, A>,
        width: u8,
        next_hops: &mut [u32],
        below: impl FnMut(u8, Vertex<'r, A>),
    ) {
        assert_eq!(next_hops.len(), 1 << width);
        let mut out = Expansion {
            slots: next_hops,
            below,
        };
        self.expand_at(vertex, width, 0, &mut out);
    }

    /// As [`Self::expand`], for the slots from `first` on.
    fn expand_at(
        &self,
        vertex: Vertex<'r, A>,
        width: u8,
        first: usize,
        out: &mut Expansion<'_, impl FnMut(u8, Vertex<'r, A>)>,
    ) {
        let node = vertex.node;
        if node.depth() > vertex.depth {
            // On the way to the node: one slot leads there.
            let gap = node.depth() - vertex.depth;
            if gap >= width {
                let slot = first + node.extract(vertex.depth, width) as usize;
                let depth = vertex.depth + width;
                (out.below)(slot as u8, Vertex { depth, ..vertex });
            } else {
                let rest = width - gap;
                let slot = (node.extract(vertex.depth, gap) as usize) << rest;
                self.expand_node(node, 1, 0, rest, first + slot, out);
            }
        } else {
            let level = vertex.depth - node.depth();
            self.expand_node(node, vertex.heap, level, width, first, out);
        }
    }

    /// Resolves `width` levels below the vertex `heap` at `level` of `node`.
    fn expand_node(
        &self,
        node: &'r RibNode<A>,
        heap: u32,
        level: u8,
        width: u8,
        first: usize,
        out: &mut Expansion<'_, impl FnMut(u8, Vertex<'r, A>)>,
    ) {
        let end = level + width;
        // Shorter prefixes first: longer ones overwrite their part.
        for at in level + 1..=end.min(STRIDE) {
            // The vertices of this level below `heap` are neighbours in the bit map.
            let start = heap << (at - level);
            let map = if at < STRIDE { node.short } else { node.full };
            let mut found = map >> (start & 63) & ones(1 << (at - level));
            if found == 0 {
                continue;
            }
            let mut value = node.values + node.value_rank(start) as u32;
            while found != 0 {
                let slot = (found.trailing_zeros() as usize) << (end - at);
                out.slots[first + slot..][..1 << (end - at)].fill(self.values[value as usize]);
                value += 1;
                found &= found - 1;
            }
        }
        if end < STRIDE {
            for slot in 0..1 << width {
                let heap = heap << width | slot;
                if has_below(node, heap, end) {
                    let vertex = Vertex {
                        node,
                        heap,
                        depth: node.depth() + end,
                    };
                    (out.below)(first as u8 + slot as u8, vertex);
                }
            }
            return;
        }
        // The node's last level is reached: its children carry on.
        let rest = end - STRIDE;
        let start = (heap << (STRIDE - level)) & 63;
        let mut chunks = node.children >> start & ones(1 << (STRIDE - level));
        while chunks != 0 {
            let chunk = chunks.trailing_zeros();
            chunks &= chunks - 1;
            let child = Vertex {
                node: self.child(node, start + chunk),
                heap: 1,
                depth: node.depth() + STRIDE,
            };
            let slot = first + ((chunk as usize) << rest);
            if rest == 0 {
                (out.below)(slot as u8, child);
            } else {
                self.expand_at(child, rest, slot, out);
            }
        }
    }
}

/// Where [`Rib::expand`] puts what it finds.
struct Expansion<'a, F> {
    slots: &'a mut [u32],
    below: F,
}

/// Whether there are routes strictly below the vertex `heap` at `level` (below 6) of `node`.
#[inline]
fn has_below<A>(node: &RibNode<A>, heap: u32, level: u8) -> bool {
    let chunks = ones(1 << (STRIDE - level)) << ((heap << (STRIDE - level)) & 63);
    (node.full | node.children) & chunks | node.short & DESCENDANTS[heap as usize] != 0
}

/// `DESCENDANTS[v]`: the vertices of 1 to 63 strictly below vertex `v`.
const DESCENDANTS: [u64; 64] = {
    let mut table = [0; 64];
    let mut below = 2;
    while below < 64 {
        let mut vertex = below >> 1;
        while vertex > 0 {
            table[vertex] |= 1 << below;
            vertex >>= 1;
        }
        below += 1;
    }
    table
};

/// The `count` lowest bits, 1 to 64.
#[inline]
fn ones(count: u32) -> u64 {
    u64::MAX >> (64 - count)
}
