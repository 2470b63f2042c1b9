//! Optimal Route Table Construction (Draves et al., INFOCOM 1999).
//!
//! The paper has three passes over the binary tree of routes:
//!
//! 1. Every leaf gets its next hop. Here the tree says so without being filled up.
//! 2. Up: each vertex gets a set of next hops, those that the fewest routes below allow for. The set of a leaf is its
//!    next hop. That of an inner vertex is the intersection of its children's sets or, if that is empty, their union.
//! 3. Down: a vertex whose set has the next hop that it inherits needs no route. Any other gets one of its set.
//!
//! In a gap of the tree each vertex has a leaf with the next hop *h* of the
//! vertex above the gap on one side. So the set next to the child is the
//! child's merged with {*h*}, which holds *h*, and all sets above that are
//! {*h*}: a gap of any length is two cases.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::slice;

use super::tree::{ChildSide, RouteTree, RouteVertex, half, sibling};
use crate::address::Address;
use crate::next_hop::NextHop;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// The smallest table with the answers of `rib` (Draves et al., INFOCOM 1999).
///
/// No table with the same answer for every address has fewer routes. Among
/// several such tables it is always the same one, but its prefixes need not
/// occur in `rib`. O(routes * key width) time and memory, if next hops differ
/// wherever they can; in tables of the Internet, O(routes).
///
/// # Panics
/// From 2^31 routes on.
pub fn ortc<A: Address>(rib: &Rib<A>) -> Rib<A> {
    let tree = RouteTree::new(rib);
    let mut sets = NextHopSets::default();
    let mut of = Vec::with_capacity(tree.vertices().len());
    for vertex in tree.vertices() {
        let set = sets.of_vertex(&tree, vertex, &of);
        of.push(set);
    }

    let mut aggregated = Rib::new();
    let mut set_route = |prefix: Prefix<A>, next_hop: u32, inherited: u32| {
        // 0 is wanted only where 0 is inherited: nothing above covers an unmatched address.
        debug_assert!(next_hop != 0 || inherited == 0);
        if next_hop != inherited
            && let Some(next_hop) = NextHop::new(next_hop)
        {
            aggregated.insert(prefix, next_hop);
        }
    };
    // Vertices to visit, each with the next hop that it inherits.
    let mut stack = vec![(tree.root(), 0)];
    while let Some((index, inherited)) = stack.pop() {
        let vertex = &tree.vertices()[index];
        let chosen = if sets.contains(of[index], inherited) {
            inherited
        } else {
            sets.first(of[index])
        };
        set_route(vertex.prefix, chosen, inherited);
        if vertex.is_leaf() {
            continue;
        }
        let leaf = vertex.next_hop;
        for (side, at) in tree.sides(vertex).into_iter().enumerate() {
            let half = half(vertex.prefix, side);
            match at {
                ChildSide::Empty => set_route(half, leaf, chosen),
                ChildSide::Child { index, gap: 0 } => stack.push((index, chosen)),
                ChildSide::Child { index, gap: 1 } => {
                    // The one vertex of the gap: its set is the child's and the leaf's merged.
                    let is_union = !sets.contains(of[index], leaf);
                    let keeps = is_union && sets.contains(of[index], chosen);
                    let here = if keeps { chosen } else { leaf };
                    set_route(half, here, chosen);
                    set_route(sibling(tree.vertices()[index].prefix), leaf, here);
                    stack.push((index, here));
                }
                ChildSide::Child { index, .. } => {
                    set_route(half, leaf, chosen);
                    stack.push((index, leaf));
                }
            }
        }
    }
    aggregated
}

/// A set of next hops, not empty. {0} is that of a vertex with an unmatched
/// address below; 0 is in no other set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextHopSet {
    One(u32),
    /// Ascending members in [`NextHopSets`].
    Many {
        start: usize,
        len: u32,
    },
}

/// The members of all sets that have several.
#[derive(Default)]
struct NextHopSets {
    members: Vec<u32>,
    /// The set that is being made.
    new: Vec<u32>,
}

impl NextHopSets {
    /// The set of a vertex, from those of its children in `of`.
    fn of_vertex<A: Address>(
        &mut self,
        tree: &RouteTree<A>,
        vertex: &RouteVertex<A>,
        of: &[NextHopSet],
    ) -> NextHopSet {
        let leaf = NextHopSet::One(vertex.next_hop);
        let [low, high] = tree.sides(vertex).map(|side| match side {
            ChildSide::Empty => leaf,
            ChildSide::Child { index, gap: 0 } => of[index],
            ChildSide::Child { index, gap: 1 } => self.merge(of[index], leaf),
            ChildSide::Child { .. } => leaf,
        });
        self.merge(low, high)
    }

    /// The set of a vertex whose children have these sets.
    fn merge(&mut self, a: NextHopSet, b: NextHopSet) -> NextHopSet {
        if a == b {
            return a;
        }
        if a == NextHopSet::One(0) || b == NextHopSet::One(0) {
            return NextHopSet::One(0);
        }
        let Self { members, new } = self;
        new.clear();
        both(slice(members, &a), slice(members, &b), |member, order| {
            if order == Ordering::Equal {
                new.push(member);
            }
        });
        if new.is_empty() {
            both(slice(members, &a), slice(members, &b), |member, _| {
                new.push(member);
            });
        }
        if let [member] = **new {
            return NextHopSet::One(member);
        }
        let set = NextHopSet::Many {
            start: members.len(),
            len: new.len() as u32,
        };
        members.extend_from_slice(new);
        set
    }

    fn contains(&self, set: NextHopSet, next_hop: u32) -> bool {
        slice(&self.members, &set).binary_search(&next_hop).is_ok()
    }

    fn first(&self, set: NextHopSet) -> u32 {
        slice(&self.members, &set)[0]
    }
}

/// The members of `set`, ascending.
fn slice<'a>(members: &'a [u32], set: &'a NextHopSet) -> &'a [u32] {
    match set {
        NextHopSet::One(member) => slice::from_ref(member),
        NextHopSet::Many { start, len } => &members[*start..][..*len as usize],
    }
}

/// Every member of either, ascending, each once, and how the two compared
/// there: [`Ordering::Equal`] if it is in both.
fn both(mut a: &[u32], mut b: &[u32], mut each: impl FnMut(u32, Ordering)) {
    while let (&[x, ref a_rest @ ..], &[y, ref b_rest @ ..]) = (a, b) {
        let order = x.cmp(&y);
        each(x.min(y), order);
        if order.is_le() {
            a = a_rest;
        }
        if order.is_ge() {
            b = b_rest;
        }
    }
    for &rest in a.iter().chain(b) {
        each(rest, Ordering::Less);
    }
}
