//! Binary radix tree: one bit of the address a node.
//!
//! The textbook trie that the Poptrie paper calls Radix (section 4, Tables 2
//! and 3) and compiles its own structure from: a node stands for a prefix, its
//! children for that prefix with one bit more, and a node that is a route holds
//! a next hop. A lookup follows the bits of the address, remembers the last
//! next hop on its way, and ends where there is no child.
//!
//! Terms: *node*, a next hop (0 for none) and the index of its *pair*, its two
//! children side by side (0 if it has none), eight bytes in all. Where only one
//! child is needed the other is an empty node: that costs less than a second
//! index in every node. Nodes lie in the order of a walk, so that the lower
//! part of a path mostly shares its cache lines.

mod lookup;

use bytemuck::{Pod, Zeroable};
use popfib::{Address, Rib};

use crate::buffer::Buffer;
use crate::cannot_build::CannotBuild;
use crate::lpm::{Structure, lpm};
use crate::routes::{Route, next_index, sorted};

use lookup::View;

#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Node {
    next_hop: u32,
    pair: u32,
}

/// A binary radix tree; see the [module](self).
///
/// A lookup takes one step a bit, to the end of the longest prefix that shares
/// the address's bits. Building takes O(routes * key width) time and memory.
#[derive(Clone, Debug)]
pub struct Radix {
    nodes: Buffer<Node>,
}

impl<A: Address> Structure<A> for Radix {
    const NAME: &'static str = "radix";
    const LIMITS: &'static str = "2^32 nodes";

    type View<'a> = View<'a>;

    fn build(rib: &Rib<A>) -> Result<Self, CannotBuild> {
        let routes = sorted(rib, u32::MAX)?;
        // The root, and one more so that pairs begin at even indices.
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

lpm!([A: Address] Radix);

/// Fills in the node `at`, whose prefix of `depth` bits holds all of `routes`, of which there is one.
fn grow<A: Address>(
    nodes: &mut Vec<Node>,
    at: usize,
    mut routes: &[Route<A>],
    depth: u8,
) -> Result<(), CannotBuild> {
    let (shortest, next_hop) = routes[0];
    if shortest.len() == depth {
        nodes[at].next_hop = next_hop;
        routes = &routes[1..];
    }
    if routes.is_empty() {
        return Ok(());
    }
    let pair = next_index(nodes.len() + 1, "nodes")? - 1;
    nodes[at].pair = pair;
    nodes.resize(nodes.len() + 2, Node::default());
    let ones = routes.partition_point(|(prefix, _)| prefix.address().extract(depth, 1) == 0);
    let (zeros, ones) = routes.split_at(ones);
    for (child, routes) in [(pair, zeros), (pair + 1, ones)] {
        if !routes.is_empty() {
            grow(nodes, child as usize, routes, depth + 1)?;
        }
    }
    Ok(())
}
