//! Maps that follow the operations on a Rib: both kinds of values, by several options.

use crate::oracle::Oracle;
use crate::probes::{bits, key};
use popfib::live::MapReader;
use popfib::map::{Own, Shared, Stores};
use popfib::{Address, LiveMap, NextHop, Options, Prefix, PrefixMap};

/// Maps of different options with the same routes, a next hop their value.
pub(crate) struct Maps<A: Address> {
    own: [PrefixMap<A, u32, Own>; 3],
    shared: [PrefixMap<A, u32, Shared>; 3],
    live: (LiveMap<A, u32, Own>, MapReader<A, u32>),
    live_shared: (LiveMap<A, u32, Shared>, MapReader<A, u32>),
}

impl<A: Address> Default for Maps<A> {
    fn default() -> Self {
        fn of<A: Address, S: Stores<u32>>() -> [PrefixMap<A, u32, S>; 3] {
            [
                Options::default(),
                Options::default().direct_bits(Some(0)),
                Options::default().direct_bits(Some(7)).aggregation(false),
            ]
            .map(PrefixMap::with_options)
        }
        let (live, live_shared) = (LiveMap::new(), LiveMap::shared());
        let readers = (live.reader(), live_shared.reader());
        Self {
            own: of(),
            shared: of(),
            live: (live, readers.0),
            live_shared: (live_shared, readers.1),
        }
    }
}

impl<A: Address> Maps<A> {
    /// Inserts a route, which replaces `old`, and asks for `keys`.
    pub(crate) fn insert(
        &mut self,
        prefix: Prefix<A>,
        next_hop: NextHop,
        old: Option<NextHop>,
        (keys, oracle): (&[A], &Oracle),
    ) {
        let (value, old) = (next_hop.get(), old.map(NextHop::get));
        for map in &mut self.own {
            assert_eq!(map.insert(prefix, value), old);
        }
        for map in &mut self.shared {
            assert_eq!(map.insert(prefix, value), old);
        }
        let was_there = Ok(old.is_some());
        assert_eq!(self.live.0.announce(prefix, value), was_there);
        assert_eq!(self.live_shared.0.announce(prefix, value), was_there);
        self.answers(keys, oracle);
    }

    /// Removes a route, whose next hop is `old`, and asks for `keys`.
    pub(crate) fn remove(
        &mut self,
        prefix: Prefix<A>,
        old: Option<NextHop>,
        (keys, oracle): (&[A], &Oracle),
    ) {
        let old = old.map(NextHop::get);
        for map in &mut self.own {
            assert_eq!(map.remove(prefix), old);
        }
        for map in &mut self.shared {
            assert_eq!(map.remove(prefix), old);
        }
        assert_eq!(self.live.0.withdraw(prefix), Ok(old.is_some()));
        assert_eq!(self.live_shared.0.withdraw(prefix), Ok(old.is_some()));
        self.answers(keys, oracle);
    }

    /// Removes every route, in two ways.
    pub(crate) fn clear(&mut self) {
        self.own.iter_mut().for_each(|map| map.retain(|_, _| false));
        self.shared.iter_mut().for_each(PrefixMap::clear);
        let gone = |prefixes: Vec<Prefix<A>>| prefixes.into_iter().map(|prefix| (prefix, None));
        let prefixes = self.live.0.iter().map(|(prefix, _)| prefix).collect();
        self.live.0.apply(gone(prefixes)).unwrap();
        let prefixes = self
            .live_shared
            .0
            .iter()
            .map(|(prefix, _)| prefix)
            .collect();
        self.live_shared.0.apply(gone(prefixes)).unwrap();
        self.check(&[], &Oracle::default());
    }

    /// Holds the maps' answers against the oracle, and verifies all of them.
    pub(crate) fn check(&mut self, keys: &[A], oracle: &Oracle) {
        let routes = oracle.sorted();
        let routes = routes.iter().map(|r| {
            let prefix = Prefix::new(key(r.bits), r.len).unwrap();
            (prefix, &r.next_hop)
        });
        for map in &self.own {
            map.check().unwrap();
            assert!(map.iter().eq(routes.clone()), "{map:?}");
        }
        for map in &self.shared {
            map.check().unwrap();
            assert!(map.iter().eq(routes.clone()), "{map:?}");
        }
        self.live.0.check().unwrap();
        assert!(self.live.0.iter().eq(routes.clone()));
        self.live_shared.0.check().unwrap();
        assert!(self.live_shared.0.iter().eq(routes));
        self.answers(keys, oracle);
    }

    fn answers(&mut self, keys: &[A], oracle: &Oracle) {
        let expected: Vec<_> = keys.iter().map(|key| longest(oracle, *key)).collect();
        self.own.iter().for_each(|map| ask(map, keys, &expected));
        self.shared.iter().for_each(|map| ask(map, keys, &expected));
        for reader in [&mut self.live.1, &mut self.live_shared.1] {
            ask_live(reader, keys, &expected);
        }
    }
}

/// Asks a live map's reader one by one and in batches.
fn ask_live<A: Address>(reader: &mut MapReader<A, u32>, keys: &[A], expected: &[Match<A>]) {
    let guard = reader.pin();
    let mut matches = vec![None; keys.len()];
    guard.longest_match_batch(keys, &mut matches);
    for ((key, expected), in_batch) in keys.iter().zip(expected).zip(matches) {
        let expected = expected.as_ref().map(|(prefix, value)| (*prefix, value));
        assert_eq!(guard.longest_match(*key), expected, "{key:?}");
        assert_eq!(in_batch, expected, "{key:?}");
    }
}

/// A prefix and its value.
pub(crate) type Match<A> = Option<(Prefix<A>, u32)>;

/// What the oracle says for an address.
pub(crate) fn longest<A: Address>(oracle: &Oracle, address: A) -> Match<A> {
    let route = oracle.longest_match(bits(address))?;
    let prefix = Prefix::new(key(route.bits), route.len).unwrap();
    Some((prefix, route.next_hop))
}

/// Asks a map one by one and in batches.
pub(crate) fn ask<A: Address, S: Stores<u32>>(
    map: &PrefixMap<A, u32, S>,
    keys: &[A],
    expected: &[Match<A>],
) {
    let mut matches = vec![None; keys.len()];
    map.longest_match_batch(keys, &mut matches);
    let mut values = vec![None; keys.len()];
    map.lookup_batch(keys, &mut values);
    let batches = matches.into_iter().zip(values);
    for ((key, expected), (in_batch, value)) in keys.iter().zip(expected).zip(batches) {
        let expected = expected.as_ref().map(|(prefix, value)| (*prefix, value));
        assert_eq!(map.longest_match(*key), expected, "{key:?} of {map:?}");
        assert_eq!(in_batch, expected, "{key:?} of {map:?}");
        assert_eq!(
            map.lookup(*key),
            expected.map(|(_, value)| value),
            "{key:?}"
        );
        assert_eq!(value, expected.map(|(_, value)| value), "{key:?}");
    }
}
