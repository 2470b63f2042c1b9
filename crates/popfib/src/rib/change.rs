//! Changes of the Rib: a route more, a route less.
//!
//! A change finds its place, makes sure of the memory that it needs, all of it,
//! and only then begins: where memory is refused, nothing has changed.

use super::Rib;
use super::node::{RibNode, STRIDE, node_depth, vertex_level, vertex_of};
use super::trie::NodeIndex;
use crate::address::Address;
use crate::cpu::counted;
use crate::memory::{Allocator, OutOfMemory};
use crate::next_hop::NextHop;
use crate::prefix::Prefix;

impl<A: Address, Al: Allocator + Clone> Rib<A, Al> {
    /// Sets the route of `prefix`; returns the next hop it replaces.
    ///
    /// Aborts the program if memory is exhausted, as the standard collections do.
    pub fn insert(&mut self, prefix: Prefix<A>, next_hop: NextHop) -> Option<NextHop> {
        match self.try_insert(prefix, next_hop) {
            Ok(replaced) => replaced,
            Err(error) => error.abort(),
        }
    }

    /// As [`insert`](Rib::insert); if memory is exhausted, the Rib is unchanged.
    ///
    /// # Errors
    /// [`OutOfMemory`]; never if `prefix` has a route already.
    pub fn try_insert(
        &mut self,
        prefix: Prefix<A>,
        next_hop: NextHop,
    ) -> Result<Option<NextHop>, OutOfMemory> {
        self.insert_route(prefix, next_hop, true)
    }

    /// As [`try_insert`](Rib::try_insert), but where there is a route its next hop stays and is returned.
    pub(crate) fn try_insert_new(
        &mut self,
        prefix: Prefix<A>,
        next_hop: NextHop,
    ) -> Result<Option<NextHop>, OutOfMemory> {
        self.insert_route(prefix, next_hop, false)
    }

    counted! {
        fn insert_route, insert_route_counted(
            &mut self,
            prefix: Prefix<A>,
            next_hop: NextHop,
            replaces: bool
        ) -> Result<Option<NextHop>, OutOfMemory> = insert_route_any
    }

    #[inline(always)]
    fn insert_route_any(
        &mut self,
        prefix: Prefix<A>,
        next_hop: NextHop,
        replaces: bool,
    ) -> Result<Option<NextHop>, OutOfMemory> {
        let there = self.insert_below(prefix, next_hop, replaces)?;
        self.len += usize::from(there.is_none());
        if replaces || there.is_none() {
            self.next_hop_bound = self.next_hop_bound.max(next_hop.get());
        }
        self.compact_if_sparse();
        Ok(there)
    }

    #[inline(always)]
    fn insert_below(
        &mut self,
        prefix: Prefix<A>,
        next_hop: NextHop,
        replaces: bool,
    ) -> Result<Option<NextHop>, OutOfMemory> {
        let (bits, depth) = (prefix.address(), node_depth(prefix.len()));
        let (mut at, mut at_depth): (NodeIndex, u8) = (None, 0);
        if let Some(last) = self.last
            && self.nodes.get(last).is_at(bits, depth)
        {
            (at, at_depth) = (Some(last), depth);
        }
        loop {
            if at_depth == depth {
                self.last = at;
                return self.insert_here(at, vertex_of(bits, prefix.len()), next_hop, replaces);
            }
            let node = self.node(at);
            let chunk = bits.extract(at_depth, STRIDE);
            if !node.has_child(chunk) {
                let (run, count) = (node.nodes, node.child_count());
                self.nodes.reserve_insert(run, count)?;
                let child = self.with_route(RibNode::new(bits, depth), prefix, next_hop)?;
                self.insert_child(at, chunk, child);
                return Ok(None);
            }
            let child_index = node.child(chunk);
            let child = self.nodes.get(child_index);
            let (child_depth, common) = (child.depth(), child.common(bits));
            if child_depth <= depth && common >= child_depth {
                (at, at_depth) = (Some(child_index), child_depth);
                continue;
            }
            let child = *child;
            self.last = None;
            // The prefix leaves the skipped path above the child: a new node
            // takes the child's place, at the prefix's own depth or where the
            // two ways part.
            let fork_depth = depth.min(common / STRIDE * STRIDE);
            let mut fork = RibNode::new(bits, fork_depth);
            let child_chunk = child.extract(fork_depth, STRIDE);
            fork.children = 1 << child_chunk;
            if fork_depth == depth {
                self.nodes.reserve_run(1)?;
                fork = self.with_route(fork, prefix, next_hop)?;
                fork.nodes = self.nodes.alloc_one(child);
            } else {
                self.nodes.reserve_run(2)?;
                let leaf = self.with_route(RibNode::new(bits, depth), prefix, next_hop)?;
                let leaf_chunk = bits.extract(fork_depth, STRIDE);
                fork.children |= 1 << leaf_chunk;
                let mut both = [child, leaf];
                if leaf_chunk < child_chunk {
                    both.reverse();
                }
                fork.nodes = self.nodes.alloc_run(&both);
            }
            self.nodes.set(child_index, fork);
            return Ok(None);
        }
    }

    /// Removes the route of exactly `prefix`; returns its next hop.
    ///
    /// Never fails for lack of memory: without memory, routes are just not moved to smaller blocks.
    pub fn remove(&mut self, prefix: Prefix<A>) -> Option<NextHop> {
        let removed = self.remove_and_stay(prefix)?;
        self.compact_if_sparse();
        Some(removed)
    }

    /// Makes sure that what [`remove_and_stay`](Rib::remove_and_stay) takes away can be
    /// inserted again right after it, without more memory.
    pub(crate) fn reserve_removal(&mut self) -> Result<(), OutOfMemory> {
        // A node has at most 64 children, and 127 prefixes.
        self.nodes.reserve_move(64)?;
        self.values.reserve_move(127)
    }

    counted! {
        /// [`remove`](Rib::remove) without moving anything together.
        pub(crate) fn remove_and_stay, remove_and_stay_counted(
            &mut self,
            prefix: Prefix<A>
        ) -> Option<NextHop> = remove_and_stay_any
    }

    #[inline(always)]
    fn remove_and_stay_any(&mut self, prefix: Prefix<A>) -> Option<NextHop> {
        self.last = None;
        let (bits, depth) = (prefix.address(), node_depth(prefix.len()));
        let mut parent: NodeIndex = None;
        let mut at: NodeIndex = None;
        let mut at_depth = 0;
        while at_depth < depth {
            let node = self.node(at);
            let chunk = bits.extract(at_depth, STRIDE);
            if !node.has_child(chunk) {
                return None;
            }
            let child = node.child(chunk);
            (parent, at) = (at, Some(child));
            at_depth = self.nodes.get(child).depth();
        }
        let mut node = *self.node(at);
        let vertex = vertex_of(bits, prefix.len());
        if at_depth != depth || !node.holds(bits) || !node.has_vertex(vertex) {
            return None;
        }
        let rank = node.value_rank(vertex);
        let removed = self.value(node.values, rank);
        node.values = self.values.remove(node.values, node.value_count(), rank);
        node.toggle_vertex(vertex);
        self.set_node(at, node);
        self.len -= 1;
        if self.leave_out(at) {
            self.remove_child(parent, bits);
            self.leave_out(parent);
        }
        Some(removed)
    }

    /// Sets the route of a vertex of the node at `at`; one that is there only if it `replaces` it.
    #[inline(always)]
    fn insert_here(
        &mut self,
        at: NodeIndex,
        vertex: u32,
        next_hop: NextHop,
        replaces: bool,
    ) -> Result<Option<NextHop>, OutOfMemory> {
        let mut node = *self.node(at);
        let rank = node.value_rank(vertex);
        if node.has_vertex(vertex) {
            let there = self.value(node.values, rank);
            if replaces {
                self.values.set(node.values + rank as u32, next_hop.get());
            }
            return Ok(Some(there));
        }
        let count = node.value_count();
        self.values.reserve_insert(node.values, count)?;
        node.values = self.values.insert(node.values, count, rank, next_hop.get());
        node.toggle_vertex(vertex);
        self.set_node(at, node);
        Ok(None)
    }

    /// `node`, which has no prefix yet, with its first.
    fn with_route(
        &mut self,
        mut node: RibNode<A>,
        prefix: Prefix<A>,
        next_hop: NextHop,
    ) -> Result<RibNode<A>, OutOfMemory> {
        self.values.reserve_run(1)?;
        node.values = self.values.alloc_one(next_hop.get());
        node.toggle_vertex(vertex_of(prefix.address(), prefix.len()));
        Ok(node)
    }

    /// Gives the node at `at` a child for a chunk that has none; reserved.
    fn insert_child(&mut self, at: NodeIndex, chunk: u32, child: RibNode<A>) {
        let mut node = *self.node(at);
        let (count, rank) = (node.child_count(), node.child_rank(chunk));
        node.nodes = self.nodes.insert(node.nodes, count, rank, child);
        node.children |= 1 << chunk;
        self.last = Some(node.nodes + rank as u32);
        // The run has moved, the node itself has not: it is in its parent's run.
        self.set_node(at, node);
    }

    /// Takes the child on the way to `bits` away from the node at `at`.
    fn remove_child(&mut self, at: NodeIndex, bits: A) {
        let mut node = *self.node(at);
        let chunk = bits.extract(node.depth(), STRIDE);
        let (count, rank) = (node.child_count(), node.child_rank(chunk));
        node.nodes = self.nodes.remove(node.nodes, count, rank);
        node.children &= !(1 << chunk);
        self.set_node(at, node);
    }

    /// If the node at `at` has no prefix and one child, puts the child in its
    /// place. Returns whether the node has neither and must go. The root stays.
    fn leave_out(&mut self, at: NodeIndex) -> bool {
        let Some(index) = at else { return false };
        let node = *self.nodes.get(index);
        if node.value_count() != 0 {
            return false;
        }
        if node.child_count() == 1 {
            self.nodes.set(index, *self.nodes.get(node.nodes));
            self.nodes.remove(node.nodes, 1, 0);
        }
        node.child_count() == 0
    }

    /// Gives each next hop another number, by the length of its prefix and the one it has. O(routes).
    pub(crate) fn renumber(&mut self, number: impl Fn(u8, u32) -> u32) {
        let root = self.root;
        self.next_hop_bound = self.renumber_below(&root, &number);
    }

    /// [`Self::renumber`] in `node` and below; returns the highest next hop.
    fn renumber_below(&mut self, node: &RibNode<A>, number: &impl Fn(u8, u32) -> u32) -> u32 {
        let mut highest = 0;
        let mut short = node.short;
        for rank in 0..node.value_count() as u32 {
            let index = node.values + rank;
            let level = if short == 0 {
                STRIDE
            } else {
                vertex_level(short.trailing_zeros())
            };
            short &= short.wrapping_sub(1);
            let value = number(node.depth() + level, *self.values.get(index));
            self.values.set(index, value);
            highest = highest.max(value);
        }
        for rank in 0..node.child_count() as u32 {
            let child = *self.nodes.get(node.nodes + rank);
            highest = highest.max(self.renumber_below(&child, number));
        }
        highest
    }

    /// Moves everything together where more lies free than is in use.
    ///
    /// O(routes), but as much must have been moved by the changes before it.
    #[inline]
    pub(crate) fn compact_if_sparse(&mut self) {
        if self.nodes.is_sparse() || self.values.is_sparse() || self.is_empty() {
            self.compact();
        }
    }

    /// Moves everything together; where memory is short, at a later change.
    #[cold]
    fn compact(&mut self) {
        let (Ok(nodes), Ok(values)) = (self.nodes.for_copy(), self.values.for_copy()) else {
            return;
        };
        let mut compact = Self {
            nodes,
            values,
            root: self.root,
            len: self.len,
            next_hop_bound: 0,
            last: None,
        };
        compact.root = compact.copy_of(self, &self.root);
        *self = compact;
    }

    /// `node` of `other` with everything below it copied to this Rib; reserved.
    fn copy_of(&mut self, other: &Self, node: &RibNode<A>) -> RibNode<A> {
        let next_hops = other.values.run(node.values, node.value_count());
        let highest = next_hops.iter().copied().max().unwrap_or(0);
        self.next_hop_bound = self.next_hop_bound.max(highest);
        let children = other.nodes.run(node.nodes, node.child_count());
        let copy = RibNode {
            values: self.values.alloc_run(next_hops),
            nodes: self.nodes.alloc_run(children),
            ..*node
        };
        for (rank, child) in children.iter().enumerate() {
            let child = self.copy_of(other, child);
            self.nodes.set(copy.nodes + rank as u32, child);
        }
        copy
    }
}
