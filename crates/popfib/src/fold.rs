//! From a Rib to the shape of a multiway trie: which nodes exist, and what
//! their slots hold (paper, sections 3 to 3.4).
//!
//! A node asks the Rib for its 64 slots and builds the children of those with
//! routes below first; then the caller stores it, in a form of its choice.
//! With route aggregation a node whose 64 slots all answer the same is not
//! stored: it becomes a leaf of its parent, which may then be one too. That
//! removes exactly what the paper's aggregation of the Rib removes (prefixes
//! that do not influence any answer, and sets of prefixes without a gap),
//! without a pass over the Rib of its own.
//!
//! O(routes * key width / 6 + entries) time; the recursion is as deep as the
//! key has nodes, at most 22.
//!
//! [`Fib`](crate::Fib) is compiled by it. It is public for other forms of the same nodes: pictures of a Poptrie, layouts to
//! compare with. It promises which nodes there are and in which order they are stored, children first; like the rest of
//! the API it changes only with the second number of the version before 1.0.
//!
//! ```
//! use popfib::fold::{Fold, Slot, Store};
//! use popfib::{CompileError, NextHop, Rib};
//!
//! struct Count(usize);
//!
//! impl Store for Count {
//!     type Node = usize;
//!
//!     fn store(&mut self, _: &[Slot<usize>; 64]) -> Result<usize, CompileError> {
//!         self.0 += 1;
//!         Ok(self.0)
//!     }
//! }
//!
//! let mut rib = Rib::<u32>::new();
//! rib.insert("10.0.0.0/8".parse()?, NextHop::MIN);
//! let mut fold = Fold::new(&rib, true, u32::MAX, Count(0));
//! let (root, default) = rib.root_vertex();
//! fold.node(root, default)?;
//! // Six bits each: the root, and the node of 8.0.0.0/6.
//! assert_eq!(fold.store.0, 2);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

use allocator_api2::vec::Vec;

use crate::address::{Address, leading_word};
use crate::compile_error::CompileError;
use crate::memory::{self, Allocator, Global};
use crate::prefix::Prefix;
use crate::rib::{Rib, RibView};

pub use crate::address::STRIDE;
pub use crate::rib::vertex::Vertex;

/// The most bits that [`Store::store_route`] is given.
pub(crate) const MAX_ROUTE: u8 = 31;

/// What a slot of a node leads to: a next hop (0 for none), or a stored node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot<T> {
    /// The next hop of all addresses below; 0 for none.
    Leaf(u32),
    /// A node that was stored before.
    Node(T),
}

/// Stores nodes in the form of its choice.
pub trait Store {
    /// What names a stored node.
    type Node: Copy + PartialEq;

    /// Stores a node; those that its slots name have been stored.
    ///
    /// # Errors
    /// [`CompileError`], if the form cannot number more nodes or has no memory for one.
    fn store(&mut self, slots: &[Slot<Self::Node>; 64]) -> Result<Self::Node, CompileError>;

    /// Stores a node with one slot in the `count` places from `first` on, and the next hop `around` in all others: what is on the way
    /// to a route that is alone. A form that knows a shorter way than [`store`](Self::store) may take it.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    fn store_one(
        &mut self,
        first: u8,
        count: u8,
        slot: Slot<Self::Node>,
        around: u32,
    ) -> Result<Self::Node, CompileError> {
        self.store(&one(first, count, slot, around))
    }

    /// Stores what lies below a node that only one route is below: `next_hop` for addresses whose rest begins with the first `len` of
    /// `bits`, `around` for all others. `None` in a form that has nodes only, or none for that: it is asked for these, then.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    fn store_route(
        &mut self,
        _bits: u32,
        _len: u8,
        _next_hop: u32,
        _around: u32,
    ) -> Result<Option<Self::Node>, CompileError> {
        Ok(None)
    }
}

/// The slots of a node with one in the `count` places from `first` on, and the next hop `around` in all others.
pub(crate) fn one<T: Copy>(first: u8, count: u8, slot: Slot<T>, around: u32) -> [Slot<T>; 64] {
    let mut slots = [Slot::Leaf(around); 64];
    slots[first.into()..][..count.into()].fill(slot);
    slots
}

/// Builds nodes from a Rib into a [`Store`].
///
/// Needs memory for the slots that wait, a few for each level, from `Al`.
#[derive(Debug)]
pub struct Fold<'r, A: Address, S, Al: Allocator = Global> {
    rib: RibView<'r, A>,
    aggregation: bool,
    max_next_hop: u32,
    /// Slots with routes below, of the nodes that are being built: a stack.
    below: Vec<(u8, Vertex<'r, A>), Al>,
    /// Where the nodes go.
    pub store: S,
}

impl<'r, A: Address, S: Store> Fold<'r, A, S> {
    /// Next hops beyond `max_next_hop` will be an error.
    pub fn new(
        rib: &'r Rib<A, impl Allocator + Clone>,
        aggregation: bool,
        max_next_hop: u32,
        store: S,
    ) -> Self {
        Self::new_in(rib, aggregation, max_next_hop, store, Global)
    }
}

impl<'r, A: Address, S: Store, Al: Allocator> Fold<'r, A, S, Al> {
    /// As [`new`](Fold::new), with memory from `alloc`.
    pub(crate) fn new_in(
        rib: &'r Rib<A, impl Allocator + Clone>,
        aggregation: bool,
        max_next_hop: u32,
        store: S,
        alloc: Al,
    ) -> Self {
        Self {
            rib: rib.view(),
            aggregation,
            max_next_hop,
            below: Vec::new_in(alloc),
            store,
        }
    }

    /// Fills in the `2^bits` entries of a table over the bits below `vertex`,
    /// whose own longest match is `inherited`.
    ///
    /// `entry` makes an entry from its longest match among the prefixes that
    /// the table covers and, where routes go on, the vertex below it.
    ///
    /// # Errors
    /// Those of `entry`, [`CompileError::NextHop`], and
    /// [`CompileError::OutOfMemory`].
    ///
    /// # Panics
    /// If the number of entries is not a power of two.
    pub fn table<T: Copy>(
        &mut self,
        vertex: Vertex<'r, A>,
        inherited: u32,
        out: &mut [T],
        entry: &mut impl FnMut(&mut Self, u32, Option<Vertex<'r, A>>) -> Result<T, CompileError>,
    ) -> Result<(), CompileError> {
        assert!(out.len().is_power_of_two());
        if let [out] = out {
            *out = entry(self, inherited, Some(vertex))?;
            return Ok(());
        }
        let bits = out.len().ilog2() as u8;
        let width = bits.min(STRIDE);
        let mut slots = [inherited; 64];
        let slots = &mut slots[..1 << width];
        let first = self.expand(vertex, slots, width)?;
        let mut next = first;
        let parts = out.chunks_exact_mut(1 << (bits - width));
        for ((slot, next_hop), part) in slots.iter().enumerate().zip(parts) {
            match self.below.get(next) {
                Some(&(at, vertex)) if usize::from(at) == slot => {
                    self.table(vertex, *next_hop, part, entry)?;
                    next += 1;
                }
                _ => part.fill(entry(self, *next_hop, None)?),
            }
        }
        self.below.truncate(first);
        Ok(())
    }

    /// Builds and stores what lies below `vertex`, whose own longest match is `inherited`.
    ///
    /// # Errors
    /// Those of the store, [`CompileError::NextHop`], and [`CompileError::OutOfMemory`].
    pub fn node(
        &mut self,
        vertex: Vertex<'r, A>,
        inherited: u32,
    ) -> Result<Slot<S::Node>, CompileError> {
        if let Some((prefix, next_hop)) = self.rib.only_route_below(vertex) {
            return self.only(vertex.depth(), prefix, next_hop.get(), inherited);
        }
        let mut next_hops = [inherited; 64];
        let first = self.expand(vertex, &mut next_hops, STRIDE)?;
        let mut slots = next_hops.map(Slot::Leaf);
        for at in first..self.below.len() {
            let (slot, vertex) = self.below[at];
            let slot = usize::from(slot);
            slots[slot] = self.node(vertex, next_hops[slot])?;
        }
        self.below.truncate(first);
        if self.aggregation
            && let Slot::Leaf(_) = slots[0]
            && slots.iter().all(|slot| *slot == slots[0])
        {
            return Ok(slots[0]);
        }
        self.store.store(&slots).map(Slot::Node)
    }

    /// Builds and stores what lies below `depth` bits of `prefix`, which is the only route there.
    fn only(
        &mut self,
        depth: u8,
        prefix: Prefix<A>,
        next_hop: u32,
        inherited: u32,
    ) -> Result<Slot<S::Node>, CompileError> {
        self.fits(next_hop.max(inherited))?;
        let mut slot = Slot::Leaf(next_hop);
        if next_hop == inherited && self.aggregation {
            return Ok(slot);
        }
        // The last bits at once, as many as there may be, where the form can.
        let rest = prefix.len() - depth;
        let mut at = depth + rest.saturating_sub(MAX_ROUTE).next_multiple_of(STRIDE);
        let bits = leading_word(prefix.address().skip_bits(at));
        let len = prefix.len() - at;
        let route = self.store.store_route(bits, len, next_hop, inherited)?;
        let mut count = 1;
        if let Some(route) = route {
            slot = Slot::Node(route);
            if at == depth {
                return Ok(slot);
            }
            at -= STRIDE;
        } else {
            at = depth + (rest - 1) / STRIDE * STRIDE;
            count = 1 << (at + STRIDE - prefix.len());
        }
        // From the route up.
        loop {
            let first = prefix.address().extract(at, STRIDE) as u8;
            slot = Slot::Node(self.store.store_one(first, count, slot, inherited)?);
            if at == depth {
                return Ok(slot);
            }
            (at, count) = (at - STRIDE, 1);
        }
    }

    fn fits(&self, highest: u32) -> Result<(), CompileError> {
        if highest > self.max_next_hop {
            return Err(CompileError::NextHop {
                next_hop: highest,
                max: self.max_next_hop,
            });
        }
        Ok(())
    }

    /// Fills in the next hops of the slots and stacks the slots with routes
    /// below; returns where those begin.
    fn expand(
        &mut self,
        vertex: Vertex<'r, A>,
        next_hops: &mut [u32],
        width: u8,
    ) -> Result<usize, CompileError> {
        let first = self.below.len();
        memory::grow(&mut self.below, 1 << width)?;
        let below = &mut self.below;
        self.rib.expand(vertex, width, next_hops, |slot, vertex| {
            below.push((slot, vertex));
        });
        self.fits(next_hops.iter().copied().max().unwrap_or(0))?;
        Ok(first)
    }
}
