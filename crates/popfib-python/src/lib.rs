//! The Python package's native half: `popfib._popfib`.
//!
//! One file for each concern: `keys` turns Python objects into prefixes,
//! `values` numbers the objects that prefixes map to, `state` is the table
//! itself (Ribs, Fibs, values), `table` its face towards Python, `walk` its
//! iterators, `columns` looks up many addresses at a time, `files` loads and
//! saves. What users read is in `python/popfib` and docs/python.md.
//!
//! No Python code runs while a table's lock is held: neither `__eq__` nor
//! `__hash__` nor `__del__` of a value can find the table in the middle of a
//! change, or wait for itself.

mod columns;
mod files;
mod keys;
mod state;
mod table;
mod values;
mod walk;

use pyo3::prelude::*;

/// The module `popfib._popfib`.
#[pymodule]
fn _popfib(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<table::Table>()?;
    module.add_class::<walk::Routes>()?;
    module.add_class::<columns::ArrowColumn>()?;
    module.add_function(wrap_pyfunction!(files::load, module)?)?;
    module.add_function(wrap_pyfunction!(files::open, module)?)?;
    module.add_function(wrap_pyfunction!(files::default_table, module)?)?;
    module.add_function(wrap_pyfunction!(keys::canonical, module)?)
}
