//! The class of sets, for the files that make or read one.

use std::sync::Arc;

use pyo3::prelude::*;

use super::addresses::SetAddresses;
use crate::routes::NumberMap;

/// A set of addresses of both families, which does not change; kept as the fewest prefixes that have them.
///
/// `IPSet(source)` takes a prefix, a range, or an iterable of these: str ("10.0.0.0/8", "10.0.0.1-10.0.0.9", "10.0.0.*"), keys
/// as those of a Table, pairs of first and last address, objects of `ipaddress` and of netaddr; or a Table, another set, an
/// IPSet of netaddr. With `where`, the addresses of a table whose longest match has a value for which it is true. With `mask`,
/// host bits of texts are cleared.
#[pyclass(name = "IPSet", frozen, module = "popfib")]
pub(crate) struct PyIpSet {
    pub(super) addresses: Arc<SetAddresses>,
}

impl PyIpSet {
    /// The prefixes as a map, for lookups.
    ///
    /// # Errors
    /// `MemoryError` if there is no memory for the map.
    pub(crate) fn compiled(&self) -> PyResult<&NumberMap> {
        self.addresses.compiled()
    }
}

impl From<SetAddresses> for PyIpSet {
    fn from(addresses: SetAddresses) -> Self {
        Self {
            addresses: Arc::new(addresses),
        }
    }
}
