//! Binary tries: the binary radix tree, and Patricia, in which a node stands for all the bits that its
//! routes have in common.
//!
//! [`Radix`] is the textbook trie that the Poptrie paper calls Radix (section 4, Tables 2
//! and 3) and compiles its own structure from: a node stands for a prefix, its
//! children for that prefix with one bit more, and a node that is a route holds
//! a next hop. A lookup follows the bits of the address, remembers the last
//! next hop on its way, and ends where there is no child.
//!
//! [`Patricia`] is Morrison's tree (*PATRICIA: Practical Algorithm To Retrieve Information
//! Coded in Alphanumeric*, Journal of the ACM 15(4), 1968, section 2) for
//! prefixes, as Sklower brought it to routing tables (*A Tree-Based Packet
//! Routing Table for Berkeley Unix*, USENIX Winter 1991). A node is left out
//! where it would have one child and no route. What its bits would have been is
//! the *string* of the node below, *skip* bits long. A lookup compares the
//! string with the address, takes the next hop if there is one, and follows the
//! next bit. Morrison skips without comparing and compares once at the end,
//! which for longest matches means to walk back up; comparing on the way down
//! needs no way back and ends early where the address leaves the tree. A string of more than 32
//! bits (IPv6) goes on in a node below.
//!
//! Both are one code: a radix tree is a Patricia whose strings are empty, and its nodes keep none.
//!
//! Terms: *node*, a next hop (0 for none) and the index of its *pair*, its two
//! children side by side (0 if it has none); *skip* and *string* as above. A node of the radix tree takes eight
//! bytes, one of Patricia 16. Where only one
//! child is needed the other is an empty node: that costs less than a second
//! index in every node. Nodes lie in the order of a walk, so that the lower
//! part of a path mostly shares its cache lines.

mod lookup;

use bytemuck::{Pod, Zeroable};
use popfib::{Address, Rib};

use crate::buffer::Buffer;
use crate::cannot_build::CannotBuild;
use crate::lpm::{Sealed, Structure};
use crate::routes::{Route, next_index, sorted};

use lookup::View;

/// A node, with or without a string.
pub trait Node: Sealed + Pod + Default + Send + Sync {
    /// The longest string of a node.
    const MAX_SKIP: u8;

    /// A node with that string: as many bits, at most `MAX_SKIP`, in the low bits of a number.
    fn new(string: u32, skip: u8) -> Self;

    /// The bits that lead to this node from its parent's branch, in the low bits, and how many.
    fn string(&self) -> (u32, u8);

    /// Next hop and pair.
    fn end(&self) -> End;

    /// To change these.
    fn end_mut(&mut self) -> &mut End;
}

/// What every node has.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct End {
    /// The next hop of the node's prefix; 0 if it is no route.
    next_hop: u32,
    /// The index of the first of two children; 0 if there is none.
    pair: u32,
}

/// A node of [`Radix`].
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Bare {
    end: End,
}

impl Sealed for Bare {}

impl Node for Bare {
    const MAX_SKIP: u8 = 0;

    fn new(_: u32, _: u8) -> Self {
        Self::default()
    }

    #[inline(always)]
    fn string(&self) -> (u32, u8) {
        (0, 0)
    }

    #[inline(always)]
    fn end(&self) -> End {
        self.end
    }

    fn end_mut(&mut self) -> &mut End {
        &mut self.end
    }
}

/// A node of [`Patricia`].
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct WithString {
    string: u32,
    skip: u32,
    end: End,
}

impl Sealed for WithString {}

impl Node for WithString {
    const MAX_SKIP: u8 = 32;

    fn new(string: u32, skip: u8) -> Self {
        Self {
            string,
            skip: skip.into(),
            end: End::default(),
        }
    }

    #[inline(always)]
    fn string(&self) -> (u32, u8) {
        (self.string, self.skip as u8)
    }

    #[inline(always)]
    fn end(&self) -> End {
        self.end
    }

    fn end_mut(&mut self) -> &mut End {
        &mut self.end
    }
}

/// A binary trie; see the [module](self).
#[derive(Clone, Debug)]
pub struct Binary<N: Node> {
    nodes: Buffer<N>,
}

/// A binary radix tree.
///
/// A lookup takes one step a bit, to the end of the longest prefix that shares
/// the address's bits. Building takes O(routes * key width) time and memory.
pub type Radix = Binary<Bare>;

/// A path-compressed binary trie.
///
/// A lookup takes one step a branching node on the way. O(routes) nodes, built
/// in O(routes * log(routes)).
pub type Patricia = Binary<WithString>;

impl<A: Address, N: Node> Structure<A> for Binary<N> {
    type View<'a> = View<'a, N>;

    fn build(rib: &Rib<A>) -> Result<Self, CannotBuild> {
        let routes = sorted(rib, u32::MAX)?;
        // The root, and one more so that pairs begin at even indices.
        let mut nodes = vec![N::default(); 2];
        if !routes.is_empty() {
            grow(&mut nodes, 0, &routes, 0)?;
        }
        Ok(Self {
            nodes: Buffer::copy_of(&nodes)?,
        })
    }

    fn direct_bits(&self) -> u8 {
        0
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..])
    }

    fn view(&self) -> View<'_, N> {
        View { nodes: &self.nodes }
    }
}

/// Fills in the node `at`; all of `routes`, of which there is one, share their first `depth` bits.
fn grow<A: Address, N: Node>(
    nodes: &mut Vec<N>,
    at: usize,
    mut routes: &[Route<A>],
    depth: u8,
) -> Result<(), CannotBuild> {
    let (first, next_hop) = routes[0];
    let (last, _) = routes[routes.len() - 1];
    // In prefix order one that covers the others is the first; what the first
    // and the last have in common, all have.
    let common = (first.address() ^ last.address()).leading_zeros();
    let end = common.min(first.len()).min(depth + N::MAX_SKIP);
    let skip = end - depth;
    nodes[at] = N::new(first.address().skip_bits(depth).leading(skip), skip);
    if first.len() == end {
        nodes[at].end_mut().next_hop = next_hop;
        routes = &routes[1..];
    }
    if routes.is_empty() {
        return Ok(());
    }
    let pair = next_index(nodes.len() + 1, "nodes")? - 1;
    nodes[at].end_mut().pair = pair;
    nodes.resize(nodes.len() + 2, N::default());
    let ones = routes.partition_point(|(prefix, _)| prefix.address().extract(end, 1) == 0);
    let (zeros, ones) = routes.split_at(ones);
    for (child, routes) in [(pair, zeros), (pair + 1, ones)] {
        if !routes.is_empty() {
            grow(nodes, child as usize, routes, end + 1)?;
        }
    }
    Ok(())
}
