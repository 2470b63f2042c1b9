//! A RIB in, the shape of its Poptrie out: which nodes it has, and where.
//!
//! A compiled Fib keeps its nodes for lookups and shows none. But it is made by [`Fold`], which hands its nodes to any store. The store here
//! keeps their children and the runs of their leaves, which is all that is drawn.

use popfib::fold::{Fold, STRIDE, Slot, Store};
use popfib::{Address, CompileError, Fib, Options, Rib};

/// A node: its children, and the runs of leaves with a next hop by first and last slot.
#[derive(Clone, Copy, Debug)]
struct NodeShape {
    children: u64,
    first_child: usize,
    first_leaves: u64,
    last_leaves: u64,
}

/// All nodes, children before their parents.
#[derive(Default)]
struct NodeShapes {
    nodes: Vec<NodeShape>,
    children: Vec<u32>,
}

impl Store for NodeShapes {
    type Node = u32;

    fn store(&mut self, slots: &[Slot<u32>; 64]) -> Result<u32, CompileError> {
        let mut node = NodeShape {
            children: 0,
            first_child: self.children.len(),
            first_leaves: 0,
            last_leaves: 0,
        };
        for (at, slot) in slots.iter().enumerate() {
            match slot {
                Slot::Node(child) => {
                    node.children |= 1 << at;
                    self.children.push(*child);
                }
                Slot::Leaf(0) => {}
                leaf => {
                    let begins = at == 0 || slots[at - 1] != *leaf;
                    let ends = at == 63 || slots[at + 1] != *leaf;
                    node.first_leaves |= u64::from(begins) << at;
                    node.last_leaves |= u64::from(ends) << at;
                }
            }
        }
        self.nodes.push(node);
        Ok(self.nodes.len() as u32 - 1)
    }
}

/// The nodes of a Poptrie below its root table.
pub(crate) struct PoptrieShape {
    /// The paper's s.
    pub(crate) direct_bits: u8,
    /// Bytes of the compiled Fib.
    pub(crate) bytes: usize,
    nodes: NodeShapes,
    /// For each entry of the root table, one more than the number of its node; 0 for none.
    entries: Vec<u32>,
}

/// What a walk meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ShapePart {
    /// A node.
    Node,
    /// A run of equal leaves.
    Leaf,
}

impl PoptrieShape {
    /// The shape of the Fib that `rib` compiles to.
    ///
    /// # Errors
    /// Those of compiling.
    pub(crate) fn new<A: Address>(rib: &Rib<A>) -> Result<Self, CompileError> {
        let fib: Fib<A> = Fib::compile(rib, &Options::default())?;
        let direct_bits = fib.direct_bits();
        let (root, default) = rib.root_vertex();
        let mut fold = Fold::new(rib, true, u32::MAX, NodeShapes::default());
        let mut entries = vec![0; 1 << direct_bits];
        fold.table(
            root,
            default,
            &mut entries,
            &mut |fold, inherited, below| {
                let slot = match below {
                    Some(vertex) => fold.node(vertex, inherited)?,
                    None => Slot::Leaf(inherited),
                };
                Ok(match slot {
                    Slot::Node(node) => node + 1,
                    Slot::Leaf(_) => 0,
                })
            },
        )?;
        Ok(Self {
            direct_bits,
            bytes: fib.bytes(),
            nodes: fold.store,
            entries,
        })
    }

    /// Calls `visit` with each node and each run of leaves: what it is, first address and depth
    /// of its parent and of itself, and its last address.
    pub(crate) fn walk<A: Address>(&self, visit: &mut impl FnMut(ShapePart, (A, u8), (A, u8), A)) {
        let root = (A::MIN, 0);
        for (at, entry) in self.entries.iter().enumerate().filter(|(_, e)| **e > 0) {
            let here = (
                A::from_leading(at as u32, self.direct_bits),
                self.direct_bits,
            );
            visit(ShapePart::Node, root, here, last_of(here));
            self.below(*entry - 1, here, visit);
        }
    }

    fn below<A: Address>(
        &self,
        node: u32,
        here: (A, u8),
        visit: &mut impl FnMut(ShapePart, (A, u8), (A, u8), A),
    ) {
        let node = self.nodes.nodes[node as usize];
        let (address, depth) = here;
        // The last node of a key has fewer bits than slots.
        let width = STRIDE.min(A::WIDTH - depth);
        let slot = |slot: u32| {
            let chunk = A::from_leading(slot >> (STRIDE - width), width);
            (address | chunk >> depth, depth + width)
        };
        let mut children = self.nodes.children[node.first_child..].iter();
        for at in bits(node.children) {
            let child = slot(at);
            visit(ShapePart::Node, here, child, last_of(child));
            self.below(*children.next().expect("one for each bit"), child, visit);
        }
        for (first, last) in bits(node.first_leaves).zip(bits(node.last_leaves)) {
            visit(ShapePart::Leaf, here, slot(first), last_of(slot(last)));
        }
    }
}

/// The last address of a block.
fn last_of<A: Address>((address, depth): (A, u8)) -> A {
    address | !A::mask(depth)
}

/// The numbers of the bits that are set.
fn bits(mut map: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let at = (map != 0).then(|| map.trailing_zeros())?;
        map &= map - 1;
        Some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::NextHop;

    fn same_as_the_fib<A: Address>(rib: &Rib<A>) {
        let fib: Fib<A> = Fib::compile(rib, &Options::default()).unwrap();
        let shape = PoptrieShape::new(rib).unwrap();
        let (mut nodes, mut leaves) = (0, 0);
        shape.walk::<A>(&mut |part, (above, top), (at, depth), last| {
            assert!(top <= depth && depth <= A::WIDTH);
            assert!(at & A::mask(top) == above, "inside of its parent");
            assert!(at <= last && last & A::mask(top) == above);
            match part {
                ShapePart::Node => nodes += 1,
                ShapePart::Leaf => leaves += 1,
            }
        });
        assert_eq!(
            (shape.nodes.nodes.len(), nodes),
            (fib.node_count(), fib.node_count())
        );
        // Runs without a next hop are leaves of the Fib too, which nothing is drawn for.
        assert!(leaves <= fib.leaf_count());
        assert_eq!(leaves == 0, rib.is_empty() || nodes == 0);
    }

    #[test]
    fn nodes_are_those_of_the_fib() {
        let table = crate::built_in();
        same_as_the_fib(&table.ribs.ipv4);
        same_as_the_fib(&table.ribs.ipv6);
        same_as_the_fib(&Rib::<u32>::new());
        for text in ["0.0.0.0/0", "10.0.0.0/8", "10.1.2.3/32"] {
            same_as_the_fib::<u32>(&Rib::from_iter([(text.parse().unwrap(), NextHop::MIN)]));
        }
        for text in ["::/0", "2001:db8::/32", "2001:db8::1/128"] {
            same_as_the_fib::<u128>(&Rib::from_iter([(text.parse().unwrap(), NextHop::MIN)]));
        }
    }
}
