//! The Rib: every route of one family, kept in order.
//!
//! A 64-ary trie whose nodes index their next hops and children by population
//! count, as the Fib's nodes do; the paper (section 3) assumes a radix or
//! Patricia tree here. A node holds the prefixes of six lengths as one bit
//! each, and nodes with a single child and no prefix are left out (path
//! compression), so memory follows the number of routes: 32-bit next hops and
//! 40-byte (IPv6: 64-byte) nodes, of which a BGP table needs one for some 15
//! routes. The IPv4 table of 2026 takes 8 to 10 bytes a route.
//!
//! Rejected: a binary Patricia tree. It is simpler, but an update of a full
//! table waits for some 20 nodes that depend on each other, this one for 4,
//! and compiling a Fib from it visits every vertex alone.

mod node;
mod runs;
mod vertex;
mod walk;

use crate::address::Address;
use crate::next_hop::NextHop;
use crate::prefix::Prefix;
use node::{RibNode, STRIDE, node_depth, vertex_level, vertex_of};
use runs::Runs;

pub use vertex::Vertex;
pub use walk::{Iter, Subnets, Supernets};

/// The routes of one family: a map from prefixes to next hops, in prefix order.
///
/// With *w* the key width: [`insert`](Rib::insert), [`remove`](Rib::remove),
/// [`get`](Rib::get) and the matches take O(*w* / 6) steps, each touching one
/// node and at most one run of next hops. Memory is O(routes).
#[derive(Clone)]
pub struct Rib<A> {
    nodes: Runs<RibNode<A>>,
    /// Next hops; those of free slots mean nothing.
    values: Runs<u32>,
    root: RibNode<A>,
    len: usize,
    /// No next hop is higher; those of removed routes may have been.
    next_hop_bound: u32,
}

/// Where a node is: the root is held outside of the runs, so that an empty Rib
/// owns no heap memory.
type NodeIndex = Option<u32>;

impl<A: Address> Rib<A> {
    /// A Rib without routes; allocates nothing.
    pub fn new() -> Self {
        Self {
            nodes: Runs::new(),
            values: Runs::new(),
            root: RibNode::new(A::MIN, 0),
            len: 0,
            next_hop_bound: 0,
        }
    }

    /// The number of routes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes every route and gives the memory back.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// A number that no next hop exceeds: the highest since the Rib was last
    /// empty or moved together. O(1).
    pub fn next_hop_bound(&self) -> u32 {
        self.next_hop_bound
    }

    /// Heap bytes in use, spare capacity and free blocks included.
    pub fn bytes(&self) -> usize {
        self.nodes.bytes() + self.values.bytes()
    }

    /// Sets the route of `prefix`; returns the next hop it replaces.
    pub fn insert(&mut self, prefix: Prefix<A>, next_hop: NextHop) -> Option<NextHop> {
        self.next_hop_bound = self.next_hop_bound.max(next_hop.get());
        let replaced = self.insert_route(prefix, next_hop);
        self.compact_if_sparse();
        replaced
    }

    fn insert_route(&mut self, prefix: Prefix<A>, next_hop: NextHop) -> Option<NextHop> {
        let (bits, depth) = (prefix.address(), node_depth(prefix.len()));
        let mut at: NodeIndex = None;
        loop {
            let node = *self.node(at);
            if node.depth == depth {
                return self.insert_here(at, vertex_of(bits, prefix.len()), next_hop);
            }
            let chunk = bits.extract(node.depth, STRIDE);
            if !node.has_child(chunk) {
                let child = self.with_route(RibNode::new(bits, depth), prefix, next_hop);
                self.insert_child(at, chunk, child);
                return None;
            }
            let child_index = node.child(chunk);
            let child = *self.nodes.get(child_index);
            let common = (bits ^ child.bits).leading_zeros();
            if child.depth <= depth && common >= child.depth {
                at = Some(child_index);
                continue;
            }
            // The prefix leaves the skipped path above the child: a new node
            // takes the child's place, at the prefix's own depth or where the
            // two ways part.
            let fork_depth = depth.min(common / STRIDE * STRIDE);
            let mut fork = RibNode::new(bits, fork_depth);
            fork.children = 1 << child.bits.extract(fork_depth, STRIDE);
            fork.nodes = self.nodes.alloc_one(child);
            if fork_depth == depth {
                fork = self.with_route(fork, prefix, next_hop);
                *self.nodes.get_mut(child_index) = fork;
            } else {
                *self.nodes.get_mut(child_index) = fork;
                let leaf = self.with_route(RibNode::new(bits, depth), prefix, next_hop);
                self.insert_child(Some(child_index), bits.extract(fork_depth, STRIDE), leaf);
            }
            return None;
        }
    }

    /// Removes the route of exactly `prefix`; returns its next hop.
    pub fn remove(&mut self, prefix: Prefix<A>) -> Option<NextHop> {
        let (bits, depth) = (prefix.address(), node_depth(prefix.len()));
        let mut parent: NodeIndex = None;
        let mut at: NodeIndex = None;
        while self.node(at).depth < depth {
            let node = self.node(at);
            let chunk = bits.extract(node.depth, STRIDE);
            if !node.has_child(chunk) {
                return None;
            }
            parent = at;
            at = Some(node.child(chunk));
        }
        let mut node = *self.node(at);
        let vertex = vertex_of(bits, prefix.len());
        if node.depth != depth || !node.holds(bits) || !node.has_vertex(vertex) {
            return None;
        }
        let rank = node.value_rank(vertex);
        let removed = self.value(node.values, rank);
        node.values = self.values.remove(node.values, node.value_count(), rank);
        node.toggle_vertex(vertex);
        *self.node_mut(at) = node;
        self.len -= 1;
        if self.leave_out(at) {
            self.remove_child(parent, bits);
            self.leave_out(parent);
        }
        self.compact_if_sparse();
        Some(removed)
    }

    /// The next hop of exactly `prefix`.
    pub fn get(&self, prefix: Prefix<A>) -> Option<NextHop> {
        let (bits, depth) = (prefix.address(), node_depth(prefix.len()));
        let mut node = &self.root;
        while node.depth < depth {
            let chunk = bits.extract(node.depth, STRIDE);
            if !node.has_child(chunk) {
                return None;
            }
            node = self.nodes.get(node.child(chunk));
        }
        let vertex = vertex_of(bits, prefix.len());
        if node.depth != depth || !node.holds(bits) || !node.has_vertex(vertex) {
            return None;
        }
        Some(self.value(node.values, node.value_rank(vertex)))
    }

    /// Whether there is a route of exactly `prefix`.
    pub fn contains_key(&self, prefix: Prefix<A>) -> bool {
        self.get(prefix).is_some()
    }

    /// The next hop of the longest prefix that holds `address`.
    pub fn lookup(&self, address: A) -> Option<NextHop> {
        self.longest_match(address).map(|(_, next_hop)| next_hop)
    }

    /// The longest prefix that holds `address`, and its next hop.
    pub fn longest_match(&self, address: A) -> Option<(Prefix<A>, NextHop)> {
        let mut best = None;
        let mut node = &self.root;
        loop {
            let chunk = address.extract(node.depth, STRIDE);
            let vertex = node.longest_vertex(chunk);
            if vertex != 0 {
                best = Some((node, vertex));
            }
            if !node.has_child(chunk) {
                break;
            }
            node = self.nodes.get(node.child(chunk));
            if !node.holds(address) {
                break;
            }
        }
        let (node, vertex) = best?;
        let prefix = Prefix::clamped(address, node.depth + vertex_level(vertex));
        Some((prefix, self.value(node.values, node.value_rank(vertex))))
    }

    /// The shortest prefix that holds `address`, and its next hop.
    pub fn shortest_match(&self, address: A) -> Option<(Prefix<A>, NextHop)> {
        self.supernets(Prefix::host(address)).next()
    }

    /// The routes that cover `prefix`, itself included, the shortest first.
    ///
    /// O(key width / 6) for all of them; allocates nothing.
    pub fn supernets(&self, prefix: Prefix<A>) -> Supernets<'_, A> {
        Supernets::new(self, prefix)
    }

    /// The routes inside `prefix`, itself included, in prefix order.
    ///
    /// O(key width / 6) to the first, then O(1) each.
    pub fn subnets(&self, prefix: Prefix<A>) -> Subnets<'_, A> {
        Subnets::new(self, prefix)
    }

    /// Whether any route has an address in common with `prefix`: covers it or is inside.
    pub fn overlaps(&self, prefix: Prefix<A>) -> bool {
        self.supernets(prefix).next().is_some() || self.subnets(prefix).next().is_some()
    }

    /// The first route behind `prefix` in prefix order, whether or not `prefix`
    /// itself has one. O(key width / 6).
    ///
    /// With it and [`previous`](Rib::previous) a walk needs no borrow between
    /// two steps and goes on after any change, from the prefix where it stands.
    pub fn next(&self, prefix: Prefix<A>) -> Option<(Prefix<A>, NextHop)> {
        walk::first_behind(self, prefix)
    }

    /// The last route before `prefix` in prefix order. O(key width / 6).
    pub fn previous(&self, prefix: Prefix<A>) -> Option<(Prefix<A>, NextHop)> {
        walk::last_before(self, prefix)
    }

    /// The routes in prefix order: by address, a covering prefix before what it covers.
    ///
    /// The whole walk takes O(routes).
    pub fn iter(&self) -> Iter<'_, A> {
        Iter::new(self)
    }

    #[inline]
    fn node(&self, at: NodeIndex) -> &RibNode<A> {
        match at {
            None => &self.root,
            Some(index) => self.nodes.get(index),
        }
    }

    #[inline]
    fn node_mut(&mut self, at: NodeIndex) -> &mut RibNode<A> {
        match at {
            None => &mut self.root,
            Some(index) => self.nodes.get_mut(index),
        }
    }

    #[inline]
    fn value(&self, run: u32, rank: usize) -> NextHop {
        NextHop::new(*self.values.get(run + rank as u32)).expect("a stored next hop is not 0")
    }

    /// Sets the route of a vertex of the node at `at`.
    fn insert_here(&mut self, at: NodeIndex, vertex: u32, next_hop: NextHop) -> Option<NextHop> {
        let mut node = *self.node(at);
        let rank = node.value_rank(vertex);
        if node.has_vertex(vertex) {
            let replaced = self.value(node.values, rank);
            *self.values.get_mut(node.values + rank as u32) = next_hop.get();
            return Some(replaced);
        }
        node.values = self
            .values
            .insert(node.values, node.value_count(), rank, next_hop.get());
        node.toggle_vertex(vertex);
        *self.node_mut(at) = node;
        self.len += 1;
        None
    }

    /// `node`, which has no prefix yet, with its first.
    fn with_route(
        &mut self,
        mut node: RibNode<A>,
        prefix: Prefix<A>,
        next_hop: NextHop,
    ) -> RibNode<A> {
        node.values = self.values.alloc_one(next_hop.get());
        node.toggle_vertex(vertex_of(prefix.address(), prefix.len()));
        self.len += 1;
        node
    }

    /// Gives the node at `at` a child for a chunk that has none.
    fn insert_child(&mut self, at: NodeIndex, chunk: u32, child: RibNode<A>) {
        let mut node = *self.node(at);
        let (count, rank) = (node.child_count(), node.child_rank(chunk));
        node.nodes = self.nodes.insert(node.nodes, count, rank, child);
        node.children |= 1 << chunk;
        // The run has moved, the node itself has not: it is in its parent's run.
        *self.node_mut(at) = node;
    }

    /// Takes the child on the way to `bits` away from the node at `at`.
    fn remove_child(&mut self, at: NodeIndex, bits: A) {
        let mut node = *self.node(at);
        let chunk = bits.extract(node.depth, STRIDE);
        let (count, rank) = (node.child_count(), node.child_rank(chunk));
        node.nodes = self.nodes.remove(node.nodes, count, rank);
        node.children &= !(1 << chunk);
        *self.node_mut(at) = node;
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
            *self.nodes.get_mut(index) = *self.nodes.get(node.nodes);
            self.nodes.remove(node.nodes, 1, 0);
        }
        node.child_count() == 0
    }

    /// Moves everything together where more lies free than is in use.
    ///
    /// O(routes), but as much must have been moved by the changes before it.
    #[inline]
    fn compact_if_sparse(&mut self) {
        if self.nodes.is_sparse() || self.values.is_sparse() || self.is_empty() {
            self.compact();
        }
    }

    #[cold]
    fn compact(&mut self) {
        let mut compact = Self {
            nodes: Runs::for_copy_of(&self.nodes),
            values: Runs::for_copy_of(&self.values),
            root: self.root,
            len: self.len,
            next_hop_bound: 0,
        };
        compact.root = compact.copy_of(self, &self.root);
        *self = compact;
    }

    /// `node` of `other` with everything below it copied to this Rib.
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
            *self.nodes.get_mut(copy.nodes + rank as u32) = child;
        }
        copy
    }
}

impl<A: Address> Default for Rib<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A: Address> Extend<(Prefix<A>, NextHop)> for Rib<A> {
    fn extend<I: IntoIterator<Item = (Prefix<A>, NextHop)>>(&mut self, routes: I) {
        for (prefix, next_hop) in routes {
            self.insert(prefix, next_hop);
        }
    }
}

impl<A: Address> FromIterator<(Prefix<A>, NextHop)> for Rib<A> {
    fn from_iter<I: IntoIterator<Item = (Prefix<A>, NextHop)>>(routes: I) -> Self {
        let mut rib = Self::new();
        rib.extend(routes);
        rib
    }
}

impl<'a, A: Address> IntoIterator for &'a Rib<A> {
    type Item = (Prefix<A>, NextHop);
    type IntoIter = Iter<'a, A>;

    fn into_iter(self) -> Iter<'a, A> {
        self.iter()
    }
}

impl<A: Address> core::fmt::Debug for Rib<A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<A: Address> PartialEq for Rib<A> {
    /// The same routes, whatever the history.
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<A: Address> Eq for Rib<A> {}
