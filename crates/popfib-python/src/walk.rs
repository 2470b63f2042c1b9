//! Iterators over the routes of a table, in prefix order: one prefix, value or pair at a time out.
//!
//! Each step asks the map for the route after the last one, so an iterator holds no copy of the table and takes no memory.
//! Like a dictionary's, it ends with an error if prefixes come or go meanwhile.

use popfib::IpPrefix;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::keys;
use crate::state::SharedState;

/// What an iterator returns for each route.
#[derive(Clone, Copy)]
pub(crate) enum WalkedPart {
    Prefix,
    Value,
    Both,
}

/// The routes of a table in prefix order, IPv4 before IPv6.
#[pyclass(name = "Routes", module = "popfib")]
pub(crate) struct PyRoutes {
    /// The table, and the same as the garbage collector knows it; `None` at the end.
    table: Option<(SharedState, Py<PyAny>)>,
    part: WalkedPart,
    last: Option<IpPrefix>,
    version: u64,
    left: usize,
}

impl PyRoutes {
    /// `owner` is the object whose routes they are.
    pub(crate) fn new(
        owner: &Bound<'_, PyAny>,
        shared: &SharedState,
        part: WalkedPart,
    ) -> PyResult<Self> {
        let py = owner.py();
        let (version, left) = shared.walk(py, |state, map| Ok((state.version, map.len())))?;
        Ok(Self {
            table: Some((shared.clone(), owner.clone().unbind())),
            part,
            last: None,
            version,
            left,
        })
    }
}

#[pymethods]
impl PyRoutes {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Some((table, _)) = &self.table else {
            return Ok(None);
        };
        let (version, last) = (self.version, self.last);
        let next = table.walk(py, |state, map| {
            if state.version != version {
                return Err(PyRuntimeError::new_err(
                    "prefixes were added to or removed from the table during iteration",
                ));
            }
            Ok(map.next(last).map(|(prefix, number)| {
                let value = state.values.get(number.get());
                (prefix, value.map(|value| value.clone_ref(py)))
            }))
        })?;
        let Some((prefix, value)) = next else {
            self.table = None;
            return Ok(None);
        };
        self.last = Some(prefix);
        self.left = self.left.saturating_sub(1);
        let object = match self.part {
            WalkedPart::Prefix => keys::text(py, prefix)?.into_any(),
            WalkedPart::Value => value.into_pyobject(py)?.into_any(),
            WalkedPart::Both => (keys::text(py, prefix)?, value)
                .into_pyobject(py)?
                .into_any(),
        };
        Ok(Some(object.unbind()))
    }

    fn __length_hint__(&self) -> usize {
        self.table.as_ref().map_or(0, |_| self.left)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.table
            .as_ref()
            .map_or(Ok(()), |(_, owner)| visit.call(owner))
    }

    fn __clear__(&mut self) {
        self.table = None;
    }
}
