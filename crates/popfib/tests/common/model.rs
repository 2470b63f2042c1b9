//! What a table of prefixes has to answer: a sorted map and a linear scan over it. One model for all key widths,
//! by prefixes of 128 bits that begin with those of the key: one for each width was a tenth of what the largest test
//! program compiles.

use std::collections::BTreeMap;
use std::fmt::Debug;

use popfib::{Address, Prefix};

use super::random::Random;

/// A prefix of the model.
pub(crate) type Wide = Prefix<u128>;
pub(crate) type Model<V> = BTreeMap<Wide, V>;

pub(crate) fn wide<A: Address>(prefix: Prefix<A>) -> Wide {
    let bits = prefix.address().to_u128() << (128 - A::WIDTH);
    Prefix::new(bits, prefix.len()).unwrap()
}

pub(crate) fn narrow<A: Address>(prefix: Wide) -> Prefix<A> {
    let bits = A::truncate(prefix.address() >> (128 - A::WIDTH));
    Prefix::new(bits, prefix.len()).unwrap()
}

/// The longest prefix of the model with this address.
pub(crate) fn longest<A: Address, V>(model: &Model<V>, address: A) -> Option<(Wide, &V)> {
    covering(model, wide(Prefix::host(address))).pop()
}

/// The routes whose prefix covers this one, the longest last.
pub(crate) fn covering<V>(model: &Model<V>, prefix: Wide) -> Vec<(Wide, &V)> {
    let covering = model.iter().filter(|(other, _)| other.covers(&prefix));
    covering.map(|(other, value)| (*other, value)).collect()
}

/// The routes whose prefix this one covers.
pub(crate) fn inside<V>(model: &Model<V>, prefix: Wide) -> Vec<(Wide, &V)> {
    let inside = model.iter().filter(|(other, _)| prefix.covers(other));
    inside.map(|(other, value)| (*other, value)).collect()
}

pub(crate) fn rows<V>(model: &Model<V>) -> Vec<(Wide, &V)> {
    model
        .iter()
        .map(|(prefix, value)| (*prefix, value))
        .collect()
}

/// A prefix that is there, at or behind a random one or the last; the random one if there is none.
pub(crate) fn there<V>(model: &Model<V>, random: Wide) -> Wide {
    let mut behind = model.range(random..);
    let found = behind.next().or_else(|| model.last_key_value());
    found.map_or(random, |(prefix, _)| *prefix)
}

/// As [`there`], for keys of this width.
pub(crate) fn random_there<A: Address, V>(random: &mut Random, model: &Model<V>) -> Prefix<A> {
    narrow(there(model, wide(random.prefix::<A>())))
}

/// That these are all, in this order.
#[track_caller]
pub(crate) fn same<T: PartialEq + Debug>(mut found: impl Iterator<Item = T>, expected: Vec<T>) {
    next_are(&mut || found.next(), expected);
}

/// Compiled once for many iterators, of which this needs one function each; the methods of a trait object would be more code
/// than the walks themselves.
#[track_caller]
fn next_are<T: PartialEq + Debug>(next: &mut dyn FnMut() -> Option<T>, expected: Vec<T>) {
    for expected in expected {
        assert_eq!(next(), Some(expected));
    }
    assert!(next().is_none());
}
