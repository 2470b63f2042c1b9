//! `popfib.LiveTable` and `popfib.Sweep`: calls of Python in, changes and lookups of `live` out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use popfib::IpPrefix;
use popfib::live::IpMapSweep;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyString, PyTuple, PyType};
use pyo3::{PyTraverseError, PyVisit};

use crate::columns::{self, TableOrLive};
use crate::keys;
use crate::live::{LiveObject, LiveRoutes};
use crate::pairs;
use crate::state::host;
use crate::table::{PyTable, no_route};

/// A map from IP prefixes of both families to objects that changes while other threads look up.
///
/// `LiveTable(routes)` takes a `Table`, a mapping or an iterable of (prefix, value) pairs.
#[pyclass(name = "LiveTable", frozen, weakref, module = "popfib")]
pub(crate) struct PyLiveTable {
    pub(crate) live: LiveRoutes,
}

type PyLivePair<'py> = (Bound<'py, PyString>, Py<PyAny>);

/// The address that a key means; an error for a prefix.
#[inline]
fn address(key: &Bound<'_, PyAny>) -> PyResult<IpPrefix> {
    let prefix = keys::prefix(key)?;
    let is_one = host(prefix).is_some();
    is_one.then_some(prefix).ok_or_else(|| {
        value_error!("{prefix}: a LiveTable looks up addresses; for prefixes there are get_exact and to_table")
    })
}

impl PyLiveTable {
    /// The value of the longest match.
    #[inline]
    fn find(&self, key: &Bound<'_, PyAny>) -> PyResult<Result<Py<PyAny>, IpPrefix>> {
        let address = address(key)?;
        let object = |value: &LiveObject| value.object().clone_ref(key.py());
        let found = self
            .live
            .longest_match(address, |found| Some(object(found?.1)));
        Ok(found.ok_or(address))
    }

    /// The longest match.
    #[inline]
    fn find_match(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<(IpPrefix, Py<PyAny>)>> {
        let address = address(key)?;
        let object = |value: &LiveObject| value.object().clone_ref(key.py());
        Ok(self.live.longest_match(address, |found| {
            found.map(|(prefix, value)| (prefix, object(value)))
        }))
    }

    fn find_exact(&self, prefix: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let py = prefix.py();
        let prefix = keys::prefix(prefix)?;
        self.live.with(py, |writer| {
            let value = writer.table.get(prefix);
            Ok(value.map(|value| value.object().clone_ref(py)))
        })
    }
}

#[pymethods]
impl PyLiveTable {
    #[new]
    #[pyo3(signature = (routes = None, /))]
    fn new(routes: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let live = LiveRoutes::new();
        if let Some(routes) = routes {
            let (py, state) = (routes.py(), PyTable::state_of(routes)?);
            if state
                .routes
                .image()
                .is_some_and(|image| image.has_columns())
            {
                return Err(type_error!(
                    "a LiveTable holds one value for each route, and this table has several columns: \
                     LiveTable(table.items()) takes the values alone"
                ));
            }
            live.with(py, |writer| writer.load(py, state))?;
        }
        Ok(Self { live })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.live.with(py, |writer| Ok(writer.table.len()))
    }

    fn __getitem__(&self, address: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.find(address)?.map_err(|address| {
            PyKeyError::new_err(format!("no route matches {}", address.address()))
        })
    }

    fn __contains__(&self, address: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.find(address)?.is_ok())
    }

    /// Return the value of the longest match of an address, else `default`.
    #[pyo3(signature = (address, default = None, /))]
    fn get(
        &self,
        address: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Option<Py<PyAny>>> {
        Ok(self.find(address)?.ok().or(default))
    }

    /// Return the prefix of the longest match of an address; None if there is none.
    #[pyo3(signature = (address, /))]
    fn get_key<'py>(&self, address: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyString>>> {
        let found = self.find_match(address)?;
        let text = found.map(|(prefix, _)| keys::text(address.py(), prefix));
        text.transpose()
    }

    /// Return (prefix, value) of the longest match of an address; None if there is none.
    #[pyo3(signature = (address, /))]
    fn longest_match<'py>(&self, address: &Bound<'py, PyAny>) -> PyResult<Option<PyLivePair<'py>>> {
        let found = self.find_match(address)?;
        let pair = found.map(|(prefix, value)| Ok((keys::text(address.py(), prefix)?, value)));
        pair.transpose()
    }

    /// Return the value of exactly this prefix, else `default`. Waits while a change is made.
    #[pyo3(signature = (prefix, default = None, /))]
    fn get_exact(
        &self,
        prefix: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Option<Py<PyAny>>> {
        Ok(self.find_exact(prefix)?.or(default))
    }

    fn __setitem__(&self, prefix: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.announce(prefix, value).map(drop)
    }

    fn __delitem__(&self, prefix: &Bound<'_, PyAny>) -> PyResult<()> {
        match self.withdraw(prefix)? {
            true => Ok(()),
            false => Err(no_route(keys::prefix(prefix)?)),
        }
    }

    /// Set the value of a prefix, as t[prefix] = value does; return whether there was a route. Later lookups see the change.
    #[pyo3(signature = (prefix, value, /))]
    fn announce(&self, prefix: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let prefix = keys::prefix(prefix)?;
        let py = value.py();
        self.live.with(py, |writer| writer.announce(prefix, value))
    }

    /// Remove the route of exactly this prefix; return whether there was one. Without one, del t[prefix] is a KeyError.
    #[pyo3(signature = (prefix, /))]
    fn withdraw(&self, prefix: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = prefix.py();
        let prefix = keys::prefix(prefix)?;
        self.live.with(py, |writer| writer.withdraw(py, prefix))
    }

    /// Make several changes as one batch, (prefix, value) pairs of a mapping or an iterable; None as the
    /// value removes the route.
    ///
    /// If several are for the same prefix, the last one counts. For each prefix, lookups see the state before
    /// or after the batch.
    #[pyo3(signature = (updates, /))]
    fn apply(&self, updates: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = updates.py();
        let mut changes = Vec::new();
        pairs::each(updates, |prefix, value| {
            let value = (!value.is_none()).then(|| value.unbind());
            changes.push((keys::prefix(&prefix)?, value));
            Ok(())
        })?;
        self.live.with(py, |writer| writer.apply(py, changes))
    }

    /// Start a sweep: confirm the routes of a source that sends all of them again.
    fn sweep(slf: Bound<'_, Self>) -> PySweep {
        PySweep {
            table: slf.unbind(),
            progress: Mutex::default(),
        }
    }

    /// Return a Table of the current routes.
    fn to_table(&self, py: Python<'_>) -> PyResult<PyTable> {
        let state = self.live.with(py, |writer| writer.to_state(py))?;
        Ok(PyTable::of(state))
    }

    /// Drop values and free memory that no lookup can see any more, now instead of at a later change.
    fn reclaim(&self, py: Python<'_>) -> PyResult<()> {
        self.live.with(py, |writer| {
            writer.table.reclaim();
            Ok(())
        })
    }

    /// Bytes of the routes, the compiled tables and the array of values, without the values themselves.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.live.with(
            py,
            |writer| Ok(writer.table.bytes() + writer.values.bytes()),
        )
    }

    /// The type of all values: `str`, `int` (of 64 bits), or `object` for any others.
    #[getter]
    fn value_type<'py>(&self, py: Python<'py>) -> Bound<'py, PyType> {
        self.live.kind().class(py)
    }

    /// Look up a column of addresses.
    #[pyo3(signature = (addresses, /, *, output = "values", invalid = "raise", threads = 1))]
    fn lookup_many<'py>(
        &self,
        addresses: &Bound<'py, PyAny>,
        output: &str,
        invalid: &str,
        threads: isize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let asked = TableOrLive::Live(&self.live);
        columns::lookup_many(asked, addresses, output, invalid, threads, None)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.live.with(py, |writer| {
            let (ipv4, ipv6) = (writer.table.ipv4().len(), writer.table.ipv6().len());
            Ok(format!(
                "<popfib.LiveTable: {ipv4} IPv4 and {ipv6} IPv6 routes>"
            ))
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let visited = self.live.try_with(|writer| {
            let (ipv4, ipv6) = (writer.table.ipv4(), writer.table.ipv6());
            let mut values = ipv4.stored().chain(ipv6.stored());
            values.try_for_each(|value| visit.call(value.object()))?;
            let mut values = writer.values.unshared().iter().flatten();
            values.try_for_each(|value| visit.call(value))
        });
        visited.unwrap_or(Ok(()))
    }

    fn __clear__(&self) {
        self.live.clear();
    }
}

/// The routes that a source has confirmed since its reconnection; the sweep removes the others at the end.
///
/// As a context manager it ends with `finish`, or, after an exception, without any change.
#[pyclass(name = "Sweep", frozen, module = "popfib")]
pub(crate) struct PySweep {
    table: Py<PyLiveTable>,
    /// Locked after the table: a route is announced and confirmed by one step, and so is each step of the end.
    progress: Mutex<SweepProgress>,
}

#[derive(Default)]
struct SweepProgress {
    /// What is confirmed, and how far the end has come.
    sweep: IpMapSweep,
    /// Whether all other routes are withdrawn. Nothing that follows begins again.
    is_done: bool,
}

impl PySweep {
    fn progress(&self, py: Python<'_>) -> MutexGuard<'_, SweepProgress> {
        let progress = self.progress.lock_py_attached(py);
        progress.unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PySweep {
    /// Confirm the route of a prefix, so that it stays.
    #[pyo3(signature = (prefix, /))]
    fn confirm(&self, prefix: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = prefix.py();
        let prefix = keys::prefix(prefix)?;
        self.progress(py).sweep.confirm(prefix);
        Ok(())
    }

    /// Set the value of a prefix and confirm it; return whether there was a route.
    #[pyo3(signature = (prefix, value, /))]
    fn announce(&self, prefix: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let prefix = keys::prefix(prefix)?;
        let py = value.py();
        self.table.get().live.with(py, |writer| {
            let was_there = writer.announce(prefix, value)?;
            self.progress(py).sweep.confirm(prefix);
            Ok(was_there)
        })
    }

    /// Withdraw the routes that are not confirmed, a few thousand at a time; return how many this call withdrew.
    ///
    /// After an interrupt, the next call goes on. Once all are withdrawn, further calls do nothing.
    fn finish(&self, py: Python<'_>) -> PyResult<usize> {
        let live = &self.table.get().live;
        let mut count = 0;
        loop {
            py.check_signals()?;
            let is_done = live.with(py, |writer| {
                let mut progress = self.progress(py);
                if progress.is_done {
                    return Ok(true);
                }
                let (withdrawn, is_done) = writer.sweep(py, &mut progress.sweep)?;
                count += withdrawn;
                if is_done {
                    *progress = SweepProgress {
                        sweep: IpMapSweep::new(),
                        is_done,
                    };
                }
                Ok(is_done)
            })?;
            if is_done {
                return Ok(count);
            }
        }
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        let py = exception.py();
        if exception.get_item(0).is_ok_and(|class| class.is_none()) {
            self.finish(py)?;
        }
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.table)
    }
}
