//! Orders of events, at random and all short ones.

use crate::orders::{Bytes, KINDS, World, play};

/// Fewer rounds without POPFIB_ROUNDS.
fn rounds(few: usize, all: usize) -> usize {
    match std::env::var_os("POPFIB_ROUNDS") {
        None => few,
        Some(_) => all,
    }
}

#[test]
fn random_orders_of_events_end_in_the_routes_of_the_model() {
    for seed in 0..rounds(400, 20_000) as u64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let length = random.usize(10..600);
        let bytes: Vec<u8> = (0..length).map(|_| random.u8(..)).collect();
        let result = std::panic::catch_unwind(|| play(&bytes));
        assert!(result.is_ok(), "seed {seed}");
    }
}

/// Of one stream and one path, and the events that concern them.
#[test]
fn all_short_orders_of_events_end_in_the_routes_of_the_model() {
    // Two connections of a router, announcement, withdrawal, up, down, end of RIB, close, tick, long wait, reload, restart, limit.
    let events: [(u8, &[u8]); 12] = [
        (0, &[1]),
        (2, &[]),
        (6, &[]),
        (7, &[]),
        (8, &[]),
        (9, &[]),
        (10, &[]),
        (12, &[]),
        (11, &[3, 0]),
        (13, &[1]),
        (14, &[]),
        (2, &[1]),
    ];
    assert!(events.iter().all(|(kind, _)| *kind < KINDS));
    let depth = rounds(4, 5);
    let mut order = vec![0; depth];
    loop {
        let mut world = World::new();
        // Without a route nothing can go wrong.
        for (kind, bytes) in [(0u8, &[1u8][..]), (2, &[])] {
            world.event(kind, &mut Bytes(bytes));
        }
        for &event in &order {
            let (kind, bytes) = events[event];
            world.event(kind, &mut Bytes(bytes));
        }
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            world.check();
            world.settle();
        }));
        assert!(result.is_ok(), "{order:?}");
        let Some(at) = order.iter().rposition(|&event| event + 1 < events.len()) else {
            return;
        };
        order[at] += 1;
        order[at + 1..].fill(0);
    }
}
