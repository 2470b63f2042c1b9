//! The Rib: every route of one family, kept in order. Lookups and walks are here, changes in `change.rs`.
//!
//! It is a 64-ary trie whose nodes index their next hops and children by population
//! count, as the Fib's nodes do; the paper (section 3) assumes a radix or
//! Patricia tree here. A node holds the prefixes of six lengths as one bit
//! each. Nodes with a single child and no prefix are left out (path
//! compression), so memory follows the number of routes: 32-bit next hops and
//! 40-byte (IPv6: 48-byte) nodes, of which a BGP table needs one for some 15
//! routes (IPv6: 3). The IPv4 table of 2026 takes 8 to 10 bytes a route.
//!
//! Rejected: a binary Patricia tree. It is simpler, but an update of a full
//! table waits for some 20 nodes that depend on each other, this one for 4,
//! and compiling a Fib from it visits every vertex alone.

use core::iter::FusedIterator;
use core::ops::RangeBounds;

use super::RibView;
use super::node::{RibNode, STRIDE, node_depth, vertex_level, vertex_of};
use super::runs::Runs;
use super::walk::{self, Iter, Range, Supernets};
use crate::address::Address;
use crate::cpu::counted;
use crate::memory::{Allocator, Global, OutOfMemory};
use crate::next_hop::NextHop;
use crate::prefix::Prefix;

/// The routes of one family: a map from prefixes to next hops, in prefix order.
///
/// With *w* the key width: [`insert`](Rib::insert), [`remove`](Rib::remove),
/// [`get`](Rib::get) and the matches take O(*w* / 6) steps, each touching one
/// node and at most one run of next hops. Memory is O(routes).
///
/// The memory comes from `Al`: by default the global allocator; any other by
/// [`new_in`](Rib::new_in). Only [`try_insert`](Rib::try_insert) and [`try_clone`](Rib::try_clone), and the
/// methods that abort where these fail, need memory; all others work without.
pub struct Rib<A, Al: Allocator = Global> {
    pub(super) nodes: Runs<RibNode<A>, Al>,
    /// Next hops; those of free slots mean nothing.
    pub(super) values: Runs<u32, Al>,
    pub(super) root: RibNode<A>,
    pub(super) len: usize,
    /// No next hop is higher; those of removed routes may have been.
    pub(super) next_hop_bound: u32,
    /// The node of the last route that was inserted, where the next mostly is if they come in order. `None` where nodes have moved.
    pub(super) last: NodeIndex,
}

/// Where a node is: the root is held outside of the runs, so that an empty Rib
/// owns no heap memory.
pub(super) type NodeIndex = Option<u32>;

impl<A: Address> Rib<A> {
    /// A Rib without routes; allocates nothing.
    pub fn new() -> Self {
        Self::new_in(Global)
    }
}

impl<A: Address, Al: Allocator + Clone> Rib<A, Al> {
    /// A Rib without routes whose memory will come from `alloc`; allocates nothing.
    ///
    /// A reference to an allocator is one too.
    pub fn new_in(alloc: Al) -> Self {
        Self {
            nodes: Runs::new_in(alloc.clone()),
            values: Runs::new_in(alloc),
            root: RibNode::new(A::MIN, 0),
            len: 0,
            next_hop_bound: 0,
            last: None,
        }
    }

    /// Where the memory comes from.
    pub fn allocator(&self) -> &Al {
        self.nodes.allocator()
    }

    /// The same routes, in memory of their own. O(routes).
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        Ok(Self {
            nodes: self.nodes.try_clone()?,
            values: self.values.try_clone()?,
            ..*self
        })
    }

    /// The number of routes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes every route and frees the memory.
    pub fn clear(&mut self) {
        *self = Self::new_in(self.allocator().clone());
    }

    /// A number that no next hop exceeds: the highest since the Rib was last empty or compacted. O(1).
    pub fn next_hop_bound(&self) -> u32 {
        self.next_hop_bound
    }

    /// Heap bytes in use, spare capacity and free blocks included.
    pub fn bytes(&self) -> usize {
        self.nodes.bytes() + self.values.bytes()
    }

    /// Gives back what was had for more routes to come, if that is much and there is memory to move to.
    pub(crate) fn shrink(&mut self) {
        self.nodes.shrink();
        self.values.shrink();
    }

    counted! {
        /// The next hop of exactly `prefix`.
        pub fn get, get_counted(&self, prefix: Prefix<A>) -> Option<NextHop> = get_any
    }

    #[inline(always)]
    fn get_any(&self, prefix: Prefix<A>) -> Option<NextHop> {
        let (bits, depth) = (prefix.address(), node_depth(prefix.len()));
        let mut node = &self.root;
        while node.depth() < depth {
            let chunk = bits.extract(node.depth(), STRIDE);
            if !node.has_child(chunk) {
                return None;
            }
            node = self.nodes.get(node.child(chunk));
        }
        let vertex = vertex_of(bits, prefix.len());
        if node.depth() != depth || !node.holds(bits) || !node.has_vertex(vertex) {
            return None;
        }
        Some(self.value(node.values, node.value_rank(vertex)))
    }

    /// Whether there is a route of exactly `prefix`.
    pub fn contains_key(&self, prefix: Prefix<A>) -> bool {
        self.get(prefix).is_some()
    }

    /// The next hop of the longest prefix that contains `address`.
    pub fn lookup(&self, address: A) -> Option<NextHop> {
        self.longest_match(address).map(|(_, next_hop)| next_hop)
    }

    counted! {
        /// The longest prefix that contains `address`, and its next hop.
        pub fn longest_match, longest_match_counted(
            &self,
            address: A
        ) -> Option<(Prefix<A>, NextHop)> = longest_match_any
    }

    #[inline(always)]
    fn longest_match_any(&self, address: A) -> Option<(Prefix<A>, NextHop)> {
        let mut best = None;
        let mut node = &self.root;
        loop {
            let chunk = address.extract(node.depth(), STRIDE);
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
        let prefix = Prefix::clamped(address, node.depth() + vertex_level(vertex));
        Some((prefix, self.value(node.values, node.value_rank(vertex))))
    }

    /// The shortest prefix that contains `address`, and its next hop.
    pub fn shortest_match(&self, address: A) -> Option<(Prefix<A>, NextHop)> {
        self.supernets(Prefix::host(address)).next()
    }

    /// The routes that cover `prefix`, including `prefix` itself, the shortest first.
    ///
    /// O(key width / 6) for all of them; allocates nothing.
    pub fn supernets(
        &self,
        prefix: Prefix<A>,
    ) -> impl FusedIterator<Item = (Prefix<A>, NextHop)> + Clone {
        Supernets::new(self.view(), prefix)
    }

    /// The routes inside `prefix`, including `prefix` itself, in prefix order.
    ///
    /// O(key width / 6) to the first, then O(1) each.
    pub fn subnets(
        &self,
        prefix: Prefix<A>,
    ) -> impl FusedIterator<Item = (Prefix<A>, NextHop)> + Clone {
        // In prefix order a prefix comes right before what is inside it.
        self.range(prefix..=Prefix::host(prefix.last()))
    }

    /// The routes between two places in prefix order, whether or not there are routes at those.
    ///
    /// O(key width / 6) to the first, then O(1) each. Empty if the bounds are in the wrong order.
    pub fn range(
        &self,
        bounds: impl RangeBounds<Prefix<A>>,
    ) -> impl FusedIterator<Item = (Prefix<A>, NextHop)> + Clone {
        let start = bounds.start_bound().cloned();
        Range::new(self.view(), start, bounds.end_bound().cloned())
    }

    /// Whether any route overlaps `prefix`: covers it or is inside it.
    pub fn overlaps(&self, prefix: Prefix<A>) -> bool {
        self.supernets(prefix).next().is_some() || self.subnets(prefix).next().is_some()
    }

    /// The first route in prefix order. O(key width / 6).
    ///
    /// With it and [`next`](Rib::next) a walk needs no borrow between two steps and continues after any change,
    /// from its current prefix. It visits every route that exists throughout the walk once; of routes that are
    /// added or removed meanwhile, those that exist when the walk gets there.
    ///
    /// ```
    /// use popfib::{NextHop, Prefix, Rib};
    ///
    /// let mut rib = Rib::<u32>::new();
    /// rib.insert("10.0.0.0/8".parse()?, NextHop::MIN);
    /// rib.insert("11.0.0.0/8".parse()?, NextHop::MIN);
    /// let mut at = rib.first();
    /// while let Some((prefix, _)) = at {
    ///     rib.remove(prefix);
    ///     at = rib.next(prefix);
    /// }
    /// assert!(rib.is_empty());
    /// # Ok::<(), popfib::PrefixError>(())
    /// ```
    pub fn first(&self) -> Option<(Prefix<A>, NextHop)> {
        walk::first(self.view())
    }

    /// The last route in prefix order. O(key width / 6).
    pub fn last(&self) -> Option<(Prefix<A>, NextHop)> {
        walk::last(self.view())
    }

    /// The first route after `prefix` in prefix order, whether or not `prefix`
    /// itself has one. O(key width / 6). See [`first`](Rib::first).
    pub fn next(&self, prefix: Prefix<A>) -> Option<(Prefix<A>, NextHop)> {
        walk::first_behind(self.view(), prefix)
    }

    /// The routes in prefix order: by address, a covering prefix before what it covers.
    ///
    /// The whole walk takes O(routes); allocates nothing.
    pub fn iter(&self) -> Iter<'_, A> {
        Iter::new(self.view(), self.len)
    }

    #[inline]
    pub(crate) fn view(&self) -> RibView<'_, A> {
        RibView {
            nodes: self.nodes.slots(),
            values: self.values.slots(),
            root: &self.root,
        }
    }

    #[inline]
    pub(super) fn node(&self, at: NodeIndex) -> &RibNode<A> {
        match at {
            None => &self.root,
            Some(index) => self.nodes.get(index),
        }
    }

    #[inline]
    pub(super) fn set_node(&mut self, at: NodeIndex, node: RibNode<A>) {
        match at {
            None => self.root = node,
            Some(index) => self.nodes.set(index, node),
        }
    }

    #[inline]
    pub(super) fn value(&self, run: u32, rank: usize) -> NextHop {
        self.view().value(run, rank)
    }
}

impl<A: Address> Default for Rib<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A: Address, Al: Allocator + Clone> Clone for Rib<A, Al> {
    /// Aborts the program if memory is exhausted; see [`try_clone`](Rib::try_clone).
    fn clone(&self) -> Self {
        match self.try_clone() {
            Ok(clone) => clone,
            Err(error) => error.abort(),
        }
    }
}

impl<'a, A: Address, Al: Allocator + Clone> IntoIterator for &'a Rib<A, Al> {
    type Item = (Prefix<A>, NextHop);
    type IntoIter = Iter<'a, A>;

    fn into_iter(self) -> Iter<'a, A> {
        self.iter()
    }
}

impl<A: Address, Al: Allocator + Clone> core::fmt::Debug for Rib<A, Al> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<A: Address, Al: Allocator + Clone> PartialEq for Rib<A, Al> {
    /// The same routes, whatever the history.
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<A: Address, Al: Allocator + Clone> Eq for Rib<A, Al> {}
