//! Records in, objects of Python out: the dict of a record, the object of a value, the types of columns.

use std::sync::{Mutex, OnceLock, PoisonError};

use popfib::NextHop;
use popfib_formats::text::no_column_message;
use popfib_table::{Cell, Column, ColumnType, Records, Scalar};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::locks::expect_no_lock;
use crate::values::PyValueKind;

/// The only column of a table that is no image.
pub(crate) const VALUE: &str = "value";

/// The index of the column of this name.
///
/// # Errors
/// `ValueError` if there is none, with the names of those that there are.
pub(crate) fn column(records: &Records, name: &str) -> PyResult<usize> {
    let column = records.column(name);
    column.ok_or_else(|| PyValueError::new_err(no_column_message(name, Some(records))))
}

/// The names that an argument has: one, or those of a list.
pub(crate) fn names_of(names: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match names.extract() {
        Ok(name) => Ok(vec![name]),
        Err(_) => names.try_iter()?.map(|name| name?.extract()).collect(),
    }
}

/// The type that a column has in Python.
pub(crate) fn type_of(column: &Column) -> ColumnType {
    match column.is_of_list() {
        true => ColumnType::Boolean,
        false => column.column_type(),
    }
}

/// What a code of a column stands for in Python: True in a value-less list, so that a match does not look like no match.
pub(crate) fn value(column: &Column, code: u32) -> Option<Cell<'_>> {
    let value = column.value(code)?;
    Some(match column.is_of_list() {
        true => Cell::Scalar(Scalar::Boolean(true)),
        false => value,
    })
}

/// The most dicts that are kept of a table, of some hundred bytes each.
const KEPT: usize = 1 << 17;

/// A record that was made before.
type DictSlot = Option<(NextHop, Py<PyDict>)>;

/// Records as dicts. Each is kept and copies are handed out: to make one takes more than twice the time of a copy.
pub(crate) struct RecordDicts {
    names: Vec<Py<PyString>>,
    /// By column and code the objects of values that are no lists, which records share.
    objects: Vec<Vec<OnceLock<Py<PyAny>>>>,
    /// For the numbers that are equal in their last bits, the dict that was made last, without lists.
    made: Mutex<Vec<DictSlot>>,
    /// The bits of a number that are its place there.
    mask: usize,
    /// The columns of lists, which are made for each copy: callers must not share a list.
    lists: Vec<usize>,
}

impl RecordDicts {
    pub(crate) fn new(py: Python<'_>, records: &Records) -> Self {
        let columns = records.columns().iter();
        let is_list =
            |column: &Column| matches!(type_of(column), ColumnType::Texts | ColumnType::Integers);
        let cells = |column: &Column| match is_list(column) {
            true => Vec::new(),
            false => (0..column.len()).map(|_| OnceLock::new()).collect(),
        };
        let slots = records.len().clamp(1, KEPT).next_power_of_two();
        let lists = columns.clone().enumerate().filter(|(_, c)| is_list(c));
        Self {
            lists: lists.map(|(index, _)| index).collect(),
            names: columns
                .clone()
                .map(|column| PyString::intern(py, column.name()).unbind())
                .collect(),
            objects: columns.map(cells).collect(),
            made: Mutex::new((0..slots).map(|_| None).collect()),
            mask: slots - 1,
        }
    }

    /// A record as a dict of its columns, in their order; what is absent is None.
    pub(crate) fn dict<'py>(
        &self,
        py: Python<'py>,
        records: &Records,
        number: NextHop,
    ) -> PyResult<Bound<'py, PyDict>> {
        expect_no_lock();
        let lock = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = number.get() as usize & self.mask;
        let known = match &lock()[slot] {
            Some((of, dict)) if *of == number => Some(dict.clone_ref(py)),
            _ => None,
        };
        let dict = match known {
            Some(dict) => dict.into_bound(py),
            None => {
                let dict = self.make(py, records, number)?;
                let kept = Some((number, dict.clone().unbind()));
                // Dropped after the lock is free, since that may run any Python code.
                let old = std::mem::replace(&mut lock()[slot], kept);
                drop(old);
                dict
            }
        };
        let dict = dict.copy()?;
        for &index in &self.lists {
            if let Some(cell) = records.cell(number, index) {
                dict.set_item(&self.names[index], object(py, cell)?)?;
            }
        }
        Ok(dict)
    }

    fn make<'py>(
        &self,
        py: Python<'py>,
        records: &Records,
        number: NextHop,
    ) -> PyResult<Bound<'py, PyDict>> {
        let record = PyDict::new(py);
        for (index, name) in self.names.iter().enumerate() {
            let code = records.code(number.get(), index);
            let place = (code as usize).wrapping_sub(1);
            let known = self.objects[index].get(place);
            match (known, value(&records.columns()[index], code)) {
                (Some(known), Some(Cell::Scalar(value))) => {
                    let value = match known.get() {
                        Some(value) => value.clone_ref(py),
                        None => {
                            let value = scalar(py, value)?.unbind();
                            known.get_or_init(|| value).clone_ref(py)
                        }
                    };
                    record.set_item(name, value)?;
                }
                _ => record.set_item(name, py.None())?,
            }
        }
        Ok(record)
    }

    /// Heap bytes, without the objects'.
    pub(crate) fn bytes(&self) -> usize {
        let cells: usize = self.objects.iter().map(Vec::capacity).sum();
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        cells * size_of::<OnceLock<Py<PyAny>>>() + made.capacity() * size_of::<DictSlot>()
    }
}

/// A value as an object.
pub(crate) fn object<'py>(py: Python<'py>, cell: Cell<'_>) -> PyResult<Bound<'py, PyAny>> {
    expect_no_lock();
    match cell {
        Cell::Scalar(value) => scalar(py, value),
        Cell::List(list) => {
            let elements = list.iter().map(|element| scalar(py, element));
            let elements = elements.collect::<PyResult<Vec<_>>>()?;
            Ok(PyList::new(py, elements)?.into_any())
        }
    }
}

fn scalar<'py>(py: Python<'py>, value: Scalar<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Scalar::Text(text) => text.into_pyobject(py)?.into_any(),
        Scalar::Integer(number) => number.into_pyobject(py)?.into_any(),
        Scalar::Float(number, _) => number.into_pyobject(py)?.into_any(),
        Scalar::Boolean(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
    })
}

/// The names of the columns and their types; of values that are objects of Python, the one column and its kind.
pub(crate) fn schema<'py>(
    py: Python<'py>,
    records: Option<&Records>,
    kind: PyValueKind,
) -> PyResult<Bound<'py, PyDict>> {
    expect_no_lock();
    let schema = PyDict::new(py);
    match records {
        Some(records) => {
            for column in records.columns() {
                schema.set_item(column.name(), type_of(column).name())?;
            }
        }
        None => schema.set_item(VALUE, kind.name())?,
    }
    Ok(schema)
}
