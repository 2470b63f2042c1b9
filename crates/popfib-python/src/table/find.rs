//! A key in; what a table has for it out: its value, its route, its record.

use popfib::{IpPrefix, NextHop};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::PyTable;
use crate::state::{TableState, host};
use crate::{keys, records};

impl PyTable {
    /// The value of the longest match.
    #[inline]
    pub(super) fn find(&self, key: &Bound<'_, PyAny>) -> PyResult<Result<Py<PyAny>, IpPrefix>> {
        let py = key.py();
        let prefix = keys::prefix(key)?;
        let value = |state: &TableState, number: u32| {
            let value = state.values.get(number);
            Ok(value.map(|value| value.clone_ref(py)).ok_or(prefix))
        };
        match host(prefix) {
            Some(address) => self
                .shared
                .read(py, |state| value(state, state.routes.lookup(address))),
            None => self.shared.walk(py, |state, map| {
                let covering = map.supernets(prefix);
                value(state, covering.last().map_or(0, |(_, number)| number.get()))
            }),
        }
    }

    pub(super) fn find_exact(
        &self,
        prefix: &Bound<'_, PyAny>,
    ) -> PyResult<Result<Py<PyAny>, IpPrefix>> {
        let py = prefix.py();
        let prefix = keys::prefix(prefix)?;
        self.shared.walk(py, |state, map| {
            let number = map.get(prefix);
            let value = number.and_then(|number| state.values.get(number.get()));
            Ok(value.map(|value| value.clone_ref(py)).ok_or(prefix))
        })
    }

    /// What `f` makes of the longest route that covers a key.
    #[inline]
    pub(super) fn find_match<R>(
        &self,
        key: &Bound<'_, PyAny>,
        f: impl FnOnce(&TableState, NextHop) -> R,
    ) -> PyResult<Option<(IpPrefix, R)>> {
        let py = key.py();
        let prefix = keys::prefix(key)?;
        match host(prefix) {
            Some(address) => self.shared.read(py, |state| {
                state.routes.check()?;
                let found = state.routes.longest_match(address);
                Ok(found.map(|(prefix, number)| (prefix, f(state, number))))
            }),
            None => self.shared.walk(py, |state, map| {
                let found = map.supernets(prefix).pop();
                Ok(found.map(|(prefix, number)| (prefix, f(state, number))))
            }),
        }
    }

    /// The record of the longest match of an address.
    pub(super) fn find_record<'py>(
        &self,
        address: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let py = address.py();
        let address = host(keys::prefix(address)?);
        let address = address.ok_or_else(|| value_error!("a record is that of an address"))?;
        let found = self.shared.read(py, |state| {
            let Some(number) = NextHop::new(state.routes.lookup(address)) else {
                return Ok(None);
            };
            let image = state.routes.of_records()?.cloned();
            // The value is read where it is the record: it takes a miss of the cache.
            let value = match image {
                Some(_) => None,
                None => state.values.get(number.get()).map(|v| v.clone_ref(py)),
            };
            Ok(Some((number, image, value)))
        })?;
        // Made when the lock is free.
        match found {
            None => Ok(None),
            Some((number, Some(image), _)) => image.record(py, number),
            Some((_, None, value)) => {
                let record = PyDict::new(py);
                record.set_item(records::VALUE, value)?;
                Ok(Some(record))
            }
        }
    }
}
