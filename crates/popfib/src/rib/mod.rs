//! The route store.
use crate::{Address, NextHop, Prefix};
use alloc::collections::BTreeMap;

/// Every route of one family, in prefix order. (Provisional store.)
#[derive(Clone, Debug, Default)]
pub struct Rib<A: Address> {
    routes: BTreeMap<Prefix<A>, NextHop>,
}

impl<A: Address> Rib<A> {
    /// An empty Rib.
    pub const fn new() -> Self {
        Self {
            routes: BTreeMap::new(),
        }
    }
    /// Number of routes.
    pub fn len(&self) -> usize {
        self.routes.len()
    }
    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }
    /// Removes every route.
    pub fn clear(&mut self) {
        self.routes.clear();
    }
    /// Adds or replaces the route of `prefix`; returns the replaced next hop.
    pub fn insert(&mut self, prefix: Prefix<A>, next_hop: NextHop) -> Option<NextHop> {
        self.routes.insert(prefix, next_hop)
    }
    /// Removes the route of exactly `prefix`.
    pub fn remove(&mut self, prefix: Prefix<A>) -> Option<NextHop> {
        self.routes.remove(&prefix)
    }
    /// The route of exactly `prefix`.
    pub fn get(&self, prefix: Prefix<A>) -> Option<NextHop> {
        self.routes.get(&prefix).copied()
    }
    /// The next hop of the longest prefix that holds `address`.
    pub fn lookup(&self, address: A) -> Option<NextHop> {
        self.longest_match(address).map(|(_, n)| n)
    }
    /// The longest prefix that holds `address`, and its next hop.
    pub fn longest_match(&self, address: A) -> Option<(Prefix<A>, NextHop)> {
        (0..=A::WIDTH).rev().find_map(|len| {
            let p = Prefix::new_masked(address, len).ok()?;
            Some((p, self.get(p)?))
        })
    }
    /// The routes in prefix order.
    pub fn iter(&self) -> impl Iterator<Item = (Prefix<A>, NextHop)> + '_ {
        self.routes.iter().map(|(p, n)| (*p, *n))
    }
    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        self.routes.len() * 40
    }
}
