//! Tree BitMap: a multiway trie with the routes of several levels in one node.
//!
//! Eatherton, Varghese, Dittia, *Tree Bitmap: Hardware/Software IP Lookups with
//! Incremental Updates*, ACM SIGCOMM CCR 34(2), 2004. A node resolves k bits
//! (its *stride*): the *internal bitmap* has a bit for each prefix of 0 to k - 1
//! bits inside the node, the *external bitmap* one for each of the 2^k children
//! (section 3). Children lie side by side, and so do the *results* of a node,
//! its next hops: the bits below one count which it is. A lookup notes the
//! longest match in each node and fetches one result at the end (section 3.2,
//! "lazy"). Before the first node stands an *initial array* (section 4.1), which
//! gives the first bits' longest match and the node to go on with.
//!
//! As the Poptrie paper measured it (section 4), population count takes the
//! place of the tables that the original counts with, in nodes of 16 and of 64
//! children. One thing is better than in either paper: prefixes of a node are
//! numbered as a heap (length l and bits b are bit 2^l + b), so those on the way
//! to a slot are one mask, and the longest among them is its highest bit; the
//! originals try the k lengths one by one.
//!
//! Terms: *stride*, *internal* and *external* bitmap, *results*, *initial* bits.

mod layout;
mod lookup;

use std::marker::PhantomData;

use popfib::{Address, Rib};

use crate::buffer::Buffer;
use crate::cannot_build::CannotBuild;
use crate::lpm::{Key, Structure, Width};
use crate::routes::{Route, next_index, sorted};

use layout::Initial;
use lookup::View;

pub use layout::{Node, Node16, Node64};

/// A Tree BitMap with nodes of form `N`, results of width `L` and an array over
/// the first `INITIAL` bits (or as many whole strides as the key has); see the
/// [module](self).
///
/// A lookup takes (key width - `INITIAL`) / stride steps at most. Building takes
/// O(routes * key width / stride) time.
#[derive(Clone, Debug)]
pub struct TreeBitmap<A, N: Node, L: Width, const INITIAL: u8> {
    initial: Buffer<Initial>,
    nodes: Buffer<N>,
    results: Buffer<L>,
    initial_bits: u8,
    key: PhantomData<fn(A)>,
}

impl<A: Key, N: Node, L: Width, const INITIAL: u8> Structure<A> for TreeBitmap<A, N, L, INITIAL> {
    type View<'a> = View<'a, N, L>;

    fn build(rib: &Rib<A>) -> Result<Self, CannotBuild> {
        let routes = sorted(rib, L::MAX)?;
        let initial_bits = INITIAL.min(A::WIDTH - A::WIDTH % N::STRIDE);
        let mut initial = Buffer::<Initial>::zeroed(1 << initial_bits)?;
        let mut trie = Trie {
            nodes: Vec::new(),
            results: Vec::new(),
        };
        let mut rest = &routes[..];
        while let Some((prefix, next_hop)) = rest.first() {
            let index = prefix.address().leading(initial_bits) as usize;
            if prefix.len() <= initial_bits {
                let count = 1 << (initial_bits - prefix.len());
                for entry in &mut initial[index..][..count] {
                    entry.next_hop = *next_hop;
                }
                rest = &rest[1..];
            } else {
                // The longer ones of one entry come one after the other.
                let of_entry = |route: &Route<A>| {
                    route.0.len() > initial_bits
                        && route.0.address().leading(initial_bits) as usize == index
                };
                let (below, behind) = rest.split_at(rest.partition_point(of_entry));
                let node = next_index(trie.nodes.len() + 1, "nodes")?;
                trie.nodes.push(N::new(0, 0, 0, 0));
                trie.grow(node as usize - 1, below, initial_bits)?;
                initial[index].node = node;
                rest = behind;
            }
        }
        Ok(Self {
            initial,
            nodes: Buffer::copy_of(&trie.nodes)?,
            results: Buffer::copy_of(&trie.results)?,
            initial_bits,
            key: PhantomData,
        })
    }

    fn direct_bits(&self) -> u8 {
        self.initial_bits
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.initial[..])
            + size_of_val(&self.nodes[..])
            + size_of_val(&self.results[..])
    }

    fn view(&self) -> View<'_, N, L> {
        View {
            initial: &self.initial,
            nodes: &self.nodes,
            results: &self.results,
            initial_bits: self.initial_bits,
        }
    }
}

/// Nodes and results while they grow.
struct Trie<N, L> {
    nodes: Vec<N>,
    results: Vec<L>,
}

impl<N: Node, L: Width> Trie<N, L> {
    /// Fills in the node `at`, which begins after the first `depth` bits that all of `routes` share.
    fn grow<A: Address>(
        &mut self,
        at: usize,
        routes: &[Route<A>],
        depth: u8,
    ) -> Result<(), CannotBuild> {
        let (mut internal, mut external) = (0u64, 0u64);
        // Next hops by their number in the heap; runs of routes by their child.
        let mut own = Vec::new();
        let mut below: Vec<&[Route<A>]> = Vec::new();
        let mut rest = routes;
        while let Some((prefix, next_hop)) = rest.first() {
            if prefix.len() < depth + N::STRIDE {
                let len = prefix.len() - depth;
                let bits = prefix.address().skip_bits(depth).leading(len);
                // At the key's end nothing is left, and `skip_bits` would wrap.
                let heap = if len == 0 { 1 } else { 1 << len | bits };
                internal |= 1 << heap;
                own.push((heap, L::from_u32(*next_hop)));
                rest = &rest[1..];
                continue;
            }
            let slot = prefix.address().extract(depth, N::STRIDE);
            let of_child = |route: &Route<A>| {
                route.0.len() >= depth + N::STRIDE
                    && route.0.address().extract(depth, N::STRIDE) == slot
            };
            let (child, behind) = rest.split_at(rest.partition_point(of_child));
            external |= 1 << slot;
            below.push(child);
            rest = behind;
        }
        own.sort_unstable_by_key(|(heap, _)| *heap);
        let results = next_index(self.results.len() + own.len(), "results")? - own.len() as u32;
        self.results.extend(own.iter().map(|(_, leaf)| *leaf));
        let children = next_index(self.nodes.len() + below.len(), "nodes")? - below.len() as u32;
        let first = self.nodes.len();
        self.nodes.resize(first + below.len(), N::new(0, 0, 0, 0));
        self.nodes[at] = N::new(internal, external, children, results);
        for (child, routes) in below.into_iter().enumerate() {
            self.grow(first + child, routes, depth + N::STRIDE)?;
        }
        Ok(())
    }
}
