//! Room for answers, and where it is not given.

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;

/// A column of nulls takes no memory, however long it is; the answers do. Asked for once, because what makes them ends
/// the process where it gets none.
pub(super) fn ask_for_memory(count: usize, each: usize) -> PyResult<()> {
    let bytes = count.checked_mul(each);
    if bytes.is_none_or(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_err()) {
        return Err(PyMemoryError::new_err(format!(
            "the answers of {count} rows"
        )));
    }
    Ok(())
}

pub(super) fn out_without_indices() -> PyErr {
    PyValueError::new_err("out goes with output='indices'")
}
