//! Pairs of prefix and value as Python has them: a mapping or an iterable of pairs in, one pair after the other out.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

/// Pairs between two looks at signals and at other threads.
const SIGNALS: usize = 1 << 14;

/// A prefix as text and a value; `None` for no value, or that of a route that is removed.
pub(crate) type PyPair<'py> = (Bound<'py, PyString>, Option<Py<PyAny>>);

/// Calls `f` with each pair.
///
/// # Errors
/// `TypeError` for an item that is no pair; the errors of `f`, of the iterable and of signals.
pub(crate) fn each<'py>(
    routes: &Bound<'py, PyAny>,
    mut f: impl FnMut(Bound<'py, PyAny>, Bound<'py, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    let py = routes.py();
    let pairs = match routes.cast::<PyList>() {
        Ok(_) => routes.clone(),
        // As dict does: an object with `keys` is a mapping.
        Err(_) if routes.hasattr("keys")? => routes.call_method0("items")?,
        Err(_) => routes.clone(),
    };
    for (count, pair) in pairs.try_iter()?.enumerate() {
        if count % SIGNALS == SIGNALS - 1 {
            py.check_signals()?;
            py.detach(|| ());
        }
        let pair = pair?;
        let (prefix, value) = match (pair.cast::<PyTuple>(), pair.cast::<PyList>()) {
            (Ok(pair), _) if pair.len() == 2 => (pair.get_item(0)?, pair.get_item(1)?),
            (_, Ok(pair)) if pair.len() == 2 => (pair.get_item(0)?, pair.get_item(1)?),
            _ => {
                return Err(type_error!("item {count} is not a pair (prefix, value)"));
            }
        };
        f(prefix, value).map_err(|error| match routes.hasattr("keys") {
            Ok(false) => of_item(py, count, error),
            _ => error,
        })?;
    }
    Ok(())
}

/// An error about a prefix, with the number of its item.
fn of_item(py: Python<'_>, count: usize, error: PyErr) -> PyErr {
    let kind = error.get_type(py);
    match kind.is(py.get_type::<PyValueError>()) || kind.is(py.get_type::<PyTypeError>()) {
        true => PyErr::from_type(kind, format!("item {count}: {}", error.value(py))),
        false => error,
    }
}
