//! The Fib: a Poptrie compiled for lookups.
//!
//! Three arrays without pointers (see `layout.rs`), made from a Rib in one pass
//! (`compile`), read by `lookup`. The paper's options are types and values:
//! the node form ([`LeafvecNode`] or [`BasicNode`]) and the leaf width are
//! type parameters, so that lookups test neither; direct bits and route
//! aggregation are [`Options`].

mod block;
mod check;
mod compile;
mod layout;
mod lookup;

use core::marker::PhantomData;

use crate::address::Address;
use crate::next_hop::Leaf;
use crate::rib::Rib;
use compile::Limits;
use layout::Arrays;

pub use check::CheckError;
pub use compile::CompileError;
pub use layout::{BasicNode, LeafvecNode, MAX_DIRECT_BITS, Node};

/// How a [`Fib`] is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    direct_bits: Option<u8>,
    aggregation: bool,
}

impl Default for Options {
    /// Direct bits that follow the number of routes; route aggregation.
    fn default() -> Self {
        Self {
            direct_bits: None,
            aggregation: true,
        }
    }
}

impl Options {
    /// How many leading bits one table resolves (the paper's s, section 3.4):
    /// 0 to 24, at most the key width. The table takes `4 * 2^s` bytes.
    ///
    /// `None` follows the number of routes: 0, 6, 12 or, from 65,536 routes on, 18.
    #[must_use]
    pub fn direct_bits(mut self, direct_bits: Option<u8>) -> Self {
        self.direct_bits = direct_bits;
        self
    }

    /// Whether subtrees in which all addresses have one next hop become a
    /// single leaf (the paper's route aggregation, section 3). Answers are the
    /// same either way.
    #[must_use]
    pub fn aggregation(mut self, aggregation: bool) -> Self {
        self.aggregation = aggregation;
        self
    }
}

/// A compiled Poptrie: from addresses `A` to next hops of width `L`.
///
/// `L` is `u16` (65,535 next hops) or `u32`. `N` is [`LeafvecNode`], or
/// [`BasicNode`], the paper's larger and simpler form. A lookup takes at most
/// 1 + (width - s) / 6 steps and does not allocate.
///
/// ```
/// use popfib::{Fib, NextHop, Options, Rib};
///
/// let mut rib = Rib::<u32>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHop::new(1).unwrap());
/// rib.insert("10.1.0.0/16".parse()?, NextHop::new(2).unwrap());
/// let fib: Fib<u32> = Fib::compile(&rib, &Options::default())?;
/// assert_eq!(fib.lookup(0x0a01_0203), 2);
/// assert_eq!(fib.lookup(0x0a02_0203), 1);
/// assert_eq!(fib.lookup(0x0b00_0000), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fib<A: Address, L: Leaf = u16, N: Node = LeafvecNode> {
    arrays: Arrays<L, N>,
    key: PhantomData<fn(A) -> A>,
}

impl<A: Address, L: Leaf, N: Node> Fib<A, L, N> {
    /// Compiles the routes of `rib`.
    ///
    /// # Errors
    /// [`CompileError`]: direct bits out of range, a next hop wider than `L`,
    /// or more nodes or leaves than 31 and 32 bits can number.
    pub fn compile(rib: &Rib<A>, options: &Options) -> Result<Self, CompileError> {
        let compiled = compile::compile(rib, options, Limits::LAYOUT)?;
        Ok(Self {
            arrays: Arrays::copy_of(compiled.view()),
            key: PhantomData,
        })
    }

    /// The next hop of the longest prefix that holds `address`; 0 if there is none.
    #[inline]
    pub fn lookup(&self, address: A) -> L {
        lookup::lookup(self.arrays.view(), address)
    }

    /// Looks up each of `addresses` into the same place of `next_hops`.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn lookup_batch(&self, addresses: &[A], next_hops: &mut [L]) {
        assert_eq!(
            addresses.len(),
            next_hops.len(),
            "one next hop for each address"
        );
        lookup::lookup_each(self.arrays.view(), addresses, next_hops);
    }

    /// The number of leading bits that the direct table resolves (the paper's s).
    pub fn direct_bits(&self) -> u8 {
        self.arrays.view().direct_bits
    }

    /// The number of nodes (the paper's "inodes").
    pub fn node_count(&self) -> usize {
        self.arrays.view().nodes.len()
    }

    /// The number of leaves in the array of leaves. Leaves that direct entries
    /// hold themselves are not counted, as in the paper.
    pub fn leaf_count(&self) -> usize {
        self.arrays.view().leaves.len()
    }

    /// Bytes of the direct table, the nodes and the leaves.
    pub fn bytes(&self) -> usize {
        let view = self.arrays.view();
        size_of_val(view.direct) + size_of_val(view.nodes) + size_of_val(view.leaves)
    }

    /// Verifies every invariant of the layout that unchecked lookups rely on.
    ///
    /// # Errors
    /// The first invariant found broken; never for a Fib that was compiled.
    pub fn check(&self) -> Result<(), CheckError> {
        check::check::<A, L, N>(self.arrays.view())
    }
}
