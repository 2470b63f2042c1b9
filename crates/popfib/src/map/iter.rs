//! Walks over the routes of a map, in prefix order.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::iter::FusedIterator;

use super::PrefixMap;
use super::lazy::LazyFib;
use super::pairs::{PairSlice, Pairs};
use super::storage::{Own, Storage};
use super::stores::Stores;
use crate::address::Address;
use crate::next_hop::NextHop;
use crate::prefix::Prefix;
use crate::rib;

/// The routes of a [`PrefixMap`] in prefix order.
pub struct Iter<'a, A: Address, V> {
    routes: rib::Iter<'a, A>,
    slots: &'a PairSlice<V>,
}

/// The routes of a [`PrefixMap`] in prefix order, their values to be changed in place.
#[derive(Debug)]
pub struct IterMut<'a, A: Address, V>(vec::IntoIter<(Prefix<A>, &'a mut V)>);

/// The routes of a consumed [`PrefixMap`], in prefix order.
pub struct IntoIter<A: Address, V, S: Stores<V>> {
    map: PrefixMap<A, V, S>,
    at: Option<Prefix<A>>,
    left: usize,
}

/// The value of a route's pair.
#[inline]
pub(super) fn value<V>(slots: &PairSlice<V>, number: NextHop) -> Option<&V> {
    Some(&slots.get(number.get() as usize)?.as_ref()?.value)
}

impl<'a, A: Address, V> Iter<'a, A, V> {
    pub(super) fn new<S: Storage>(map: &'a PrefixMap<A, V, S>) -> Self {
        Self {
            routes: map.routes.rib.iter(),
            slots: map.pairs.slots(),
        }
    }
}

impl<'a, A: Address, V> Iterator for Iter<'a, A, V> {
    type Item = (Prefix<A>, &'a V);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (prefix, number) = self.routes.next()?;
        Some((prefix, value(self.slots, number)?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.routes.size_hint()
    }
}

impl<A: Address, V> Clone for Iter<'_, A, V> {
    fn clone(&self) -> Self {
        Self {
            routes: self.routes.clone(),
            slots: self.slots,
        }
    }
}

impl<'a, A: Address, V> IterMut<'a, A, V> {
    /// Those of `routes`, which come in prefix order.
    ///
    /// The slots lie in another order, so the borrows are cut off one by one in the order of
    /// their numbers and then put back into that of the prefixes.
    pub(super) fn new(
        routes: impl Iterator<Item = (Prefix<A>, NextHop)>,
        pairs: &'a mut Pairs<V, Own>,
    ) -> Self {
        let mut numbers: Vec<_> = routes.collect();
        numbers.sort_unstable_by_key(|(_, number)| *number);
        let mut slots = pairs.slots_mut();
        let mut cut = 0;
        let mut routes = Vec::with_capacity(numbers.len());
        for (prefix, number) in numbers {
            let at = number.get() as usize;
            let (slot, rest) = slots[at - cut..]
                .split_first_mut()
                .expect("a route has a pair");
            (slots, cut) = (rest, at + 1);
            if let Some(pair) = slot {
                routes.push((prefix, &mut pair.value));
            }
        }
        routes.sort_unstable_by_key(|(prefix, _)| *prefix);
        Self(routes.into_iter())
    }
}

impl<'a, A: Address, V> Iterator for IterMut<'a, A, V> {
    type Item = (Prefix<A>, &'a mut V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<A: Address, V, S: Stores<V>> IntoIter<A, V, S> {
    fn new(mut map: PrefixMap<A, V, S>) -> Self {
        // Nobody will look up any more.
        map.routes.fib = LazyFib::new();
        Self {
            left: map.len(),
            map,
            at: None,
        }
    }
}

impl<A: Address, V, S: Stores<V>> Iterator for IntoIter<A, V, S> {
    type Item = (Prefix<A>, V);

    fn next(&mut self) -> Option<Self::Item> {
        let rib = &self.map.routes.rib;
        let (prefix, number) = match self.at {
            None => rib.first(),
            Some(at) => rib.next(at),
        }?;
        self.at = Some(prefix);
        self.left -= 1;
        Some((prefix, S::remove(&mut self.map.pairs, number)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<A: Address, V> ExactSizeIterator for Iter<'_, A, V> {}
impl<A: Address, V> ExactSizeIterator for IterMut<'_, A, V> {}
impl<A: Address, V, S: Stores<V>> ExactSizeIterator for IntoIter<A, V, S> {}
impl<A: Address, V> FusedIterator for Iter<'_, A, V> {}
impl<A: Address, V> FusedIterator for IterMut<'_, A, V> {}
impl<A: Address, V, S: Stores<V>> FusedIterator for IntoIter<A, V, S> {}

impl<A: Address, V: fmt::Debug> fmt::Debug for Iter<'_, A, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<A: Address, V: fmt::Debug, S: Stores<V>> fmt::Debug for IntoIter<A, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter")
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

impl<A: Address, V, S: Storage> PrefixMap<A, V, S> {
    /// The routes in prefix order: by address, a covering prefix before what it covers.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// let routes: Vec<String> = map.iter().map(|(prefix, value)| format!("{prefix} {value}")).collect();
    /// assert_eq!(routes, ["10.0.0.0/8 1", "10.1.0.0/16 2", "192.0.2.0/24 3"]);
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn iter(&self) -> Iter<'_, A, V> {
        Iter::new(self)
    }

    /// The prefixes in their order.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// assert!(map.keys().map(|prefix| prefix.len()).eq([8, 16, 24]));
    /// assert!(map.values().eq(&[1, 2, 3]));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn keys(&self) -> impl ExactSizeIterator<Item = Prefix<A>> + FusedIterator + Clone {
        self.routes.rib.iter().map(|(prefix, _)| prefix)
    }

    /// The values in the order of their prefixes.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> + FusedIterator + Clone {
        self.iter().map(|(_, value)| value)
    }
}

impl<A: Address, V> PrefixMap<A, V> {
    /// The routes in prefix order, their values to be changed in place.
    ///
    /// Takes memory for a reference to each route. A map of shared values has
    /// [`for_each_mut`](PrefixMap::for_each_mut).
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let mut map: PrefixMap<u32, u32> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("192.0.2.0/24", 2)])?;
    /// for (prefix, value) in map.iter_mut() {
    ///     *value += u32::from(prefix.len());
    /// }
    /// assert!(map.values().eq(&[9, 26]));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn iter_mut(&mut self) -> IterMut<'_, A, V> {
        IterMut::new(self.routes.rib.iter(), &mut self.pairs)
    }

    /// The values in the order of their prefixes, to be changed in place.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut V> {
        self.iter_mut().map(|(_, value)| value)
    }

    /// The routes inside `prefix`, including `prefix` itself, their values to be changed in place.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let mut map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// for (_, value) in map.subnets_mut("10.0.0.0/8".parse().unwrap()) {
    ///     *value *= 10;
    /// }
    /// assert!(map.values().eq(&[10, 20, 3]));
    /// map.values_mut().for_each(|value| *value += 1);
    /// assert!(map.into_values().eq([11, 21, 4]));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn subnets_mut(&mut self, prefix: Prefix<A>) -> IterMut<'_, A, V> {
        IterMut::new(self.routes.rib.subnets(prefix), &mut self.pairs)
    }
}

impl<A: Address, V, S: Stores<V>> PrefixMap<A, V, S> {
    /// Consumes the map and returns its prefixes.
    pub fn into_keys(self) -> impl Iterator<Item = Prefix<A>> {
        IntoIter::new(self).map(|(prefix, _)| prefix)
    }

    /// Consumes the map and returns its values.
    pub fn into_values(self) -> impl Iterator<Item = V> {
        IntoIter::new(self).map(|(_, value)| value)
    }
}

impl<A: Address, V, S: Stores<V>> IntoIterator for PrefixMap<A, V, S> {
    type Item = (Prefix<A>, V);
    type IntoIter = IntoIter<A, V, S>;

    fn into_iter(self) -> IntoIter<A, V, S> {
        IntoIter::new(self)
    }
}

impl<'a, A: Address, V, S: Storage> IntoIterator for &'a PrefixMap<A, V, S> {
    type Item = (Prefix<A>, &'a V);
    type IntoIter = Iter<'a, A, V>;

    fn into_iter(self) -> Iter<'a, A, V> {
        self.iter()
    }
}

impl<'a, A: Address, V> IntoIterator for &'a mut PrefixMap<A, V> {
    type Item = (Prefix<A>, &'a mut V);
    type IntoIter = IterMut<'a, A, V>;

    fn into_iter(self) -> IterMut<'a, A, V> {
        self.iter_mut()
    }
}
