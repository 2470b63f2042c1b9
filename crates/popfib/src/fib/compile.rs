//! Compilation of a Rib into a Fib (paper, sections 3 to 3.4).
//!
//! The direct table is filled from the root of the binary radix tree down,
//! six levels at a time; where routes continue below its `s` levels, a node is
//! built. A node asks the Rib for its 64 slots, builds the children of those
//! with routes below first, and then stores them side by side. With route
//! aggregation a node whose 64 slots all answer the same is not stored: it
//! becomes a leaf of its parent, which may then be one too. That removes
//! exactly what the paper's aggregation of the Rib removes (prefixes that do
//! not influence any answer, and sets of prefixes without a gap), without a
//! pass over the Rib of its own.
//!
//! O(routes * key width / 6 + 2^s) time; the recursion is as deep as the key
//! has nodes, at most 22.

use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

use super::Options;
use super::layout::{MAX_DIRECT_BITS, Node, STRIDE, View, direct_leaf};
use crate::address::Address;
use crate::next_hop::Leaf;
use crate::rib::{Expansion, Rib, Vertex};

/// Why a Rib could not be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompileError {
    /// More direct bits were asked for than the key or a direct table can have.
    DirectBits {
        /// What was asked for.
        direct_bits: u8,
        /// The most that is possible for this key.
        max: u8,
    },
    /// A next hop does not fit into a leaf.
    NextHop {
        /// The next hop of a route.
        next_hop: u32,
        /// The highest that the leaf holds.
        max: u32,
    },
    /// The routes need more nodes than a direct entry can number.
    Nodes {
        /// The most nodes possible.
        max: u64,
    },
    /// The routes need more leaves than a node can number.
    Leaves {
        /// The most leaves possible.
        max: u64,
    },
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DirectBits { direct_bits, max } => {
                write!(
                    f,
                    "direct bits {direct_bits}: at most {max} are possible here"
                )
            }
            Self::NextHop { next_hop, max } => write!(
                f,
                "next hop {next_hop} does not fit: this leaf width holds 1 to {max}"
            ),
            Self::Nodes { max } => write!(f, "the routes need more than {max} nodes"),
            Self::Leaves { max } => write!(f, "the routes need more than {max} leaves"),
        }
    }
}

impl Error for CompileError {}

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

/// The arrays of a new Fib.
#[derive(Debug)]
pub(super) struct Compiled<L, N> {
    direct: Vec<u32>,
    nodes: Vec<N>,
    leaves: Vec<L>,
    direct_bits: u8,
}

impl<L, N> Compiled<L, N> {
    pub(super) fn view(&self) -> View<'_, L, N> {
        View {
            direct: &self.direct,
            nodes: &self.nodes,
            leaves: &self.leaves,
            direct_bits: self.direct_bits,
        }
    }
}

pub(super) fn compile<A: Address, L: Leaf, N: Node>(
    rib: &Rib<A>,
    options: &Options,
    limits: Limits,
) -> Result<Compiled<L, N>, CompileError> {
    let direct_bits = direct_bits::<A>(options.direct_bits, rib.len())?;
    let (root, default) = rib.root_vertex();
    let mut compiler = Compiler {
        rib,
        limits,
        aggregation: options.aggregation,
        below: Vec::new(),
        children: Vec::new(),
        out: Compiled {
            direct: Vec::with_capacity(1 << direct_bits),
            nodes: Vec::new(),
            leaves: Vec::new(),
            direct_bits,
        },
    };
    compiler.direct(root, compiler.leaf(default)?, 0)?;
    Ok(compiler.out)
}

/// The direct bits that were asked for, or those that suit the number of routes.
fn direct_bits<A: Address>(asked: Option<u8>, routes: usize) -> Result<u8, CompileError> {
    let max = MAX_DIRECT_BITS.min(A::WIDTH);
    let Some(direct_bits) = asked else {
        // A table costs at most 16 bytes a route. Multiples of six only: they
        // put /24, where most IPv4 routes end, at the end of a node (paper,
        // section 4.3).
        let suited = match routes {
            0..16 => 0,
            16..1024 => 6,
            1024..65_536 => 12,
            _ => 18,
        };
        return Ok(suited.min(max));
    };
    if direct_bits > max {
        return Err(CompileError::DirectBits { direct_bits, max });
    }
    Ok(direct_bits)
}

struct Compiler<'r, A, L, N> {
    rib: &'r Rib<A>,
    limits: Limits,
    aggregation: bool,
    /// Slots with routes below, of the nodes that are being built: a stack.
    below: Vec<(u8, Vertex<'r, A>)>,
    /// Finished children of the nodes that are being built: a stack.
    children: Vec<N>,
    out: Compiled<L, N>,
}

/// What became of a vertex.
enum Built<L, N> {
    Node(N),
    /// All addresses below have this next hop.
    Leaf(L),
}

impl<'r, A: Address, L: Leaf, N: Node> Compiler<'r, A, L, N> {
    fn leaf(&self, next_hop: u32) -> Result<L, CompileError> {
        if next_hop > L::MAX {
            return Err(CompileError::NextHop {
                next_hop,
                max: L::MAX,
            });
        }
        Ok(L::from_u32(next_hop))
    }

    /// Appends the direct entries below `vertex`, at `depth` of the direct table's levels.
    fn direct(
        &mut self,
        vertex: Vertex<'r, A>,
        inherited: L,
        depth: u8,
    ) -> Result<(), CompileError> {
        let left = self.out.direct_bits - depth;
        if left == 0 {
            let entry = match self.build(vertex, inherited)? {
                Built::Leaf(leaf) => direct_leaf(leaf),
                Built::Node(node) => self.store(&[node])?,
            };
            self.out.direct.push(entry);
            return Ok(());
        }
        let width = left.min(STRIDE);
        // Entries of the direct table that one slot stands for.
        let span = 1usize << (left - width);
        let mut slots = [inherited.to_u32(); 64];
        let first = self.expand(vertex, &mut slots[..1 << width], width);
        let mut next = first;
        for (slot, next_hop) in slots[..1 << width].iter().enumerate() {
            let leaf = self.leaf(*next_hop)?;
            match self.below.get(next) {
                Some(&(at, vertex)) if usize::from(at) == slot => {
                    self.direct(vertex, leaf, depth + width)?;
                    next += 1;
                }
                _ => {
                    let end = self.out.direct.len() + span;
                    self.out.direct.resize(end, direct_leaf(leaf));
                }
            }
        }
        self.below.truncate(first);
        Ok(())
    }

    /// Fills in the slots and stacks those with routes below; returns where they begin.
    fn expand(&mut self, vertex: Vertex<'r, A>, slots: &mut [u32], width: u8) -> usize {
        let first = self.below.len();
        let mut out = Expansion {
            slots,
            below: &mut self.below,
        };
        self.rib.expand(vertex, width, &mut out);
        first
    }

    /// Builds what lies below `vertex`, whose own longest match is `inherited`.
    fn build(&mut self, vertex: Vertex<'r, A>, inherited: L) -> Result<Built<L, N>, CompileError> {
        let mut slots = [inherited.to_u32(); 64];
        let first = self.expand(vertex, &mut slots, STRIDE);
        let first_child = self.children.len();
        let mut vector = 0;
        for at in first..self.below.len() {
            let (slot, vertex) = self.below[at];
            let next_hop = &mut slots[usize::from(slot)];
            match self.build(vertex, self.leaf(*next_hop)?)? {
                Built::Leaf(leaf) => *next_hop = leaf.to_u32(),
                Built::Node(node) => {
                    vector |= 1 << slot;
                    self.children.push(node);
                }
            }
        }
        self.below.truncate(first);
        if self.aggregation && vector == 0 && slots.iter().all(|n| *n == slots[0]) {
            return self.leaf(slots[0]).map(Built::Leaf);
        }
        let leafvec = if N::LEAFVEC {
            run_starts(vector, &slots)
        } else {
            !vector
        };
        let base0 = self.store_leaves(leafvec, &slots)?;
        let children: Vec<N> = self.children.split_off(first_child);
        let base1 = self.store(&children)?;
        Ok(Built::Node(N::new(vector, leafvec, base0, base1)))
    }

    /// Stores nodes side by side; returns the index of the first.
    fn store(&mut self, nodes: &[N]) -> Result<u32, CompileError> {
        let first = self.out.nodes.len();
        if first + nodes.len() > self.limits.nodes {
            return Err(CompileError::Nodes {
                max: self.limits.nodes as u64,
            });
        }
        self.out.nodes.extend_from_slice(nodes);
        Ok(if nodes.is_empty() { 0 } else { first as u32 })
    }

    /// Stores the leaves of the slots in `leafvec`; returns the index of the first.
    fn store_leaves(&mut self, leafvec: u64, slots: &[u32; 64]) -> Result<u32, CompileError> {
        let first = self.out.leaves.len();
        if first + leafvec.count_ones() as usize > self.limits.leaves {
            return Err(CompileError::Leaves {
                max: self.limits.leaves as u64,
            });
        }
        let mut starts = leafvec;
        while starts != 0 {
            let leaf = self.leaf(slots[starts.trailing_zeros() as usize])?;
            self.out.leaves.push(leaf);
            starts &= starts - 1;
        }
        Ok(if leafvec == 0 { 0 } else { first as u32 })
    }
}

/// The slots at which runs of equal leaves begin. Slots with a child are
/// irrelevant to runs: a run goes on behind them (paper, section 3.3).
fn run_starts(vector: u64, slots: &[u32; 64]) -> u64 {
    let mut starts = 0;
    let mut last = None;
    let mut leaves = !vector;
    while leaves != 0 {
        let slot = leaves.trailing_zeros();
        leaves &= leaves - 1;
        let next_hop = Some(slots[slot as usize]);
        if next_hop != last {
            starts |= 1 << slot;
            last = next_hop;
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fib::LeafvecNode;
    use crate::{NextHop, Prefix};

    #[test]
    fn a_table_beyond_the_layout_is_an_error() {
        let rib: Rib<u16> = (0..64u16)
            .map(|n| {
                let prefix = Prefix::new(n << 8, 10).expect("no host bits");
                (prefix, NextHop::MIN.saturating_add(n.into()))
            })
            .collect();
        let options = Options::default().direct_bits(Some(0));
        let compile = |nodes, leaves| {
            compile::<u16, u16, LeafvecNode>(&rib, &options, Limits { nodes, leaves })
                .map(|fib| (fib.nodes.len(), fib.leaves.len()))
        };
        let (nodes, leaves) = compile(usize::MAX, usize::MAX).expect("fits");
        assert_eq!(compile(nodes, leaves), Ok((nodes, leaves)));
        assert_eq!(
            compile(nodes - 1, leaves),
            Err(CompileError::Nodes {
                max: nodes as u64 - 1
            })
        );
        assert_eq!(
            compile(nodes, leaves - 1),
            Err(CompileError::Leaves {
                max: leaves as u64 - 1
            })
        );
    }
}
