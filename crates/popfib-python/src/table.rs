//! `popfib.Table`, the dictionary, as Python sees it.
//!
//! Every method turns its key into a prefix first, then asks the state under its lock, then makes objects of Python of the
//! answer.

mod find;

use std::path::PathBuf;

use popfib::{IpPrefix, NextHop};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyList, PyString, PyTuple, PyType};
use pyo3::{PyTraverseError, PyVisit};

use crate::columns::{self, TableOrLive};
use crate::explore;
use crate::keys;
use crate::pairs::{self, PyPair};
use crate::records;
use crate::routes::{NumberMap, NumberedRoute};
use crate::state::{SharedState, TableState};
use crate::store;
use crate::summary;
use crate::walk::{PyRoutes, WalkedPart};

/// A map from IP prefixes of both families to objects, with lookups by longest match.
///
/// `Table(routes)` takes a mapping or an iterable of (prefix, value) pairs.
#[pyclass(name = "Table", frozen, subclass, weakref, mapping, module = "popfib")]
pub(crate) struct PyTable {
    pub(crate) shared: SharedState,
}

impl PyTable {
    pub(crate) fn of(state: TableState) -> Self {
        Self {
            shared: SharedState::new(state),
        }
    }

    fn take(&self, prefix: &Bound<'_, PyAny>) -> PyResult<Result<Py<PyAny>, IpPrefix>> {
        let py = prefix.py();
        let prefix = keys::prefix(prefix)?;
        let removed = self.shared.with(py, |state| state.remove(py, prefix))?;
        Ok(removed.ok_or(prefix))
    }

    fn insert(&self, prefix: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let prefix = keys::prefix(prefix)?;
        self.shared
            .with(value.py(), |state| state.insert(prefix, value))
    }

    /// What pickle stores: routes of either family, and the values that they number.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let copied = self.shared.copy(py)?;
        store::pickle(py, &copied)
    }

    /// Inserts pairs of prefix and value, those before an error too.
    fn insert_all(&self, routes: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = routes.py();
        let mut pairs = Vec::new();
        let read = pairs::each(routes, |prefix, value| {
            pairs.push((keys::prefix(&prefix)?, value));
            Ok(())
        });
        let inserted = self.shared.with(py, |state| state.insert_all(py, &pairs));
        read.and(inserted)
    }

    /// The table of a mapping or of an iterable of (prefix, value) pairs.
    fn of_pairs(routes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let table = Self::of(TableState::default());
        table.insert_all(routes)?;
        Ok(table)
    }

    /// A state of the same routes as a table or what `Table` takes, which shares the objects alone.
    pub(crate) fn state_of(routes: &Bound<'_, PyAny>) -> PyResult<TableState> {
        let py = routes.py();
        match routes.cast::<Self>() {
            Ok(table) => table.get().shared.copy(py),
            Err(_) => Ok(Self::of_pairs(routes)?
                .shared
                .replace(py, TableState::default())),
        }
    }

    /// The routes that `walk` finds.
    fn pairs<'py>(
        &self,
        prefix: &Bound<'py, PyAny>,
        walk: impl FnOnce(&NumberMap, IpPrefix) -> Vec<NumberedRoute>,
    ) -> PyResult<Vec<PyPair<'py>>> {
        let py = prefix.py();
        let prefix = keys::prefix(prefix)?;
        let (routes, places) = self.shared.walk(py, |state, map| {
            Ok((walk(map, prefix), state.values.places()))
        })?;
        let value = |number: NextHop| {
            let place = places.get(number.get() as usize - 1)?;
            place.as_ref().map(|value| value.clone_ref(py))
        };
        let routes = routes.into_iter();
        routes
            .map(|(prefix, number)| Ok((keys::text(py, prefix)?, value(number))))
            .collect()
    }
}

fn no_match(key: IpPrefix) -> PyErr {
    let address = key.address();
    let host = if address.is_ipv4() { 32 } else { 128 };
    PyKeyError::new_err(if key.len() == host {
        format!("no route matches {address}")
    } else {
        format!("no route covers {key}")
    })
}

pub(crate) fn no_route(prefix: IpPrefix) -> PyErr {
    PyKeyError::new_err(format!("no route {prefix}"))
}

#[pymethods]
impl PyTable {
    #[new]
    #[pyo3(signature = (routes = None, /))]
    fn new(routes: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        match routes {
            Some(routes) => Ok(Self::of(Self::state_of(routes)?)),
            None => Ok(Self::of(TableState::default())),
        }
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.shared.read(py, |state| Ok(state.routes.len()))
    }

    fn __getitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.find(key)?.map_err(no_match)
    }

    fn __setitem__(&self, prefix: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.insert(prefix, value)
    }

    fn __delitem__(&self, prefix: &Bound<'_, PyAny>) -> PyResult<()> {
        self.take(prefix)?.map(drop).map_err(no_route)
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.find(key)?.is_ok())
    }

    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<PyRoutes> {
        PyRoutes::new(slf.as_any(), &slf.get().shared, WalkedPart::Prefix)
    }

    /// Return the value of the longest match of an address or prefix, else `default`.
    #[pyo3(signature = (key, default = None, /))]
    fn get(
        &self,
        key: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Option<Py<PyAny>>> {
        Ok(self.find(key)?.ok().or(default))
    }

    /// Return the value of exactly this prefix, else `default`.
    #[pyo3(signature = (prefix, default = None, /))]
    fn get_exact(
        &self,
        prefix: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Option<Py<PyAny>>> {
        Ok(self.find_exact(prefix)?.ok().or(default))
    }

    /// Whether there is a route of exactly this prefix.
    #[pyo3(signature = (prefix, /))]
    fn has_key(&self, prefix: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.find_exact(prefix)?.is_ok())
    }

    /// Return the prefix of the longest match; None if there is none.
    #[pyo3(signature = (key, /))]
    fn get_key<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyString>>> {
        let found = self.find_match(key, |_, _| ())?;
        let text = found.map(|(prefix, ())| keys::text(key.py(), prefix));
        text.transpose()
    }

    /// Return (prefix, value) of the longest match; None if there is none.
    #[pyo3(signature = (key, /))]
    fn longest_match<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<PyPair<'py>>> {
        let py = key.py();
        let found = self.find_match(key, |state, number| {
            let value = state.values.get(number.get());
            value.map(|value| value.clone_ref(py))
        })?;
        let pair = found.map(|(prefix, value)| Ok((keys::text(py, prefix)?, value)));
        pair.transpose()
    }

    /// Return the record of the longest match of an address as a dict of all columns, with values of their types; None if there is
    /// no match. A table that is no image has one column, `value`; of one that was changed the columns are gone.
    #[pyo3(signature = (address, /))]
    fn record<'py>(&self, address: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.find_record(address)
    }

    /// The columns of the records and their types: text, integer, float, boolean, list of texts, list of integers; object where
    /// values are any objects.
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        schema(&self.shared, py)
    }

    /// The names of the columns of the records.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        Ok(self.schema(py)?.keys())
    }

    /// Return the longest shorter prefix in the table that covers this one; None if there is none.
    #[pyo3(signature = (prefix, /))]
    fn parent<'py>(&self, prefix: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyString>>> {
        let py = prefix.py();
        let prefix = keys::prefix(prefix)?;
        let parent = self.shared.walk(py, |_, map| {
            let routes = map.supernets(prefix).into_iter().rev();
            let mut routes = routes.map(|(route, _)| route);
            Ok(routes.find(|route| *route != prefix))
        })?;
        parent.map(|prefix| keys::text(py, prefix)).transpose()
    }

    /// Return the longer prefixes in the table inside this one, in prefix order.
    #[pyo3(signature = (prefix, /))]
    fn children<'py>(&self, prefix: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyString>>> {
        let py = prefix.py();
        let prefix = keys::prefix(prefix)?;
        let routes = self.shared.walk(py, |_, map| Ok(map.subnets(prefix)))?;
        let routes = routes.iter().filter(|(route, _)| *route != prefix);
        routes.map(|(prefix, _)| keys::text(py, *prefix)).collect()
    }

    /// Return the routes that cover the prefix, including the prefix itself: (prefix, value) pairs, shortest first.
    #[pyo3(signature = (prefix, /))]
    fn supernets<'py>(&self, prefix: &Bound<'py, PyAny>) -> PyResult<Vec<PyPair<'py>>> {
        self.pairs(prefix, NumberMap::supernets)
    }

    /// Return the routes inside the prefix, including the prefix itself: (prefix, value) pairs in prefix order.
    #[pyo3(signature = (prefix, /))]
    fn subnets<'py>(&self, prefix: &Bound<'py, PyAny>) -> PyResult<Vec<PyPair<'py>>> {
        self.pairs(prefix, NumberMap::subnets)
    }

    /// Return an iterator of the prefixes in prefix order, IPv4 first.
    fn keys(slf: &Bound<'_, Self>) -> PyResult<PyRoutes> {
        PyRoutes::new(slf.as_any(), &slf.get().shared, WalkedPart::Prefix)
    }

    /// Return an iterator of the values in the order of their prefixes.
    fn values(slf: &Bound<'_, Self>) -> PyResult<PyRoutes> {
        PyRoutes::new(slf.as_any(), &slf.get().shared, WalkedPart::Value)
    }

    /// Return an iterator of (prefix, value) pairs in prefix order, IPv4 first.
    fn items(slf: &Bound<'_, Self>) -> PyResult<PyRoutes> {
        PyRoutes::new(slf.as_any(), &slf.get().shared, WalkedPart::Both)
    }

    /// Insert the routes of a mapping or of an iterable of (prefix, value) pairs.
    #[pyo3(signature = (routes, /))]
    fn update(&self, routes: &Bound<'_, PyAny>) -> PyResult<()> {
        self.insert_all(routes)
    }

    /// Apply updates, (prefix, value) pairs of a mapping or an iterable; None as the value removes the route.
    ///
    /// Removing a prefix that has no route changes nothing.
    #[pyo3(signature = (updates, /))]
    fn apply(&self, updates: &Bound<'_, PyAny>) -> PyResult<()> {
        pairs::each(updates, |prefix, value| match value.is_none() {
            true => self.take(&prefix).map(drop),
            false => self.insert(&prefix, &value),
        })
    }

    /// Return the value of exactly this prefix; if there is none, insert `default` and return it.
    #[pyo3(signature = (prefix, default = None, /))]
    fn setdefault<'py>(
        &self,
        prefix: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = prefix.py();
        let key = keys::prefix(prefix)?;
        let default = default.unwrap_or_else(|| py.None().into_bound(py));
        let found = self.shared.with(py, |state| match state.exact(py, key)? {
            Some(value) => Ok(Some(value)),
            None => state.insert(key, &default).map(|()| None),
        })?;
        Ok(found.map_or(default, |value| value.into_bound(py)))
    }

    /// Remove exactly this prefix and return its value; if it is missing, return `default` or raise KeyError.
    #[pyo3(signature = (prefix, /, *default))]
    fn pop(&self, prefix: &Bound<'_, PyAny>, default: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
        if default.len() > 1 {
            return Err(type_error!("pop takes a prefix and at most one default"));
        }
        match self.take(prefix)? {
            Ok(value) => Ok(value),
            Err(prefix) if default.is_empty() => Err(no_route(prefix)),
            Err(_) => Ok(default.get_item(0)?.unbind()),
        }
    }

    /// Remove every route.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.with(py, |_| Ok(()))?;
        drop(self.shared.replace(py, TableState::default()));
        Ok(())
    }

    /// Free all memory; the table can't be used afterwards.
    fn close(&self, py: Python<'_>) {
        drop(self.shared.replace(py, TableState::closed()));
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    /// Bytes of the routes, the compiled table and the array of values, without the values themselves.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.shared.read(py, |state| Ok(state.bytes()))
    }

    /// Look up a column of addresses; output="indices" writes to the uint32 array `out`, if given. With `columns`, return a dict
    /// of these columns of the records, or of all for "*".
    #[pyo3(signature = (addresses, /, *, columns = None, output = "values", invalid = "raise", threads = 1, out = None))]
    fn lookup_many<'py>(
        &self,
        addresses: &Bound<'py, PyAny>,
        columns: Option<&Bound<'py, PyAny>>,
        output: &str,
        invalid: &str,
        threads: isize,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(names) = columns {
            if out.is_some() {
                return Err(type_error!("out is for output='indices', without columns"));
            }
            let py = addresses.py();
            let names = names_of_columns(&self.shared, names)?;
            let shared = &self.shared;
            let found =
                columns::lookup_columns(shared, addresses, &names, output, invalid, threads)?;
            return Ok(found.into_py_dict(py)?.into_any());
        }
        columns::lookup_many(
            TableOrLive::Table(&self.shared),
            addresses,
            output,
            invalid,
            threads,
            out,
        )
    }

    /// The type of all values: `str`, `int` (of 64 bits), or `object` for any others.
    #[getter]
    fn value_type<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyType>> {
        let kind = self.shared.read(py, |state| Ok(state.values.kind()))?;
        Ok(kind.class(py))
    }

    /// Return the list that the indices of `lookup_many` refer to: None at 0, then the values.
    fn dictionary(&self, py: Python<'_>) -> PyResult<Vec<Option<Py<PyAny>>>> {
        let places = self.shared.read(py, |state| Ok(state.values.places()))?;
        let values = places.iter();
        let values = values.map(|value| value.as_ref().map(|value| value.clone_ref(py)));
        Ok(std::iter::once(None).chain(values).collect())
    }

    /// Write the compiled table as an image, for `popfib.open`.
    #[pyo3(signature = (path, /, *, encode = None))]
    fn save(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = store::path_of)] path: PathBuf,
        encode: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        store::save(&self.shared, py, &path, encode)
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let Ok(other) = other.cast::<Self>() else {
            return Ok(py.NotImplemented());
        };
        let equal = slf.is(other) || slf.get().shared.equals(py, &other.get().shared)?;
        Ok(equal.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let py = slf.py();
        let name = slf.get_type().fully_qualified_name()?;
        let counts = slf.get().shared.read(py, |state| {
            let routes = &state.routes;
            Ok((routes.family::<u32>().len(), routes.family::<u128>().len()))
        });
        Ok(match counts {
            Ok((ipv4, ipv6)) => format!("<{name}: {ipv4} IPv4 and {ipv6} IPv6 routes>"),
            Err(_) => format!("<{name}: closed>"),
        })
    }

    /// What Jupyter shows: routes, columns, size and a small map of IPv4, as HTML.
    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<Option<String>> {
        let name = slf.get_type().fully_qualified_name()?;
        summary::html(&slf.get().shared, slf.py(), &name.to_string_lossy())
    }

    /// Write a page for the browser, of one file, that looks up and maps the table; return its path. Without `path` it is a temporary
    /// file, which is opened in the browser.
    #[pyo3(signature = (path = None))]
    fn explore(&self, py: Python<'_>, path: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        let path = explore::explore(&self.shared, py, path.map(store::path_of).transpose()?)?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// Return a table of the same routes with the same values.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self::of(self.shared.copy(py)?))
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let copied = slf.get().shared.copy(py)?;
        restored(&slf.get_type(), copied)
    }

    fn __deepcopy__<'py>(
        slf: &Bound<'py, Self>,
        memo: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let new = restored(&slf.get_type(), TableState::default())?;
        // Before the values, which may refer to the table.
        memo.set_item(slf.as_ptr() as usize, &new)?;
        let state = slf.get().parts(py)?;
        let copied = py.import("copy")?.call_method1("deepcopy", (state, memo))?;
        new.call_method1("__setstate__", (copied,))?;
        Ok(new)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyType>, (), Bound<'py, PyTuple>)> {
        Ok((slf.get_type(), (), slf.get().parts(slf.py())?))
    }

    fn __setstate__(&self, state: &Bound<'_, PyTuple>) -> PyResult<()> {
        let py = state.py();
        let columns = state.get_item(3).ok();
        let columns = columns.map(|columns| columns.extract::<Vec<u8>>());
        type Parts<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Vec<Py<PyAny>>);
        let parts = state.get_slice(0, 3).extract::<Parts<'_>>();
        let (Ok((ipv4, ipv6, values)), Ok(columns)) = (parts, columns.transpose()) else {
            return Err(value_error!("not the state of a popfib.Table"));
        };
        let (ipv4, ipv6) = (ipv4.as_bytes(), ipv6.as_bytes());
        let state = store::unpickle(py, ipv4, ipv6, values, columns.as_deref())?;
        drop(self.shared.replace(py, state));
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let visited = self.shared.try_with(|state| {
            let mut values = state.values.unshared().iter().flatten();
            values.try_for_each(|value| visit.call(value))
        });
        visited.unwrap_or(Ok(()))
    }

    fn __clear__(&self) {
        let old = self.shared.try_with(std::mem::take);
        drop(old);
    }
}

fn schema<'py>(shared: &SharedState, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let (image, kind) = shared.read(py, |state| {
        Ok((state.routes.of_records()?.cloned(), state.values.kind()))
    })?;
    let records = image.as_ref().and_then(|image| image.table.records());
    records::schema(py, records, kind)
}

/// The columns that a name, a list of names, or `"*"` for all, stands for.
pub(crate) fn names_of_columns(
    shared: &SharedState,
    names: &Bound<'_, PyAny>,
) -> PyResult<Vec<String>> {
    let found = records::names_of(names)?;
    match &found[..] {
        [all] if all == "*" => schema(shared, names.py())?.keys().extract(),
        _ => Ok(found),
    }
}

/// A new object of a subclass, without its `__init__`.
fn restored<'py>(class: &Bound<'py, PyType>, state: TableState) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let new = class.call_method1("__new__", (class,))?;
    drop(new.cast::<PyTable>()?.get().shared.replace(py, state));
    Ok(new)
}
