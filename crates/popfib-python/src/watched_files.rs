//! `_WatchedFiles`, for `popfib.Watcher`: the path of a file in, whether it is another now out.
//!
//! The thread that follows it is one of Python's, which the interpreter can end, and loads by any function of Python.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use popfib_table::WatchedFiles;
use pyo3::prelude::*;

use crate::store::path_of;

/// What shows that a file has changed.
#[pyclass(module = "popfib._popfib", name = "_WatchedFiles", frozen)]
pub(crate) struct PyWatchedFiles(Mutex<WatchedFiles>);

#[pymethods]
impl PyWatchedFiles {
    #[new]
    #[pyo3(signature = (path, /))]
    fn new(#[pyo3(from_py_with = path_of)] path: PathBuf) -> Self {
        Self(Mutex::new(WatchedFiles::new(vec![path])))
    }

    /// Whether to read it again: if it has changed or is gone, always with `anyway`.
    #[pyo3(signature = (*, anyway = false))]
    fn are_replaced(&self, py: Python<'_>, anyway: bool) -> bool {
        py.detach(|| {
            let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            files.are_replaced(anyway)
        })
    }
}
