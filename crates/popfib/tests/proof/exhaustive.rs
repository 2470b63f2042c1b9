//! Every address of narrow keys, in every form, with every s.

use crate::cases;
use crate::forms::{Form, Key};
use crate::judge::{every_direct_bits, prove};
use crate::oracle::Route;
use crate::probes::all;
use crate::rounds::rounds;
use crate::tables::{Random, mixed};

fn random_tables<A: Key>(tables: u32, longest: u32, seed: u64) {
    let mut random = Random::new(seed);
    let probes = all::<A>();
    let mut directs: Vec<_> = every_direct_bits::<A>().map(Some).collect();
    directs.push(None);
    for _ in 0..tables {
        let count = random.between(0, longest);
        let routes = mixed(&mut random, A::WIDTH, count as usize);
        prove(&routes, &Form::ALL, &directs, &probes);
    }
}

#[test]
fn u8_random_tables() {
    random_tables::<u8>(cases(rounds(2_000, 5_000)), 80, 4);
}

#[test]
fn u16_random_tables() {
    random_tables::<u16>(cases(rounds(30, 100)), 200, 5);
}

/// All tables of one route and all of two, with equal and with different next
/// hops. Form and s take turns: 36 ways (72 of the paper's), coprime to the 511 prefixes, so that
/// every prefix meets every way.
#[test]
fn u8_every_pair_of_routes() {
    let prefixes: Vec<Route> = (0..=8u8)
        .flat_map(|len| (0..1u128 << len).map(move |value| (value, len)))
        .map(|(value, len)| {
            let bits = value.checked_shl(128 - u32::from(len)).unwrap_or(0);
            Route::new(bits, len, 7)
        })
        .collect();
    assert_eq!(prefixes.len(), 511);
    let probes = all::<u8>();
    let mut turn = 0usize;
    for (at, &first) in prefixes.iter().enumerate() {
        prove(
            &[first],
            &Form::ALL,
            &[Some(0), Some(3), Some(8), None],
            &probes,
        );
        for &second in &prefixes[at + 1..] {
            for next_hop in [7, 9] {
                turn += 1;
                if cfg!(debug_assertions) && !turn.is_multiple_of(11) {
                    continue;
                }
                let routes = [first, Route { next_hop, ..second }];
                let form = Form::new(turn % Form::COUNT);
                let s = (turn / Form::COUNT % 9) as u8;
                prove(&routes, &[form], &[Some(s)], &probes);
            }
        }
    }
}
