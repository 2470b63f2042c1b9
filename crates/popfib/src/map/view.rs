//! A part of a map: a prefix and the routes inside it.

use core::fmt;

use super::PrefixMap;
use super::storage::Storage;
use crate::address::Address;
use crate::prefix::Prefix;

/// The routes of a [`PrefixMap`] inside one prefix; by [`PrefixMap::subtree`].
///
/// ```
/// use popfib::PrefixMap;
///
/// let map: PrefixMap<u32, u8> =
///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("11.0.0.0/8", 3)])?;
/// let ten = map.subtree("10.0.0.0/8".parse().unwrap());
/// assert_eq!(ten.value(), Some(&1));
/// assert_eq!(ten.iter().count(), 2);
/// let (left, right) = ten.halves().unwrap();
/// assert_eq!((left.iter().count(), right.is_empty()), (1, true));
/// # Ok::<(), popfib::map::ListTextError>(())
/// ```
pub struct Subtree<'a, A: Address, V, S: Storage> {
    map: &'a PrefixMap<A, V, S>,
    prefix: Prefix<A>,
}

impl<A: Address, V, S: Storage> PrefixMap<A, V, S> {
    /// The part of the map inside `prefix`, whether or not it has a route.
    pub fn subtree(&self, prefix: Prefix<A>) -> Subtree<'_, A, V, S> {
        Subtree { map: self, prefix }
    }
}

impl<'a, A: Address, V, S: Storage> Subtree<'a, A, V, S> {
    /// The prefix.
    pub fn prefix(&self) -> Prefix<A> {
        self.prefix
    }

    /// The value of exactly the prefix.
    pub fn value(&self) -> Option<&'a V> {
        self.map.get(self.prefix)
    }

    /// Whether there is no route inside.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The routes inside, in prefix order.
    pub fn iter(&self) -> impl Iterator<Item = (Prefix<A>, &'a V)> + Clone + use<'a, A, V, S> {
        self.map.subnets(self.prefix)
    }

    /// The value of exactly `prefix`, if it is inside.
    pub fn get(&self, prefix: Prefix<A>) -> Option<&'a V> {
        self.map.get(prefix).filter(|_| self.prefix.covers(&prefix))
    }

    /// The longest route inside that contains `address`.
    pub fn longest_match(&self, address: impl Into<A>) -> Option<(Prefix<A>, &'a V)> {
        let found = self.map.longest_match(address)?;
        self.prefix.covers(&found.0).then_some(found)
    }

    /// The longest route inside that covers `prefix`.
    pub fn covering(&self, prefix: Prefix<A>) -> Option<(Prefix<A>, &'a V)> {
        let found = self.map.covering(prefix)?;
        self.prefix.covers(&found.0).then_some(found)
    }

    /// The part of this inside `prefix`; `None` if that is not inside.
    pub fn subtree(&self, prefix: Prefix<A>) -> Option<Self> {
        let map = self.map;
        self.prefix.covers(&prefix).then_some(Self { map, prefix })
    }

    /// The two halves; `None` for a single address.
    pub fn halves(&self) -> Option<(Self, Self)> {
        let len = self.prefix.len() + 1;
        let half = |address| {
            let prefix = Prefix::new_masked(address, len).ok()?;
            self.subtree(prefix)
        };
        Some((half(self.prefix.first())?, half(self.prefix.last())?))
    }
}

impl<A: Address, V, S: Storage> Clone for Subtree<'_, A, V, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Address, V, S: Storage> Copy for Subtree<'_, A, V, S> {}

impl<A: Address, V: fmt::Debug, S: Storage> fmt::Debug for Subtree<'_, A, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
