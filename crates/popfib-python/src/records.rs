//! Records as objects of Python.

use popfib::NextHop;
use popfib_table::{Cell, Column, Records, Scalar};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::quote::Quoted;
use crate::values::Kind;

/// The only column of a table that is no image.
pub(crate) const VALUE: &str = "value";

/// The index of the column of this name.
///
/// # Errors
/// `ValueError` with the names that there are.
pub(crate) fn column(records: &Records, name: &str) -> PyResult<usize> {
    let column = records.column(name);
    column.ok_or_else(|| {
        let there = records.columns().iter().map(Column::name);
        PyValueError::new_err(missing(name, there))
    })
}

/// What to say of a column that nobody has.
pub(crate) fn missing<'n>(name: &str, there: impl Iterator<Item = &'n str>) -> String {
    let there = there
        .take(20)
        .map(|name| Quoted(name.as_bytes()).to_string());
    let (name, there) = (
        Quoted(name.as_bytes()),
        there.collect::<Vec<_>>().join(", "),
    );
    format!("no column {name} in {there}")
}

/// A record as a dict of its columns, in their order; what is absent is None.
pub(crate) fn dict<'py>(
    py: Python<'py>,
    records: &Records,
    number: NextHop,
) -> PyResult<Bound<'py, PyDict>> {
    let record = PyDict::new(py);
    for (index, column) in records.columns().iter().enumerate() {
        let cell = records.cell(number, index);
        let value = cell.map(|cell| object(py, cell)).transpose()?;
        record.set_item(column.name(), value)?;
    }
    Ok(record)
}

/// A value as an object.
pub(crate) fn object<'py>(py: Python<'py>, cell: Cell<'_>) -> PyResult<Bound<'py, PyAny>> {
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
        Scalar::Float(number) => number.into_pyobject(py)?.into_any(),
        Scalar::Boolean(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
    })
}

/// The names of the columns and their types; of values that are any objects, what they are.
pub(crate) fn schema<'py>(
    py: Python<'py>,
    records: Option<&Records>,
    kind: Kind,
) -> PyResult<Bound<'py, PyDict>> {
    let schema = PyDict::new(py);
    match records {
        Some(records) => {
            for column in records.columns() {
                schema.set_item(column.name(), column.column_type().name())?;
            }
        }
        None => schema.set_item(VALUE, kind.name())?,
    }
    Ok(schema)
}
