//! What covers a prefix, what is inside it, and what lies between two.

use core::ops::RangeBounds;

use super::PrefixMap;
use super::iter::value;
use super::storage::Storage;
use super::stores::Stores;
use crate::address::Address;
use crate::prefix::Prefix;

impl<A: Address, V, S: Storage> PrefixMap<A, V, S> {
    /// The routes that cover `prefix`, including `prefix` itself, the shortest first.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// let lab = "10.1.0.0/16".parse().unwrap();
    /// assert!(map.supernets(lab).map(|(_, value)| *value).eq([1, 2]));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn supernets(&self, prefix: Prefix<A>) -> impl Iterator<Item = (Prefix<A>, &V)> + Clone {
        let slots = self.pairs.slots();
        let routes = self.routes.rib.supernets(prefix);
        routes.filter_map(|(prefix, number)| Some((prefix, value(slots, number)?)))
    }

    /// The routes inside `prefix`, including `prefix` itself, in prefix order.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// let ten = "10.0.0.0/8".parse().unwrap();
    /// assert!(map.subnets(ten).map(|(_, value)| *value).eq([1, 2]));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn subnets(&self, prefix: Prefix<A>) -> impl Iterator<Item = (Prefix<A>, &V)> + Clone {
        self.range(prefix..=Prefix::host(prefix.last()))
    }

    /// The routes between two places in prefix order, whether or not there are routes at those.
    ///
    /// ```
    /// use popfib::{Prefix, PrefixMap};
    ///
    /// let map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("11.0.0.0/8", 3)])?;
    /// let from: Prefix<u32> = "10.1.0.0/16".parse().unwrap();
    /// assert!(map.range(from..).map(|(_, value)| *value).eq([2, 3]));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn range(
        &self,
        bounds: impl RangeBounds<Prefix<A>>,
    ) -> impl Iterator<Item = (Prefix<A>, &V)> + Clone {
        let slots = self.pairs.slots();
        let routes = self.routes.rib.range(bounds);
        routes.filter_map(|(prefix, number)| Some((prefix, value(slots, number)?)))
    }

    /// The longest route that covers `prefix`, which may be its own.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// let inside = "10.1.2.0/24".parse().unwrap();
    /// assert_eq!(map.covering(inside).unwrap().0.to_string(), "10.1.0.0/16");
    /// assert!(map.covers(inside) && map.overlaps("0.0.0.0/0".parse().unwrap()));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn covering(&self, prefix: Prefix<A>) -> Option<(Prefix<A>, &V)> {
        self.supernets(prefix).last()
    }

    /// Whether one route covers all of `prefix`.
    pub fn covers(&self, prefix: Prefix<A>) -> bool {
        self.routes.rib.supernets(prefix).next().is_some()
    }

    /// Whether each address of `prefix` has a route, of one prefix or of several together.
    /// O(routes inside).
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let half = |text: &str| text.parse().unwrap();
    /// let map: PrefixMap<u32, u8> = [(half("10.0.0.0/9"), 1), (half("10.128.0.0/9"), 2)].into();
    /// let ten = "10.0.0.0/8".parse().unwrap();
    /// assert!(map.covers_all(ten) && !map.covers(ten));
    /// ```
    pub fn covers_all(&self, prefix: Prefix<A>) -> bool {
        if self.covers(prefix) {
            return true;
        }
        // The first address that is not known to be covered.
        let mut next = Some(prefix.first());
        for (route, _) in self.routes.rib.subnets(prefix) {
            match next {
                Some(address) if route.first() > address => return false,
                Some(address) if route.last() >= address => next = route.last().checked_next(),
                _ => {}
            }
        }
        next.is_none_or(|address| address > prefix.last())
    }

    /// Whether a route overlaps `prefix`: covers it or is inside it.
    pub fn overlaps(&self, prefix: Prefix<A>) -> bool {
        self.routes.rib.overlaps(prefix)
    }

    /// How many addresses have a route, each counted once; `None` for all 2^128. O(routes).
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let map: PrefixMap<u32, ()> = PrefixMap::from_text([("10.0.0.0/8", ()), ("10.1.0.0/16", ())])?;
    /// assert_eq!(map.address_count(), Some(1 << 24));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn address_count(&self) -> Option<u128> {
        let mut count = 0u128;
        let mut covered: Option<A> = None;
        for (prefix, _) in &self.routes.rib {
            // In prefix order what is covered already comes before its cover's last address.
            if covered.is_none_or(|last| prefix.first() > last) {
                covered = Some(prefix.last());
                let hosts = 1u128.checked_shl(u32::from(A::WIDTH - prefix.len()))?;
                count = count.checked_add(hosts)?;
            }
        }
        Some(count)
    }
}

impl<A: Address, V, S: Stores<V>> PrefixMap<A, V, S> {
    /// Removes the routes inside `prefix`, including `prefix` itself; returns how many there were.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let mut map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// assert_eq!(map.remove_subnets("10.0.0.0/8".parse().unwrap()), 2);
    /// assert_eq!(map.len(), 1);
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn remove_subnets(&mut self, prefix: Prefix<A>) -> usize {
        self.remove_all(
            self.routes
                .rib
                .subnets(prefix)
                .map(|(prefix, _)| prefix)
                .collect(),
        )
    }

    /// The longest route that covers `prefix`, which may be its own, and its value, to change
    /// it in place.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let mut map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// let inside = "10.1.2.0/24".parse().unwrap();
    /// if let Some((_, value)) = map.covering_mut(inside) {
    ///     *value = 0;
    /// }
    /// assert!(map.values().eq(&[1, 0, 3]));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn covering_mut(&mut self, prefix: Prefix<A>) -> Option<(Prefix<A>, S::Mut<'_>)> {
        let (prefix, _) = self.covering(prefix)?;
        Some((prefix, self.get_mut(prefix)?))
    }
}
