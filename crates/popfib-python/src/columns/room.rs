//! Memory for answers: asked for before it is used, so that a refusal is an error of Python.

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// Fails if there is no memory for `count` answers of `each` bytes. A column of nulls takes no memory, however long it is, but
/// its answers do; and what makes them would end the process if it got none.
pub(super) fn ask_for_memory(count: usize, each: usize) -> PyResult<()> {
    let bytes = count.checked_mul(each);
    if bytes.is_none_or(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_err()) {
        return Err(PyMemoryError::new_err(format!(
            "the answers of {count} rows"
        )));
    }
    Ok(())
}

/// The error of `out` with another output than indices.
pub(super) fn out_without_indices() -> PyErr {
    value_error!("out goes with output='indices'")
}
