//! Many routes at once: collected, extended, kept by a rule, taken out, read from text.

use alloc::vec::Vec;
use core::str::FromStr;

use super::pairs::Pairs;
use super::prefix_map::InsertOutcome;
use super::stores::Stores;
use super::value_mut::Renumber;
use super::{IntoIter, ListTextError, PrefixMap};
use crate::address::Address;
use crate::next_hop::NextHop;
use crate::prefix::{Prefix, PrefixError};
use crate::rib::RibBuilder;

/// What `collect` makes of routes that are text, unless one is none.
pub(super) fn parsed<P, T, V, M>(
    routes: impl Iterator<Item = (T, V)>,
    collect: impl FnOnce(&mut dyn Iterator<Item = (P, V)>) -> M,
) -> Result<M, ListTextError>
where
    P: FromStr<Err = PrefixError>,
    T: AsRef<str>,
{
    let mut error = None;
    let mut routes =
        (1..)
            .zip(routes)
            .map_while(|(line, (text, value))| match text.as_ref().parse() {
                Ok(prefix) => Some((prefix, value)),
                Err(why) => {
                    error = Some(ListTextError::new(line, text.as_ref(), Some(why)));
                    None
                }
            });
    let map = collect(&mut routes);
    error.map_or(Ok(map), Err)
}

impl<A: Address, V, S: Stores<V>> PrefixMap<A, V, S> {
    /// A map of routes whose prefixes are text; if a prefix occurs twice, the last value wins.
    ///
    /// # Errors
    /// [`ListTextError`] for the first text that is not a prefix of the family.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let map: PrefixMap<u128, &str> = PrefixMap::from_text([("2001:db8::/32", "documentation")])?;
    /// assert_eq!(map.len(), 1);
    /// let error = PrefixMap::<u32, ()>::from_text([("10.0.0.0/33", ())]).unwrap_err();
    /// assert_eq!(error.to_string(), "line 1: `10.0.0.0/33`: the prefix length is more than 32");
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn from_text<T: AsRef<str>>(
        routes: impl IntoIterator<Item = (T, V)>,
    ) -> Result<Self, ListTextError> {
        parsed(routes.into_iter(), |routes| routes.collect())
    }

    /// Keeps the routes for which `keep` holds. If it panics, nothing has changed.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let mut map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// map.retain(|prefix, value| prefix.len() > 8 && *value != 3);
    /// assert!(map.values().eq(&[2]));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(Prefix<A>, &V) -> bool) {
        let gone = self.iter().filter(|(prefix, value)| !keep(*prefix, value));
        self.remove_all(gone.map(|(prefix, _)| prefix).collect());
    }

    /// Calls `change` for each route in prefix order; it may change the values.
    ///
    /// If it panics, the values that it changed before stay changed.
    ///
    /// ```
    /// use popfib::IpMap;
    ///
    /// let mut table = IpMap::shared();
    /// table.extend([("192.0.2.0/24".parse::<popfib::IpPrefix>()?, 1)]);
    /// table.for_each_mut(|_, value| *value += 1);
    /// assert!(table.values().eq(&[2]));
    /// # Ok::<(), popfib::PrefixError>(())
    /// ```
    pub fn for_each_mut(&mut self, mut change: impl FnMut(Prefix<A>, &mut V)) {
        let mut bulk = BulkChange::new(self);
        let mut at = bulk.map.routes.rib.first();
        while let Some((prefix, number)) = at {
            change(
                prefix,
                &mut S::lend(&mut bulk, prefix.address().to_u128(), number),
            );
            at = bulk.map.routes.rib.next(prefix);
        }
    }

    /// Removes all routes and returns them in prefix order. The map is empty from then on, even if the iterator
    /// is leaked.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let mut map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// let taken: Vec<u8> = map.drain().map(|(_, value)| value).collect();
    /// assert!(taken == [1, 2, 3] && map.is_empty());
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn drain(&mut self) -> IntoIter<A, V, S> {
        self.take().into_iter()
    }

    pub(super) fn remove_all(&mut self, prefixes: Vec<Prefix<A>>) -> usize {
        let count = prefixes.len();
        let mut bulk = BulkChange::new(self);
        for prefix in prefixes {
            bulk.remove(prefix);
        }
        count
    }
}

impl<A: Address, V, S: Stores<V>> Extend<(Prefix<A>, V)> for PrefixMap<A, V, S> {
    /// Inserts all routes; if a prefix occurs twice, the last value wins.
    fn extend<I: IntoIterator<Item = (Prefix<A>, V)>>(&mut self, routes: I) {
        let mut bulk = BulkChange::new(self);
        for (prefix, value) in routes {
            bulk.insert(prefix, value);
        }
    }
}

impl<A: Address, V, S: Stores<V>> FromIterator<(Prefix<A>, V)> for PrefixMap<A, V, S> {
    /// Of two values for one prefix the last stays.
    fn from_iter<I: IntoIterator<Item = (Prefix<A>, V)>>(routes: I) -> Self {
        let mut map = Self::default();
        map.extend(routes);
        map
    }
}

impl<A: Address, V, S: Stores<V>, const N: usize> From<[(Prefix<A>, V); N]> for PrefixMap<A, V, S> {
    fn from(routes: [(Prefix<A>, V); N]) -> Self {
        routes.into_iter().collect()
    }
}

/// Many changes of a map. When this is dropped, a map that had no routes has its Fib.
pub(super) struct BulkChange<'a, A: Address, V, S: Stores<V>> {
    pub(super) map: &'a mut PrefixMap<A, V, S>,
    /// The routes of a map that had none, as long as they come in order; they are not in its Rib yet.
    in_order: Option<RibBuilder<A>>,
    had_routes: bool,
}

impl<'a, A: Address, V, S: Stores<V>> BulkChange<'a, A, V, S> {
    pub(super) fn new(map: &'a mut PrefixMap<A, V, S>) -> Self {
        let had_routes = !map.routes.rib.is_empty();
        Self {
            map,
            in_order: (!had_routes).then(RibBuilder::new),
            had_routes,
        }
    }

    pub(super) fn insert(&mut self, prefix: Prefix<A>, value: V) -> Option<V> {
        if let Some(routes) = &mut self.in_order {
            if routes.is_next(prefix) {
                let added = S::add(&mut self.map.pairs, value, prefix.len())
                    .and_then(|new| routes.push(prefix, new));
                return added.map_or_else(|error| error.abort(), |()| None);
            }
            self.end_order();
        }
        match self.map.insert_route(prefix, value) {
            Ok(InsertOutcome::InPlace(value)) => Some(value),
            Ok(InsertOutcome::Route { old, new }) => {
                self.map.routes.follow(prefix, old, Some(new));
                old.map(|old| S::remove(&mut self.map.pairs, old))
            }
            Err(error) => error.abort(),
        }
    }

    pub(super) fn remove(&mut self, prefix: Prefix<A>) -> Option<V> {
        self.end_order();
        let number = self.map.routes.rib.remove(prefix)?;
        self.map.routes.follow(prefix, Some(number), None);
        Some(S::remove(&mut self.map.pairs, number))
    }

    /// The routes that came in order are those of the map.
    fn end_order(&mut self) {
        if let Some(routes) = self.in_order.take() {
            self.map.routes.rib = routes.finish();
        }
    }
}

impl<A: Address, V, S: Stores<V>> Drop for BulkChange<'_, A, V, S> {
    fn drop(&mut self) {
        self.end_order();
        self.map.tidy();
        if self.map.routes.fib.peek().is_none() {
            self.map.pairs.shrink();
            self.map.routes.rib.shrink();
        }
        if !self.had_routes {
            self.map.routes.compile();
        }
    }
}

impl<A: Address, V, S: Stores<V>> Renumber<V, S> for BulkChange<'_, A, V, S> {
    fn pairs(&self) -> &Pairs<V, S> {
        &self.map.pairs
    }

    fn pairs_mut(&mut self) -> &mut Pairs<V, S> {
        &mut self.map.pairs
    }

    fn set(&mut self, bits: u128, number: NextHop, value: V) {
        if let Some(prefix) = self.map.prefix_of(bits, number) {
            self.insert(prefix, value);
        }
    }
}
