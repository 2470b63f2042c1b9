//! What entries and sets need of a map, of one family or of both (`ip_map.rs`).

use core::ops::DerefMut;

use super::stores::Stores;
use super::{PrefixMap, Storage};
use crate::address::Address;
use crate::prefix::Prefix;

pub(super) mod sealed {
    pub trait Sealed {}
    impl<A: super::Address, V, S: super::Storage> Sealed for super::PrefixMap<A, V, S> {}
}

/// A map whose routes can be had and changed by their prefix: [`PrefixMap`] and [`IpMap`](crate::IpMap).
///
/// ```
/// use popfib::IpMap;
/// use popfib::map::Keyed;
///
/// fn count<M: Keyed<Value = u64>>(map: &mut M, key: M::Key) {
///     let count = map.value_of(key).copied().unwrap_or(0);
///     map.set_value_of(key, count + 1);
/// }
///
/// let mut table = IpMap::new();
/// for _ in 0..2 {
///     count(&mut table, "10.0.0.0/8".parse()?);
/// }
/// assert!(table.values().eq(&[2]));
/// # Ok::<(), popfib::PrefixError>(())
/// ```
pub trait Keyed: sealed::Sealed {
    /// Prefixes of the map.
    type Key: Copy;
    /// Its values.
    type Value;
    /// What it lends for a value that may be changed.
    type Mut<'a>: DerefMut<Target = Self::Value>
    where
        Self: 'a;

    /// The value of exactly `key`.
    fn value_of(&self, key: Self::Key) -> Option<&Self::Value>;

    /// The value of exactly `key`, to change it in place.
    fn value_mut_of(&mut self, key: Self::Key) -> Option<Self::Mut<'_>>;

    /// Sets the value of `key`; returns the value it replaces.
    fn set_value_of(&mut self, key: Self::Key, value: Self::Value) -> Option<Self::Value>;

    /// Removes the route of exactly `key`; returns its value.
    fn remove_value_of(&mut self, key: Self::Key) -> Option<Self::Value>;
}

impl<A: Address, V, S: Stores<V>> Keyed for PrefixMap<A, V, S> {
    type Key = Prefix<A>;
    type Value = V;
    type Mut<'a>
        = S::Mut<'a>
    where
        Self: 'a;

    fn value_of(&self, key: Prefix<A>) -> Option<&V> {
        self.get(key)
    }

    fn value_mut_of(&mut self, key: Prefix<A>) -> Option<S::Mut<'_>> {
        self.get_mut(key)
    }

    fn set_value_of(&mut self, key: Prefix<A>, value: V) -> Option<V> {
        self.insert(key, value)
    }

    fn remove_value_of(&mut self, key: Prefix<A>) -> Option<V> {
        self.remove(key)
    }
}
