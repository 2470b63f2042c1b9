//! A map of both families: two maps, and each question to the one that it concerns.

use core::fmt;
use core::net::IpAddr;
use core::ops::Bound::{Excluded, Included};
use core::ops::RangeBounds;

use super::both::{bound, ip, split};
use super::bulk::{BulkChange, parsed};
use super::family::Keyed;
use super::family::sealed::ByKey;
use super::storage::{Own, Shared, Storage};
use super::stores::Stores;
use super::{Both, Entry, IpIntoIter, IpIter, ListTextError, PrefixMap};
use crate::fib::Options;
use crate::memory::OutOfMemory;
use crate::prefix::IpPrefix::{self, V4, V6};

/// A map from IP prefixes of both families to values, with lookups by longest match.
///
/// Always ready for lookups, without a call that compiles; it consists of one [`PrefixMap`] for each family.
/// [`shared`](IpMap::shared) makes a map that stores equal values once; in one by [`new`](IpMap::new) each route has a
/// value of its own, of any type, at a third to two thirds of the lookup rate and up to twice the memory.
///
/// Prefixes are [`IpPrefix`], or a type that converts into it; an address is its host prefix. The families
/// never mix: an IPv4-mapped IPv6 address is IPv6.
///
/// ```
/// use popfib::{IpMap, IpPrefix};
/// use std::net::IpAddr;
///
/// let mut table = IpMap::shared();
/// table.insert("10.0.0.0/8".parse::<IpPrefix>()?, "inside");
/// table.insert("2001:db8::/32".parse::<IpPrefix>()?, "documentation");
/// let address: IpAddr = "10.1.2.3".parse()?;
/// assert_eq!(table.lookup(address), Some(&"inside"));
/// let (prefix, value) = table.longest_match(address).unwrap();
/// assert_eq!((prefix.to_string().as_str(), *value), ("10.0.0.0/8", "inside"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IpMap<V, S: Storage = Own> {
    ipv4: PrefixMap<u32, V, S>,
    ipv6: PrefixMap<u128, V, S>,
}

impl<V> IpMap<V> {
    /// A map in which each route has a value of its own; allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The routes in prefix order, IPv4 first, their values to be changed in place.
    ///
    /// Takes memory for a reference to each route. A map of shared values has
    /// [`for_each_mut`](IpMap::for_each_mut).
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (IpPrefix, &mut V)> {
        Both::new(self.ipv4.iter_mut(), self.ipv6.iter_mut())
    }

    /// The values in the order of their prefixes, to be changed in place.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.iter_mut().map(|(_, value)| value)
    }
}

impl<V> IpMap<V, Shared> {
    /// A map in which routes with equal values share one; allocates nothing.
    pub fn shared() -> Self {
        Self::default()
    }
}

impl<V, S: Storage> IpMap<V, S> {
    /// A map whose Poptries are compiled with `options`; without routes, and allocates nothing.
    pub fn with_options(options: Options) -> Self {
        Self {
            ipv4: PrefixMap::with_options(options.clone()),
            ipv6: PrefixMap::with_options(options),
        }
    }

    /// The IPv4 routes.
    pub fn ipv4(&self) -> &PrefixMap<u32, V, S> {
        &self.ipv4
    }

    /// The IPv6 routes.
    pub fn ipv6(&self) -> &PrefixMap<u128, V, S> {
        &self.ipv6
    }

    /// The IPv4 routes, to be changed.
    pub fn ipv4_mut(&mut self) -> &mut PrefixMap<u32, V, S> {
        &mut self.ipv4
    }

    /// The IPv6 routes, to be changed.
    pub fn ipv6_mut(&mut self) -> &mut PrefixMap<u128, V, S> {
        &mut self.ipv6
    }

    /// The number of routes of both families.
    pub fn len(&self) -> usize {
        self.ipv4.len() + self.ipv6.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes every route and frees the memory.
    pub fn clear(&mut self) {
        self.ipv4.clear();
        self.ipv6.clear();
    }

    /// Heap bytes of both maps; see [`PrefixMap::bytes`].
    pub fn bytes(&self) -> usize {
        self.ipv4.bytes() + self.ipv6.bytes()
    }

    /// The value of exactly `prefix`.
    pub fn get(&self, prefix: impl Into<IpPrefix>) -> Option<&V> {
        match prefix.into() {
            V4(prefix) => self.ipv4.get(prefix),
            V6(prefix) => self.ipv6.get(prefix),
        }
    }

    /// Whether there is a route of exactly `prefix`.
    pub fn contains_key(&self, prefix: impl Into<IpPrefix>) -> bool {
        self.get(prefix).is_some()
    }

    /// The first route in prefix order, IPv4 first.
    pub fn first(&self) -> Option<(IpPrefix, &V)> {
        self.ipv4
            .first()
            .map(ip)
            .or_else(|| self.ipv6.first().map(ip))
    }

    /// The last route in prefix order, IPv4 first.
    pub fn last(&self) -> Option<(IpPrefix, &V)> {
        self.ipv6
            .last()
            .map(ip)
            .or_else(|| self.ipv4.last().map(ip))
    }

    /// The value of the longest prefix that contains `address`.
    #[inline]
    pub fn lookup(&self, address: impl Into<IpAddr>) -> Option<&V> {
        match address.into() {
            IpAddr::V4(address) => self.ipv4.lookup(address),
            IpAddr::V6(address) => self.ipv6.lookup(address),
        }
    }

    /// The longest prefix that contains `address`, and its value.
    #[inline]
    pub fn longest_match(&self, address: impl Into<IpAddr>) -> Option<(IpPrefix, &V)> {
        match address.into() {
            IpAddr::V4(address) => self.ipv4.longest_match(address).map(ip),
            IpAddr::V6(address) => self.ipv6.longest_match(address).map(ip),
        }
    }

    /// The shortest prefix that contains `address`, and its value.
    pub fn shortest_match(&self, address: impl Into<IpAddr>) -> Option<(IpPrefix, &V)> {
        match address.into() {
            IpAddr::V4(address) => self.ipv4.shortest_match(address).map(ip),
            IpAddr::V6(address) => self.ipv6.shortest_match(address).map(ip),
        }
    }

    /// All routes in prefix order, IPv4 first.
    pub fn iter(&self) -> IpIter<'_, V> {
        Both::new(self.ipv4.iter(), self.ipv6.iter())
    }

    /// The prefixes in their order, IPv4 first.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = IpPrefix> + Clone {
        self.iter().map(|(prefix, _)| prefix)
    }

    /// The values in the order of their prefixes.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// The routes that cover `prefix`, including `prefix` itself, the shortest first.
    pub fn supernets(
        &self,
        prefix: impl Into<IpPrefix>,
    ) -> impl Iterator<Item = (IpPrefix, &V)> + Clone {
        let (ipv4, ipv6) = split(prefix.into());
        let ipv4 = ipv4.map(|prefix| self.ipv4.supernets(prefix));
        let ipv6 = ipv6.map(|prefix| self.ipv6.supernets(prefix));
        Both::new(ipv4.into_iter().flatten(), ipv6.into_iter().flatten())
    }

    /// The routes inside `prefix`, including `prefix` itself, in prefix order.
    pub fn subnets(
        &self,
        prefix: impl Into<IpPrefix>,
    ) -> impl Iterator<Item = (IpPrefix, &V)> + Clone {
        let (ipv4, ipv6) = split(prefix.into());
        let ipv4 = ipv4.map(|prefix| self.ipv4.subnets(prefix));
        let ipv6 = ipv6.map(|prefix| self.ipv6.subnets(prefix));
        Both::new(ipv4.into_iter().flatten(), ipv6.into_iter().flatten())
    }

    /// The routes between two places in prefix order, IPv4 first; see [`PrefixMap::range`].
    pub fn range(
        &self,
        bounds: impl RangeBounds<IpPrefix>,
    ) -> impl Iterator<Item = (IpPrefix, &V)> + Clone {
        let (start, end) = (bounds.start_bound().cloned(), bounds.end_bound().cloned());
        // A bound of the other family leaves all of this one, or nothing.
        let ipv4 = (!matches!(start, Included(V6(_)) | Excluded(V6(_)))).then(|| {
            let bounds = (bound(start, |p| split(p).0), bound(end, |p| split(p).0));
            self.ipv4.range(bounds)
        });
        let ipv6 = (!matches!(end, Included(V4(_)) | Excluded(V4(_)))).then(|| {
            let bounds = (bound(start, |p| split(p).1), bound(end, |p| split(p).1));
            self.ipv6.range(bounds)
        });
        Both::new(ipv4.into_iter().flatten(), ipv6.into_iter().flatten())
    }

    /// The longest route that covers `prefix`, which may be its own.
    pub fn covering(&self, prefix: impl Into<IpPrefix>) -> Option<(IpPrefix, &V)> {
        match prefix.into() {
            V4(prefix) => self.ipv4.covering(prefix).map(ip),
            V6(prefix) => self.ipv6.covering(prefix).map(ip),
        }
    }

    /// Whether one route covers all of `prefix`.
    pub fn covers(&self, prefix: impl Into<IpPrefix>) -> bool {
        match prefix.into() {
            V4(prefix) => self.ipv4.covers(prefix),
            V6(prefix) => self.ipv6.covers(prefix),
        }
    }

    /// Whether each address of `prefix` has a route; see [`PrefixMap::covers_all`].
    pub fn covers_all(&self, prefix: impl Into<IpPrefix>) -> bool {
        match prefix.into() {
            V4(prefix) => self.ipv4.covers_all(prefix),
            V6(prefix) => self.ipv6.covers_all(prefix),
        }
    }

    /// Whether a route overlaps `prefix`: covers it or is inside it.
    pub fn overlaps(&self, prefix: impl Into<IpPrefix>) -> bool {
        match prefix.into() {
            V4(prefix) => self.ipv4.overlaps(prefix),
            V6(prefix) => self.ipv6.overlaps(prefix),
        }
    }

    /// How many addresses of each family have a route; see [`PrefixMap::address_count`].
    pub fn address_count(&self) -> (Option<u128>, Option<u128>) {
        (self.ipv4.address_count(), self.ipv6.address_count())
    }
}

impl<V, S: Stores<V>> IpMap<V, S> {
    /// Sets the value of `prefix`; returns the value it replaces. See [`PrefixMap::insert`].
    pub fn insert(&mut self, prefix: impl Into<IpPrefix>, value: V) -> Option<V> {
        match prefix.into() {
            V4(prefix) => self.ipv4.insert(prefix, value),
            V6(prefix) => self.ipv6.insert(prefix, value),
        }
    }

    /// As [`insert`](Self::insert); if memory is exhausted, the map is unchanged.
    ///
    /// # Errors
    /// As [`PrefixMap::try_insert`].
    pub fn try_insert(
        &mut self,
        prefix: impl Into<IpPrefix>,
        value: V,
    ) -> Result<Option<V>, OutOfMemory> {
        match prefix.into() {
            V4(prefix) => self.ipv4.try_insert(prefix, value),
            V6(prefix) => self.ipv6.try_insert(prefix, value),
        }
    }

    /// Removes the route of exactly `prefix`; returns its value.
    pub fn remove(&mut self, prefix: impl Into<IpPrefix>) -> Option<V> {
        match prefix.into() {
            V4(prefix) => self.ipv4.remove(prefix),
            V6(prefix) => self.ipv6.remove(prefix),
        }
    }

    /// The value of exactly `prefix`, to change it in place.
    pub fn get_mut(&mut self, prefix: impl Into<IpPrefix>) -> Option<S::Mut<'_>> {
        match prefix.into() {
            V4(prefix) => self.ipv4.get_mut(prefix),
            V6(prefix) => self.ipv6.get_mut(prefix),
        }
    }

    /// The longest prefix that contains `address`, and its value, to change it in place.
    pub fn longest_match_mut(
        &mut self,
        address: impl Into<IpAddr>,
    ) -> Option<(IpPrefix, S::Mut<'_>)> {
        match address.into() {
            IpAddr::V4(address) => self.ipv4.longest_match_mut(address).map(ip),
            IpAddr::V6(address) => self.ipv6.longest_match_mut(address).map(ip),
        }
    }

    /// The longest route that covers `prefix`, and its value, to change it in place.
    pub fn covering_mut(&mut self, prefix: impl Into<IpPrefix>) -> Option<(IpPrefix, S::Mut<'_>)> {
        match prefix.into() {
            V4(prefix) => self.ipv4.covering_mut(prefix).map(ip),
            V6(prefix) => self.ipv6.covering_mut(prefix).map(ip),
        }
    }

    /// The entry of `prefix`, whether it has a route or not.
    pub fn entry(&mut self, prefix: impl Into<IpPrefix>) -> Entry<'_, Self> {
        Entry::of(self, prefix.into())
    }

    /// Removes the routes inside `prefix`, including `prefix` itself; returns how many there were.
    pub fn remove_subnets(&mut self, prefix: impl Into<IpPrefix>) -> usize {
        match prefix.into() {
            V4(prefix) => self.ipv4.remove_subnets(prefix),
            V6(prefix) => self.ipv6.remove_subnets(prefix),
        }
    }

    /// Keeps the routes for which `keep` holds. If it panics, no family has changed in part.
    pub fn retain(&mut self, mut keep: impl FnMut(IpPrefix, &V) -> bool) {
        self.ipv4.retain(|prefix, value| keep(prefix.into(), value));
        self.ipv6.retain(|prefix, value| keep(prefix.into(), value));
    }

    /// Calls `change` for each route in prefix order, IPv4 first; it may change the values.
    pub fn for_each_mut(&mut self, mut change: impl FnMut(IpPrefix, &mut V)) {
        self.ipv4
            .for_each_mut(|prefix, value| change(prefix.into(), value));
        self.ipv6
            .for_each_mut(|prefix, value| change(prefix.into(), value));
    }

    /// Removes all routes and returns them in prefix order, IPv4 first; see [`PrefixMap::drain`].
    pub fn drain(&mut self) -> IpIntoIter<V, S> {
        Both::new(self.ipv4.drain(), self.ipv6.drain())
    }

    /// Consumes the map and returns its prefixes.
    pub fn into_keys(self) -> impl Iterator<Item = IpPrefix> {
        self.into_iter().map(|(prefix, _)| prefix)
    }

    /// Consumes the map and returns its values.
    pub fn into_values(self) -> impl Iterator<Item = V> {
        self.into_iter().map(|(_, value)| value)
    }

    /// A map of routes whose prefixes are text; if a prefix occurs twice, the last value wins.
    ///
    /// # Errors
    /// [`ListTextError`] for the first text that is not a prefix.
    ///
    /// ```
    /// use popfib::IpMap;
    ///
    /// let table: IpMap<&str> = IpMap::from_text([("10.0.0.0/8", "ten"), ("::1", "me")])?;
    /// assert_eq!(table.len(), 2);
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn from_text<T: AsRef<str>>(
        routes: impl IntoIterator<Item = (T, V)>,
    ) -> Result<Self, ListTextError> {
        let routes = routes.into_iter();
        parsed::<IpPrefix, _, _, _>(routes, |routes| routes.collect())
    }
}

impl<'a, V, S: Storage> IntoIterator for &'a IpMap<V, S> {
    type Item = (IpPrefix, &'a V);
    type IntoIter = IpIter<'a, V>;

    fn into_iter(self) -> IpIter<'a, V> {
        self.iter()
    }
}

impl<V, S: Stores<V>> IntoIterator for IpMap<V, S> {
    type Item = (IpPrefix, V);
    type IntoIter = IpIntoIter<V, S>;

    fn into_iter(self) -> IpIntoIter<V, S> {
        Both::new(self.ipv4.into_iter(), self.ipv6.into_iter())
    }
}

impl<V, S: Stores<V>> Keyed for IpMap<V, S> {
    type Key = IpPrefix;
    type Value = V;
    type Mut<'a>
        = S::Mut<'a>
    where
        Self: 'a;

    fn value_mut_of(&mut self, key: IpPrefix) -> Option<S::Mut<'_>> {
        self.get_mut(key)
    }
}

impl<V, S: Stores<V>> ByKey<IpPrefix, V> for IpMap<V, S> {
    fn value_of(&self, key: IpPrefix) -> Option<&V> {
        self.get(key)
    }

    fn set_value_of(&mut self, key: IpPrefix, value: V) -> Option<V> {
        self.insert(key, value)
    }

    fn remove_value_of(&mut self, key: IpPrefix) -> Option<V> {
        self.remove(key)
    }
}

impl<V, S: Storage> Default for IpMap<V, S> {
    fn default() -> Self {
        Self::with_options(Options::default())
    }
}

impl<P: Into<IpPrefix>, V, S: Stores<V>> Extend<(P, V)> for IpMap<V, S> {
    /// Inserts all routes; if a prefix occurs twice, the last value wins.
    fn extend<I: IntoIterator<Item = (P, V)>>(&mut self, routes: I) {
        let (mut ipv4, mut ipv6) = (
            BulkChange::new(&mut self.ipv4),
            BulkChange::new(&mut self.ipv6),
        );
        for (prefix, value) in routes {
            match prefix.into() {
                V4(prefix) => ipv4.insert(prefix, value),
                V6(prefix) => ipv6.insert(prefix, value),
            };
        }
    }
}

impl<P: Into<IpPrefix>, V, S: Stores<V>> FromIterator<(P, V)> for IpMap<V, S> {
    /// Of two values for one prefix the last stays.
    fn from_iter<I: IntoIterator<Item = (P, V)>>(routes: I) -> Self {
        let mut table = Self::default();
        table.extend(routes);
        table
    }
}

impl<P: Into<IpPrefix>, V, S: Stores<V>, const N: usize> From<[(P, V); N]> for IpMap<V, S> {
    fn from(routes: [(P, V); N]) -> Self {
        routes.into_iter().collect()
    }
}

impl<V, S: Storage> From<PrefixMap<u32, V, S>> for IpMap<V, S> {
    fn from(ipv4: PrefixMap<u32, V, S>) -> Self {
        let ipv6 = PrefixMap::default();
        Self { ipv4, ipv6 }
    }
}

impl<V, S: Storage> From<PrefixMap<u128, V, S>> for IpMap<V, S> {
    fn from(ipv6: PrefixMap<u128, V, S>) -> Self {
        let ipv4 = PrefixMap::default();
        Self { ipv4, ipv6 }
    }
}

impl<V: fmt::Debug, S: Storage> fmt::Debug for IpMap<V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}
