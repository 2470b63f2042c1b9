//! Property tests: random tables over every key width from 1 to 128, every form, every s.
//!
//! A width that is no key type of its own is the leading part of the smallest
//! key that holds it: no prefix is longer, and the bits after are random.

use crate::cases;
use crate::forms::{Form, Key};
use crate::judge::{affordable, every_direct_bits, fault, prove, with_key};
use crate::oracle::Route;
use crate::probes;
use crate::tables::{self, Random};
use proptest::collection::vec;
use proptest::prelude::*;

/// A route near one of a few anchors, so that routes meet: `shared` bits of the
/// anchor, then bits of its own.
#[derive(Clone, Copy, Debug)]
struct Sketch {
    anchor: usize,
    shared: u8,
    own: u128,
    len: u8,
    next_hop: u32,
}

impl Sketch {
    fn route(self, anchors: &[u128]) -> Route {
        let own = self.own.checked_shr(self.shared.into()).unwrap_or(0);
        let mask = u128::MAX.checked_shr(self.shared.into()).unwrap_or(0);
        let bits = anchors[self.anchor] & !mask | own;
        Route::new(bits, self.len, self.next_hop)
    }
}

fn sketch(width: u8) -> impl Strategy<Value = Sketch> {
    let next_hop = prop_oneof![4 => 1..=3u32, 1 => 1..=65_535u32];
    (0..3usize, 0..=width, any::<u128>(), 0..=width, next_hop).prop_map(
        |(anchor, shared, own, len, next_hop)| Sketch {
            anchor,
            shared,
            own,
            len,
            next_hop,
        },
    )
}

/// A table of few routes near each other, with a width, direct bits and a seed for the probes.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) width: u8,
    pub(crate) routes: Vec<Route>,
    pub(crate) direct_bits: u8,
    pub(crate) seed: u64,
}

pub(crate) fn case(routes: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Case> {
    // Tables of 2^24 entries are rare here: `every_s_of_every_key` has them all.
    let direct_bits = prop_oneof![120 => 0..=12u8, 8 => 13..=18u8, 1 => 19..=24u8];
    (1..=128u8).prop_flat_map(move |width| {
        let sketches = vec(sketch(width), routes.clone());
        let anchors = vec(any::<u128>(), 3);
        (sketches, anchors, direct_bits.clone(), any::<u64>()).prop_map(
            move |(sketches, anchors, direct_bits, seed)| Case {
                width,
                routes: sketches.iter().map(|s| s.route(&anchors)).collect(),
                direct_bits,
                seed,
            },
        )
    })
}

fn judge<A: Key>(case: &Case) -> Option<String> {
    let mut random = Random::new(case.seed);
    let probes = probes::mixed::<A>(&mut random, &case.routes, 64);
    let s = case.direct_bits.min(A::WIDTH);
    let forms = affordable(s, case.seed as usize);
    fault(&case.routes, &forms, &[Some(s), None], &probes)
}

#[test]
fn one_to_three_routes() {
    let config = ProptestConfig::with_cases(cases(4_000));
    proptest!(config, |(case in case(1..=3))| {
        let found = with_key!(case.width, judge(&case));
        prop_assert!(found.is_none(), "{}", found.unwrap());
    });
}

#[test]
fn many_routes() {
    let config = ProptestConfig::with_cases(cases(600));
    proptest!(config, |(case in case(4..=400))| {
        let found = with_key!(case.width, judge(&case));
        prop_assert!(found.is_none(), "{}", found.unwrap());
    });
}

/// Every width with every s of up to 12 bits, tables of all shapes.
#[test]
fn every_width() {
    fn prove_width<A: Key>(width: u8, random: &mut Random, count: usize) {
        let routes = tables::mixed(random, width, count);
        let probes = probes::mixed::<A>(random, &routes, 200);
        let mut directs: Vec<_> = (0..=A::WIDTH.min(12)).map(Some).collect();
        directs.push(None);
        prove(&routes, &Form::ALL, &directs, &probes);
    }
    let mut random = Random::new(2);
    for width in 1..=128 {
        for round in 0..cases(10) {
            let count = [1, 2, 3, 10, 40, 150, 400][round as usize % 7];
            with_key!(width, prove_width(width, &mut random, count));
        }
    }
}

/// Every s that a key type allows, up to 2^24 direct entries, in every form.
#[test]
fn every_s_of_every_key() {
    fn prove_key<A: Key>(random: &mut Random) {
        for s in every_direct_bits::<A>() {
            // The tables of 2^20 entries and more cost what many small ones do.
            let rounds = if s < 20 { 4 } else { 1 };
            for round in 0..rounds {
                let count = [300, 3, 40, 100][round];
                let routes = tables::mixed(random, A::WIDTH, count);
                let probes = probes::mixed::<A>(random, &routes, 500);
                let forms = if s >= 20 && cfg!(debug_assertions) {
                    &Form::ALL[s as usize % Form::COUNT..][..1]
                } else {
                    &Form::ALL[..]
                };
                prove(&routes, forms, &[Some(s)], &probes);
            }
        }
    }
    let mut random = Random::new(3);
    prove_key::<u8>(&mut random);
    prove_key::<u16>(&mut random);
    prove_key::<u32>(&mut random);
    prove_key::<u64>(&mut random);
    prove_key::<u128>(&mut random);
}
