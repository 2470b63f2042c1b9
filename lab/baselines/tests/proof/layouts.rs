//! What the paper's options save.

use crate::cases;
use crate::forms::{Form, Key};
use crate::judge::rib;
use crate::oracle::Route;
use crate::tables::Random;
use popfib::{Fib, Options};
use popfib_baselines::poptrie::{BasicNode, LeafvecNode};

/// Leafvec and route aggregation only ever save space.
///
/// Aggregation may add leaves, where a merged child now divides a run of its
/// parent, but never more than the node that is gone was worth.
#[test]
fn options_save_space() {
    let mut random = Random::new(11);
    for _ in 0..cases(500) {
        let routes = crate::tables::mixed(&mut random, 32, 200);
        let rib = rib::<u32>(&routes);
        for s in [0, 6, 12] {
            let compile = |leafvec, aggregation| {
                let form = Form {
                    wide: true,
                    leafvec,
                    aggregation,
                };
                form.compile(&rib, Some(s)).unwrap()
            };
            let (plain, leafvec) = (compile(false, false), compile(true, false));
            let (merged, all) = (compile(false, true), compile(true, true));
            let options = Options::default().direct_bits(Some(s));
            let blocks = Fib::<u32>::compile(&rib, &options).unwrap();
            assert_eq!(blocks.node_count(), all.nodes());
            assert_eq!(leafvec.nodes(), plain.nodes());
            assert!(leafvec.leaves() <= plain.leaves());
            assert_eq!(all.nodes(), merged.nodes());
            assert!(all.leaves() <= merged.leaves());
            assert!(merged.nodes() <= plain.nodes());
            assert!(merged.leaves() <= plain.leaves());
            assert!(all.bytes() <= leafvec.bytes());
        }
    }
}

/// With route aggregation a table that says one thing only needs no node at all.
#[test]
fn one_answer_is_one_leaf() {
    fn prove_key<A: Key>() {
        let mut random = Random::new(19);
        for _ in 0..cases(100) {
            let mut routes = crate::tables::mixed(&mut random, A::WIDTH, 100);
            routes.push(Route::new(0, 0, 1));
            for route in &mut routes {
                route.next_hop = 1;
            }
            let rib = rib::<A>(&routes);
            for s in [0, 5, 8] {
                for leafvec in [false, true] {
                    let form = Form {
                        wide: false,
                        leafvec,
                        aggregation: true,
                    };
                    let fib = form.compile(&rib, Some(s)).unwrap();
                    assert_eq!((fib.nodes(), fib.leaves()), (0, 0), "{form:?} s={s}");
                    assert_eq!(fib.bytes(), 4 << s);
                }
            }
        }
    }
    prove_key::<u8>();
    prove_key::<u16>();
    prove_key::<u32>();
    prove_key::<u64>();
    prove_key::<u128>();
}

/// The sizes of the paper's two nodes.
#[test]
fn node_sizes() {
    assert_eq!(size_of::<BasicNode>(), 16);
    assert_eq!(size_of::<LeafvecNode>(), 24);
}
