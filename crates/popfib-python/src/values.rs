//! The objects that prefixes map to: an object in, its number out, by which the map and its FIB know it; and back.
//!
//! Routes to one object share a number, so the FIB can aggregate them, and a column of answers is a column of numbers with
//! the objects as its dictionary. Two objects share a number if nobody can tell them apart: the same object, or equal ones of
//! exactly the types `str`, `int`, `bytes` and `float` (bit by bit). Anything else goes by identity. So no `__hash__` or
//! `__eq__` of a user's class is ever called, and lists are as good as strings.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use hashbrown::HashTable;
use popfib::NextHop;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString, PyType};

use crate::words::ValueWords;

/// Objects by their numbers; number `n` is place `n - 1`.
pub(crate) type Places = Vec<Option<Py<PyAny>>>;

/// The values at one time, for answers that are made after the lock is free.
pub(crate) struct ValueSnapshot {
    pub(crate) places: Arc<Places>,
    /// What all of them are.
    pub(crate) kind: PyValueKind,
    /// What they say, as far as it has been read.
    pub(crate) words: Option<Arc<ValueWords>>,
}

impl ValueSnapshot {
    /// Reads what the values say, if they have a type.
    pub(crate) fn read(&mut self, py: Python<'_>) {
        if matches!(self.kind, PyValueKind::Text | PyValueKind::Number) {
            self.words = ValueWords::read(py, &self.places).map(Arc::new);
        }
    }
}

/// What a value is in a column that has a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PyValueKind {
    /// A `str`.
    Text,
    /// An `int` of 64 bits.
    Number,
    /// An `int` that is wider.
    Wide,
    /// A `bool`.
    Truth,
    Other,
    /// `None`, which is null in a column of any type.
    None,
}

impl PyValueKind {
    fn of(object: &Bound<'_, PyAny>) -> Self {
        if object.is_instance_of::<PyString>() {
            Self::Text
        } else if object.is_none() {
            Self::None
        } else if object.is_instance_of::<PyBool>() {
            Self::Truth
        } else if !object.is_exact_instance_of::<PyInt>() {
            Self::Other
        } else if object.extract::<i64>().is_ok() {
            Self::Number
        } else {
            Self::Wide
        }
    }

    /// The type that values of this kind have in Python.
    pub(crate) fn class(self, py: Python<'_>) -> Bound<'_, PyType> {
        match self {
            Self::Text => py.get_type::<PyString>(),
            Self::Number => py.get_type::<PyInt>(),
            Self::Truth => py.get_type::<PyBool>(),
            Self::Wide | Self::Other | Self::None => py.get_type::<PyAny>(),
        }
    }

    /// The type of a column of it, in the words that records use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "integer",
            Self::Truth => "boolean",
            Self::Wide | Self::Other | Self::None => "object",
        }
    }
}

/// Objects and their numbers, with the routes of each counted.
#[derive(Default)]
pub(crate) struct PyValues {
    /// Shared with lookups under way, which read it after the lock is free.
    places: Arc<Places>,
    routes: Vec<u32>,
    free: Vec<NextHop>,
    /// Content or identity to number.
    index: Option<HashTable<NextHop>>,
    /// How many objects there are of each kind.
    kinds: [usize; 6],
    /// What they say, for columns that have a type.
    words: Option<Arc<ValueWords>>,
    /// Rows of such columns that were answered without it.
    rows: AtomicUsize,
}

impl PyValues {
    /// Values with the numbers 1, 2, 3 and so on; no routes so far.
    ///
    /// The index is made when it is needed, so that opening an image does not wait for it.
    pub(crate) fn numbered(py: Python<'_>, objects: Vec<Py<PyAny>>) -> Self {
        let mut kinds = [0; 6];
        for object in &objects {
            kinds[PyValueKind::of(object.bind(py)) as usize] += 1;
        }
        Self {
            kinds,
            routes: vec![0; objects.len()],
            places: Arc::new(objects.into_iter().map(Some).collect()),
            ..Self::default()
        }
    }

    /// The dictionary as it is now, for answers.
    pub(crate) fn places(&self) -> Arc<Places> {
        Arc::clone(&self.places)
    }

    /// All that answers are made of, as it is now: also for answers that are made later.
    pub(crate) fn known(&self) -> ValueSnapshot {
        ValueSnapshot {
            places: self.places(),
            kind: self.kind(),
            words: self.words.clone(),
        }
    }

    /// Counts rows of a column that has a type. Returns whether all values are worth reading for them: to read one is
    /// several times as fast in the order of numbers as in that of rows.
    pub(crate) fn expect(&self, rows: usize) -> bool {
        let rows = self.rows.fetch_add(rows, Relaxed).saturating_add(rows);
        self.words.is_none() && rows >= self.places.len() / 4
    }

    /// Keeps what was read, if no value has come or gone since.
    pub(crate) fn keep(&mut self, known: &ValueSnapshot) {
        if Arc::ptr_eq(&self.places, &known.places) {
            self.words.clone_from(&known.words);
            self.rows = AtomicUsize::new(0);
        }
    }

    /// Says that a number has another object. A number without an object is not asked for.
    fn changed(&mut self, number: NextHop) {
        if let Some(words) = &mut self.words
            && !Arc::make_mut(words).forget(number.get())
        {
            self.words = None;
        }
    }

    /// What all values are, counted as they come and go: a table may have a million.
    pub(crate) fn kind(&self) -> PyValueKind {
        let [texts, numbers, wide, truths, others, _] = self.kinds;
        match (texts, numbers, wide, truths, others) {
            (_, 0, 0, 0, 0) => PyValueKind::Text,
            (0, _, 0, 0, 0) => PyValueKind::Number,
            (0, _, _, 0, 0) => PyValueKind::Wide,
            (0, 0, 0, _, 0) => PyValueKind::Truth,
            _ => PyValueKind::Other,
        }
    }

    /// The object of a number; `None` for 0.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&Py<PyAny>> {
        self.places.get((number as usize).wrapping_sub(1))?.as_ref()
    }

    /// The number of `object` for one more route.
    pub(crate) fn add(&mut self, object: &Bound<'_, PyAny>) -> PyResult<NextHop> {
        let py = object.py();
        let hash = hash(object)?;
        if self.index.is_none() {
            self.index = Some(index_of(py, &self.places));
        }
        let places = &self.places;
        let is_it = |number: &NextHop| {
            places[index(*number)]
                .as_ref()
                .is_some_and(|known| same(known.bind(py), object))
        };
        let found = self
            .index
            .as_ref()
            .and_then(|index| index.find(hash, is_it));
        let number = match found {
            Some(number) => *number,
            None => self.append(hash, object)?,
        };
        self.routes[index(number)] += 1;
        Ok(number)
    }

    #[cold]
    fn append(&mut self, hash: u64, object: &Bound<'_, PyAny>) -> PyResult<NextHop> {
        let py = object.py();
        let kind = PyValueKind::of(object);
        let places = own(py, &mut self.places);
        let number = match self.free.pop() {
            Some(number) => {
                places[index(number)] = Some(object.clone().unbind());
                number
            }
            None => {
                let number = u32::try_from(places.len() + 1)
                    .ok()
                    .filter(|number| *number <= u32::MAX >> 1)
                    .and_then(NextHop::new)
                    .ok_or_else(|| PyMemoryError::new_err("2^31 different values"))?;
                places.push(Some(object.clone().unbind()));
                self.routes.push(0);
                number
            }
        };
        self.kinds[kind as usize] += 1;
        if let Some(table) = &mut self.index {
            table.insert_unique(hash, number, |other| rehash_at(py, places, *other));
        }
        self.changed(number);
        Ok(number)
    }

    /// One route less; returns the object if that was the last one.
    pub(crate) fn remove(&mut self, py: Python<'_>, number: NextHop) -> Option<Py<PyAny>> {
        let routes = &mut self.routes[index(number)];
        *routes -= 1;
        (*routes == 0).then(|| self.forget(py, number)).flatten()
    }

    fn forget(&mut self, py: Python<'_>, number: NextHop) -> Option<Py<PyAny>> {
        let object = own(py, &mut self.places)[index(number)].take()?;
        let hash = rehash(object.bind(py));
        let entry = self.index.as_mut();
        if let Some(Ok(entry)) = entry.map(|index| index.find_entry(hash, |other| *other == number))
        {
            entry.remove();
        }
        self.free.push(number);
        self.kinds[PyValueKind::of(object.bind(py)) as usize] -= 1;
        Some(object)
    }

    /// Counts the routes again; returns the objects that have none.
    pub(crate) fn count(
        &mut self,
        py: Python<'_>,
        routes: impl Iterator<Item = NextHop>,
    ) -> Vec<Py<PyAny>> {
        self.routes.fill(0);
        for number in routes {
            self.routes[index(number)] += 1;
        }
        let unused = (1..).map_while(NextHop::new).zip(&self.routes);
        let unused: Vec<_> = unused
            .filter_map(|(number, routes)| (*routes == 0).then_some(number))
            .collect();
        let forgotten = unused.into_iter();
        forgotten
            .filter_map(|number| self.forget(py, number))
            .collect()
    }

    /// The same numbers for the same objects, nothing shared.
    pub(crate) fn copy(&self, py: Python<'_>) -> Self {
        Self {
            places: Arc::new(clone_places(py, &self.places)),
            routes: self.routes.clone(),
            free: self.free.clone(),
            index: self.index.clone(),
            kinds: self.kinds,
            words: self.words.clone(),
            rows: AtomicUsize::new(self.rows.load(Relaxed)),
        }
    }

    /// For the garbage collector: the objects, if they are this table's alone. What a
    /// lookup holds as well must not be taken for garbage.
    pub(crate) fn unshared(&self) -> &[Option<Py<PyAny>>] {
        match Arc::strong_count(&self.places) {
            1 => &self.places,
            _ => &[],
        }
    }

    /// Heap bytes, without the objects' own.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Option<Py<PyAny>>>() * self.places.capacity()
            + size_of::<u32>() * (self.routes.capacity() + self.free.capacity())
            + self.index.as_ref().map_or(0, HashTable::allocation_size)
            + self.words.as_ref().map_or(0, |words| words.bytes())
    }
}

#[inline]
fn index(number: NextHop) -> usize {
    number.get() as usize - 1
}

/// The index of all places.
fn index_of(py: Python<'_>, places: &Places) -> HashTable<NextHop> {
    let mut table = HashTable::with_capacity(places.len());
    for (number, place) in (1..).map_while(NextHop::new).zip(places) {
        if place.is_some() {
            let hash = rehash_at(py, places, number);
            table.insert_unique(hash, number, |other| rehash_at(py, places, *other));
        }
    }
    table
}

fn rehash_at(py: Python<'_>, places: &Places, number: NextHop) -> u64 {
    let place = places[index(number)].as_ref();
    place.map_or(0, |object| rehash(object.bind(py)))
}

/// The places to change; a copy if a lookup under way reads them.
fn own<'a>(py: Python<'_>, places: &'a mut Arc<Places>) -> &'a mut Places {
    if Arc::get_mut(places).is_none() {
        *places = Arc::new(clone_places(py, places));
    }
    // Nobody else has it: the table is locked, and the copy is new.
    Arc::get_mut(places).expect("an Arc that is not shared")
}

fn clone_places(py: Python<'_>, places: &Places) -> Places {
    let clone = |object: &Py<PyAny>| object.clone_ref(py);
    places
        .iter()
        .map(|place| place.as_ref().map(clone))
        .collect()
}

/// Whether an object goes by its content.
fn has_content(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyString>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyBytes>()
        || object.is_exact_instance_of::<PyFloat>()
}

/// A hash by content or identity. Runs no code of a user's.
fn hash(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    let raw = if has_content(object) {
        object.hash()? as u64
    } else {
        object.as_ptr() as u64 >> 4
    };
    // The hash of a small int is the int; the table needs all bits to vary.
    Ok(raw
        .wrapping_add(1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(32))
}

/// The hash of an object that was hashed before.
fn rehash(object: &Bound<'_, PyAny>) -> u64 {
    hash(object).unwrap_or(0)
}

/// Whether nobody can tell two objects apart. Runs no code of a user's.
fn same(known: &Bound<'_, PyAny>, object: &Bound<'_, PyAny>) -> bool {
    if known.is(object) {
        return true;
    }
    if !has_content(object) || !known.get_type().is(object.get_type()) {
        return false;
    }
    match (
        known.cast_exact::<PyFloat>(),
        object.cast_exact::<PyFloat>(),
    ) {
        // 0.0 and -0.0 are equal, but not the same.
        (Ok(known), Ok(object)) => known.value().to_bits() == object.value().to_bits(),
        _ => known.eq(object).unwrap_or(false),
    }
}
