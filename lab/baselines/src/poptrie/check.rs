//! The invariants of the layout, on which the unchecked lookups rely.
//!
//! 1. The direct table has `2^s` entries, s at most 24 and at most the key width.
//! 2. A direct entry that is a leaf holds a next hop of the leaf's width; any
//!    other is the index of a node.
//! 3. The children of a node, one for each bit of its `vector`, lie inside the
//!    array of nodes. Every node is reached exactly once, so the chains end.
//! 4. The leaves of a node, one for each bit of its `leafvec`, lie inside the
//!    array of leaves; slots with a child have no bit there, and the first slot
//!    without a child has one, so that each such slot counts at least one.
//! 5. A node after which fewer than one bit of the key is left has no children.

use popfib::fold::STRIDE;
use popfib::{Address, Options};

use super::layout::{DIRECT_LEAF, Node, View};
use crate::lpm::Width;

/// Verifies all invariants. O(nodes + 2^s) time, a byte of memory a node.
pub(super) fn check<A: Address, L: Width, N: Node>(view: View<'_, L, N>) -> Result<(), String> {
    let direct_bits = view.direct_bits;
    if direct_bits > Options::MAX_DIRECT_BITS.min(A::WIDTH) || view.direct.len() != 1 << direct_bits
    {
        return Err("the direct table does not have 2^s entries".into());
    }
    let mut seen = vec![false; view.nodes.len()];
    // Nodes to look at, with their depth.
    let mut todo: Vec<(u32, u8)> = Vec::new();
    for (index, entry) in view.direct.iter().enumerate() {
        if entry & DIRECT_LEAF != 0 {
            if entry & !DIRECT_LEAF > L::MAX {
                return Err(format!("direct entry {index} points nowhere"));
            }
            continue;
        }
        if *entry as usize >= view.nodes.len() || direct_bits >= A::WIDTH {
            return Err(format!("direct entry {index} points nowhere"));
        }
        todo.push((*entry, direct_bits));
        while let Some((node, depth)) = todo.pop() {
            if std::mem::replace(&mut seen[node as usize], true) {
                return Err(format!("node {node} has two parents"));
            }
            check_node(view, node, depth, A::WIDTH, &mut todo)?;
        }
    }
    match seen.iter().position(|seen| !seen) {
        Some(node) => Err(format!("node {node} has no parent")),
        None => Ok(()),
    }
}

fn check_node<L: Width, N: Node>(
    view: View<'_, L, N>,
    index: u32,
    depth: u8,
    width: u8,
    todo: &mut Vec<(u32, u8)>,
) -> Result<(), String> {
    let node = &view.nodes[index as usize];
    let (vector, leafvec) = (node.vector(), node.leafvec());
    let first_leaf = (!vector).trailing_zeros();
    let leaf_count = leafvec.count_ones();
    let leaves_end = u64::from(node.base0()) + u64::from(leaf_count);
    if leafvec & vector != 0
        || leafvec.trailing_zeros() != first_leaf
        || leaf_count > 0 && leaves_end > view.leaves.len() as u64
    {
        return Err(format!("the leaves of node {index} are out of range"));
    }
    if vector != 0 {
        let children_end = u64::from(node.base1()) + u64::from(vector.count_ones());
        let child_depth = u16::from(depth) + u16::from(STRIDE);
        if children_end > view.nodes.len() as u64 || child_depth >= u16::from(width) {
            return Err(format!("the children of node {index} are out of range"));
        }
        for rank in 0..vector.count_ones() {
            todo.push((node.base1() + rank, child_depth as u8));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poptrie::LeafvecNode;

    fn node(vector: u64, leafvec: u64, base0: u32, base1: u32) -> LeafvecNode {
        LeafvecNode::new(vector, leafvec, base0, base1)
    }

    fn check_u16(
        direct: &[u32],
        direct_bits: u8,
        nodes: &[LeafvecNode],
        leaves: usize,
    ) -> Result<(), String> {
        let leaves = vec![0u16; leaves];
        check::<u16, u16, _>(View {
            direct,
            nodes,
            leaves: &leaves,
            direct_bits,
        })
    }

    #[test]
    fn each_invariant_is_noticed() {
        let leaf = DIRECT_LEAF | 7;
        let plain = node(0, 1, 0, 0);
        let parent = node(1, 2, 1, 1);
        assert_eq!(check_u16(&[leaf], 0, &[], 0), Ok(()));
        assert_eq!(check_u16(&[0], 0, &[plain], 1), Ok(()));
        assert_eq!(check_u16(&[0], 0, &[parent, plain], 2), Ok(()));

        let fault = |text: &str| Err(text.to_owned());
        let length = fault("the direct table does not have 2^s entries");
        assert_eq!(check_u16(&[leaf], 1, &[], 0), length);
        assert_eq!(check_u16(&[leaf; 1 << 17], 17, &[], 0), length);
        let wide = DIRECT_LEAF | 0x1_0000;
        let entry = fault("direct entry 0 points nowhere");
        assert_eq!(check_u16(&[wide], 0, &[], 0), entry);
        assert_eq!(check_u16(&[1], 0, &[plain], 1), entry);
        // With all 16 bits resolved nothing is left for a node.
        assert_eq!(check_u16(&[0; 1 << 16], 16, &[plain], 1), entry);
        let children = |node| fault(&format!("the children of node {node} are out of range"));
        assert_eq!(check_u16(&[0], 0, &[parent], 2), children(0));
        let far = node(1, 2, 0, u32::MAX);
        assert_eq!(check_u16(&[0], 0, &[far], 1), children(0));
        // Four levels of six bits: more than 16 bits.
        let chain = [node(1, 2, 0, 1), node(1, 2, 0, 2), node(1, 2, 0, 3), plain];
        assert_eq!(check_u16(&[0], 0, &chain, 1), children(2));
        let loops = node(1, 2, 0, 0);
        assert_eq!(
            check_u16(&[0], 0, &[loops], 1),
            fault("node 0 has two parents")
        );
        assert_eq!(
            check_u16(&[leaf], 0, &[plain], 1),
            fault("node 0 has no parent")
        );
        let leaves = fault("the leaves of node 0 are out of range");
        assert_eq!(check_u16(&[0], 0, &[plain], 0), leaves);
        assert_eq!(check_u16(&[0], 0, &[node(0, 3, 0, 0)], 1), leaves);
        // No leaf before the first slot that needs one.
        assert_eq!(check_u16(&[0], 0, &[node(0, 2, 0, 0)], 1), leaves);
        assert_eq!(check_u16(&[0], 0, &[node(0, 0, 0, 0)], 1), leaves);
        assert_eq!(check_u16(&[0], 0, &[node(0, 1, u32::MAX, 0)], 1), leaves);
        assert_eq!(check_u16(&[0], 0, &[node(1, 1, 0, 1), plain], 1), leaves);
    }
}
