//! The judge: longest-prefix match by a linear scan over the routes.
//!
//! It shares no code with the library. An address is a `u128` whose most
//! significant bits are the key, whatever the key's width; a prefix matches if
//! nothing is left of the exclusive or after shifting out what lies after it.

/// A route; `bits` left-aligned, zero beyond `len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Route {
    pub(crate) bits: u128,
    pub(crate) len: u8,
    pub(crate) next_hop: u32,
}

impl Route {
    /// The route of the first `len` bits of `bits`.
    pub(crate) fn new(bits: u128, len: u8, next_hop: u32) -> Self {
        let behind = u128::MAX.checked_shr(len.into()).unwrap_or(0);
        let bits = bits - (bits & behind);
        Self {
            bits,
            len,
            next_hop,
        }
    }

    pub(crate) fn matches(&self, address: u128) -> bool {
        self.len == 0 || (address ^ self.bits) >> (128 - self.len) == 0
    }

    pub(crate) fn last(&self) -> u128 {
        self.bits + u128::MAX.checked_shr(self.len.into()).unwrap_or(0)
    }
}

/// Routes without order, no prefix twice.
#[derive(Clone, Default)]
pub(crate) struct Oracle {
    routes: Vec<Route>,
}

impl Oracle {
    fn position(&self, prefix: Route) -> Option<usize> {
        let same = |r: &Route| r.bits == prefix.bits && r.len == prefix.len;
        self.routes.iter().position(same)
    }

    /// Adds or replaces; returns the replaced next hop.
    pub(crate) fn insert(&mut self, route: Route) -> Option<u32> {
        match self.position(route) {
            Some(i) => Some(std::mem::replace(&mut self.routes[i], route).next_hop),
            None => {
                self.routes.push(route);
                None
            }
        }
    }

    pub(crate) fn remove(&mut self, prefix: Route) -> Option<u32> {
        self.position(prefix)
            .map(|i| self.routes.swap_remove(i).next_hop)
    }

    pub(crate) fn get(&self, prefix: Route) -> Option<u32> {
        self.position(prefix).map(|i| self.routes[i].next_hop)
    }

    pub(crate) fn longest_match(&self, address: u128) -> Option<Route> {
        let matching = self.routes.iter().filter(|r| r.matches(address));
        matching.max_by_key(|r| r.len).copied()
    }

    /// By address, a covering prefix before what it covers.
    pub(crate) fn sorted(&self) -> Vec<Route> {
        let mut routes = self.routes.clone();
        routes.sort();
        routes
    }
}
