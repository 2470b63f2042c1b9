//! Patricia: a binary trie in which a node stands for all the bits that its
//! routes have in common.
//!
//! Morrison's tree (*PATRICIA: Practical Algorithm To Retrieve Information
//! Coded in Alphanumeric*, Journal of the ACM 15(4), 1968, section 2) for
//! prefixes, as Sklower brought it to routing tables (*A Tree-Based Packet
//! Routing Table for Berkeley Unix*, USENIX Winter 1991). A node is left out
//! where it would have one child and no route. What its bits would have been is
//! the *string* of the node below, *skip* bits long. A lookup compares the
//! string with the address, takes the next hop if there is one, and follows the
//! next bit. Morrison skips without comparing and compares once at the end,
//! which for longest matches means to walk back up; comparing on the way down
//! needs no way back and ends early where the address leaves the tree.
//!
//! Terms: *skip* and *string* as above; *pair* as in the binary radix tree, two
//! children side by side. A node takes 16 bytes, a quarter of a cache line. A
//! string of more than 32 bits (IPv6) goes on in a node below.

mod lookup;

use bytemuck::{Pod, Zeroable};
use popfib::{Address, Rib};

use crate::buffer::Buffer;
use crate::cannot_build::CannotBuild;
use crate::lpm::{Structure, lpm};
use crate::routes::{Route, next_index, sorted};

use lookup::View;

/// The longest string of a node.
const MAX_SKIP: u8 = 32;

#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Node {
    /// The bits that lead to this node from its parent's branch, in the low bits.
    string: u32,
    /// How many.
    skip: u32,
    next_hop: u32,
    /// The index of the first of two children; 0 if there is none.
    pair: u32,
}

/// A path-compressed binary trie; see the [module](self).
///
/// A lookup takes one step a branching node on the way. O(routes) nodes, built
/// in O(routes * log(routes)).
#[derive(Clone, Debug)]
pub struct Patricia {
    nodes: Buffer<Node>,
}

impl<A: Address> Structure<A> for Patricia {
    const NAME: &'static str = "patricia";
    const LIMITS: &'static str = "2^32 nodes";

    type View<'a> = View<'a>;

    fn build(rib: &Rib<A>) -> Result<Self, CannotBuild> {
        let routes = sorted(rib, u32::MAX)?;
        // The root, and one more so that pairs share a cache line.
        let mut nodes = vec![Node::default(); 2];
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

    fn view(&self) -> View<'_> {
        View { nodes: &self.nodes }
    }
}

lpm!([A: Address] Patricia);

/// Fills in the node `at`; all of `routes`, of which there is one, share their first `depth` bits.
fn grow<A: Address>(
    nodes: &mut Vec<Node>,
    at: usize,
    mut routes: &[Route<A>],
    depth: u8,
) -> Result<(), CannotBuild> {
    let (first, next_hop) = routes[0];
    let (last, _) = routes[routes.len() - 1];
    // In prefix order one that covers the others is the first; what the first
    // and the last have in common, all have.
    let common = (first.address() ^ last.address()).leading_zeros();
    let end = common.min(first.len()).min(depth + MAX_SKIP);
    let skip = end - depth;
    nodes[at].skip = skip.into();
    nodes[at].string = first.address().skip_bits(depth).leading(skip);
    if first.len() == end {
        nodes[at].next_hop = next_hop;
        routes = &routes[1..];
    }
    if routes.is_empty() {
        return Ok(());
    }
    let pair = next_index(nodes.len() + 1, "nodes")? - 1;
    nodes[at].pair = pair;
    nodes.resize(nodes.len() + 2, Node::default());
    let ones = routes.partition_point(|(prefix, _)| prefix.address().extract(end, 1) == 0);
    let (zeros, ones) = routes.split_at(ones);
    for (child, routes) in [(pair, zeros), (pair + 1, ones)] {
        if !routes.is_empty() {
            grow(nodes, child as usize, routes, end + 1)?;
        }
    }
    Ok(())
}
