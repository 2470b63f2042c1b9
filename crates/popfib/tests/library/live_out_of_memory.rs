//! A live table with every allocation refused in turn: a change that fails
//! changes nothing, and all memory comes back.

use std::collections::BTreeMap;
use std::convert::Infallible;

use crate::common::failing::Failing;
use crate::common::random::Random;
use crate::common::rounds::rounds;
use popfib::fib::FibWords;
use popfib::live::Mirror;
use popfib::{Address, CompileError, LiveFib, NextHop, Options, Prefix, Rib, Size};

type Model<A> = BTreeMap<Prefix<A>, NextHop>;
type Table<'m, A> = LiveFib<A, &'m Failing>;

/// The answer of a linear scan.
fn answer<A: Address>(model: &Model<A>, address: A) -> u32 {
    let covering = model.iter().filter(|(prefix, _)| prefix.contains(address));
    let longest = covering.max_by_key(|(prefix, _)| prefix.len());
    longest.map_or(0, |(_, next_hop)| next_hop.get())
}

/// Holds the routes, and the answers at both ends of each and of `prefix`, against the model.
fn hold<A: Address>(table: &Table<'_, A>, model: &Model<A>, prefix: Prefix<A>) {
    let rib = table.rib();
    assert!(rib.iter().eq(model.iter().map(|(p, n)| (*p, *n))));
    assert_eq!(table.check(), Ok(()));
    for prefix in model.keys().chain([&prefix]) {
        for address in [prefix.first(), prefix.last()] {
            assert_eq!(table.lookup(address), answer(model, address), "{address:?}");
        }
    }
}

/// A mirror for which the table keeps its journal.
struct Nowhere;

impl Mirror for Nowhere {
    type Error = Infallible;

    fn load(&mut self, _: FibWords<'_>) -> Result<(), Infallible> {
        Ok(())
    }

    fn store_root(&mut self, _: usize, _: u32) {}

    fn store_arena(&mut self, _: usize, _: u32) {}

    fn wait(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Changes a table at random, in odd runs with a mirror; returns how many allocations were refused.
fn change<A: Address>(options: &Options, seed: u64, changes: usize) -> usize {
    let memory = Failing::new();
    let mut random = Random(seed);
    let mut model = Model::<A>::new();
    let mut refused = 0;
    {
        let (table, count) = memory.until_it_succeeds(
            &mut (),
            |()| Table::from_rib(Rib::new_in(&memory), options.clone()),
            |(), error| assert!(matches!(error, CompileError::OutOfMemory(_)), "{error}"),
        );
        refused += count;
        let mut table = table;
        let (mut reader, count) =
            memory.until_it_succeeds(&mut table, |table| table.try_reader(), |_, _| {});
        refused += count;
        for step in 0..changes {
            // Growing, then shrinking.
            let is_growing = step < changes / 2;
            let prefix = if model.is_empty() || random.below(4) != 0 && is_growing {
                random.prefix()
            } else {
                *model.keys().nth(random.below(model.len())).expect("there")
            };
            let announced = is_growing || random.below(4) == 0;
            let next_hop = NextHop::MIN.saturating_add(random.below(70) as u32);
            let (old, count) = memory.until_it_succeeds(
                &mut table,
                |table| {
                    if announced {
                        table.announce(prefix, next_hop)
                    } else {
                        table.withdraw(prefix)
                    }
                },
                |table, error| {
                    assert!(matches!(error, CompileError::OutOfMemory(_)), "{error}");
                    hold(table, &model, prefix);
                },
            );
            refused += count;
            let expected = if announced {
                model.insert(prefix, next_hop)
            } else {
                model.remove(&prefix)
            };
            assert_eq!(old, expected);
            hold(&table, &model, prefix);
            if seed % 2 == 1 && step % 3 == 0 {
                let Ok(()) = table.mirror(&mut Nowhere);
            }
            assert_eq!(
                reader.lookup(prefix.first()),
                answer(&model, prefix.first())
            );
        }
        hold(&table, &model, Prefix::DEFAULT_ROUTE);
        let (clone, count) =
            memory.until_it_succeeds(&mut reader, |reader| reader.try_clone(), |_, _| {});
        refused += count;
        drop(table);
        drop(reader);
        assert!(memory.bytes() > 0, "the last reader holds the table");
        drop(clone);
    }
    assert_eq!(memory.bytes(), 0);
    refused
}

#[test]
fn a_refused_change_changes_nothing() {
    for (options, changes) in [
        (Options::default(), 300),
        (Options::default().direct_bits(Some(0)), 300),
        (
            Options::default().direct_bits(Some(7)).aggregation(false),
            300,
        ),
    ] {
        for seed in 1..rounds(3, 8) {
            assert!(change::<u16>(&options, seed, changes) > 50);
            assert!(change::<u32>(&options, seed, changes) > 50);
            assert!(change::<u128>(&options, seed, changes) > 50);
        }
    }
}

#[test]
fn flat_blocks_are_refused_too() {
    let flat = |bits| {
        Options::default()
            .direct_bits(Some(bits))
            .size(Size::Balanced)
    };
    for seed in 1..rounds(3, 8) {
        assert!(change::<u16>(&flat(10), seed, 300) > 50);
    }
    assert!(change::<u32>(&flat(18), 3, 60) > 50);
}

#[test]
fn pages_are_refused_too() {
    let options = Options::default().direct_bits(Some(20));
    assert!(change::<u64>(&options, 9, 120) > 20);
}
