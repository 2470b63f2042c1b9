//! Records of images as objects of Python.

use popfib::NextHop;
use popfib_table::{Cell, Records, Scalar};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The records of a table, if it has any.
///
/// # Errors
/// `ValueError` of a table that is no image.
pub(crate) fn of(records: Option<&Records>) -> PyResult<&Records> {
    records.ok_or_else(|| {
        PyValueError::new_err("only tables of an image that was not changed have records")
    })
}

/// A record as a dict of its columns, in their order; what is absent is None.
pub(crate) fn dict<'py>(
    py: Python<'py>,
    records: &Records,
    number: NextHop,
) -> PyResult<Bound<'py, PyDict>> {
    let record = PyDict::new(py);
    for (index, column) in records.columns().iter().enumerate() {
        let value = match records.cell(number, index) {
            None => None,
            Some(Cell::Scalar(value)) => Some(object(py, value)?),
            Some(Cell::List(list)) => {
                let elements = list.iter().map(|element| object(py, element));
                let elements = elements.collect::<PyResult<Vec<_>>>()?;
                Some(PyList::new(py, elements)?.into_any())
            }
        };
        record.set_item(column.name(), value)?;
    }
    Ok(record)
}

fn object<'py>(py: Python<'py>, value: Scalar<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Scalar::Text(text) => text.into_pyobject(py)?.into_any(),
        Scalar::Integer(number) => number.into_pyobject(py)?.into_any(),
        Scalar::Float(number) => number.into_pyobject(py)?.into_any(),
        Scalar::Boolean(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
    })
}

/// The names of the columns and their types.
pub(crate) fn schema<'py>(py: Python<'py>, records: &Records) -> PyResult<Bound<'py, PyDict>> {
    let schema = PyDict::new(py);
    for column in records.columns() {
        schema.set_item(column.name(), column.column_type().name())?;
    }
    Ok(schema)
}
