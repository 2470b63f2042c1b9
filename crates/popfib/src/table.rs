//! A table of both families with values of any type: Rib and Fib as one map.
//!
//! Every route's value has a place of its own in one array, and the place's
//! number is the route's next hop in the Rib and the Fib. Replacing a value
//! therefore touches neither.

use core::fmt;
use core::net::IpAddr;

use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::{Fib, Options};
use crate::memory::Global;
use crate::next_hop::NextHop;
use crate::prefix::{IpPrefix, Prefix};
use crate::rib::{self, Rib};
use crate::slab::Slab;

/// A map from IP prefixes of both families to values, asked by longest match.
///
/// Answers are right at any time. They are fast once [`compile`](Table::compile)
/// has been called: adding or removing a route sets its family back to walking
/// the Rib (several times slower) until then. [`FromIterator`] and [`Extend`]
/// compile by themselves.
///
/// The families never mix: an IPv4-mapped IPv6 address is IPv6.
///
/// ```
/// use popfib::{IpPrefix, Table};
/// use std::net::IpAddr;
///
/// let mut table = Table::new();
/// table.insert("10.0.0.0/8".parse::<IpPrefix>()?, "inside");
/// table.insert("2001:db8::/32".parse::<IpPrefix>()?, "documentation");
/// table.compile()?;
/// let address: IpAddr = "10.1.2.3".parse()?;
/// assert_eq!(table.lookup(address), Some(&"inside"));
/// let (prefix, value) = table.longest_match(address).unwrap();
/// assert_eq!((prefix.to_string().as_str(), *value), ("10.0.0.0/8", "inside"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Where many routes share few next hops, as in a router, [`Rib`] and [`Fib`]
/// by themselves take less memory: they can see which next hops are equal.
#[derive(Clone)]
pub struct Table<V> {
    ipv4: Family<u32>,
    ipv6: Family<u128>,
    /// Numbered by the next hops of the Ribs.
    values: Slab<V>,
    options: Options,
}

impl<V> Table<V> {
    /// A table without routes; allocates nothing.
    pub fn new() -> Self {
        Self::with_options(Options::default())
    }

    /// A table without routes whose Fibs are compiled with `options`.
    pub fn with_options(options: Options) -> Self {
        Self {
            ipv4: Family::new(),
            ipv6: Family::new(),
            values: Slab::new_in(Global),
            options,
        }
    }

    /// The number of routes of both families.
    pub fn len(&self) -> usize {
        self.ipv4.rib.len() + self.ipv6.rib.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes every route.
    pub fn clear(&mut self) {
        *self = Self::with_options(self.options.clone());
    }

    /// Sets the value of `prefix`; returns the value it replaces. O(key width / 6).
    pub fn insert(&mut self, prefix: impl Into<IpPrefix>, value: V) -> Option<V> {
        let prefix = prefix.into();
        if let Some(old) = self.get_mut(prefix) {
            return Some(core::mem::replace(old, value));
        }
        let next_hop = match self.values.try_add(value) {
            Ok(next_hop) => next_hop,
            Err(error) => error.abort(),
        };
        match prefix {
            IpPrefix::V4(prefix) => self.ipv4.insert(prefix, next_hop),
            IpPrefix::V6(prefix) => self.ipv6.insert(prefix, next_hop),
        }
        None
    }

    /// Removes the route of exactly `prefix`; returns its value. O(key width / 6).
    pub fn remove(&mut self, prefix: impl Into<IpPrefix>) -> Option<V> {
        let next_hop = match prefix.into() {
            IpPrefix::V4(prefix) => self.ipv4.remove(prefix),
            IpPrefix::V6(prefix) => self.ipv6.remove(prefix),
        };
        self.values.take(next_hop?)
    }

    /// The value of exactly `prefix`.
    pub fn get(&self, prefix: impl Into<IpPrefix>) -> Option<&V> {
        self.values.get(self.find(prefix.into())?)
    }

    /// The value of exactly `prefix`, to change it in place.
    pub fn get_mut(&mut self, prefix: impl Into<IpPrefix>) -> Option<&mut V> {
        let next_hop = self.find(prefix.into())?;
        self.values.get_mut(next_hop)
    }

    /// Whether there is a route of exactly `prefix`.
    pub fn contains_key(&self, prefix: impl Into<IpPrefix>) -> bool {
        self.find(prefix.into()).is_some()
    }

    /// The value of the longest prefix that holds `address`.
    #[inline]
    pub fn lookup(&self, address: impl Into<IpAddr>) -> Option<&V> {
        let next_hop = match address.into() {
            IpAddr::V4(address) => self.ipv4.lookup(address.into()),
            IpAddr::V6(address) => self.ipv6.lookup(address.into()),
        };
        self.values.get(next_hop?)
    }

    /// The longest prefix that holds `address`, and its value.
    ///
    /// Always answered by the Rib: an aggregated Fib no longer knows the prefixes.
    pub fn longest_match(&self, address: impl Into<IpAddr>) -> Option<(IpPrefix, &V)> {
        let (prefix, next_hop) = match address.into() {
            IpAddr::V4(address) => {
                let (prefix, next_hop) = self.ipv4.rib.longest_match(address.into())?;
                (IpPrefix::V4(prefix), next_hop)
            }
            IpAddr::V6(address) => {
                let (prefix, next_hop) = self.ipv6.rib.longest_match(address.into())?;
                (IpPrefix::V6(prefix), next_hop)
            }
        };
        Some((prefix, self.values.get(next_hop)?))
    }

    /// All routes in prefix order, IPv4 first.
    pub fn iter(&self) -> Iter<'_, V> {
        Iter {
            ipv4: self.ipv4.rib.iter(),
            ipv6: self.ipv6.rib.iter(),
            values: &self.values,
        }
    }

    /// Compiles the families that have changed, for fast lookups.
    ///
    /// # Errors
    /// [`CompileError`], for routes beyond what a Fib can number, or if the
    /// table's options ask for more than 24 direct bits. Lookups work all the
    /// same, from the Rib.
    pub fn compile(&mut self) -> Result<(), CompileError> {
        self.ipv4.compile(&self.options)?;
        self.ipv6.compile(&self.options)
    }

    /// Whether both families answer from a Fib.
    pub fn is_compiled(&self) -> bool {
        self.ipv4.fib.is_some() && self.ipv6.fib.is_some()
    }

    /// Heap bytes of Ribs, Fibs and the array of values, without what the
    /// values themselves own.
    pub fn bytes(&self) -> usize {
        self.ipv4.bytes() + self.ipv6.bytes() + self.values.bytes()
    }

    fn find(&self, prefix: IpPrefix) -> Option<NextHop> {
        match prefix {
            IpPrefix::V4(prefix) => self.ipv4.rib.get(prefix),
            IpPrefix::V6(prefix) => self.ipv6.rib.get(prefix),
        }
    }
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Into<IpPrefix>, V> Extend<(P, V)> for Table<V> {
    /// Inserts all routes, then compiles.
    fn extend<I: IntoIterator<Item = (P, V)>>(&mut self, routes: I) {
        for (prefix, value) in routes {
            self.insert(prefix, value);
        }
        // What cannot be compiled is answered by the Rib; `compile` tells why.
        let _ = self.compile();
    }
}

impl<P: Into<IpPrefix>, V> FromIterator<(P, V)> for Table<V> {
    /// A compiled table. Of two values for one prefix the last stays.
    fn from_iter<I: IntoIterator<Item = (P, V)>>(routes: I) -> Self {
        let mut table = Self::new();
        table.extend(routes);
        table
    }
}

impl<'a, V> IntoIterator for &'a Table<V> {
    type Item = (IpPrefix, &'a V);
    type IntoIter = Iter<'a, V>;

    fn into_iter(self) -> Iter<'a, V> {
        self.iter()
    }
}

impl<V: fmt::Debug> fmt::Debug for Table<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<V: PartialEq> PartialEq for Table<V> {
    /// The same routes with equal values, compiled or not.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<V: Eq> Eq for Table<V> {}

/// The routes of a [`Table`] in prefix order, IPv4 first.
#[derive(Clone, Debug)]
pub struct Iter<'a, V> {
    ipv4: rib::Iter<'a, u32>,
    ipv6: rib::Iter<'a, u128>,
    values: &'a Slab<V>,
}

impl<'a, V> Iterator for Iter<'a, V> {
    type Item = (IpPrefix, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        let (prefix, next_hop) = match self.ipv4.next() {
            Some((prefix, next_hop)) => (IpPrefix::V4(prefix), next_hop),
            None => {
                let (prefix, next_hop) = self.ipv6.next()?;
                (IpPrefix::V6(prefix), next_hop)
            }
        };
        Some((prefix, self.values.get(next_hop)?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.ipv4.len() + self.ipv6.len();
        (left, Some(left))
    }
}

impl<V> ExactSizeIterator for Iter<'_, V> {}

impl<V> core::iter::FusedIterator for Iter<'_, V> {}

/// One family's routes and, unless they have changed since, their Fib.
#[derive(Clone)]
struct Family<A: Address> {
    rib: Rib<A>,
    fib: Option<Fib<A, u32>>,
}

impl<A: Address> Family<A> {
    fn new() -> Self {
        Self {
            rib: Rib::new(),
            fib: None,
        }
    }

    fn insert(&mut self, prefix: Prefix<A>, next_hop: NextHop) {
        self.rib.insert(prefix, next_hop);
        self.fib = None;
    }

    fn remove(&mut self, prefix: Prefix<A>) -> Option<NextHop> {
        let removed = self.rib.remove(prefix)?;
        self.fib = None;
        Some(removed)
    }

    #[inline]
    fn lookup(&self, address: A) -> Option<NextHop> {
        match &self.fib {
            Some(fib) => NextHop::new(fib.lookup(address)),
            None => self.rib.lookup(address),
        }
    }

    fn compile(&mut self, options: &Options) -> Result<(), CompileError> {
        if self.fib.is_none() {
            self.fib = Some(Fib::compile(&self.rib, options)?);
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.rib.bytes() + self.fib.as_ref().map_or(0, Fib::bytes)
    }
}
