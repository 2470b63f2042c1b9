//! A Rib from routes in prefix order, in one pass.
//!
//! Only the nodes on the way to the last route are open: each of the routes that follow lies below
//! one of them, so the others are complete. A node is written when it closes, its next hops and its
//! children as runs of the length that they have: nothing is searched for, and nothing moves.

use allocator_api2::vec::Vec;

use super::Rib;
use super::node::{RibNode, STRIDE, node_depth, vertex_of};
use super::view::MAX_PATH;
use crate::address::Address;
use crate::memory::{self, Allocator, Global, OutOfMemory};
use crate::next_hop::NextHop;
use crate::prefix::Prefix;

/// A Rib of the routes so far, the open nodes not in it yet.
#[derive(Debug)]
pub(crate) struct RibBuilder<A: Address, Al: Allocator + Clone = Global> {
    rib: Rib<A, Al>,
    /// The nodes on the way to the last route, from the root on.
    open: Vec<OpenNode<A>, Al>,
    /// Next hops of open nodes with their vertices, those of deeper nodes after those above.
    values: Vec<(u8, u32), Al>,
    /// Children of open nodes, complete, in the same order.
    children: Vec<RibNode<A>, Al>,
    last: Option<Prefix<A>>,
}

/// A node whose runs are not written yet.
#[derive(Clone, Copy, Debug)]
struct OpenNode<A> {
    node: RibNode<A>,
    /// Where its next hops begin.
    values: usize,
}

impl<A: Address> RibBuilder<A> {
    pub(crate) fn new() -> Self {
        Self::new_in(Global)
    }
}

impl<A: Address, Al: Allocator + Clone> RibBuilder<A, Al> {
    /// No routes; allocates nothing.
    pub(crate) fn new_in(alloc: Al) -> Self {
        Self {
            rib: Rib::new_in(alloc.clone()),
            open: Vec::new_in(alloc.clone()),
            values: Vec::new_in(alloc.clone()),
            children: Vec::new_in(alloc),
            last: None,
        }
    }

    /// Whether the route of `prefix` could be the next one.
    #[inline]
    pub(crate) fn is_next(&self, prefix: Prefix<A>) -> bool {
        self.last.is_none_or(|last| last < prefix)
    }

    /// Adds the route of `prefix`, which [is next](Self::is_next).
    ///
    /// # Errors
    /// [`OutOfMemory`]; the route is not added.
    #[inline]
    pub(crate) fn push(&mut self, prefix: Prefix<A>, next_hop: NextHop) -> Result<(), OutOfMemory> {
        debug_assert!(self.is_next(prefix));
        self.reserve()?;
        self.last = Some(prefix);
        let (bits, len) = (prefix.address(), prefix.len());
        self.open_at(bits, node_depth(len));
        let vertex = vertex_of(bits, len);
        let top = self.open.last_mut().expect("the root is open");
        top.node.toggle_vertex(vertex);
        self.values.push((vertex as u8, next_hop.get()));
        self.rib.len += 1;
        self.rib.next_hop_bound = self.rib.next_hop_bound.max(next_hop.get());
        Ok(())
    }

    /// The Rib of all routes. Needs no memory: each route had it reserved.
    pub(crate) fn finish(mut self) -> Rib<A, Al> {
        while let Some(top) = self.open.pop() {
            let node = self.close(top);
            match self.open.last_mut() {
                Some(parent) => add_child(parent, &mut self.children, node),
                None => self.rib.root = node,
            }
        }
        self.rib.shrink();
        self.rib
    }

    /// Makes sure of the memory for a route more, and of that for closing all nodes then.
    #[inline]
    fn reserve(&mut self) -> Result<(), OutOfMemory> {
        if self.open.capacity() == 0 {
            memory::reserve(&mut self.open, MAX_PATH)?;
            self.open.push(OpenNode {
                node: RibNode::new(A::MIN, 0),
                values: 0,
            });
        }
        if self.values.len() == self.values.capacity() {
            memory::grow(&mut self.values, 1)?;
        }
        // A route opens two nodes at most and closes one that is not one of them.
        let nodes = self.children.len() + self.open.len() + 2;
        if self.children.capacity() < nodes {
            let more = nodes - self.children.len();
            memory::grow(&mut self.children, more)?;
        }
        self.rib.values.reserve_all(self.values.len() + 1)?;
        self.rib.nodes.reserve_all(nodes)
    }

    /// Closes and opens nodes until that at `depth` on the way to `bits` is the last open one.
    #[inline]
    fn open_at(&mut self, bits: A, depth: u8) {
        loop {
            let top = *self.open.last().expect("the root is open");
            let (top_depth, common) = (top.node.depth(), top.node.common(bits));
            if common >= top_depth {
                // As the route comes after all others, it is not above the node.
                debug_assert!(top_depth <= depth);
                if top_depth < depth {
                    self.open_new(RibNode::new(bits, depth));
                }
                return;
            }
            // Only the root holds every address, so there is a node above.
            let node = self.close(top);
            self.open.pop();
            let above = self.open.last_mut().expect("the root is open");
            let fork_depth = depth.min(common / STRIDE * STRIDE);
            if fork_depth > above.node.depth() {
                self.open_new(RibNode::new(bits, fork_depth));
            }
            let parent = self.open.last_mut().expect("the root is open");
            add_child(parent, &mut self.children, node);
        }
    }

    fn open_new(&mut self, node: RibNode<A>) {
        let values = self.values.len();
        self.open.push(OpenNode { node, values });
    }

    /// Writes the runs of the last open node.
    fn close(&mut self, OpenNode { mut node, values }: OpenNode<A>) -> RibNode<A> {
        let routes = &self.values[values..];
        node.values = self.rib.values.alloc_with(routes.len(), |run| {
            // Full chunks come in their order, shorter prefixes between them.
            let mut full = node.short.count_ones() as usize;
            for &(vertex, value) in routes {
                if vertex < 64 {
                    run[node.value_rank(vertex.into())] = value;
                } else {
                    run[full] = value;
                    full += 1;
                }
            }
        });
        self.values.truncate(values);
        let children = self.children.len() - node.child_count();
        node.nodes = self.rib.nodes.alloc_run(&self.children[children..]);
        self.children.truncate(children);
        node
    }
}

/// Makes `node` the last child of `parent`, the last open node.
fn add_child<A: Address, Al: Allocator>(
    parent: &mut OpenNode<A>,
    children: &mut Vec<RibNode<A>, Al>,
    node: RibNode<A>,
) {
    parent.node.children |= 1 << node.extract(parent.node.depth(), STRIDE);
    children.push(node);
}

impl<A: Address, Al: Allocator + Clone> Extend<(Prefix<A>, NextHop)> for Rib<A, Al> {
    fn extend<I: IntoIterator<Item = (Prefix<A>, NextHop)>>(&mut self, routes: I) {
        let mut routes = routes.into_iter();
        let mut next = routes.next();
        if self.is_empty() {
            // As long as they come in order.
            let mut builder = RibBuilder::new_in(self.allocator().clone());
            while let Some((prefix, next_hop)) = next
                && builder.is_next(prefix)
            {
                if let Err(error) = builder.push(prefix, next_hop) {
                    error.abort();
                }
                next = routes.next();
            }
            *self = builder.finish();
        }
        for (prefix, next_hop) in next.into_iter().chain(routes) {
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
