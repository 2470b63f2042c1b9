//! What maps have from the standard library's traits.

use core::fmt;
use core::hash::{Hash, Hasher};

use super::PrefixMap;
use super::storage::Storage;
use crate::address::Address;
use crate::fib::Options;

impl<A: Address, V, S: Storage> Default for PrefixMap<A, V, S> {
    fn default() -> Self {
        Self::with_options(Options::default())
    }
}

impl<A: Address, V: Clone, S: Storage> Clone for PrefixMap<A, V, S> {
    fn clone(&self) -> Self {
        Self {
            routes: self.routes.clone(),
            pairs: self.pairs.clone(),
        }
    }
}

impl<A: Address, V: PartialEq, S: Storage> PartialEq for PrefixMap<A, V, S> {
    /// The same routes with equal values, whatever the history.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<A: Address, V: Eq, S: Storage> Eq for PrefixMap<A, V, S> {}

impl<A: Address, V: Hash, S: Storage> Hash for PrefixMap<A, V, S> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        for route in self {
            route.hash(state);
        }
    }
}

impl<A: Address, V: fmt::Debug, S: Storage> fmt::Debug for PrefixMap<A, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}
