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
use crate::lpm::{Structure, Width};

use compile::{Arrays, Limits};
use layout::View;

pub use layout::{BasicNode, LeafvecNode, Node};

/// The paper's Poptrie: from addresses `A` to next hops of width `L`.
///
/// `N` is [`LeafvecNode`], or [`BasicNode`], the larger and simpler form. A
/// lookup takes at most 1 + (width - s) / 6 steps and does not allocate.
///
/// ```
/// use popfib::{NextHop, Options, Rib};
/// use popfib_baselines::{Lpm, poptrie::Poptrie};
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

    /// Verifies every invariant of the layout that unchecked lookups rely on.
    ///
    /// # Errors
    /// The first invariant found broken, in one line; never for one that was compiled.
    pub fn check(&self) -> Result<(), String> {
        check::check::<A, L, N>(self.arrays.view())
    }
}

impl<A: Address, L: Width, N: Node> Structure<A> for Poptrie<A, L, N> {
    type View<'a> = View<'a, L, N>;

    /// With the options of the paper's best form: s = 18, route aggregation.
    fn build(rib: &Rib<A>) -> Result<Self, CannotBuild> {
        Ok(Self::compile(rib, &Options::default())?)
    }

    fn direct_bits(&self) -> u8 {
        self.arrays.view().direct_bits
    }

    fn bytes(&self) -> usize {
        let view = self.arrays.view();
        size_of_val(view.direct) + size_of_val(view.nodes) + size_of_val(view.leaves)
    }

    /// The paper's "inodes", and the leaves in the array of leaves: those that direct entries hold
    /// themselves are not counted, as in the paper.
    fn nodes_and_leaves(&self) -> (usize, usize) {
        let view = self.arrays.view();
        (view.nodes.len(), view.leaves.len())
    }

    fn view(&self) -> View<'_, L, N> {
        self.arrays.view()
    }
}
