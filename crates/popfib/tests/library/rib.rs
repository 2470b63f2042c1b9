//! The route store's memory: what routes leave is used again.

use popfib::{NextHop, Prefix, Rib};

use crate::common::random::Random;

#[test]
fn a_rib_that_changes_does_not_grow() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    // Close together, so that runs of values and of children of all lengths come and go.
    let prefixes: Vec<Prefix<u32>> = (0..3000)
        .map(|_| Prefix::new_masked((random.next() as u32) >> 12, 12 + random.below(21) as u8))
        .map(|prefix| prefix.expect("at most 32 bits"))
        .collect();
    let mut rib = Rib::new();
    let mut change = |rib: &mut Rib<u32>, changes: usize| {
        for _ in 0..changes {
            let prefix = prefixes[random.below(prefixes.len())];
            if random.below(2) == 0 {
                rib.insert(prefix, NextHop::MIN);
            } else {
                rib.remove(prefix);
            }
        }
        rib.bytes()
    };
    let first = change(&mut rib, 60_000);
    let later = change(&mut rib, 600_000);
    assert!(later <= first + first / 4, "{first} bytes, then {later}");
}

/// Nodes are built from the root of any Rib, also of one without routes below it.
#[test]
fn nodes_of_a_rib_with_one_route() {
    use popfib::fold::{Fold, Slot, Store};

    #[derive(Default)]
    struct Nodes(Vec<[Slot<usize>; 64]>);

    impl Store for Nodes {
        type Node = usize;

        fn store(&mut self, slots: &[Slot<usize>; 64]) -> Result<usize, popfib::CompileError> {
            self.0.push(*slots);
            Ok(self.0.len() - 1)
        }
    }

    let next_hop = NextHop::new(7).unwrap();
    for len in 0..=32 {
        let prefix = Prefix::<u32>::new_masked(0xc0a8_7351, len).unwrap();
        for (aggregation, inherited) in [(false, 0), (true, 0), (false, 7), (true, 7)] {
            let rib: Rib<u32> = [(prefix, next_hop)].into_iter().collect();
            let mut fold = Fold::new(&rib, aggregation, u32::MAX, Nodes::default());
            let (root, default) = rib.root_vertex();
            let inherited = if len == 0 { default } else { inherited };
            let mut slot = fold.node(root, inherited).unwrap();
            // The route's addresses have its next hop, all others what is inherited.
            for address in [prefix.first(), prefix.last(), !prefix.first(), 0] {
                let (mut at, mut depth) = (slot, 0);
                let leaf = loop {
                    match at {
                        Slot::Leaf(leaf) => break leaf,
                        Slot::Node(node) => {
                            let chunk = (u64::from(address) << 32 << depth >> 58) as usize;
                            (at, depth) = (fold.store.0[node][chunk], depth + 6);
                        }
                    }
                };
                let is_in = prefix.contains(address);
                assert_eq!(
                    leaf,
                    if is_in { 7 } else { inherited },
                    "{prefix} {address:x}"
                );
            }
            if aggregation && inherited == 7 {
                assert_eq!(slot, Slot::Leaf(7));
                slot = Slot::Leaf(0);
            }
            let nodes = usize::from(len.max(1)).div_ceil(6);
            let stored = if slot == Slot::Leaf(0) { 0 } else { nodes };
            assert_eq!(
                fold.store.0.len(),
                stored,
                "{prefix}, {aggregation}, {inherited}"
            );
        }
    }
}
