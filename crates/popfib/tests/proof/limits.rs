//! What small tables may cost.

use crate::cases;
use crate::judge::rib;
use crate::oracle::Route;
use crate::tables::{self, Random};
use popfib::{Address, Fib, Options, Size};

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

/// What is flat, and what is not although it was asked for.
#[test]
fn tables_are_flat_where_that_suits_their_routes() {
    fn size<A: Address>(routes: &[Route]) -> Size {
        let rib = rib::<A>(routes);
        let smallest = Fib::<A>::compile(&rib, &Options::default()).unwrap();
        let options = Options::default().size(Size::Balanced);
        let fib = Fib::<A>::compile(&rib, &options).unwrap();
        let is_smallest = fib.bytes() == smallest.bytes();
        assert_eq!(fib.size() == Size::Smallest, is_smallest);
        fib.size()
    }
    let mut random = Random::new(23);
    let mut routes = |count: usize, len: u8, next_hops: u32| -> Vec<Route> {
        (1..=count as u32)
            .map(|n| Route::new(random.wide(), len, 1 + n % next_hops))
            .collect()
    };
    let small = routes(50, 24, 9);
    let large = routes(100_000, 24, 9);
    // A block for each host would take tens of MiB.
    let hosts = routes(200_000, 32, 9);
    let many_values = routes(300_000, 24, 300_000);
    assert_eq!(size::<u32>(&small), Size::Smallest);
    assert_eq!(size::<u32>(&large), Size::Balanced);
    assert_eq!(size::<u32>(&hosts), Size::Smallest);
    assert_eq!(size::<u32>(&many_values), Size::Smallest);
    assert_eq!(size::<u128>(&small), Size::Smallest);
    // As those of the Internet are, in a small part of the space.
    let mut near = |count, len| -> Vec<Route> {
        let routes = routes(count, len, 9).into_iter();
        routes
            .map(|r| Route::new(r.bits >> 8 & u128::MAX << (128 - len), len, r.next_hop))
            .collect()
    };
    assert_eq!(size::<u128>(&near(20_000, 36)), Size::Balanced);
    assert_eq!(size::<u128>(&near(100_000, 64)), Size::Smallest);
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
