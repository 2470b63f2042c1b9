//! Several paths for one prefix, against a map of maps; and what is reported
//! about the best of them, against a Rib that follows the reports.

#[path = "../../../popfib/tests/common/rounds.rs"]
mod rounds;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use popfib::{Address, NextHop, Prefix, Rib};
use popfib_table::multi_rib::{BestChange, MultiRib, Path};
use rounds::rounds;

use crate::random::Random;

#[derive(Clone, Copy, Debug, PartialEq)]
struct FromPeer {
    peer: u8,
    protocol: char,
    metric: u32,
    next_hop: NextHop,
}

impl Path for FromPeer {
    type Key = (char, u8);

    fn key(&self) -> (char, u8) {
        (self.protocol, self.peer)
    }

    fn next_hop(&self) -> NextHop {
        self.next_hop
    }

    /// The lower metric.
    fn preference(&self, other: &Self) -> Ordering {
        other.metric.cmp(&self.metric)
    }
}

/// The best first. Sorting is long, and compiled once here, not for each width of keys.
fn by_preference(paths: &mut [FromPeer]) {
    paths.sort_by_key(|path| (path.metric, path.key()));
}

/// The paths as they should be, and what the reports amount to.
struct Model<A> {
    paths: BTreeMap<Prefix<A>, BTreeMap<(char, u8), FromPeer>>,
    follower: Rib<A>,
}

impl<A: Address> Model<A> {
    /// The paths of a prefix, the best first: by metric, then by key.
    fn sorted(&self, prefix: Prefix<A>) -> Vec<FromPeer> {
        let paths = self.paths.get(&prefix).into_iter().flatten();
        let mut paths: Vec<_> = paths.map(|(_, path)| *path).collect();
        by_preference(&mut paths);
        paths
    }

    fn follow(&mut self, prefix: Prefix<A>, change: BestChange) {
        let before = self.follower.get(prefix);
        match change {
            BestChange::Unchanged => {}
            BestChange::Announce(next_hop) => {
                assert_ne!(before, Some(next_hop), "that is no change");
                self.follower.insert(prefix, next_hop);
            }
            BestChange::Withdraw => {
                assert!(before.is_some());
                self.follower.remove(prefix);
            }
        }
    }

    fn assert_same(&mut self, rib: &MultiRib<A, FromPeer>, probe: Prefix<A>) {
        self.paths.retain(|_, paths| !paths.is_empty());
        let paths = self.sorted(probe);
        assert!(rib.paths(probe).eq(&paths), "{probe} {rib:?}");
        assert_eq!(rib.best(probe), paths.first());
        for path in &paths {
            assert_eq!(rib.get(probe, &path.key()), Some(path));
        }
        assert_eq!(rib.get(probe, &('x', 0)), None);
        let all = self.paths.keys().flat_map(|&prefix| {
            self.sorted(prefix)
                .into_iter()
                .map(move |path| (prefix, path))
        });
        assert!(rib.iter().map(|(prefix, path)| (prefix, *path)).eq(all));
        let count: usize = self.paths.values().map(BTreeMap::len).sum();
        assert_eq!((rib.len(), rib.path_count()), (self.paths.len(), count));
        assert_eq!(rib.is_empty(), count == 0);
        let mut best: Vec<_> = rib.iter().collect();
        best.dedup_by_key(|&mut (prefix, _)| prefix);
        let best = best
            .into_iter()
            .map(|(prefix, path)| (prefix, path.next_hop));
        assert!(best.eq(self.follower.iter()));
    }
}

/// `peers` peers.
fn random_operations<A: Address>(seed: u64, peers: usize) {
    let mut random = Random(seed);
    for round in (0..40).step_by(rounds(5, 1)) {
        let pool: Vec<Prefix<A>> = (0..1 + round).map(|_| random.prefix()).collect();
        let mut rib = MultiRib::<A, FromPeer>::new();
        let mut model = Model {
            paths: BTreeMap::new(),
            follower: Rib::new(),
        };
        for _ in 0..300.max(peers * 6) {
            let prefix = pool[random.below(pool.len())];
            let path = FromPeer {
                peer: random.below(peers) as u8,
                protocol: ['b', 's'][random.below(2)],
                // Few, so that they tie.
                metric: random.below(3) as u32,
                next_hop: NextHop::new(1 + random.below(4) as u32).unwrap(),
            };
            match random.below(if peers > 4 { 200 } else { 40 }) {
                0 => {
                    let lost = path.key();
                    rib.retain(
                        |_, path| path.key() != lost,
                        |prefix, change| model.follow(prefix, change),
                    );
                    for paths in model.paths.values_mut() {
                        paths.remove(&lost);
                    }
                }
                1 => {
                    let keep = |prefix: Prefix<A>, path: &FromPeer| {
                        (u32::from(prefix.len()) + path.metric).is_multiple_of(2)
                    };
                    // In steps of a few prefixes, or all at once.
                    let step = [1, 3, usize::MAX][random.below(3)];
                    let mut after = None;
                    loop {
                        after = rib.retain_some(after, step, keep, |prefix, change| {
                            assert_ne!(change, BestChange::Unchanged);
                            model.follow(prefix, change);
                        });
                        if after.is_none() {
                            break;
                        }
                    }
                    for (&prefix, paths) in &mut model.paths {
                        paths.retain(|_, path| keep(prefix, path));
                    }
                }
                2..24 | 40..150 => {
                    let change = rib.announce(prefix, path);
                    model.follow(prefix, change);
                    model
                        .paths
                        .entry(prefix)
                        .or_default()
                        .insert(path.key(), path);
                }
                _ => {
                    let expected = model.paths.entry(prefix).or_default().remove(&path.key());
                    let withdrawn = rib.withdraw(prefix, &path.key());
                    assert_eq!(withdrawn.map(|(path, _)| path), expected);
                    if let Some((_, change)) = withdrawn {
                        model.follow(prefix, change);
                    }
                }
            }
            model.assert_same(&rib, prefix);
        }
        rib.retain(|_, _| false, |prefix, change| model.follow(prefix, change));
        assert!(rib.is_empty() && model.follower.is_empty());
        assert_eq!(rib.bytes(), 0);
    }
}

// As in `walks`, not of all widths.
#[test]
fn paths_against_a_map_of_maps() {
    random_operations::<u16>(2, 4);
    random_operations::<u32>(3, 4);
    random_operations::<u128>(5, 4);
}

#[test]
fn equal_paths_do_not_depend_on_their_history() {
    let path = |peer, next_hop| FromPeer {
        peer,
        protocol: 'b',
        metric: 10,
        next_hop: NextHop::new(next_hop).unwrap(),
    };
    let mut rib = MultiRib::<u32, _>::new();
    let prefix = Prefix::DEFAULT_ROUTE;
    let announced = |n| BestChange::Announce(NextHop::new(n).unwrap());
    assert_eq!(rib.announce(prefix, path(2, 20)), announced(20));
    assert_eq!(rib.announce(prefix, path(1, 10)), announced(10));
    assert_eq!(rib.announce(prefix, path(3, 30)), BestChange::Unchanged);
    // Again, and with another next hop.
    assert_eq!(rib.announce(prefix, path(1, 10)), BestChange::Unchanged);
    assert_eq!(rib.announce(prefix, path(1, 30)), announced(30));
    // Another path is best, but leads to the same place.
    let (_, change) = rib.withdraw(prefix, &('b', 2)).unwrap();
    assert_eq!(change, BestChange::Unchanged);
    let (_, change) = rib.withdraw(prefix, &('b', 1)).unwrap();
    assert_eq!(change, BestChange::Unchanged);
    assert!(
        rib.withdraw(prefix, &('b', 1)).is_none(),
        "not there any more"
    );
    let (_, change) = rib.withdraw(prefix, &('b', 3)).unwrap();
    assert_eq!(change, BestChange::Withdraw);
}

/// So many for a prefix that they lie in lists, which become chains again.
#[test]
fn many_paths_of_a_prefix() {
    random_operations::<u16>(6, 250);
    random_operations::<u32>(7, 100);
    random_operations::<u128>(8, 60);
}

/// Of one prefix, in the order in which a hostile router would send them: what is counted are comparisons.
#[test]
fn a_path_among_many_takes_few_steps() {
    use std::cell::Cell;

    thread_local! {
        static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Counted {
        key: u32,
        metric: u32,
    }

    impl Path for Counted {
        type Key = u32;

        fn key(&self) -> u32 {
            STEPS.set(STEPS.get() + 1);
            self.key
        }

        fn next_hop(&self) -> NextHop {
            NextHop::new(self.key + 1).unwrap()
        }

        fn preference(&self, other: &Self) -> Ordering {
            STEPS.set(STEPS.get() + 1);
            other.metric.cmp(&self.metric)
        }
    }

    const COUNT: u32 = 20_000;
    let steps = || STEPS.replace(0) / COUNT as usize;
    let mut rib = MultiRib::<u32, Counted>::new();
    let prefix = Prefix::DEFAULT_ROUTE;
    for key in 0..COUNT {
        // Each is better than all before.
        let metric = COUNT - key;
        let change = rib.announce(prefix, Counted { key, metric });
        assert_eq!(change, BestChange::Announce(NextHop::new(key + 1).unwrap()));
    }
    assert!(steps() < 200);
    for key in 0..COUNT {
        let change = rib.announce(prefix, Counted { key, metric: key });
        assert!(key < COUNT / 2 || change == BestChange::Unchanged);
    }
    assert!(steps() < 200);
    assert!(rib.paths(prefix).map(|path| path.key).eq(0..COUNT));
    let last = Counted {
        key: 100,
        metric: 100,
    };
    let after = rib.paths_after(prefix, &last).map(|path| path.key);
    assert!(after.eq(101..COUNT));
    assert_eq!(rib.count_keys(prefix, &500, &10_000), 9501);
    assert_eq!(rib.get(prefix, &77).unwrap().metric, 77);
    STEPS.set(0);
    // A walk stops inside of the prefix, and goes on after a change there.
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let keep = |_, path: &Counted| {
            seen.push(path.key);
            !path.key.is_multiple_of(4)
        };
        after = rib.retain_some(after, 1000, keep, |_, _| {});
        if after.is_none() {
            break;
        }
        let next = seen.last().unwrap() + 1;
        rib.withdraw(prefix, &next);
    }
    assert!(seen.len() > COUNT as usize - 21 && seen.is_sorted_by(|a, b| a < b));
    assert!(steps() < 200);
    let left: Vec<u32> = rib.paths(prefix).map(|path| path.key).collect();
    assert!(left.len() < COUNT as usize * 3 / 4 && left.iter().all(|key| !key.is_multiple_of(4)));
    for key in left.into_iter().rev() {
        assert_eq!(rib.withdraw(prefix, &key).unwrap().0.key, key);
    }
    assert!(steps() < 200);
    assert_eq!((rib.len(), rib.bytes()), (0, 0));
}
