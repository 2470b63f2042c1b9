//! The table behind a Python `Table`: Ribs, Fibs and values of both families.
//!
//! When a Fib is compiled: a change drops its family's Fib, and lookups walk the
//! Rib until as many were made as there are routes; then the next one compiles.
//! So a change never costs a compilation by itself, and a million lookups never
//! walk (the ski-rental rule: at most about twice the time of the best choice).
//!
//! A table opened from an image looks up in the image. What needs the Rib (walks
//! and changes) makes it from the image's routes when it is first asked for.

use std::sync::{Arc, Mutex, PoisonError};

use popfib::{Address, Fib, Image, IpPrefix, NextHop, Options, Prefix, Rib};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::values::Values;

/// One family: its routes and, unless they have changed since, their Fib.
#[derive(Default)]
pub(crate) struct Family<A: Address> {
    rib: Rib<A>,
    fib: Option<Arc<Fib<A, u32>>>,
    /// Where the routes are as long as the Rib has not been needed.
    image: Option<Arc<Image>>,
    /// Lookups answered by the Rib since the last change.
    walked: usize,
}

impl<A: Address> Family<A> {
    fn new(rib: Rib<A>) -> Self {
        Self {
            rib,
            ..Self::default()
        }
    }

    fn of_image(image: &Arc<Image>) -> Self {
        match image.table::<A>() {
            None => Self::default(),
            Some(table) => Self {
                fib: Some(Arc::new(table.fib().clone())),
                image: Some(Arc::clone(image)),
                ..Self::default()
            },
        }
    }

    fn table(&self) -> Option<&popfib::ImageTable<A>> {
        self.image.as_ref()?.table()
    }

    pub(crate) fn len(&self) -> usize {
        self.table()
            .map_or(self.rib.len(), |table| table.route_count())
    }

    /// The Fib, if it is up to date.
    pub(crate) fn fib(&self) -> Option<&Arc<Fib<A, u32>>> {
        self.fib.as_ref()
    }

    /// The Rib; empty as long as the routes are in an image.
    pub(crate) fn rib(&self) -> &Rib<A> {
        &self.rib
    }

    fn changed(&mut self) {
        self.fib = None;
        self.walked = 0;
    }

    fn compile(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.fib.is_none() {
            let rib = &self.rib;
            let fib = py.detach(|| Fib::compile(rib, &Options::default()));
            self.fib = Some(Arc::new(fib.map_err(|error| {
                PyRuntimeError::new_err(format!("cannot compile the table: {error}"))
            })?));
        }
        Ok(())
    }

    /// Compiles if `lookups` more make it worth while.
    pub(crate) fn expect(&mut self, py: Python<'_>, lookups: usize) {
        if self.fib.is_some() {
            return;
        }
        self.walked = self.walked.saturating_add(lookups);
        if self.walked >= self.rib.len() && self.compile(py).is_err() {
            // The Rib answers as well; `Table.compile` tells why.
            self.walked = 0;
        }
    }

    /// The number of the longest match; 0 if there is none.
    #[inline]
    fn lookup(&mut self, py: Python<'_>, address: A) -> u32 {
        if self.fib.is_none() {
            self.expect(py, 1);
        }
        match &self.fib {
            Some(fib) => fib.lookup(address),
            None => self.rib.lookup(address).map_or(0, NextHop::get),
        }
    }

    /// The longest match of a whole prefix: the longest route that covers it.
    fn covering(&self, prefix: Prefix<A>) -> Option<(Prefix<A>, NextHop)> {
        if prefix.len() < A::WIDTH {
            return self.rib.supernets(prefix).last();
        }
        match self.table() {
            Some(table) => table.longest_match(prefix.address()),
            None => self.rib.longest_match(prefix.address()),
        }
    }

    fn insert(&mut self, prefix: Prefix<A>, number: NextHop) -> Option<NextHop> {
        let old = self.rib.insert(prefix, number);
        if old != Some(number) {
            self.changed();
        }
        old
    }

    fn remove(&mut self, prefix: Prefix<A>) -> Option<NextHop> {
        let old = self.rib.remove(prefix)?;
        self.changed();
        Some(old)
    }

    /// Moves the routes from the image into the Rib.
    fn thaw(&mut self) -> PyResult<bool> {
        let Some(table) = self.table() else {
            return Ok(false);
        };
        if !table.has_routes() && table.route_count() > 0 {
            return Err(PyValueError::new_err(
                "the image was compiled without its routes, which are needed here",
            ));
        }
        self.rib = table.rib();
        self.image = None;
        Ok(true)
    }

    fn bytes(&self) -> usize {
        self.rib.bytes() + self.fib.as_ref().map_or(0, |fib| fib.bytes())
    }
}

/// Both families and what their numbers stand for.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) ipv4: Family<u32>,
    pub(crate) ipv6: Family<u128>,
    pub(crate) values: Values,
    /// Changes whenever the set of prefixes does.
    pub(crate) version: u64,
    closed: bool,
    /// Objects that nothing refers to any more: dropped when the lock is free,
    /// since that may run any Python code.
    dropped: Vec<Py<PyAny>>,
}

impl State {
    /// The table of two Ribs whose next hops are the numbers of `values`.
    pub(crate) fn new(py: Python<'_>, ipv4: Rib<u32>, ipv6: Rib<u128>, mut values: Values) -> Self {
        let numbers = ipv4.iter().map(|(_, number)| number);
        let numbers = numbers.chain(ipv6.iter().map(|(_, number)| number));
        let dropped = values.count(py, numbers);
        Self {
            ipv4: Family::new(ipv4),
            ipv6: Family::new(ipv6),
            values,
            dropped,
            ..Self::default()
        }
    }

    /// The table in an image, whose next hops are the numbers of `values`.
    pub(crate) fn of_image(image: &Arc<Image>, values: Values) -> Self {
        Self {
            ipv4: Family::of_image(image),
            ipv6: Family::of_image(image),
            values,
            ..Self::default()
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ipv4.len() + self.ipv6.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        let image = self.ipv4.image.as_ref().or(self.ipv6.image.as_ref());
        self.ipv4.bytes()
            + self.ipv6.bytes()
            + self.values.bytes()
            + image.map_or(0, |image| image.bytes())
    }

    /// Makes sure that the routes are in the Ribs: for walks and changes.
    pub(crate) fn thaw(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.ipv4.thaw()? | self.ipv6.thaw()? {
            let numbers = self.ipv4.rib.iter().map(|(_, number)| number);
            let numbers = numbers.chain(self.ipv6.rib.iter().map(|(_, number)| number));
            let unused = self.values.count(py, numbers);
            self.dropped.extend(unused);
        }
        Ok(())
    }

    /// The number of the longest match of `key`; 0 if there is none.
    #[inline]
    pub(crate) fn lookup(&mut self, py: Python<'_>, key: IpPrefix) -> PyResult<u32> {
        match key {
            IpPrefix::V4(p) if p.len() == 32 => Ok(self.ipv4.lookup(py, p.address())),
            IpPrefix::V6(p) if p.len() == 128 => Ok(self.ipv6.lookup(py, p.address())),
            _ => Ok(self.covering(py, key)?.map_or(0, |(_, n)| n.get())),
        }
    }

    /// The longest route that covers `key`.
    pub(crate) fn covering(
        &mut self,
        py: Python<'_>,
        key: IpPrefix,
    ) -> PyResult<Option<(IpPrefix, NextHop)>> {
        let (is_host, has_routes) = match key {
            IpPrefix::V4(p) => (p.len() == 32, has_routes(&self.ipv4)),
            IpPrefix::V6(p) => (p.len() == 128, has_routes(&self.ipv6)),
        };
        if !is_host || !has_routes {
            self.thaw(py)?;
        }
        Ok(match key {
            IpPrefix::V4(p) => self.ipv4.covering(p).map(|(p, n)| (p.into(), n)),
            IpPrefix::V6(p) => self.ipv6.covering(p).map(|(p, n)| (p.into(), n)),
        })
    }

    /// The number of exactly `prefix`.
    pub(crate) fn exact(&mut self, py: Python<'_>, prefix: IpPrefix) -> PyResult<Option<NextHop>> {
        self.thaw(py)?;
        Ok(match prefix {
            IpPrefix::V4(prefix) => self.ipv4.rib.get(prefix),
            IpPrefix::V6(prefix) => self.ipv6.rib.get(prefix),
        })
    }

    pub(crate) fn insert(&mut self, prefix: IpPrefix, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        self.thaw(py)?;
        let number = self.values.add(value)?;
        let old = match prefix {
            IpPrefix::V4(prefix) => self.ipv4.insert(prefix, number),
            IpPrefix::V6(prefix) => self.ipv6.insert(prefix, number),
        };
        match old {
            None => self.version += 1,
            Some(old) => self.dropped.extend(self.values.remove(py, old)),
        }
        Ok(())
    }

    /// Removes exactly `prefix`; returns its value.
    pub(crate) fn remove(
        &mut self,
        py: Python<'_>,
        prefix: IpPrefix,
    ) -> PyResult<Option<Py<PyAny>>> {
        self.thaw(py)?;
        let number = match prefix {
            IpPrefix::V4(prefix) => self.ipv4.remove(prefix),
            IpPrefix::V6(prefix) => self.ipv6.remove(prefix),
        };
        let Some(number) = number else {
            return Ok(None);
        };
        self.version += 1;
        let value = self.values.get(number.get()).map(|v| v.clone_ref(py));
        self.dropped.extend(self.values.remove(py, number));
        Ok(value)
    }

    /// The first route, or the first behind `prefix`, IPv4 before IPv6.
    pub(crate) fn next(&self, prefix: Option<IpPrefix>) -> Option<(IpPrefix, NextHop)> {
        let (ipv4, ipv6) = (&self.ipv4.rib, &self.ipv6.rib);
        let route = match prefix {
            None => ipv4.first().map(|(p, n)| (p.into(), n)),
            Some(IpPrefix::V4(prefix)) => ipv4.next(prefix).map(|(p, n)| (p.into(), n)),
            Some(IpPrefix::V6(prefix)) => return ipv6.next(prefix).map(|(p, n)| (p.into(), n)),
        };
        route.or_else(|| ipv6.first().map(|(p, n)| (p.into(), n)))
    }

    /// The routes that cover `prefix`, itself included, the shortest first.
    pub(crate) fn supernets(
        &mut self,
        py: Python<'_>,
        prefix: IpPrefix,
    ) -> PyResult<Vec<(IpPrefix, NextHop)>> {
        self.thaw(py)?;
        Ok(match prefix {
            IpPrefix::V4(prefix) => either(self.ipv4.rib.supernets(prefix)),
            IpPrefix::V6(prefix) => either(self.ipv6.rib.supernets(prefix)),
        })
    }

    /// The routes inside `prefix`, itself included, in prefix order.
    pub(crate) fn subnets(
        &mut self,
        py: Python<'_>,
        prefix: IpPrefix,
    ) -> PyResult<Vec<(IpPrefix, NextHop)>> {
        self.thaw(py)?;
        Ok(match prefix {
            IpPrefix::V4(prefix) => either(self.ipv4.rib.subnets(prefix)),
            IpPrefix::V6(prefix) => either(self.ipv6.rib.subnets(prefix)),
        })
    }

    /// # Errors
    /// `RuntimeError` for a table beyond what a Fib can number.
    pub(crate) fn compile(&mut self, py: Python<'_>) -> PyResult<()> {
        self.ipv4.compile(py)?;
        self.ipv6.compile(py)
    }

    /// A copy that shares the objects and nothing else that changes.
    pub(crate) fn copy(&mut self, py: Python<'_>) -> PyResult<Self> {
        self.thaw(py)?;
        Ok(Self {
            ipv4: copy(&self.ipv4),
            ipv6: copy(&self.ipv6),
            values: self.values.copy(py),
            ..Self::default()
        })
    }

    /// A state that keeps nothing and refuses everything.
    pub(crate) fn closed() -> Self {
        Self {
            closed: true,
            ..Self::default()
        }
    }
}

fn copy<A: Address>(family: &Family<A>) -> Family<A> {
    Family {
        rib: family.rib.clone(),
        fib: family.fib.clone(),
        image: None,
        walked: family.walked,
    }
}

fn has_routes<A: Address>(family: &Family<A>) -> bool {
    family.table().is_none_or(|table| table.has_routes())
}

fn either<A: Address>(
    routes: impl Iterator<Item = (Prefix<A>, NextHop)>,
) -> Vec<(IpPrefix, NextHop)>
where
    IpPrefix: From<Prefix<A>>,
{
    routes.map(|(p, n)| (IpPrefix::from(p), n)).collect()
}

/// A state that threads share.
#[derive(Default)]
pub(crate) struct Shared(Mutex<State>);

impl Shared {
    pub(crate) fn new(state: State) -> Self {
        Self(Mutex::new(state))
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
        f: impl FnOnce(&mut State) -> PyResult<R>,
    ) -> PyResult<R> {
        let mut state = self
            .0
            .lock_py_attached(py)
            .unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return Err(PyValueError::new_err("the table is closed"));
        }
        let result = f(&mut state);
        if !state.dropped.is_empty() {
            let dropped = std::mem::take(&mut state.dropped);
            drop(state);
            drop(dropped);
        }
        result
    }

    /// Puts another state in place; returns the old one, to be dropped.
    pub(crate) fn replace(&self, py: Python<'_>, mut state: State) -> State {
        let mut old = self
            .0
            .lock_py_attached(py)
            .unwrap_or_else(PoisonError::into_inner);
        // Walks under way must see that this is not what they walked.
        state.version = old.version + 1;
        std::mem::replace(&mut *old, state)
    }

    /// For the garbage collector, which may come while the lock is held: then `f` is
    /// not called, and everything counts as in use.
    pub(crate) fn try_with<R>(&self, f: impl FnOnce(&mut State) -> R) -> Option<R> {
        let mut state = match self.0.try_lock() {
            Ok(state) => state,
            Err(std::sync::TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => return None,
        };
        Some(f(&mut state))
    }
}
