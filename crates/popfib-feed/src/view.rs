//! The best paths of a table as other threads see them.

use std::net::IpAddr;
use std::sync::{PoisonError, RwLock};

use popfib::{IpPrefix, Shared, Table};

use crate::target::Target;

/// A table that one thread changes while others look up.
#[derive(Default)]
pub struct View {
    table: RwLock<Table<Target, Shared>>,
}

impl View {
    pub(crate) fn announce(&self, prefix: IpPrefix, target: Target) {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.insert(prefix, target);
    }

    pub(crate) fn withdraw(&self, prefix: IpPrefix) {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.remove(prefix);
    }

    /// Calls `see` with the longest match of each address.
    pub fn longest_match(&self, address: IpAddr) -> Option<(IpPrefix, Target)> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let (prefix, target) = table.longest_match(address)?;
        Some((prefix, target.clone()))
    }
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").finish_non_exhaustive()
    }
}
