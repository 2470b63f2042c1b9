//! The arrays of the paper's Poptrie: direct table, nodes, leaves (paper, sections 3.1, 3.3, 3.4).
//!
//! The first `direct_bits` (the paper's s) bits of an address index the direct
//! table of `2^s` entries. An entry is a leaf, or the index of a node. A node
//! resolves the next 6 bits, its slot: bit *v* of `vector` tells whether slot
//! *v* leads to a child node; the children lie side by side from `base1` on.
//! All other slots end in a leaf; the leaves lie side by side from `base0` on,
//! one for each bit of `leafvec`, which marks the slots where a run of equal
//! leaves begins. Slots with a child do not interrupt a run.

use std::fmt::Debug;

use bytemuck::{Pod, Zeroable};

use crate::lpm::{Sealed, Width};

/// The most significant bit of a direct entry: the entry is a leaf, the other
/// bits its next hop. Else they are the index of a node.
pub(crate) const DIRECT_LEAF: u32 = 1 << 31;

/// The form of a node: [`LeafvecNode`] or [`BasicNode`].
pub trait Node: Sealed + Pod + Eq + Debug + Send + Sync {
    /// Whether runs of equal leaves are stored once.
    const LEAFVEC: bool;

    /// Puts a node together.
    fn new(vector: u64, leafvec: u64, base0: u32, base1: u32) -> Self;

    /// Slots with a child.
    fn vector(&self) -> u64;

    /// Slots at which a leaf of its own begins. For [`BasicNode`] every slot without a child.
    fn leafvec(&self) -> u64;

    /// Index of the node's first leaf.
    fn base0(&self) -> u32;

    /// Index of the node's first child.
    fn base1(&self) -> u32;
}

/// The node of the paper's section 3.1, 16 bytes: a leaf for every slot without a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct BasicNode {
    vector: u64,
    base0: u32,
    base1: u32,
}

/// The node of the paper's section 3.3, 24 bytes: runs of equal leaves are stored once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct LeafvecNode {
    vector: u64,
    leafvec: u64,
    base0: u32,
    base1: u32,
}

impl Sealed for BasicNode {}
impl Sealed for LeafvecNode {}

impl Node for BasicNode {
    const LEAFVEC: bool = false;

    #[inline(always)]
    fn new(vector: u64, leafvec: u64, base0: u32, base1: u32) -> Self {
        debug_assert_eq!(leafvec, !vector);
        Self {
            vector,
            base0,
            base1,
        }
    }

    #[inline(always)]
    fn vector(&self) -> u64 {
        self.vector
    }

    #[inline(always)]
    fn leafvec(&self) -> u64 {
        // Counting zeros of `vector` (Algorithm 1) is counting ones of this.
        !self.vector
    }

    #[inline(always)]
    fn base0(&self) -> u32 {
        self.base0
    }

    #[inline(always)]
    fn base1(&self) -> u32 {
        self.base1
    }
}

impl Node for LeafvecNode {
    const LEAFVEC: bool = true;

    #[inline(always)]
    fn new(vector: u64, leafvec: u64, base0: u32, base1: u32) -> Self {
        Self {
            vector,
            leafvec,
            base0,
            base1,
        }
    }

    #[inline(always)]
    fn vector(&self) -> u64 {
        self.vector
    }

    #[inline(always)]
    fn leafvec(&self) -> u64 {
        self.leafvec
    }

    #[inline(always)]
    fn base0(&self) -> u32 {
        self.base0
    }

    #[inline(always)]
    fn base1(&self) -> u32 {
        self.base1
    }
}

/// The arrays, borrowed for lookups.
///
/// The lookups trust the invariants that [`Poptrie::check`](super::Poptrie::check)
/// verifies; they hold for the arrays that `compile` makes.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, L, N> {
    pub(crate) direct: &'a [u32],
    pub(crate) nodes: &'a [N],
    pub(crate) leaves: &'a [L],
    /// s: `direct` has `2^s` entries.
    pub(crate) direct_bits: u8,
}

/// A direct entry that is a leaf.
#[inline]
pub(crate) fn direct_leaf<L: Width>(leaf: L) -> u32 {
    DIRECT_LEAF | leaf.to_u32()
}
