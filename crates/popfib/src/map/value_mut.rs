//! A value that is lent to be changed, where other routes may have it too.

use core::fmt;
use core::ops::{Deref, DerefMut};

use super::pairs::Pairs;
use super::storage::{Shared, Storage};
use crate::next_hop::NextHop;

/// A map that can set the value of a route whose prefix is known by its bits and its pair.
pub trait Renumber<V, S: Storage> {
    fn pairs(&self) -> &Pairs<V, S>;
    fn pairs_mut(&mut self) -> &mut Pairs<V, S>;

    /// Sets the value of the route of `bits`, whose length is that of pair `number`.
    fn set(&mut self, bits: u128, number: NextHop, value: V);
}

/// A value of a map of [`Shared`] values, to be changed in place.
///
/// Other routes may have the same value, so the first change makes a copy; when the guard is
/// dropped the route has the copy for its value, and the others keep theirs. What was only
/// looked at costs nothing.
///
/// ```
/// use popfib::IpMap;
///
/// let mut table = IpMap::shared();
/// for prefix in ["192.0.2.0/24", "198.51.100.0/24"] {
///     table.insert(prefix.parse::<popfib::IpPrefix>()?, String::from("test"));
/// }
/// if let Some(mut value) = table.get_mut("192.0.2.0/24".parse::<popfib::IpPrefix>()?) {
///     value.push_str("-net-1");
/// }
/// let values: Vec<_> = table.values().collect();
/// assert_eq!(values, ["test-net-1", "test"]);
/// # Ok::<(), popfib::PrefixError>(())
/// ```
pub struct ValueMut<'a, V> {
    map: &'a mut dyn Renumber<V, Shared>,
    bits: u128,
    number: NextHop,
    /// The copy, from the first change on.
    copy: Option<V>,
}

impl<'a, V> ValueMut<'a, V> {
    pub(super) fn new(map: &'a mut dyn Renumber<V, Shared>, bits: u128, number: NextHop) -> Self {
        Self {
            map,
            bits,
            number,
            copy: None,
        }
    }
}

impl<V> Deref for ValueMut<'_, V> {
    type Target = V;

    fn deref(&self) -> &V {
        let shared = || self.map.pairs().get(self.number.get());
        match &self.copy {
            Some(value) => value,
            None => &shared().expect("a route has a pair").value,
        }
    }
}

impl<V: Clone> DerefMut for ValueMut<'_, V> {
    fn deref_mut(&mut self) -> &mut V {
        let copy = match self.copy.take() {
            Some(value) => value,
            None => V::clone(self),
        };
        self.copy.insert(copy)
    }
}

impl<V> Drop for ValueMut<'_, V> {
    fn drop(&mut self) {
        if let Some(value) = self.copy.take() {
            self.map.set(self.bits, self.number, value);
        }
    }
}

impl<V: fmt::Debug> fmt::Debug for ValueMut<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
