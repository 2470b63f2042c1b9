//! Compilation of a Rib into the paper's three arrays.
//!
//! `popfib::fold` knows which nodes there are. A node travels by value until
//! its parent is stored: only then are all its siblings known, and they lie
//! side by side.

use bytemuck::Pod;
use popfib::fold::{Fold, Slot, Store};
use popfib::{Address, CompileError, Options, Rib};

use super::layout::{Node, View, direct_leaf};
use crate::buffer::Buffer;
use crate::lpm::Width;

/// How many nodes and leaves there may be; less in tests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    nodes: usize,
    leaves: usize,
}

impl Limits {
    /// Node indices leave the mark of a direct entry's most significant bit
    /// free; leaf indices take 32 bits.
    pub(super) const LAYOUT: Self = Self {
        nodes: 1 << 31,
        leaves: 1 << 32,
    };
}

/// The three arrays.
#[derive(Clone, Debug)]
pub(super) struct Arrays<L: Width, N: Node> {
    direct: Buffer<u32>,
    nodes: Buffer<N>,
    leaves: Buffer<L>,
    direct_bits: u8,
}

impl<L: Width, N: Node> Arrays<L, N> {
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_, L, N> {
        View {
            direct: &self.direct,
            nodes: &self.nodes,
            leaves: &self.leaves,
            direct_bits: self.direct_bits,
        }
    }
}

pub(super) fn compile<A: Address, L: Width, N: Node>(
    rib: &Rib<A>,
    direct_bits: u8,
    options: &Options,
    limits: Limits,
) -> Result<Arrays<L, N>, CompileError> {
    let max = Options::MAX_DIRECT_BITS.min(A::WIDTH);
    if direct_bits > max {
        return Err(CompileError::DirectBits { direct_bits, max });
    }
    let store = Nodes {
        limits,
        nodes: Vec::new(),
        leaves: Vec::new(),
    };
    let mut fold = Fold::new(rib, options.is_aggregating(), L::MAX, store);
    let mut direct = vec![0; 1 << direct_bits];
    let (root, default) = rib.root_vertex();
    fold.table(root, default, &mut direct, &mut |fold, next_hop, below| {
        let slot = match below {
            None => Slot::Leaf(next_hop),
            Some(vertex) => fold.node(vertex, next_hop)?,
        };
        match slot {
            Slot::Leaf(next_hop) => Ok(direct_leaf(L::from_u32(next_hop))),
            Slot::Node(node) => fold.store.store_run(&[node]),
        }
    })?;
    Ok(Arrays {
        direct: stored(&direct),
        nodes: stored(&fold.store.nodes),
        leaves: stored(&fold.store.leaves),
        direct_bits,
    })
}

/// An array as lookups read it. Panics if memory is exhausted, where a vector would abort.
fn stored<T: Pod>(items: &[T]) -> Buffer<T> {
    Buffer::copy_of(items).expect("memory for the arrays")
}

/// The arrays of nodes and leaves while they grow.
struct Nodes<L, N> {
    limits: Limits,
    nodes: Vec<N>,
    leaves: Vec<L>,
}

impl<L: Width, N: Node> Nodes<L, N> {
    /// Stores nodes side by side; returns the index of the first.
    fn store_run(&mut self, nodes: &[N]) -> Result<u32, CompileError> {
        let first = self.nodes.len();
        if first + nodes.len() > self.limits.nodes {
            return Err(CompileError::Nodes {
                max: self.limits.nodes as u64,
            });
        }
        self.nodes.extend_from_slice(nodes);
        Ok(if nodes.is_empty() { 0 } else { first as u32 })
    }

    /// Stores the leaves of the slots in `leafvec`; returns the index of the first.
    fn store_leaves(&mut self, leafvec: u64, slots: &[Slot<N>; 64]) -> Result<u32, CompileError> {
        let first = self.leaves.len();
        if first + leafvec.count_ones() as usize > self.limits.leaves {
            return Err(CompileError::Leaves {
                max: self.limits.leaves as u64,
            });
        }
        for (slot, content) in slots.iter().enumerate() {
            if let Slot::Leaf(next_hop) = content
                && leafvec >> slot & 1 != 0
            {
                self.leaves.push(L::from_u32(*next_hop));
            }
        }
        Ok(if leafvec == 0 { 0 } else { first as u32 })
    }
}

impl<L: Width, N: Node> Store for Nodes<L, N> {
    type Node = N;

    fn store(&mut self, slots: &[Slot<N>; 64]) -> Result<N, CompileError> {
        let mut vector = 0;
        let mut run_starts = 0;
        let mut children = Vec::new();
        let mut last = None;
        for (slot, content) in slots.iter().enumerate() {
            match content {
                Slot::Node(node) => {
                    vector |= 1 << slot;
                    children.push(*node);
                }
                // Slots with a child are irrelevant to runs: a run goes on
                // after them (paper, section 3.3).
                Slot::Leaf(next_hop) if last == Some(*next_hop) => {}
                Slot::Leaf(next_hop) => {
                    run_starts |= 1 << slot;
                    last = Some(*next_hop);
                }
            }
        }
        let leafvec = if N::LEAFVEC { run_starts } else { !vector };
        let base0 = self.store_leaves(leafvec, slots)?;
        let base1 = self.store_run(&children)?;
        Ok(N::new(vector, leafvec, base0, base1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poptrie::LeafvecNode;
    use popfib::{NextHop, Prefix};

    #[test]
    fn a_table_beyond_the_layout_is_an_error() {
        let rib: Rib<u16> = (0..64u16)
            .map(|n| {
                let prefix = Prefix::new(n << 8, 10).expect("no host bits");
                (prefix, NextHop::MIN.saturating_add(n.into()))
            })
            .collect();
        let compile = |nodes, leaves| {
            let limits = Limits { nodes, leaves };
            compile::<u16, u16, LeafvecNode>(&rib, 0, &Options::default(), limits)
                .map(|fib| (fib.nodes.len(), fib.leaves.len()))
        };
        let (nodes, leaves) = compile(usize::MAX, usize::MAX).expect("fits");
        assert_eq!(compile(nodes, leaves), Ok((nodes, leaves)));
        let max = nodes as u64 - 1;
        assert_eq!(compile(nodes - 1, leaves), Err(CompileError::Nodes { max }));
        let max = leaves as u64 - 1;
        assert_eq!(
            compile(nodes, leaves - 1),
            Err(CompileError::Leaves { max })
        );
    }
}
