//! The routes of a `popfib.LiveTable`: changes of one writer at a time in, answers of readers who never wait for it out.
//!
//! The library's live table keeps the objects themselves. A reader takes a reference to an object in its read-side section,
//! so none goes too early. Readers have no part in the writer's lock. They are in a pool, whose lock a thread takes only while
//! it has the interpreter: nobody ever waits there.
//!
//! To drop an object may run any Python code, also code that asks this table. So what a change lets go of is dropped after the
//! lock is free. And a long change does not keep the interpreter from other threads: it runs without it.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use popfib::live::{IpMapReader, IpMapSweep};
use popfib::map::Shared;
use popfib::{CompileError, IpPrefix, LiveIpMap, NextHop};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::routes::{NumberMap, NumberedRoute, refused};
use crate::state::TableState;
use crate::values::{PyValueKind, PyValues};

/// Changes that are made without letting other threads have the interpreter: some 50 us.
const AT_ONCE: usize = 32;

/// Routes between two offers of the interpreter to other threads, in loops that need it for each route.
const TURN: usize = 1 << 12;

/// Routes that a sweep looks at by one step.
const STEP: usize = 1 << 12;

/// Prefixes of fewer bits change many words: without the interpreter.
fn is_short(prefix: &IpPrefix) -> bool {
    match prefix {
        IpPrefix::V4(prefix) => prefix.len() < 16,
        IpPrefix::V6(prefix) => prefix.len() < 32,
    }
}

thread_local! {
    /// What the change that this thread makes has let go of.
    static DROPPED: RefCell<Option<Vec<Py<PyAny>>>> = const { RefCell::new(None) };
}

/// Drops an object: after the change, if this thread makes one.
fn let_go(object: Py<PyAny>) {
    let mut object = Some(object);
    // A thread that ends makes no change.
    let _ = DROPPED.try_with(|dropped| {
        if let Some(dropped) = dropped.borrow_mut().as_mut() {
            dropped.extend(object.take());
        }
    });
}

/// An object that routes lead to. Its number says which one it is, without the interpreter.
pub(crate) struct LiveObject {
    /// There until this is dropped.
    object: Option<Py<PyAny>>,
    number: NextHop,
}

impl LiveObject {
    fn new(object: Py<PyAny>, number: NextHop) -> Self {
        Self {
            object: Some(object),
            number,
        }
    }

    #[inline]
    pub(crate) fn object(&self) -> &Py<PyAny> {
        self.object.as_ref().expect("it is taken by `drop` alone")
    }

    pub(crate) fn number(&self) -> NextHop {
        self.number
    }
}

impl Drop for LiveObject {
    fn drop(&mut self) {
        self.object.take().into_iter().for_each(let_go);
    }
}

// Values that are shared must be `Clone`; a live table clones none.
impl Clone for LiveObject {
    fn clone(&self) -> Self {
        Python::attach(|py| Self::new(self.object().clone_ref(py), self.number))
    }
}

impl PartialEq for LiveObject {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for LiveObject {}

impl Hash for LiveObject {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

/// A prefix, and the object that it is to lead to, if any.
pub(crate) type LiveChange = (IpPrefix, Option<Py<PyAny>>);

/// What only the writer uses.
#[derive(Default)]
pub(crate) struct LiveWriter {
    pub(crate) table: LiveIpMap<LiveObject, Shared>,
    /// The objects of the routes, and how many routes each has.
    pub(crate) values: PyValues,
}

impl LiveWriter {
    /// Sets a route; whether there was one.
    pub(crate) fn announce(
        &mut self,
        prefix: IpPrefix,
        object: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let py = object.py();
        let number = self.values.add(object)?;
        let value = LiveObject::new(object.clone().unbind(), number);
        let gone = self.table.get(prefix).map(LiveObject::number);
        let table = &mut self.table;
        let announced = match is_short(&prefix) {
            true => py.detach(|| table.announce(prefix, value)),
            false => table.announce(prefix, value),
        };
        self.settle(py, announced, gone)
    }

    /// Removes a route; whether there was one.
    pub(crate) fn withdraw(&mut self, py: Python<'_>, prefix: IpPrefix) -> PyResult<bool> {
        let gone = self.table.get(prefix).map(LiveObject::number);
        let table = &mut self.table;
        let withdrawn = match is_short(&prefix) {
            true => py.detach(|| table.withdraw(prefix)),
            false => table.withdraw(prefix),
        };
        self.settle(py, withdrawn, gone)
    }

    /// Makes several changes as one batch; the last of a prefix counts.
    pub(crate) fn apply(&mut self, py: Python<'_>, mut changes: Vec<LiveChange>) -> PyResult<()> {
        let is_long = changes.len() > AT_ONCE;
        // Stable: the last of a prefix stays the last.
        let sort = |changes: &mut Vec<LiveChange>| changes.sort_by_key(|(prefix, _)| *prefix);
        match is_long {
            true => py.detach(|| sort(&mut changes)),
            false => sort(&mut changes),
        }
        let mut gone = Vec::new();
        let mut new = Vec::with_capacity(changes.len());
        let mut changes = changes.into_iter().peekable();
        let mut result = Ok(());
        while let Some((prefix, object)) = changes.next() {
            if changes.peek().is_some_and(|(next, _)| *next == prefix) {
                object.into_iter().for_each(let_go);
                continue;
            }
            if new.len() % TURN == TURN - 1 {
                py.detach(|| ());
            }
            let number = object
                .as_ref()
                .map(|object| self.values.add(object.bind(py)));
            match number.transpose() {
                Ok(number) => {
                    let value = object.zip(number);
                    new.push((prefix, value.map(|(object, n)| LiveObject::new(object, n))));
                    gone.extend(self.table.get(prefix).map(LiveObject::number));
                }
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        if result.is_err() {
            changes.filter_map(|(_, object)| object).for_each(let_go);
            self.count(py);
            return result;
        }
        let table = &mut self.table;
        let applied = match is_long {
            true => py.detach(|| table.apply(new)),
            false => table.apply(new),
        };
        self.settle(py, applied, gone)
    }

    /// Inserts the routes of a table into an empty one.
    pub(crate) fn load(&mut self, py: Python<'_>, state: TableState) -> PyResult<()> {
        let TableState { routes, values, .. } = state;
        self.values = values;
        let places = self.values.places();
        let value = |(prefix, number): NumberedRoute| {
            let object = places.get(number.get() as usize - 1)?.as_ref()?;
            Some((prefix, Some(LiveObject::new(object.clone_ref(py), number))))
        };
        let routes: Vec<_> = routes.map().iter().filter_map(value).collect();
        drop(places);
        let table = &mut self.table;
        let applied = py.detach(|| table.apply(routes));
        self.settle(py, applied, None)
    }

    /// The routes as a table of their own.
    pub(crate) fn to_state(&self, py: Python<'_>) -> PyResult<TableState> {
        let table = &self.table;
        let map = py.detach(|| {
            let (ipv4, ipv6) = (table.ipv4().iter(), table.ipv6().iter());
            NumberMap::new(
                ipv4.map(|(prefix, value)| (prefix, value.number())),
                ipv6.map(|(prefix, value)| (prefix, value.number())),
            )
        })?;
        Ok(TableState::new(py, map, self.values.copy(py)))
    }

    /// Of the next few routes, withdraws those that are not confirmed; returns how many, and whether all have been looked at.
    pub(crate) fn sweep(
        &mut self,
        py: Python<'_>,
        sweep: &mut IpMapSweep,
    ) -> PyResult<(usize, bool)> {
        let mut gone = Vec::new();
        let table = &mut self.table;
        let swept = py.detach(|| {
            table.sweep(sweep, STEP, |_, value| {
                gone.push(value.number());
                true
            })
        });
        let count = gone.len();
        Ok((count, self.settle(py, swept, gone)?))
    }

    /// Counts one route less for each of `gone`; if a change failed, which may have been made in part, counts all again.
    fn settle<T>(
        &mut self,
        py: Python<'_>,
        result: Result<T, CompileError>,
        gone: impl IntoIterator<Item = NextHop>,
    ) -> PyResult<T> {
        match result {
            Ok(result) => {
                for number in gone {
                    self.values.remove(py, number).into_iter().for_each(let_go);
                }
                Ok(result)
            }
            Err(error) => {
                self.count(py);
                Err(refused(error))
            }
        }
    }

    /// Counts the routes of each object again.
    fn count(&mut self, py: Python<'_>) {
        let numbers = self.table.iter().map(|(_, value)| value.number());
        let unused = self.values.count(py, numbers);
        unused.into_iter().for_each(let_go);
    }
}

/// The kinds of values, by the number that stands for each.
const KINDS: [PyValueKind; 5] = [
    PyValueKind::Text,
    PyValueKind::Number,
    PyValueKind::Wide,
    PyValueKind::Truth,
    PyValueKind::Other,
];

/// A live table, as threads share it.
pub(crate) struct LiveRoutes {
    writer: Mutex<LiveWriter>,
    /// Readers that nobody uses. The first always stays, so that others can be cloned from it.
    readers: Mutex<Vec<IpMapReader<LiveObject>>>,
    /// What all values are.
    kind: AtomicU8,
}

impl LiveRoutes {
    pub(crate) fn new() -> Self {
        let writer = LiveWriter::default();
        Self {
            readers: Mutex::new(vec![writer.table.reader()]),
            kind: AtomicU8::new(writer.values.kind() as u8),
            writer: Mutex::new(writer),
        }
    }

    /// Runs `f` as the writer, then drops what it let go of.
    ///
    /// `f` must not run Python code nor make objects that the garbage collector tracks: either may come back to this
    /// table.
    pub(crate) fn with<R>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut LiveWriter) -> PyResult<R>,
    ) -> PyResult<R> {
        let writer = self.writer.lock_py_attached(py);
        let mut writer = writer.unwrap_or_else(PoisonError::into_inner);
        DROPPED.set(Some(Vec::new()));
        let result = f(&mut writer);
        let kind = writer.values.kind() as u8;
        self.kind.store(kind, Ordering::Relaxed);
        drop(writer);
        drop(DROPPED.take());
        result
    }

    /// What all values are.
    pub(crate) fn kind(&self) -> PyValueKind {
        KINDS[usize::from(self.kind.load(Ordering::Relaxed))]
    }

    /// Calls `f` with the longest match of an address; `f` must not let the interpreter go.
    #[inline]
    pub(crate) fn longest_match<R>(
        &self,
        address: IpPrefix,
        f: impl FnOnce(Option<(IpPrefix, &LiveObject)>) -> R,
    ) -> R {
        let reader = &mut self.pool()[0];
        let guard = reader.pin();
        f(guard.longest_match(address.address()))
    }

    /// A reader for a lookup that lets the interpreter go.
    pub(crate) fn reader(&self) -> PyResult<IpMapReader<LiveObject>> {
        let refused = |error| PyMemoryError::new_err(format!("a reader: {error}"));
        let mut pool = self.pool();
        match pool.len() {
            1 => pool[0].try_clone().map_err(refused),
            _ => Ok(pool.pop().expect("more than one")),
        }
    }

    /// Takes a reader back.
    pub(crate) fn give_back(&self, reader: IpMapReader<LiveObject>) {
        self.pool().push(reader);
    }

    fn pool(&self) -> MutexGuard<'_, Vec<IpMapReader<LiveObject>>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For the garbage collector, which may come while a thread makes a change: then `f` is not called, and
    /// everything counts as in use.
    pub(crate) fn try_with<R>(&self, f: impl FnOnce(&mut LiveWriter) -> R) -> Option<R> {
        match self.writer.try_lock() {
            Ok(mut writer) => Some(f(&mut writer)),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(f(&mut poisoned.into_inner())),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }

    /// Lets go of all routes, for the garbage collector.
    pub(crate) fn clear(&self) {
        let new = LiveWriter::default();
        let readers = vec![new.table.reader()];
        let old = self.try_with(|writer| {
            let old = std::mem::replace(writer, new);
            (old, std::mem::replace(&mut *self.pool(), readers))
        });
        drop(old);
    }
}
