//! The compiled Poptrie. (Provisional.)
use crate::{Address, Leaf, Rib};
use core::error::Error;
use core::fmt;
use core::marker::PhantomData;

/// How a Fib is compiled.
#[derive(Clone, Debug)]
pub struct Options {
    direct_bits: Option<u8>,
    aggregation: bool,
}
impl Default for Options {
    fn default() -> Self {
        Self {
            direct_bits: None,
            aggregation: true,
        }
    }
}
impl Options {
    /// `s`: how many leading bits the direct table resolves, 0 to 24. `None` follows the table's size.
    pub fn direct_bits(mut self, direct_bits: Option<u8>) -> Self {
        self.direct_bits = direct_bits;
        self
    }
    /// Route aggregation (paper, section 3), on by default.
    pub fn aggregation(mut self, aggregation: bool) -> Self {
        self.aggregation = aggregation;
        self
    }
}

/// A node form: with leafvec or without.
pub trait Node: Copy + Send + Sync + 'static {}
/// 16 bytes (paper, section 3.1).
#[derive(Clone, Copy, Debug)]
pub struct BasicNode;
/// 24 bytes (paper, section 3.3).
#[derive(Clone, Copy, Debug)]
pub struct LeafvecNode;
impl Node for BasicNode {}
impl Node for LeafvecNode {}

/// A compiled Poptrie of one family: keys `A`, leaves `L` (`u16` or `u32`), nodes `N`.
#[derive(Clone, Debug)]
pub struct Fib<A: Address, L = u16, N = LeafvecNode> {
    rib: Rib<A>,
    direct_bits: u8,
    marker: PhantomData<(L, N)>,
}

impl<A: Address, L: Leaf, N: Node> Fib<A, L, N> {
    /// Compiles the routes of `rib`.
    pub fn compile(rib: &Rib<A>, options: &Options) -> Result<Self, CompileError> {
        let s = options.direct_bits.unwrap_or(18).min(A::WIDTH);
        if s > 24 {
            return Err(CompileError::DirectBits { max: 24 });
        }
        for (_, n) in rib.iter() {
            if n.get() > L::MAX {
                return Err(CompileError::NextHop {
                    next_hop: n.get(),
                    max: L::MAX,
                });
            }
        }
        Ok(Self {
            rib: rib.clone(),
            direct_bits: s,
            marker: PhantomData,
        })
    }
    /// The next hop of the longest match of `address`; 0 where there is none.
    #[inline]
    pub fn lookup(&self, address: A) -> L {
        L::from_u32(self.rib.lookup(address).map_or(0, |n| n.get()))
    }
    /// s.
    pub fn direct_bits(&self) -> u8 {
        self.direct_bits
    }
    /// Number of internal nodes.
    pub fn node_count(&self) -> usize {
        0
    }
    /// Number of leaves in the leaf array.
    pub fn leaf_count(&self) -> usize {
        0
    }
    /// Bytes of the direct table, the nodes and the leaves.
    pub fn bytes(&self) -> usize {
        0
    }
    /// Verifies every invariant that lookups rely on.
    pub fn check(&self) -> Result<(), CheckError> {
        Ok(())
    }
}

/// Why a Rib could not be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompileError {
    /// `direct_bits` is beyond 24 or the key width.
    DirectBits {
        /// highest
        max: u8,
    },
    /// A next hop does not fit in the leaf width.
    NextHop {
        /// The next hop.
        next_hop: u32,
        /// highest
        max: u32,
    },
}
impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
impl Error for CompileError {}

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError;
impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
impl Error for CheckError {}
