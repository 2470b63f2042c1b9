//! The corners, one by one: nothing, everything, ends of the key space, ends of strides, limits.

use crate::forms::{Form, Key};
use crate::judge::{affordable, every_direct_bits, prove, rib};
use crate::oracle::Route;
use crate::probes;
use crate::rounds::rounds;
use crate::tables::Random;
use popfib::{CompileError, Prefix};

/// The paper's stride.
const STRIDE: usize = 6;

fn route(text: &str, next_hop: u32) -> Route {
    if text.contains(':') {
        let prefix: Prefix<u128> = text.parse().unwrap();
        Route::new(probes::bits(prefix.address()), prefix.len(), next_hop)
    } else {
        let prefix: Prefix<u32> = text.parse().unwrap();
        Route::new(probes::bits(prefix.address()), prefix.len(), next_hop)
    }
}

/// All forms with few and many direct bits, none, and the choice of the library.
fn prove_all<A: Key>(routes: &[Route]) {
    let probes = probes::mixed::<A>(&mut Random::new(8), routes, 300);
    let most = A::WIDTH.min(24);
    let mut directs = vec![None, Some(0), Some(1)];
    directs.extend([5, 6, 7, 12, 16, 18].map(|s: u8| Some(s.min(most))));
    prove(routes, &Form::ALL, &directs, &probes);
    let most = most.min(rounds(20, most));
    prove(
        routes,
        &affordable(most, routes.len()),
        &[Some(most)],
        &probes,
    );
}

fn prove_all_keys(routes: &[Route]) {
    prove_all::<u8>(routes);
    prove_all::<u16>(routes);
    prove_all::<u32>(routes);
    prove_all::<u64>(routes);
    prove_all::<u128>(routes);
}

#[test]
fn empty_table() {
    prove_all_keys(&[]);
}

#[test]
fn default_route_only() {
    prove_all_keys(&[Route::new(0, 0, 1)]);
    prove_all_keys(&[Route::new(0, 0, 65_535)]);
}

#[test]
fn default_route_with_more_specifics() {
    let half = 1 << 127;
    prove_all_keys(&[Route::new(0, 0, 1), Route::new(half, 1, 2)]);
    prove_all_keys(&[
        Route::new(0, 0, 1),
        Route::new(0, 1, 2),
        Route::new(half, 1, 3),
    ]);
    // The same next hop below: nothing is left to tell apart.
    prove_all_keys(&[
        Route::new(0, 0, 1),
        Route::new(half, 1, 1),
        Route::new(half, 8, 1),
    ]);
    // The default route shows through a more specific of a more specific.
    prove_all_keys(&[
        Route::new(0, 0, 1),
        Route::new(half, 2, 2),
        Route::new(half, 8, 1),
    ]);
}

#[test]
fn host_routes_and_pairs() {
    prove_all::<u32>(&[
        route("10.0.0.0/8", 1),
        route("10.1.2.2/31", 2),
        route("10.1.2.3/32", 3),
        route("0.0.0.0/32", 4),
        route("255.255.255.255/32", 5),
        route("255.255.255.254/31", 6),
    ]);
    prove_all::<u128>(&[
        route("2001:db8::/32", 1),
        route("2001:db8::2/127", 2),
        route("2001:db8::3/128", 3),
        route("::/128", 4),
        route("::/127", 5),
        route("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128", 6),
        route("ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/127", 7),
    ]);
    prove_all_keys(&[Route::new(0, 8, 1), Route::new(u128::MAX, 8, 2)]);
    prove_all_keys(&[
        Route::new(0, 7, 1),
        Route::new(u128::MAX, 7, 2),
        Route::new(0, 8, 3),
    ]);
}

/// Every host of a /24, and the ones around it.
#[test]
fn all_hosts_of_a_network() {
    let mut routes = vec![route("192.0.2.0/24", 300)];
    for host in 0..256u32 {
        routes.push(route(&format!("192.0.2.{host}"), host / 3 + 1));
    }
    prove_all::<u32>(&routes);
}

/// Prefixes that end at, one before and one after s and every stride boundary after it; by default for every
/// fifth s, so at each distance from a stride.
#[test]
fn ends_at_s_and_at_strides() {
    fn prove_key<A: Key>() {
        let mut random = Random::new(9);
        for s in every_direct_bits::<A>().step_by(rounds(5, 1)) {
            let ends: Vec<u8> = (s..=A::WIDTH).step_by(STRIDE).collect();
            let anchors = [0, u128::MAX, random.wide()];
            // Large direct tables take the three in turn.
            let anchors = if s > 18 {
                &anchors[usize::from(s) % 3..][..1]
            } else {
                &anchors[..]
            };
            for &anchor in anchors {
                let mut nested = Vec::new();
                for &end in &ends {
                    for len in [end.saturating_sub(1), end, end + 1] {
                        if len > A::WIDTH {
                            continue;
                        }
                        let alone = Route::new(anchor, len, 1 + u32::from(len));
                        let probes = probes::boundaries::<A>(&[alone]);
                        // Beside a large direct table only what ends near it.
                        if s <= 12 || len.abs_diff(s) <= 1 {
                            let forms = affordable(s, len.into());
                            prove(&[alone], &forms, &[Some(s)], &probes);
                        }
                        nested.push(alone);
                        if len > 0 {
                            let sibling = anchor ^ 1 << (128 - len);
                            nested.push(Route::new(sibling, len, 1_000 + u32::from(len % 2)));
                        }
                    }
                }
                let probes = probes::mixed::<A>(&mut random, &nested, 100);
                prove(&nested, &affordable(s, s.into()), &[Some(s)], &probes);
            }
        }
    }
    prove_key::<u8>();
    prove_key::<u16>();
    prove_key::<u32>();
    prove_key::<u64>();
    prove_key::<u128>();
}

/// One prefix of every length along one address, each with a next hop of its own.
#[test]
fn deepest_nesting() {
    fn prove_key<A: Key>() {
        for anchor in [0, u128::MAX, u128::MAX / 3] {
            let routes: Vec<Route> = (0..=A::WIDTH)
                .map(|len| Route::new(anchor, len, 1 + u32::from(len)))
                .collect();
            prove_all::<A>(&routes);
        }
    }
    prove_key::<u8>();
    prove_key::<u16>();
    prove_key::<u32>();
    prove_key::<u64>();
    prove_key::<u128>();
}

#[test]
fn next_hops_of_16_bits() {
    prove_all_keys(&[Route::new(0, 0, 65_535), Route::new(0, 5, 65_534)]);
}

#[test]
fn next_hops_of_32_bits() {
    let highest = (1 << 31) - 1;
    let routes = [
        Route::new(0, 0, highest),
        Route::new(0, 5, 65_536),
        Route::new(0, 30, highest - 1),
    ];
    let is_wide = |form: &Form| form.max_next_hop() == highest;
    let wide: Vec<Form> = Form::ALL.into_iter().filter(is_wide).collect();
    let probes = probes::boundaries::<u32>(&routes);
    for s in every_direct_bits::<u32>() {
        prove(&routes, &wide, &[Some(s)], &probes);
    }
}

#[test]
fn next_hops_that_are_too_high() {
    for form in Form::ALL {
        let max = form.max_next_hop();
        for next_hop in [max + 1, u32::MAX] {
            let too_high = rib::<u128>(&[Route::new(0, 64, next_hop), Route::new(0, 8, 1)]);
            let error = form.compile(&too_high, None).err();
            let expected = CompileError::NextHop { next_hop, max };
            assert!(expected.to_string().contains(&next_hop.to_string()));
            assert_eq!(error, Some(expected), "{form:?}");
        }
    }
}

#[test]
fn too_many_direct_bits() {
    fn prove_key<A: Key>() {
        let most = A::WIDTH.min(24);
        let rib = rib::<A>(&[Route::new(0, 4, 1)]);
        for form in Form::ALL {
            assert!(form.compile(&rib, Some(most)).is_ok());
            for s in [most + 1, 25, 32, 33, 64, 128, 255] {
                let error = form.compile(&rib, Some(s)).err().expect("too many");
                let expected = CompileError::DirectBits {
                    direct_bits: s,
                    max: most,
                };
                assert_eq!(error, expected);
            }
        }
    }
    prove_key::<u8>();
    prove_key::<u16>();
    prove_key::<u32>();
    prove_key::<u64>();
    prove_key::<u128>();
}
