//! The type of sets.

use std::sync::Arc;

use pyo3::prelude::*;

use super::addresses::Addresses;
use crate::routes::Map;

/// A set of addresses of both families, which does not change; kept as the fewest prefixes that have them.
///
/// `IPSet(source)` takes a prefix, a range, or an iterable of these: str ("10.0.0.0/8", "10.0.0.1-10.0.0.9", "10.0.0.*"), keys
/// as those of a Table, pairs of first and last address, objects of `ipaddress` and of netaddr; or a Table, another set, an
/// IPSet of netaddr. With `where`, the addresses of a table whose longest match has a value for which it is true. With `mask`,
/// host bits of texts are cleared.
#[pyclass(frozen, module = "popfib")]
pub(crate) struct IPSet {
    pub(super) addresses: Arc<Addresses>,
}

impl IPSet {
    /// The prefixes as a map, for lookups.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(crate) fn compiled(&self) -> PyResult<&Map> {
        self.addresses.compiled()
    }
}

impl From<Addresses> for IPSet {
    fn from(addresses: Addresses) -> Self {
        Self {
            addresses: Arc::new(addresses),
        }
    }
}
