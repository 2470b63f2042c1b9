//! Walks over the Rib: all routes, those inside a prefix, those that cover one.
//!
//! A node's vertices are numbered by level, but a walk meets them by address:
//! for each chunk from 0 to 63 first the shorter prefixes that start there,
//! then the prefix of the whole chunk, then the child below it.

use core::iter::from_fn;
use core::ops::Bound;

use super::node::{RibNode, STARTS, STRIDE, ancestors};
use super::view::{MAX_PATH, RibView};
use crate::address::Address;
use crate::next_hop::NextHop;
use crate::prefix::Prefix;

/// All routes of a [`Rib`](super::Rib) in prefix order.
#[derive(Clone, Debug)]
pub struct Iter<'a, A: Address> {
    walk: RibWalk<'a, A>,
    left: usize,
}

/// Routes of a [`Rib`](super::Rib) that follow each other in prefix order.
#[derive(Clone, Debug)]
pub(super) struct Range<'a, A: Address> {
    walk: RibWalk<'a, A>,
    end: Bound<Prefix<A>>,
}

/// The routes of a [`Rib`](super::Rib) that cover a prefix, the shortest first.
#[derive(Clone, Debug)]
pub(super) struct Supernets<'a, A: Address> {
    rib: RibView<'a, A>,
    of: Prefix<A>,
    /// The node that the walk is in, and the vertices there that are still to come.
    node: &'a RibNode<A>,
    short: u64,
    full: bool,
}

impl<'a, A: Address> Iter<'a, A> {
    pub(super) fn new(rib: RibView<'a, A>, len: usize) -> Self {
        Self {
            walk: RibWalk::all(rib),
            left: len,
        }
    }
}

impl<A: Address> Iterator for Iter<'_, A> {
    type Item = (Prefix<A>, NextHop);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let route = self.walk.next()?;
        self.left -= 1;
        Some(route)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<A: Address> ExactSizeIterator for Iter<'_, A> {}

impl<A: Address> core::iter::FusedIterator for Iter<'_, A> {}

impl<'a, A: Address> Range<'a, A> {
    pub(super) fn new(rib: RibView<'a, A>, start: Bound<Prefix<A>>, end: Bound<Prefix<A>>) -> Self {
        let walk = match start {
            Bound::Unbounded => RibWalk::all(rib),
            Bound::Included(start) => RibWalk::from(rib, start),
            Bound::Excluded(start) => match first_behind(rib, start) {
                Some((first, _)) => RibWalk::from(rib, first),
                None => RibWalk::ended(rib),
            },
        };
        Self { walk, end }
    }
}

impl<A: Address> Iterator for Range<'_, A> {
    type Item = (Prefix<A>, NextHop);

    fn next(&mut self) -> Option<Self::Item> {
        let route = self.walk.next()?;
        let is_inside = match &self.end {
            Bound::Unbounded => true,
            Bound::Included(end) => route.0 <= *end,
            Bound::Excluded(end) => route.0 < *end,
        };
        if !is_inside {
            // Nothing that follows is inside.
            self.walk.end();
            return None;
        }
        Some(route)
    }
}

impl<A: Address> core::iter::FusedIterator for Range<'_, A> {}

impl<'a, A: Address> Supernets<'a, A> {
    pub(super) fn new(rib: RibView<'a, A>, of: Prefix<A>) -> Self {
        let mut walk = Self {
            rib,
            of,
            node: rib.root,
            short: 0,
            full: false,
        };
        walk.enter(rib.root);
        walk
    }

    /// Goes to `node` and notes its vertices that cover the prefix.
    fn enter(&mut self, node: &'a RibNode<A>) {
        self.node = node;
        let levels = self.of.len().saturating_sub(node.depth()).min(STRIDE);
        let chunk = self.chunk();
        // Vertices of the first `levels` levels are numbered below 2^(levels + 1).
        let shorter = u64::MAX >> (64 - (2u64 << levels.min(STRIDE - 1)));
        self.short = node.short & ancestors(chunk) & shorter;
        self.full = levels == STRIDE && node.full >> chunk & 1 != 0;
    }

    fn chunk(&self) -> u32 {
        self.of.address().extract(self.node.depth(), STRIDE)
    }
}

impl<A: Address> Iterator for Supernets<'_, A> {
    type Item = (Prefix<A>, NextHop);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let node = self.node;
            let chunk = self.chunk();
            if let Some(vertex) = take_vertex(&mut self.short, &mut self.full, chunk) {
                return Some(self.rib.route(node, vertex));
            }
            if !node.has_child(chunk) {
                return None;
            }
            let child = self.rib.child(node, chunk);
            if child.depth() >= self.of.len() || !child.holds(self.of.address()) {
                return None;
            }
            self.enter(child);
        }
    }
}

impl<A: Address> core::iter::FusedIterator for Supernets<'_, A> {}

/// Takes the first of a chunk's vertices: those of `short`, then the full one.
#[inline]
fn take_vertex(short: &mut u64, full: &mut bool, chunk: u32) -> Option<u32> {
    if *short != 0 {
        let vertex = short.trailing_zeros();
        *short &= *short - 1;
        Some(vertex)
    } else if *full {
        *full = false;
        Some(64 | chunk)
    } else {
        None
    }
}

/// A place between two routes, and the way on from there.
///
/// Of the nodes above only the fact that the walk is below them is kept: what
/// is left of such a node is all after the chunk that leads down.
#[derive(Clone, Debug)]
struct RibWalk<'a, A: Address> {
    rib: RibView<'a, A>,
    /// The nodes above, of which the first `depth` count.
    path: [&'a RibNode<A>; MAX_PATH],
    depth: usize,
    frame: WalkFrame<'a, A>,
}

/// A node, and what is left of it.
#[derive(Clone, Debug)]
struct WalkFrame<'a, A> {
    node: &'a RibNode<A>,
    chunk: u32,
    /// Vertices that start at `chunk` and are still to come.
    short: u64,
    /// Whether the prefix of the whole chunk, and then its child, are still to come.
    full: bool,
    child: bool,
}

impl<'a, A: Address> WalkFrame<'a, A> {
    /// All that `node` has from `chunk` on.
    fn new(node: &'a RibNode<A>, chunk: u32) -> Self {
        Self {
            node,
            chunk,
            short: node.short & STARTS[chunk as usize],
            full: node.full >> chunk & 1 != 0,
            child: node.has_child(chunk),
        }
    }

    /// Nothing of `node` up to `chunk`.
    fn behind(node: &'a RibNode<A>, chunk: u32) -> Self {
        Self {
            node,
            chunk,
            short: 0,
            full: false,
            child: false,
        }
    }

    /// Goes to the next chunk that has something; false if there is none.
    #[inline]
    fn advance(&mut self) -> bool {
        // Chunks after this one; two steps, as a shift by 64 is none.
        let behind = u64::MAX << self.chunk << 1;
        let short = if self.node.short == 0 { 0 } else { u64::MAX };
        let next = (self.node.full | self.node.children | short) & behind;
        if next == 0 {
            return false;
        }
        *self = Self::new(self.node, next.trailing_zeros());
        true
    }
}

impl<'a, A: Address> RibWalk<'a, A> {
    /// From `frame`, of the root, on.
    fn at_root(rib: RibView<'a, A>, frame: WalkFrame<'a, A>) -> Self {
        Self {
            rib,
            path: [rib.root; MAX_PATH],
            depth: 0,
            frame,
        }
    }

    /// No route.
    fn ended(rib: RibView<'a, A>) -> Self {
        Self::at_root(rib, WalkFrame::behind(rib.root, 63))
    }

    /// All routes.
    fn all(rib: RibView<'a, A>) -> Self {
        Self::at_root(rib, WalkFrame::new(rib.root, 0))
    }

    /// The routes from `start` on, in prefix order. O(key width / 6).
    fn from(rib: RibView<'a, A>, start: Prefix<A>) -> Self {
        let mut walk = Self::all(rib);
        loop {
            let node = walk.frame.node;
            let chunk = start.address().extract(node.depth(), STRIDE);
            let frame = &mut walk.frame;
            *frame = WalkFrame::new(node, chunk);
            // What starts at this chunk comes before `start`, unless it starts
            // at the very same address and is as long.
            let same_address = node.address(chunk) == start.address();
            let level = start.len().saturating_sub(node.depth());
            if same_address && level <= STRIDE {
                // Vertices from `level` on are numbered from 2^level on. All
                // that is below the chunk follows.
                frame.short &= u64::MAX.checked_shl(1 << level).unwrap_or(0);
                return walk;
            }
            let child = frame.child.then(|| rib.child(node, chunk));
            *frame = WalkFrame::behind(node, chunk);
            frame.child = child.is_some_and(|child| child.is_after(start.address()));
            match child.filter(|child| child.holds(start.address())) {
                Some(child) => walk.enter(child),
                None => return walk,
            }
        }
    }

    /// Goes down to `child`, below the frame's chunk.
    #[inline]
    fn enter(&mut self, child: &'a RibNode<A>) {
        self.path[self.depth] = self.frame.node;
        self.depth += 1;
        self.frame = WalkFrame::new(child, 0);
    }

    /// Nothing follows any more.
    fn end(&mut self) {
        *self = Self::ended(self.rib);
    }

    #[inline]
    fn next(&mut self) -> Option<(Prefix<A>, NextHop)> {
        loop {
            let frame = &mut self.frame;
            let vertex = take_vertex(&mut frame.short, &mut frame.full, frame.chunk);
            if let Some(vertex) = vertex {
                return Some(self.rib.route(frame.node, vertex));
            }
            if frame.child {
                frame.child = false;
                let child = self.rib.child(frame.node, frame.chunk);
                self.enter(child);
                continue;
            }
            while !self.frame.advance() {
                let left = self.frame.node;
                self.depth = self.depth.checked_sub(1)?;
                let node = self.path[self.depth];
                let chunk = left.extract(node.depth(), STRIDE);
                self.frame = WalkFrame::behind(node, chunk);
            }
        }
    }
}

/// The first route; [`Rib::first`](super::Rib::first).
pub(super) fn first<A: Address>(rib: RibView<'_, A>) -> Option<(Prefix<A>, NextHop)> {
    RibWalk::all(rib).next()
}

/// The last route; [`Rib::last`](super::Rib::last).
pub(super) fn last<A: Address>(rib: RibView<'_, A>) -> Option<(Prefix<A>, NextHop)> {
    last_of(rib, rib.root)
}

/// The first route after a place; [`Rib::next`](super::Rib::next).
pub(super) fn first_behind<A: Address>(
    rib: RibView<'_, A>,
    start: Prefix<A>,
) -> Option<(Prefix<A>, NextHop)> {
    let mut walk = RibWalk::from(rib, start);
    let first = walk.next()?;
    if first.0 == start {
        walk.next()
    } else {
        Some(first)
    }
}

/// The last route below `node`; only an empty root has none.
fn last_of<A: Address>(rib: RibView<'_, A>, node: &RibNode<A>) -> Option<(Prefix<A>, NextHop)> {
    (0..64).rev().find_map(|chunk| last_from(rib, node, chunk))
}

/// The last route of what starts at `chunk` of `node`.
fn last_from<A: Address>(
    rib: RibView<'_, A>,
    node: &RibNode<A>,
    chunk: u32,
) -> Option<(Prefix<A>, NextHop)> {
    let mut frame = WalkFrame::new(node, chunk);
    if frame.child {
        return last_of(rib, rib.child(node, chunk));
    }
    // The longest vertex that starts at the chunk.
    let vertices = from_fn(|| take_vertex(&mut frame.short, &mut frame.full, chunk));
    vertices.last().map(|vertex| rib.route(node, vertex))
}
