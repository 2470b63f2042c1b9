//! What small tables may cost.

use crate::cases;
use crate::judge::rib;
use crate::oracle::Route;
use crate::tables::{self, Random};
use popfib::{Address, Fib, Options};

/// A thousand small tables must be cheap: ten routes anywhere cost at most 8 KiB,
/// Rib and Fib, also host routes of IPv6 with nothing in common.
#[test]
fn small_tables_are_small() {
    fn prove_key<A: Address>(longest: u8, most: usize) {
        let mut random = Random::new(10);
        for _ in 0..100 {
            let routes: Vec<Route> = (1..=10)
                .map(|next_hop| Route::new(random.wide(), random.len(1, longest), next_hop))
                .collect();
            let hosts: Vec<Route> = routes
                .iter()
                .map(|r| Route::new(random.under(r.bits, r.len), longest, r.next_hop))
                .collect();
            for routes in [routes, hosts] {
                let rib = rib::<A>(&routes);
                let fib = Fib::<A>::compile(&rib, &Options::default()).unwrap();
                let bytes = rib.bytes() + fib.bytes();
                assert!(bytes <= most, "{bytes} bytes, {routes:?}");
            }
        }
    }
    prove_key::<u8>(8, 8 << 10);
    prove_key::<u16>(16, 8 << 10);
    prove_key::<u32>(32, 8 << 10);
    prove_key::<u64>(64, 8 << 10);
    prove_key::<u128>(64, 8 << 10);
    prove_key::<u128>(128, 8 << 10);
}

/// With route aggregation a table that says one thing only needs no node at all.
#[test]
fn one_answer_is_one_leaf() {
    fn prove_key<A: Address>() {
        let mut random = Random::new(19);
        for _ in 0..cases(100) {
            let mut routes = tables::mixed(&mut random, A::WIDTH, 100);
            routes.push(Route::new(0, 0, 1));
            for route in &mut routes {
                route.next_hop = 1;
            }
            let rib = rib::<A>(&routes);
            for s in [0, 5, 8] {
                let fib = Fib::<A>::compile(&rib, &Options::default().direct_bits(Some(s)));
                let fib = fib.unwrap();
                assert_eq!((fib.node_count(), fib.leaf_count()), (0, 0), "s={s}");
                // The arena of blocks begins with the idle one.
                assert_eq!(fib.bytes(), (4 << s) + 12);
            }
        }
    }
    prove_key::<u8>();
    prove_key::<u16>();
    prove_key::<u32>();
    prove_key::<u64>();
    prove_key::<u128>();
}
