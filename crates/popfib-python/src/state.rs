//! The table behind a `popfib.Table`: routes of both families and the values that they number, behind one lock.
//!
//! Changes and lookups of `table` come in. Objects that a change drops are kept until the lock is free, since to drop them
//! may run any Python code.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};

use popfib::IpPrefix;
use popfib::image::Source;
use popfib_table::Table;
use pyo3::prelude::*;
use pyo3::sync::RwLockExt;

use crate::locks::holding;
use crate::routes::{NumberMap, NumberedRoute, TableRoutes};
use crate::values::PyValues;

/// New values between two offers of the interpreter to other threads.
const TURN: usize = 1 << 12;

/// The routes and what their numbers stand for.
#[derive(Default)]
pub(crate) struct TableState {
    pub(crate) routes: TableRoutes,
    pub(crate) values: PyValues,
    /// Where they come from, as far as files say it: an image of the table says it again. Changes do not count.
    sources: Arc<[Source]>,
    /// Changes whenever the set of prefixes does.
    pub(crate) version: u64,
    closed: bool,
    /// Objects that nothing refers to any more: dropped when the lock is free,
    /// since that may run any Python code.
    dropped: Vec<Py<PyAny>>,
}

impl TableState {
    /// The table of a map to the numbers of `values`.
    pub(crate) fn new(py: Python<'_>, map: NumberMap, values: PyValues) -> Self {
        let mut state = Self {
            routes: map.into(),
            values,
            ..Self::default()
        };
        state.count(py);
        state
    }

    /// The table in an image, whose next hops are the numbers of `values`.
    pub(crate) fn of_image(table: Table, values: PyValues) -> Self {
        Self {
            routes: TableRoutes::of_image(table),
            values,
            ..Self::default()
        }
    }

    /// The same with what files say of where its routes come from.
    pub(crate) fn with_sources(self, sources: Vec<Source>) -> Self {
        Self {
            sources: sources.into(),
            ..self
        }
    }

    /// Where the routes come from: from Python, unless they were read.
    pub(crate) fn sources(&self) -> Vec<Source> {
        match &*self.sources {
            [] => vec![Source::named("Python")],
            sources => sources.to_vec(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.routes.bytes() + self.values.bytes()
    }

    /// Makes sure that the routes are in the map: for walks and changes.
    ///
    /// # Errors
    /// `ValueError` for an image without its routes.
    fn thaw(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.routes.are_in_image() {
            self.routes.thaw(py)?;
            self.count(py);
        }
        Ok(())
    }

    /// Counts the routes of each value.
    fn count(&mut self, py: Python<'_>) {
        let unused = self.values.count(py, self.routes.map().numbers());
        self.dropped.extend(unused);
    }

    pub(crate) fn insert(&mut self, prefix: IpPrefix, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        self.thaw(py)?;
        let number = self.values.add(value)?;
        let inserted = self.routes.own(py).insert(prefix, number);
        let unused = match inserted {
            Ok(None) => {
                self.version += 1;
                return Ok(());
            }
            Ok(Some(old)) => old,
            Err(_) => number,
        };
        self.dropped.extend(self.values.remove(py, unused));
        inserted.map(drop)
    }

    /// Inserts routes, of which the last of a prefix stays: all at once if there are as many as the table has.
    pub(crate) fn insert_all(
        &mut self,
        py: Python<'_>,
        routes: &[(IpPrefix, Bound<'_, PyAny>)],
    ) -> PyResult<()> {
        self.thaw(py)?;
        if routes.len() < self.routes.len() {
            let mut routes = routes.iter();
            return routes.try_for_each(|(prefix, value)| self.insert(*prefix, value));
        }
        let mut numbered = Vec::with_capacity(routes.len());
        let mut result = Ok(());
        for (at, (prefix, value)) in routes.iter().enumerate() {
            if at % TURN == TURN - 1 {
                py.detach(|| ());
            }
            match self.values.add(value) {
                Ok(number) => numbered.push((*prefix, number)),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        let (before, map) = (self.routes.len(), self.routes.own(py));
        let inserted = py.detach(|| map.extend(numbered));
        self.version += u64::from(self.routes.len() > before);
        self.count(py);
        result.and(inserted)
    }

    /// The value of exactly `prefix`.
    pub(crate) fn exact(
        &mut self,
        py: Python<'_>,
        prefix: IpPrefix,
    ) -> PyResult<Option<Py<PyAny>>> {
        self.thaw(py)?;
        let number = self.routes.map().get(prefix);
        let value = number.and_then(|number| self.values.get(number.get()));
        Ok(value.map(|value| value.clone_ref(py)))
    }

    /// Removes exactly `prefix`; returns its value.
    pub(crate) fn remove(
        &mut self,
        py: Python<'_>,
        prefix: IpPrefix,
    ) -> PyResult<Option<Py<PyAny>>> {
        self.thaw(py)?;
        // Looked for first, so that nothing is copied for a route that is not there.
        let is_there = self.routes.map().get(prefix).is_some();
        let removed = is_there.then(|| self.routes.own(py).remove(prefix));
        let Some(number) = removed.flatten() else {
            return Ok(None);
        };
        self.version += 1;
        let value = self.values.get(number.get()).map(|v| v.clone_ref(py));
        self.dropped.extend(self.values.remove(py, number));
        Ok(value)
    }

    /// A copy that shares the objects and nothing else that changes.
    fn copy(&self, py: Python<'_>) -> Self {
        Self {
            routes: self.routes.clone(),
            values: self.values.copy(py),
            sources: Arc::clone(&self.sources),
            ..Self::default()
        }
    }

    /// A state that keeps nothing and refuses everything.
    pub(crate) fn closed() -> Self {
        Self {
            closed: true,
            ..Self::default()
        }
    }

    /// Fails for a table that is closed.
    ///
    /// # Errors
    /// `ValueError`.
    fn check(&self) -> PyResult<()> {
        match self.closed {
            true => Err(value_error!("the table is closed")),
            false => Ok(()),
        }
    }
}

/// The address that a prefix of full length is.
#[inline]
pub(crate) fn host(prefix: IpPrefix) -> Option<IpAddr> {
    popfib::by_family!(prefix, |prefix: Prefix<A>| {
        (prefix.len() == A::WIDTH).then(|| prefix.address().ip())
    })
}

/// A state that threads share, and a table shares with its iterators. Any number of lookups use it at a time, or one change.
#[derive(Clone, Default)]
pub(crate) struct SharedState(Arc<RwLock<TableState>>);

impl SharedState {
    pub(crate) fn new(state: TableState) -> Self {
        Self(Arc::new(RwLock::new(state)))
    }

    /// Runs `f` with the lock held, then drops what the table no longer refers to.
    ///
    /// `f` must not run Python code nor make objects that the garbage collector
    /// tracks: either may come back to this table.
    ///
    /// # Errors
    /// `f`'s, and `ValueError` for a table that is closed.
    #[inline]
    pub(crate) fn with<R>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut TableState) -> PyResult<R>,
    ) -> PyResult<R> {
        let mut state = self
            .0
            .write_py_attached(py)
            .unwrap_or_else(PoisonError::into_inner);
        state.check()?;
        let result = holding(|| f(&mut state));
        if !state.dropped.is_empty() {
            let dropped = std::mem::take(&mut state.dropped);
            drop(state);
            drop(dropped);
        }
        result
    }

    /// Runs `f` with the lock held for reading, as other threads may at the same time. `f` is as for [`Self::with`].
    ///
    /// # Errors
    /// `f`'s, and `ValueError` for a table that is closed.
    #[inline]
    pub(crate) fn read<R>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&TableState) -> PyResult<R>,
    ) -> PyResult<R> {
        let state = self
            .0
            .read_py_attached(py)
            .unwrap_or_else(PoisonError::into_inner);
        state.check()?;
        holding(|| f(&state))
    }

    /// As [`Self::read`], with the routes in a map.
    ///
    /// # Errors
    /// `f`'s, and `ValueError` for a table that is closed or an image without its routes.
    pub(crate) fn walk<R>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&TableState, &NumberMap) -> PyResult<R>,
    ) -> PyResult<R> {
        let mut f = Some(f);
        let mut walk = |state: &TableState| match state.routes.are_in_image() {
            true => Ok(None),
            false => f.take().map(|f| f(state, state.routes.map())).transpose(),
        };
        if let Some(result) = self.read(py, &mut walk)? {
            return Ok(result);
        }
        let walked = self.with(py, |state| {
            state.thaw(py)?;
            walk(state)
        })?;
        Ok(walked.expect("the routes are in the map"))
    }

    /// A copy, with the routes in a map.
    ///
    /// # Errors
    /// `ValueError` for a table that is closed or an image without its routes.
    pub(crate) fn copy(&self, py: Python<'_>) -> PyResult<TableState> {
        self.walk(py, |state, _| Ok(state.copy(py)))
    }

    /// Whether both have the same routes with equal values; each pair of values is compared once.
    pub(crate) fn equals(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        let (a, b) = (self.copy(py)?, other.copy(py)?);
        let (x, y) = (a.routes.map(), b.routes.map());
        let mut pairs = HashSet::new();
        let mut routes = x.iter().zip(y.iter());
        let is_same = |((p, m), (q, n)): (NumberedRoute, NumberedRoute)| {
            pairs.insert((m, n));
            p == q
        };
        if x.len() != y.len() || !routes.all(is_same) {
            return Ok(false);
        }
        for (x, y) in pairs {
            if let (Some(x), Some(y)) = (a.values.get(x.get()), b.values.get(y.get())) {
                let (x, y) = (x.bind(py), y.bind(py));
                // Identity first, as containers of Python do.
                if !x.is(y) && !x.eq(y)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Puts another state in place; returns the old one, to be dropped.
    pub(crate) fn replace(&self, py: Python<'_>, mut state: TableState) -> TableState {
        let mut old = self
            .0
            .write_py_attached(py)
            .unwrap_or_else(PoisonError::into_inner);
        // Walks under way must see that this is not what they walked.
        state.version = old.version + 1;
        std::mem::replace(&mut *old, state)
    }

    /// For the garbage collector, which may come while the lock is held: then `f` is
    /// not called, and everything counts as in use.
    pub(crate) fn try_with<R>(&self, f: impl FnOnce(&mut TableState) -> R) -> Option<R> {
        let mut state = match self.0.try_write() {
            Ok(state) => state,
            Err(std::sync::TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => return None,
        };
        Some(f(&mut state))
    }
}
