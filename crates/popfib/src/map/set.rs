//! Sets of prefixes: maps without values.
//!
//! All routes of one length share a pair, so a set is the smallest map there is.

use core::fmt;
use core::iter::Map;
use core::net::IpAddr;

use super::PrefixMap;
use super::ip_map::IpMap;
use super::storage::Shared;
use crate::address::Address;
use crate::prefix::{IpPrefix, Prefix};

/// The two sets: of prefixes of one family, and of both.
macro_rules! set {
    ($(#[$docs:meta])* $set:ident<$($family:ident)?>, $map:ty, $prefix:ty, $address:ty, $key:ty) => {
        $(#[$docs])*
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct $set$(<$family: Address>)? {
            map: $map,
        }

        impl$(<$family: Address>)? $set$(<$family>)? {
            /// A set without prefixes; allocates nothing.
            pub fn new() -> Self {
                Self::default()
            }

            /// The number of prefixes.
            pub fn len(&self) -> usize {
                self.map.len()
            }

            /// Whether there is no prefix.
            pub fn is_empty(&self) -> bool {
                self.map.is_empty()
            }

            /// Removes every prefix and frees the memory.
            pub fn clear(&mut self) {
                self.map.clear();
            }

            /// Heap bytes of prefixes and Poptrie, spare capacity included.
            pub fn bytes(&self) -> usize {
                self.map.bytes()
            }

            /// Adds `prefix`; returns whether it was not there.
            pub fn insert(&mut self, prefix: $prefix) -> bool {
                self.map.insert(prefix, ()).is_none()
            }

            /// Removes exactly `prefix`; returns whether it was there.
            pub fn remove(&mut self, prefix: $prefix) -> bool {
                self.map.remove(prefix).is_some()
            }

            /// Removes the prefixes inside `prefix`, including `prefix` itself; returns their number.
            pub fn remove_subnets(&mut self, prefix: $prefix) -> usize {
                self.map.remove_subnets(prefix)
            }

            /// Keeps the prefixes for which `keep` holds.
            pub fn retain(&mut self, mut keep: impl FnMut($key) -> bool) {
                self.map.retain(|prefix, ()| keep(prefix));
            }

            /// Removes all prefixes and returns them in order.
            pub fn drain(&mut self) -> impl Iterator<Item = $key> {
                self.map.drain().map(|(prefix, ())| prefix)
            }

            /// Whether exactly `prefix` is there.
            pub fn contains(&self, prefix: $prefix) -> bool {
                self.map.contains_key(prefix)
            }

            /// Whether a prefix of the set contains `address`. As fast as a lookup.
            #[inline]
            pub fn contains_address(&self, address: $address) -> bool {
                self.map.lookup(address).is_some()
            }

            /// The longest prefix that contains `address`.
            #[inline]
            pub fn longest_match(&self, address: $address) -> Option<$key> {
                Some(self.map.longest_match(address)?.0)
            }

            /// The shortest prefix that contains `address`.
            pub fn shortest_match(&self, address: $address) -> Option<$key> {
                Some(self.map.shortest_match(address)?.0)
            }

            /// The longest prefix that covers `prefix`, which may be itself.
            pub fn covering(&self, prefix: $prefix) -> Option<$key> {
                Some(self.map.covering(prefix)?.0)
            }

            /// Whether one prefix covers all of `prefix`.
            pub fn covers(&self, prefix: $prefix) -> bool {
                self.map.covers(prefix)
            }

            /// Whether the set contains each address of `prefix`, by one prefix or several together.
            pub fn covers_all(&self, prefix: $prefix) -> bool {
                self.map.covers_all(prefix)
            }

            /// Whether the set has an address in common with `prefix`.
            pub fn overlaps(&self, prefix: $prefix) -> bool {
                self.map.overlaps(prefix)
            }

            /// The prefixes in their order: by address, a covering one before what it covers.
            pub fn iter(&self) -> impl ExactSizeIterator<Item = $key> + Clone {
                self.map.keys()
            }

            /// The prefixes that cover `prefix`, including `prefix` itself, the shortest first.
            pub fn supernets(&self, prefix: $prefix) -> impl Iterator<Item = $key> + Clone {
                self.map.supernets(prefix).map(|(prefix, ())| prefix)
            }

            /// The prefixes inside `prefix`, including `prefix` itself, in their order.
            pub fn subnets(&self, prefix: $prefix) -> impl Iterator<Item = $key> + Clone {
                self.map.subnets(prefix).map(|(prefix, ())| prefix)
            }

            /// The prefixes between two places in their order.
            pub fn range(
                &self,
                bounds: impl core::ops::RangeBounds<$key>,
            ) -> impl Iterator<Item = $key> + Clone {
                self.map.range(bounds).map(|(prefix, ())| prefix)
            }

            /// The first prefix.
            pub fn first(&self) -> Option<$key> {
                Some(self.map.first()?.0)
            }

            /// The last prefix.
            pub fn last(&self) -> Option<$key> {
                Some(self.map.last()?.0)
            }

            /// The map without values that the set is.
            pub(super) fn as_map(&self) -> &$map {
                &self.map
            }
        }

        impl$(<$family: Address>)? Default for $set$(<$family>)? {
            fn default() -> Self {
                Self { map: <$map>::default() }
            }
        }

        impl$(<$family: Address>)? Extend<$key> for $set$(<$family>)? {
            fn extend<I: IntoIterator<Item = $key>>(&mut self, prefixes: I) {
                self.map.extend(prefixes.into_iter().map(|prefix| (prefix, ())));
            }
        }

        impl$(<$family: Address>)? FromIterator<$key> for $set$(<$family>)? {
            fn from_iter<I: IntoIterator<Item = $key>>(prefixes: I) -> Self {
                let mut set = Self::default();
                set.extend(prefixes);
                set
            }
        }

        impl<$($family: Address,)? const N: usize> From<[$key; N]> for $set$(<$family>)? {
            fn from(prefixes: [$key; N]) -> Self {
                prefixes.into_iter().collect()
            }
        }

        impl<'a, $($family: Address)?> IntoIterator for &'a $set$(<$family>)? {
            type Item = $key;
            type IntoIter = Map<<&'a $map as IntoIterator>::IntoIter, fn(($key, &'a ())) -> $key>;

            fn into_iter(self) -> Self::IntoIter {
                (&self.map).into_iter().map(|(prefix, ())| prefix)
            }
        }

        impl$(<$family: Address>)? IntoIterator for $set$(<$family>)? {
            type Item = $key;
            type IntoIter = Map<<$map as IntoIterator>::IntoIter, fn(($key, ())) -> $key>;

            fn into_iter(self) -> Self::IntoIter {
                self.map.into_iter().map(|(prefix, ())| prefix)
            }
        }

        impl$(<$family: Address>)? fmt::Debug for $set$(<$family>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_set().entries(self.iter()).finish()
            }
        }
    };
}

set! {
    /// A set of prefixes of one family: a [`PrefixMap`] without values.
    ///
    /// ```
    /// use popfib::PrefixSet;
    /// use std::net::Ipv4Addr;
    ///
    /// let mut blocked: PrefixSet<u32> = PrefixSet::new();
    /// blocked.insert("192.0.2.0/24".parse()?);
    /// assert!(blocked.contains_address(Ipv4Addr::new(192, 0, 2, 7)));
    /// assert!(!blocked.contains_address(Ipv4Addr::LOCALHOST));
    /// # Ok::<(), popfib::PrefixError>(())
    /// ```
    PrefixSet<A>, PrefixMap<A, (), Shared>, Prefix<A>, impl Into<A>, Prefix<A>
}

set! {
    /// A set of prefixes of both families: an [`IpMap`] without values.
    ///
    /// ```
    /// use popfib::{IpPrefix, IpSet};
    /// use std::net::IpAddr;
    ///
    /// let blocked: IpSet = ["192.0.2.0/24", "2001:db8::/32"]
    ///     .map(|prefix| prefix.parse::<IpPrefix>().unwrap())
    ///     .into();
    /// let address: IpAddr = "2001:db8::7".parse()?;
    /// assert!(blocked.contains_address(address));
    /// # Ok::<(), std::net::AddrParseError>(())
    /// ```
    IpSet<>, IpMap<(), Shared>, impl Into<IpPrefix>, impl Into<IpAddr>, IpPrefix
}
