//! What entries and sets need of a map, of one family or of both (`ip_map.rs`).

use core::ops::DerefMut;

use super::PrefixMap;
use super::stores::Stores;
use crate::address::Address;
use crate::prefix::Prefix;

/// What only entries ask of [`Keyed`].
pub(super) mod sealed {
    pub trait ByKey<K, V> {
        fn value_of(&self, key: K) -> Option<&V>;
        fn set_value_of(&mut self, key: K, value: V) -> Option<V>;
        fn remove_value_of(&mut self, key: K) -> Option<V>;
    }
}
use sealed::ByKey;

/// A map whose routes have entries: [`PrefixMap`] and [`IpMap`](crate::IpMap).
pub trait Keyed: ByKey<<Self as Keyed>::Key, <Self as Keyed>::Value> {
    /// Prefixes of the map.
    type Key: Copy;
    /// Its values.
    type Value;
    /// What it lends for a value that may be changed.
    type Mut<'a>: DerefMut<Target = Self::Value>
    where
        Self: 'a;

    /// The value of exactly `key`, to change it in place.
    fn value_mut_of(&mut self, key: Self::Key) -> Option<Self::Mut<'_>>;
}

impl<A: Address, V, S: Stores<V>> Keyed for PrefixMap<A, V, S> {
    type Key = Prefix<A>;
    type Value = V;
    type Mut<'a>
        = S::Mut<'a>
    where
        Self: 'a;

    fn value_mut_of(&mut self, key: Prefix<A>) -> Option<S::Mut<'_>> {
        self.get_mut(key)
    }
}

impl<A: Address, V, S: Stores<V>> ByKey<Prefix<A>, V> for PrefixMap<A, V, S> {
    fn value_of(&self, key: Prefix<A>) -> Option<&V> {
        self.get(key)
    }

    fn set_value_of(&mut self, key: Prefix<A>, value: V) -> Option<V> {
        self.insert(key, value)
    }

    fn remove_value_of(&mut self, key: Prefix<A>) -> Option<V> {
        self.remove(key)
    }
}
