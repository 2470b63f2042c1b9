//! `IpMap` against a sorted map and a scan over it, and what small tables cost.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;

use popfib::{Fib, IpMap, IpPrefix, NextHop, Options, Prefix, Rib};

/// xorshift64: random enough to choose operations.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A prefix of a small part of either address space, so that prefixes meet.
    fn prefix(&mut self) -> IpPrefix {
        let address = self.address();
        match address {
            IpAddr::V4(a) => {
                IpPrefix::V4(Prefix::new_masked(a.into(), self.below(33) as u8).unwrap())
            }
            IpAddr::V6(a) => {
                IpPrefix::V6(Prefix::new_masked(a.into(), self.below(129) as u8).unwrap())
            }
        }
    }

    fn address(&mut self) -> IpAddr {
        let low = self.next() & 0x0303_0303_0303_0303;
        if self.below(2) == 0 {
            Ipv4Addr::from(low as u32).into()
        } else {
            Ipv6Addr::from(u128::from(low) << 64 | u128::from(low)).into()
        }
    }
}

fn longest<V>(routes: &BTreeMap<IpPrefix, V>, address: IpAddr) -> Option<(IpPrefix, &V)> {
    routes
        .iter()
        .filter(|(prefix, _)| prefix.contains(address))
        .max_by_key(|(prefix, _)| prefix.len())
        .map(|(prefix, value)| (*prefix, value))
}

#[test]
fn a_table_is_a_map_with_longest_matches() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut table = IpMap::new();
    let mut model = BTreeMap::new();
    for step in 0..8_000 {
        let prefix = random.prefix();
        match random.below(10) {
            0..5 => assert_eq!(table.insert(prefix, step), model.insert(prefix, step)),
            5..8 => {
                // Mostly one that is there.
                let there = model.range(prefix..).next().map_or(prefix, |(p, _)| *p);
                assert_eq!(table.remove(there), model.remove(&there));
            }
            8 => {
                assert_eq!(table.get(prefix), model.get(&prefix));
                assert_eq!(table.contains_key(prefix), model.contains_key(&prefix));
                if let Some(value) = table.get_mut(prefix) {
                    *value += 1;
                    *model.get_mut(&prefix).unwrap() += 1;
                }
            }
            _ => {}
        }
        assert_eq!(table.len(), model.len());
        let address = random.address();
        let expected = longest(&model, address);
        assert_eq!(table.longest_match(address), expected);
        assert_eq!(table.lookup(address), expected.map(|(_, value)| value));
        if step % 1000 == 0 {
            assert!(table.iter().eq(model.iter().map(|(p, v)| (*p, v))));
            assert_eq!(table.iter().len(), model.len());
        }
    }
    let collected: IpMap<_> = model.iter().map(|(p, v)| (*p, *v)).collect();
    collected.check().unwrap();
    assert_eq!(collected, table);
    table.clear();
    assert!(table.is_empty() && table.iter().next().is_none());
}

#[test]
fn values_of_any_type_are_dropped_once() {
    // Neither comparable nor hashable nor copyable.
    struct Value(#[allow(dead_code)] Rc<()>, #[allow(dead_code)] f64);
    let count = Rc::new(());
    let mut table = IpMap::new();
    let prefix: IpPrefix = "192.0.2.0/24".parse().unwrap();
    assert!(table.insert(prefix, Value(count.clone(), 0.5)).is_none());
    assert!(table.insert(prefix, Value(count.clone(), 1.5)).is_some());
    assert_eq!(Rc::strong_count(&count), 2);
    assert!(table.remove(prefix).is_some());
    assert!(table.remove(prefix).is_none());
    assert_eq!(Rc::strong_count(&count), 1);
    table.insert(prefix, Value(count.clone(), 2.5));
    drop(table);
    assert_eq!(Rc::strong_count(&count), 1);
}

#[test]
fn families_do_not_mix() {
    let mut table = IpMap::new();
    table.insert("0.0.0.0/0".parse::<IpPrefix>().unwrap(), 4);
    let mapped: IpAddr = "::ffff:192.0.2.1".parse().unwrap();
    assert_eq!(table.lookup(mapped), None);
    table.insert("::ffff:0:0/96".parse::<IpPrefix>().unwrap(), 6);
    assert_eq!(table.lookup(mapped), Some(&6));
    assert_eq!(table.lookup(Ipv4Addr::new(192, 0, 2, 1)), Some(&4));
    assert_eq!(table.lookup(mapped), Some(&6));
    assert_eq!(table.lookup(Ipv4Addr::new(192, 0, 2, 1)), Some(&4));
}

#[test]
fn ten_routes_cost_at_most_8_kib() {
    let mut random = Random(42);
    // Scattered host routes: nothing is shared between them.
    let mut rib4 = Rib::<u32>::new();
    let mut rib6 = Rib::<u128>::new();
    let mut table = IpMap::new();
    for n in 1..=10 {
        let next_hop = NextHop::new(n).unwrap();
        let v4 = Prefix::host(random.next() as u32);
        let v6 = Prefix::host(u128::from(random.next()) << 64 | u128::from(random.next()));
        rib4.insert(v4, next_hop);
        rib6.insert(v6, next_hop);
        table.insert(
            if n % 2 == 0 {
                IpPrefix::V4(v4)
            } else {
                v6.into()
            },
            n,
        );
    }
    let fib4: Fib<u32> = Fib::compile(&rib4, &Options::default()).unwrap();
    let fib6: Fib<u128> = Fib::compile(&rib6, &Options::default()).unwrap();
    let costs = [
        size_of_val(&rib4) + rib4.bytes() + size_of_val(&fib4) + fib4.bytes(),
        size_of_val(&rib6) + rib6.bytes() + size_of_val(&fib6) + fib6.bytes(),
        size_of_val(&table) + table.bytes(),
    ];
    assert!(costs.iter().all(|cost| *cost <= 8 << 10), "{costs:?}");
}

#[test]
fn removing_every_route_gives_the_memory_back() {
    let mut table = IpMap::new();
    for n in 0..100_000u32 {
        table.insert(IpPrefix::V4(Prefix::host(n.wrapping_mul(0x9e37_79b9))), n);
    }
    for n in 0..100_000u32 {
        table.remove(IpPrefix::V4(Prefix::host(n.wrapping_mul(0x9e37_79b9))));
    }
    assert!(table.is_empty());
    assert!(table.bytes() <= 8 << 10, "{}", table.bytes());
}
