//! Entries: a prefix of a map, with a route or without.

use core::fmt;

use super::family::Keyed;
use super::{PrefixMap, Stores};
use crate::address::Address;
use crate::prefix::Prefix;

/// A prefix of a map; by `entry` of [`PrefixMap`] or [`IpMap`](crate::IpMap).
///
/// ```
/// use popfib::PrefixMap;
/// use popfib::map::Entry;
///
/// let mut map: PrefixMap<u32, u8> =
///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
/// match map.entry("10.0.0.0/8".parse().unwrap()) {
///     Entry::Occupied(mut entry) => assert_eq!(entry.insert(9), 1),
///     Entry::Vacant(_) => unreachable!("there is a route"),
/// }
/// map.entry("10.2.0.0/16".parse().unwrap()).or_default();
/// map.entry("10.1.0.0/16".parse().unwrap()).and_modify(|value| *value += 1).or_insert(7);
/// assert!(map.values().eq(&[9, 3, 0, 3]));
/// # Ok::<(), popfib::map::ListTextError>(())
/// ```
pub enum Entry<'a, M: Keyed> {
    /// There is a route.
    Occupied(OccupiedEntry<'a, M>),
    /// There is none.
    Vacant(VacantEntry<'a, M>),
}

/// A prefix with a route.
///
/// ```
/// use popfib::PrefixMap;
/// use popfib::map::Entry;
///
/// let mut map: PrefixMap<u32, u8> =
///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
/// let Entry::Occupied(mut entry) = map.entry("10.0.0.0/8".parse().unwrap()) else {
///     panic!("there is a route");
/// };
/// *entry.get_mut() += 4;
/// assert_eq!((entry.key().len(), entry.get()), (8, &5));
/// assert_eq!(entry.remove(), 5);
/// assert_eq!(map.len(), 2);
/// # Ok::<(), popfib::map::ListTextError>(())
/// ```
pub struct OccupiedEntry<'a, M: Keyed> {
    map: &'a mut M,
    key: M::Key,
}

/// A prefix without a route.
///
/// ```
/// use popfib::PrefixMap;
/// use popfib::map::Entry;
///
/// let mut map: PrefixMap<u32, u8> =
///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
/// if let Entry::Vacant(entry) = map.entry("10.2.0.0/16".parse().unwrap()) {
///     *entry.insert(4) += 1;
/// }
/// assert!(map.values().eq(&[1, 2, 5, 3]));
/// # Ok::<(), popfib::map::ListTextError>(())
/// ```
pub struct VacantEntry<'a, M: Keyed> {
    map: &'a mut M,
    key: M::Key,
}

/// What holds of every occupied entry: nobody else changes the map meanwhile.
const OCCUPIED: &str = "there is a route";

impl<'a, M: Keyed> Entry<'a, M> {
    pub(super) fn of(map: &'a mut M, key: M::Key) -> Self {
        if map.value_of(key).is_some() {
            Self::Occupied(OccupiedEntry { map, key })
        } else {
            Self::Vacant(VacantEntry { map, key })
        }
    }

    /// The prefix.
    pub fn key(&self) -> M::Key {
        match self {
            Self::Occupied(entry) => entry.key,
            Self::Vacant(entry) => entry.key,
        }
    }

    /// The value, `value` if there was none.
    pub fn or_insert(self, value: M::Value) -> M::Mut<'a> {
        self.or_insert_with(|| value)
    }

    /// The value, that of `make` if there was none.
    pub fn or_insert_with(self, make: impl FnOnce() -> M::Value) -> M::Mut<'a> {
        match self {
            Self::Occupied(entry) => entry.into_mut(),
            Self::Vacant(entry) => entry.insert(make()),
        }
    }

    /// The value, the default of its type if there was none.
    pub fn or_default(self) -> M::Mut<'a>
    where
        M::Value: Default,
    {
        self.or_insert_with(M::Value::default)
    }

    /// Changes the value in place if there is one.
    #[must_use]
    pub fn and_modify(mut self, change: impl FnOnce(&mut M::Value)) -> Self {
        if let Self::Occupied(entry) = &mut self {
            change(&mut entry.get_mut());
        }
        self
    }

    /// Sets the value.
    pub fn insert_entry(self, value: M::Value) -> OccupiedEntry<'a, M> {
        let (Self::Occupied(OccupiedEntry { map, key }) | Self::Vacant(VacantEntry { map, key })) =
            self;
        map.set_value_of(key, value);
        OccupiedEntry { map, key }
    }
}

impl<'a, M: Keyed> OccupiedEntry<'a, M> {
    /// The prefix.
    pub fn key(&self) -> M::Key {
        self.key
    }

    /// The value.
    pub fn get(&self) -> &M::Value {
        self.map.value_of(self.key).expect(OCCUPIED)
    }

    /// The value, to change it in place.
    pub fn get_mut(&mut self) -> M::Mut<'_> {
        self.map.value_mut_of(self.key).expect(OCCUPIED)
    }

    /// The value, to change it in place for as long as the map is borrowed.
    pub fn into_mut(self) -> M::Mut<'a> {
        self.map.value_mut_of(self.key).expect(OCCUPIED)
    }

    /// Sets the value; returns the one that was there.
    pub fn insert(&mut self, value: M::Value) -> M::Value {
        self.map.set_value_of(self.key, value).expect(OCCUPIED)
    }

    /// Removes the route; returns its value.
    pub fn remove(self) -> M::Value {
        self.map.remove_value_of(self.key).expect(OCCUPIED)
    }
}

impl<'a, M: Keyed> VacantEntry<'a, M> {
    /// The prefix.
    pub fn key(&self) -> M::Key {
        self.key
    }

    /// Sets the value.
    pub fn insert(self, value: M::Value) -> M::Mut<'a> {
        self.map.set_value_of(self.key, value);
        self.map.value_mut_of(self.key).expect(OCCUPIED)
    }
}

impl<M: Keyed<Key: fmt::Debug, Value: fmt::Debug>> fmt::Debug for Entry<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Occupied(entry) => entry.fmt(f),
            Self::Vacant(entry) => entry.fmt(f),
        }
    }
}

impl<M: Keyed<Key: fmt::Debug, Value: fmt::Debug>> fmt::Debug for OccupiedEntry<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OccupiedEntry")
            .field("key", &self.key)
            .field("value", self.get())
            .finish()
    }
}

impl<M: Keyed<Key: fmt::Debug>> fmt::Debug for VacantEntry<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VacantEntry").field(&self.key).finish()
    }
}

impl<A: Address, V, S: Stores<V>> PrefixMap<A, V, S> {
    /// The entry of `prefix`, whether it has a route or not.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let mut hits: PrefixMap<u32, u64> = PrefixMap::new();
    /// for prefix in ["10.0.0.0/8", "192.0.2.0/24", "10.0.0.0/8"] {
    ///     *hits.entry(prefix.parse()?).or_insert(0) += 1;
    /// }
    /// assert_eq!(hits.get("10.0.0.0/8".parse()?), Some(&2));
    /// # Ok::<(), popfib::PrefixError>(())
    /// ```
    pub fn entry(&mut self, prefix: Prefix<A>) -> Entry<'_, Self> {
        Entry::of(self, prefix)
    }
}
