//! The addresses to ask for: where answers change, and random ones.

use crate::oracle::Route;
use crate::tables::Random;
use popfib::Address;

/// The first bits of a left-aligned address as a key.
pub(crate) fn key<A: Address>(bits: u128) -> A {
    A::truncate(bits >> (128 - A::WIDTH))
}

/// A key as a left-aligned address.
pub(crate) fn bits<A: Address>(key: A) -> u128 {
    key.to_u128() << (128 - A::WIDTH)
}

/// First and last address of every route, their outer neighbours, and both ends of the key space.
pub(crate) fn boundaries<A: Address>(routes: &[Route]) -> Vec<A> {
    let unit = 1u128 << (128 - A::WIDTH);
    let mut probes = vec![A::MIN, A::MAX];
    for route in routes {
        probes.push(key(route.bits));
        probes.push(key(route.last()));
        probes.extend(route.bits.checked_sub(unit).map(key::<A>));
        probes.extend(route.last().checked_add(unit).map(key::<A>));
    }
    probes
}

/// Random addresses, every second one inside a route.
pub(crate) fn random<A: Address>(random: &mut Random, routes: &[Route], count: usize) -> Vec<A> {
    let mut probe = |i: usize| {
        let inside = i % 2 == 1 && !routes.is_empty();
        if !inside {
            return key(random.wide());
        }
        let route = routes[random.between(0, routes.len() as u32 - 1) as usize];
        key(random.under(route.bits, route.len))
    };
    (0..count).map(&mut probe).collect()
}

/// Boundaries and random addresses.
pub(crate) fn mixed<A: Address>(rng: &mut Random, routes: &[Route], count: usize) -> Vec<A> {
    let mut probes = boundaries(routes);
    probes.extend(random::<A>(rng, routes, count));
    probes
}

/// Every address of a narrow key.
pub(crate) fn all<A: Address>() -> Vec<A> {
    (0..1u128 << A::WIDTH).map(A::truncate).collect()
}
