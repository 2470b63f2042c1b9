//! Walks over the Rib in prefix order.
//!
//! A node's vertices are numbered by level, but a walk meets them by address:
//! for each chunk from 0 to 63 first the shorter prefixes that start there,
//! then the prefix of the whole chunk, then the child below it.

use alloc::vec::Vec;

use super::Rib;
use super::node::{RibNode, STARTS, STRIDE, vertex_level};
use crate::address::Address;
use crate::next_hop::NextHop;
use crate::prefix::Prefix;

/// The routes of a [`Rib`] in prefix order.
#[derive(Clone, Debug)]
pub struct Iter<'a, A: Address> {
    rib: &'a Rib<A>,
    /// The nodes above the walk's place, each with what is left of it.
    stack: Vec<Frame<A>>,
    left: usize,
}

#[derive(Clone, Debug)]
struct Frame<A> {
    node: RibNode<A>,
    chunk: u32,
    /// Vertices that start at `chunk` and are still to come.
    short: u64,
    /// Whether the prefix of the whole chunk, and then its child, are still to come.
    full: bool,
    child: bool,
}

impl<A: Address> Frame<A> {
    fn new(node: RibNode<A>) -> Self {
        let mut frame = Self {
            node,
            chunk: 0,
            short: 0,
            full: false,
            child: false,
        };
        frame.open();
        frame
    }

    /// Notes what the current chunk holds.
    fn open(&mut self) {
        self.short = self.node.short & STARTS[self.chunk as usize];
        self.full = self.node.full >> self.chunk & 1 != 0;
        self.child = self.node.has_child(self.chunk);
    }

    /// Takes the next vertex of the current chunk.
    fn take_vertex(&mut self) -> Option<u32> {
        if self.short != 0 {
            let vertex = self.short.trailing_zeros();
            self.short &= self.short - 1;
            Some(vertex)
        } else if self.full {
            self.full = false;
            Some(64 | self.chunk)
        } else {
            None
        }
    }
}

impl<'a, A: Address> Iter<'a, A> {
    pub(super) fn new(rib: &'a Rib<A>) -> Self {
        let mut stack = Vec::new();
        if !rib.is_empty() {
            stack.push(Frame::new(rib.root));
        }
        Self {
            rib,
            stack,
            left: rib.len,
        }
    }
}

impl<A: Address> Iterator for Iter<'_, A> {
    type Item = (Prefix<A>, NextHop);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let frame = self.stack.last_mut()?;
            if let Some(vertex) = frame.take_vertex() {
                let node = &frame.node;
                let level = vertex_level(vertex);
                let chunk = (vertex << (STRIDE - level)) & 63;
                // The chunk behind the node's own bits.
                let bits = node.bits | A::from_leading(chunk << 2, 8).shift_down(node.depth);
                let prefix = Prefix::clamped(bits, node.depth + level);
                let next_hop = self.rib.value(node.values, node.value_rank(vertex));
                self.left -= 1;
                return Some((prefix, next_hop));
            }
            if frame.child {
                frame.child = false;
                let child = *self.rib.nodes.get(frame.node.child(frame.chunk));
                self.stack.push(Frame::new(child));
            } else if frame.chunk < 63 {
                frame.chunk += 1;
                frame.open();
            } else {
                self.stack.pop();
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<A: Address> ExactSizeIterator for Iter<'_, A> {}

impl<A: Address> core::iter::FusedIterator for Iter<'_, A> {}
