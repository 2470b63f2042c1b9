//! Values put into pairs and taken out of them, as each [`Storage`] does it.

use core::hash::{BuildHasher, Hash};
use core::ops::DerefMut;

use super::pairs::{Pair, PairSlots, Pairs};
use super::storage::{Own, Shared, Storage, ValueIndex, ValueUse, spread};
use super::value_mut::{Renumber, ValueMut};
use crate::memory::OutOfMemory;
use crate::next_hop::NextHop;

/// A [`Storage`] that can hold values of type `V`: [`Own`] any, [`Shared`] those that are
/// `Clone + Eq + Hash`.
#[diagnostic::on_unimplemented(
    message = "a map with `{Self}` values cannot hold `{V}`",
    note = "`Shared` needs `V: Clone + Eq + Hash`; `Own`, the default, holds values of any type"
)]
///
/// ```
/// use popfib::map::{Own, Shared, Stores};
/// use popfib::{Prefix, PrefixMap};
///
/// fn hosts<S: Stores<u8>>(value: u8) -> PrefixMap<u32, u8, S> {
///     (1..5).map(|host| (Prefix::host(host), value)).collect()
/// }
///
/// assert_eq!(hosts::<Own>(7).pair_count(), 4);
/// assert_eq!(hosts::<Shared>(7).pair_count(), 1);
/// ```
pub trait Stores<V>: Storage + Keeps<V> {
    /// What a map lends for a value that may be changed: `&mut V`, or a [`ValueMut`].
    type Mut<'a>: DerefMut<Target = V>
    where
        V: 'a;

    /// Lends the value of the route that has pair `number`. Only maps can call it, which alone have a `Renumber`.
    fn lend<'a>(map: &'a mut dyn Renumber<V, Self>, bits: u128, number: NextHop) -> Self::Mut<'a>
    where
        V: 'a;
}

/// What only maps ask of [`Stores`].
mod sealed {
    use super::{NextHop, OutOfMemory, PairSlots, Pairs, Storage};

    pub trait Keeps<V>: Storage {
        fn add<M: PairSlots<V>>(
            pairs: &mut Pairs<V, Self, M>,
            value: V,
            len: u8,
        ) -> Result<NextHop, OutOfMemory>;

        /// Puts the value of pair `new`, which no route has yet, in the place of that of `old`, whose
        /// number the route keeps; `None` where the route takes the new number.
        fn replace(pairs: &mut Pairs<V, Self>, old: NextHop, new: NextHop) -> Option<V>;

        /// One route of pair `number` less; whether it was the last, so that the pair can go.
        fn release<M: PairSlots<V>>(pairs: &mut Pairs<V, Self, M>, number: NextHop) -> bool;

        fn remove(pairs: &mut Pairs<V, Self>, number: NextHop) -> V;

        fn check<M: PairSlots<V>>(
            pairs: &Pairs<V, Self, M>,
            number: NextHop,
            routes: usize,
        ) -> bool;
    }
}

use sealed::Keeps;

impl<V> Stores<V> for Own {
    type Mut<'a>
        = &'a mut V
    where
        V: 'a;

    fn lend<'a>(map: &'a mut dyn Renumber<V, Self>, _: u128, number: NextHop) -> &'a mut V
    where
        V: 'a,
    {
        let pair = map.pairs_mut().get_mut(number);
        &mut pair.expect("a route has a pair").value
    }
}

impl<V> Keeps<V> for Own {
    fn add<M: PairSlots<V>>(
        pairs: &mut Pairs<V, Self, M>,
        value: V,
        len: u8,
    ) -> Result<NextHop, OutOfMemory> {
        pairs.reserve()?;
        Ok(pairs.put(Pair::new(value, len)))
    }

    fn replace(pairs: &mut Pairs<V, Self>, old: NextHop, new: NextHop) -> Option<V> {
        let new = pairs.take(new)?;
        let old = pairs.get_mut(old)?;
        Some(core::mem::replace(old, new).value)
    }

    fn release<M: PairSlots<V>>(_: &mut Pairs<V, Self, M>, _: NextHop) -> bool {
        true
    }

    fn remove(pairs: &mut Pairs<V, Self>, number: NextHop) -> V {
        pairs.take(number).expect("a route has a pair").value
    }

    fn check<M: PairSlots<V>>(pairs: &Pairs<V, Self, M>, number: NextHop, routes: usize) -> bool {
        pairs.get(number.get()).is_some() && routes == 1
    }
}

impl<V: Clone + Eq + Hash> Stores<V> for Shared {
    type Mut<'a>
        = ValueMut<'a, V>
    where
        V: 'a;

    fn lend<'a>(map: &'a mut dyn Renumber<V, Self>, bits: u128, number: NextHop) -> ValueMut<'a, V>
    where
        V: 'a,
    {
        ValueMut::new(map, bits, number)
    }
}

impl<V: Clone + Eq + Hash> Keeps<V> for Shared {
    fn add<M: PairSlots<V>>(
        pairs: &mut Pairs<V, Self, M>,
        value: V,
        len: u8,
    ) -> Result<NextHop, OutOfMemory> {
        let hash = pairs.index.hasher.hash_one((&value, len)) as u32;
        let is_equal = |&number: &u32| {
            pairs.index.uses[number as usize].hash == hash
                && pairs
                    .get(number)
                    .is_some_and(|pair| pair.len() == len && pair.value == value)
        };
        if let Some(&number) = pairs.index.numbers.find(spread(hash), is_equal) {
            // First, as it may panic.
            drop(value);
            pairs.index.uses[number as usize].routes += 1;
            return Ok(NextHop::new(number).expect("pairs are numbered from 1 on"));
        }
        pairs.reserve()?;
        let slots = pairs.end().max(1);
        let ValueIndex { numbers, uses, .. } = &mut pairs.index;
        let refused = || OutOfMemory::new(slots * size_of::<ValueUse>());
        numbers
            .try_reserve(1, |&number| spread(uses[number as usize].hash))
            .map_err(|_| refused())?;
        uses.try_reserve(slots + 1 - uses.len().min(slots))
            .map_err(|_| refused())?;
        // Nothing can fail from here on.
        let number = pairs.put(Pair::new(value, len));
        let ValueIndex { numbers, uses, .. } = &mut pairs.index;
        let place = number.get() as usize;
        uses.resize(uses.len().max(place + 1), ValueUse::default());
        uses[place] = ValueUse { routes: 1, hash };
        numbers.insert_unique(spread(hash), number.get(), |&number| {
            spread(uses[number as usize].hash)
        });
        Ok(number)
    }

    fn replace(_: &mut Pairs<V, Self>, _: NextHop, _: NextHop) -> Option<V> {
        None
    }

    fn release<M: PairSlots<V>>(pairs: &mut Pairs<V, Self, M>, number: NextHop) -> bool {
        let ValueIndex { numbers, uses, .. } = &mut pairs.index;
        let used = &mut uses[number.get() as usize];
        used.routes -= 1;
        if used.routes > 0 {
            return false;
        }
        let is_same = |other: &u32| *other == number.get();
        if let Ok(entry) = numbers.find_entry(spread(used.hash), is_same) {
            entry.remove();
        }
        true
    }

    fn remove(pairs: &mut Pairs<V, Self>, number: NextHop) -> V {
        if Self::release(pairs, number) {
            return pairs.take(number).expect("a route has a pair").value;
        }
        let pair = pairs.get(number.get()).expect("a route has a pair");
        pair.value.clone()
    }

    fn check<M: PairSlots<V>>(pairs: &Pairs<V, Self, M>, number: NextHop, routes: usize) -> bool {
        let ValueIndex { numbers, uses, .. } = &pairs.index;
        let used = uses[number.get() as usize];
        let is_same = |other: &u32| *other == number.get();
        pairs.get(number.get()).is_some()
            && used.routes as usize == routes
            && numbers.find(spread(used.hash), is_same).is_some()
    }
}
