//! Poptrie as the paper has it (Asai and Ohara, SIGCOMM 2015, sections 3.1 to
//! 3.4): three arrays, nodes of 16 or 24 bytes, children and leaves side by side.
//!
//! popfib's own [`Fib`](popfib::Fib) puts a node's values into the node; this
//! is what it is measured against, and what the paper's figures are compared with.

mod check;
mod compile;
mod layout;
mod lookup;

use std::marker::PhantomData;

use popfib::{Address, CompileError, Options, Rib};

use crate::cannot_build::CannotBuild;
use crate::loops::{dependent, widened};
use crate::lpm::{Lpm, Width};

use compile::{Arrays, Limits};

pub use check::CheckError;
pub use layout::{BasicNode, LeafvecNode, Node};

/// The paper's Poptrie: from addresses `A` to next hops of width `L`.
///
/// `N` is [`LeafvecNode`], or [`BasicNode`], the larger and simpler form. A
/// lookup takes at most 1 + (width - s) / 6 steps and does not allocate.
///
/// ```
/// use popfib::{NextHop, Options, Rib};
/// use popfib_baselines::poptrie::Poptrie;
///
/// let mut rib = Rib::<u32>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHop::new(1).unwrap());
/// let poptrie18: Poptrie<u32> =
///     Poptrie::compile(&rib, &Options::default().direct_bits(Some(18)))?;
/// assert_eq!(poptrie18.lookup(0x0a01_0203), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Poptrie<A: Address, L: Width = u16, N: Node = LeafvecNode> {
    arrays: Arrays<L, N>,
    key: PhantomData<fn(A)>,
}

impl<A: Address, L: Width, N: Node> Poptrie<A, L, N> {
    /// Compiles the routes of `rib`. Direct bits that `options` leave open are
    /// 18, as in the paper, or the whole of a shorter key.
    ///
    /// # Errors
    /// [`CompileError`]: direct bits out of range, a next hop wider than `L`,
    /// or more nodes or leaves than 31 and 32 bits can number.
    pub fn compile(rib: &Rib<A>, options: &Options) -> Result<Self, CompileError> {
        let direct_bits = options.asked_direct_bits().unwrap_or(18.min(A::WIDTH));
        Ok(Self {
            arrays: compile::compile(rib, direct_bits, options, Limits::LAYOUT)?,
            key: PhantomData,
        })
    }

    /// The next hop of the longest prefix that holds `address`; 0 if there is none.
    #[inline]
    pub fn lookup(&self, address: A) -> L {
        lookup::lookup(self.arrays.view(), address)
    }

    /// Looks up each of `addresses` into the same place of `next_hops`, one by one.
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
    /// The first invariant found broken; never for one that was compiled.
    pub fn check(&self) -> Result<(), CheckError> {
        check::check::<A, L, N>(self.arrays.view())
    }
}

impl<A: Address, L: Width, N: Node> Lpm<A> for Poptrie<A, L, N> {
    /// With the options of the paper's best form: s = 18, route aggregation.
    fn build(rib: &Rib<A>) -> Result<Self, CannotBuild> {
        Ok(Self::compile(rib, &Options::default())?)
    }

    fn name(&self) -> &'static str {
        if N::LEAFVEC {
            "poptrie"
        } else {
            "poptrie-basic"
        }
    }

    fn limits(&self) -> &'static str {
        "2^31 nodes, 2^32 leaves"
    }

    fn direct_bits(&self) -> u8 {
        self.direct_bits()
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }

    fn lookup(&self, address: A) -> u32 {
        self.lookup(address).to_u32()
    }

    fn lookup_batch(&self, addresses: &[A], next_hops: &mut [u32]) {
        widened(addresses, next_hops, |addresses, leaves| {
            self.lookup_batch(addresses, leaves);
        });
    }

    fn lookup_chain(&self, addresses: &[A]) -> u32 {
        dependent(addresses, |address| self.lookup(address).to_u32())
    }
}
