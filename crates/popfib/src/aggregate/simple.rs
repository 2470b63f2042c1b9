//! The Poptrie paper's route aggregation (section 3), on the Rib.
//!
//! One pass up: a vertex is **uniform** if all addresses below have one answer, and
//! **needed** if its next hop is the answer of some address that no route below with
//! another next hop takes away.
//!
//! One pass down: a uniform vertex becomes one route, and what is below goes. Any other vertex has a route of its next hop if that is
//! needed. No route is set if the one above already answers the same.
//!
//! If longer routes take all addresses of a route, it goes only if none of them repeats its next hop. Else those
//! that repeat it go and it stays, which is never worse.

use alloc::vec;
use alloc::vec::Vec;

use super::tree::{ChildSide, RouteTree};
use crate::address::Address;
use crate::next_hop::NextHop;
use crate::rib::Rib;

/// What is known of the addresses below a vertex.
struct SubtreeAnswer {
    /// The answer of all addresses below, 0 for none, if there is only one.
    uniform: Option<u32>,
    /// Whether some address is answered by the vertex's own next hop.
    needed: bool,
}

/// `rib` without the routes that change no answer, and with neighbours that
/// have the same next hop joined (Poptrie paper, section 3).
///
/// Never more routes than in `rib`, each for a prefix of it or one that such
/// prefixes fill; every address has the same answer. [`ortc`](fn@super::ortc) may
/// need fewer. O(routes) time and memory.
///
/// # Panics
/// From 2^31 routes on.
pub fn simple<A: Address>(rib: &Rib<A>) -> Rib<A> {
    let tree = RouteTree::new(rib);
    let answers = answers_below(&tree);
    let mut aggregated = Rib::new();
    // Vertices to visit, each with the next hop of the route above it.
    let mut stack = vec![(tree.root(), 0)];
    while let Some((index, inherited)) = stack.pop() {
        let (vertex, below) = (&tree.vertices()[index], &answers[index]);
        let wanted = match below.uniform {
            Some(answer) => answer,
            None if below.needed => vertex.next_hop,
            None => inherited,
        };
        if wanted != inherited
            && let Some(next_hop) = NextHop::new(wanted)
        {
            aggregated.insert(vertex.prefix, next_hop);
        }
        if below.uniform.is_none() {
            // The lower side on top, so that routes come in prefix order.
            for side in tree.sides(vertex).into_iter().rev() {
                if let ChildSide::Child { index, .. } = side {
                    stack.push((index, wanted));
                }
            }
        }
    }
    aggregated
}

/// The answers below each vertex, from the bottom to the top.
fn answers_below<A: Address>(tree: &RouteTree<A>) -> Vec<SubtreeAnswer> {
    let mut all: Vec<SubtreeAnswer> = Vec::with_capacity(tree.vertices().len());
    for vertex in tree.vertices() {
        let next_hop = vertex.next_hop;
        let [(low, low_needs), (high, high_needs)] = tree.sides(vertex).map(|side| match side {
            ChildSide::Empty => (Some(next_hop), true),
            ChildSide::Child { index, gap: 0 } => {
                let same = tree.vertices()[index].next_hop == next_hop;
                (all[index].uniform, same && all[index].needed)
            }
            // The other sides of the gap are the vertex's own.
            ChildSide::Child { index, .. } => (all[index].uniform.filter(|&n| n == next_hop), true),
        });
        all.push(SubtreeAnswer {
            uniform: low.filter(|_| low == high),
            needed: low_needs || high_needs,
        });
    }
    all
}
