//! The table behind a Python `Table`: Ribs, Fibs and values of both families.
//!
//! Numbers of values are the next hops of the Ribs; `family` has what belongs to one family.

use std::sync::{Arc, Mutex, PoisonError};

use popfib::{Address, Image, IpPrefix, NextHop, Prefix, Rib};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::family::Family;
use crate::values::Values;

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
        let image = self.ipv4.image().or(self.ipv6.image());
        self.ipv4.bytes()
            + self.ipv6.bytes()
            + self.values.bytes()
            + image.map_or(0, |image| image.bytes())
    }

    /// Makes sure that the routes are in the Ribs: for walks and changes.
    pub(crate) fn thaw(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.ipv4.thaw()? | self.ipv6.thaw()? {
            let numbers = self.ipv4.rib().iter().map(|(_, number)| number);
            let numbers = numbers.chain(self.ipv6.rib().iter().map(|(_, number)| number));
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
    #[inline]
    pub(crate) fn covering(
        &mut self,
        py: Python<'_>,
        key: IpPrefix,
    ) -> PyResult<Option<(IpPrefix, NextHop)>> {
        match key {
            IpPrefix::V4(p) if p.len() == 32 => return longest(&mut self.ipv4, py, p.address()),
            IpPrefix::V6(p) if p.len() == 128 => return longest(&mut self.ipv6, py, p.address()),
            _ => self.thaw(py)?,
        }
        Ok(match key {
            IpPrefix::V4(p) => last(self.ipv4.rib().supernets(p)),
            IpPrefix::V6(p) => last(self.ipv6.rib().supernets(p)),
        })
    }

    /// The number of exactly `prefix`.
    pub(crate) fn exact(&mut self, py: Python<'_>, prefix: IpPrefix) -> PyResult<Option<NextHop>> {
        self.thaw(py)?;
        Ok(match prefix {
            IpPrefix::V4(prefix) => self.ipv4.rib().get(prefix),
            IpPrefix::V6(prefix) => self.ipv6.rib().get(prefix),
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

    /// The first route, or the first after `prefix`, IPv4 before IPv6.
    pub(crate) fn next(&self, prefix: Option<IpPrefix>) -> Option<(IpPrefix, NextHop)> {
        let (ipv4, ipv6) = (self.ipv4.rib(), self.ipv6.rib());
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
            IpPrefix::V4(prefix) => either(self.ipv4.rib().supernets(prefix)),
            IpPrefix::V6(prefix) => either(self.ipv6.rib().supernets(prefix)),
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
            IpPrefix::V4(prefix) => either(self.ipv4.rib().subnets(prefix)),
            IpPrefix::V6(prefix) => either(self.ipv6.rib().subnets(prefix)),
        })
    }

    /// # Errors
    /// `RuntimeError` for a table beyond what a Fib can number.
    pub(crate) fn compile(&mut self, py: Python<'_>, prefixes: bool) -> PyResult<()> {
        self.ipv4.compile(py, prefixes)?;
        self.ipv6.compile(py, prefixes)
    }

    /// A copy that shares the objects and nothing else that changes.
    pub(crate) fn copy(&mut self, py: Python<'_>) -> PyResult<Self> {
        self.thaw(py)?;
        Ok(Self {
            ipv4: self.ipv4.copy(),
            ipv6: self.ipv6.copy(),
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

/// The longest match of an address.
#[inline]
fn longest<A: Address>(
    family: &mut Family<A>,
    py: Python<'_>,
    address: A,
) -> PyResult<Option<(IpPrefix, NextHop)>>
where
    IpPrefix: From<Prefix<A>>,
{
    family.expect_longest(py, 1)?;
    let route = family.longest().find(address);
    Ok(route.map(|(prefix, number)| (prefix.into(), number)))
}

fn last<A: Address>(
    routes: impl Iterator<Item = (Prefix<A>, NextHop)>,
) -> Option<(IpPrefix, NextHop)>
where
    IpPrefix: From<Prefix<A>>,
{
    routes.last().map(|(p, n)| (p.into(), n))
}

fn either<A: Address>(
    routes: impl Iterator<Item = (Prefix<A>, NextHop)>,
) -> Vec<(IpPrefix, NextHop)>
where
    IpPrefix: From<Prefix<A>>,
{
    routes.map(|(p, n)| (IpPrefix::from(p), n)).collect()
}

/// A state that threads share, and a table with its iterators.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<State>>);

impl Shared {
    pub(crate) fn new(state: State) -> Self {
        Self(Arc::new(Mutex::new(state)))
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
