//! The native half of the Python package: `popfib._popfib`. Objects of Python in, answers as objects of Python, numpy or
//! Arrow out.
//!
//! One file for each concern; each imports those before it alone:
//!
//! | file | what |
//! |---|---|
//! | `pairs`, `quote` | pairs of prefix and value as Python has them; text in errors and warnings |
//! | `words`, `values` | what values say; the objects that prefixes map to, and their numbers |
//! | `keys`, `records` | objects of Python to prefixes and back; records to dicts |
//! | `routes`, `state`, `walk` | the map of a table or its image; with its values and its lock; its iterators |
//! | `live` | the routes of a table that changes while threads look up |
//! | `store`, `columns` | tables saved and pickled; lookups of many addresses at a time |
//! | `explore`, `summary` | the page of a table for the browser; what a notebook shows of it |
//! | `table`, `live_table` | `popfib.Table` and `popfib.LiveTable`, as Python sees them |
//! | `files`, `join`, `updates` | tables from files and images; tables joined into an image; updates from files |
//! | `watched_files` | whether a file has changed, for `popfib.Watcher` |
//! | `tools`, `ip_set`, `several` | tables made smaller and compared; sets; several tables looked up in at once |
//! | `vrps`, `anonymizer` | route origin validation; other addresses in the place of addresses |
//!
//! What users read is in `python/popfib` and docs/python.md. Classes of Python are named `Py...` here.
//!
//! No Python code runs while a table's lock is held: neither `__eq__` nor `__hash__` nor `__del__` of a value can find the
//! table in the middle of a change, or wait for itself.

/// A `ValueError` of Python with a text as `format!` makes it.
macro_rules! value_error {
    ($($text:tt)*) => {
        pyo3::exceptions::PyValueError::new_err(format!($($text)*))
    };
}

/// The same for a `TypeError`.
macro_rules! type_error {
    ($($text:tt)*) => {
        pyo3::exceptions::PyTypeError::new_err(format!($($text)*))
    };
}

mod anonymizer;
mod columns;
mod explore;
mod files;
mod ip_set;
mod join;
mod keys;
mod live;
mod live_table;
mod locks;
mod pairs;
mod quote;
mod records;
mod routes;
mod several;
mod state;
mod store;
mod summary;
mod table;
mod table_set;
mod tools;
mod updates;
mod values;
mod vrps;
mod walk;
mod watched_files;
mod words;

use popfib::Kernel;
use pyo3::prelude::*;

/// The module `popfib._popfib`.
#[pymodule]
fn _popfib(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // A mistyped name is an error here, in one line; later it would be a panic of the first lookup. From here on
    // the variable may change: it is read once.
    Kernel::from_env().map_err(|error| value_error!("POPFIB_KERNEL: {error}"))?;
    Kernel::best();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<table::PyTable>()?;
    module.add_class::<table_set::PyTableSet>()?;
    module.add_class::<live_table::PyLiveTable>()?;
    module.add_class::<live_table::PySweep>()?;
    module.add_class::<walk::PyRoutes>()?;
    // Not among the names that a module of its own exports.
    let watched_files = module.py().get_type::<watched_files::PyWatchedFiles>();
    module.setattr("_WatchedFiles", watched_files)?;
    module.add_class::<columns::PyArrowColumn>()?;
    module.add_function(wrap_pyfunction!(files::load, module)?)?;
    module.add_function(wrap_pyfunction!(files::open, module)?)?;
    module.add_function(wrap_pyfunction!(files::default_table, module)?)?;
    module.add_function(wrap_pyfunction!(files::special_table, module)?)?;
    module.add_function(wrap_pyfunction!(join::join, module)?)?;
    module.add_class::<ip_set::PyIpSet>()?;
    module.add_class::<ip_set::PyIpSetParts>()?;
    module.add_function(wrap_pyfunction!(ip_set::load_set, module)?)?;
    module.add_function(wrap_pyfunction!(ip_set::compare, module)?)?;
    module.add_class::<anonymizer::PyAnonymizer>()?;
    module.add_class::<vrps::PyVrps>()?;
    module.add_function(wrap_pyfunction!(vrps::load_vrps, module)?)?;
    module.add_function(wrap_pyfunction!(vrps::rov, module)?)?;
    module.add_function(wrap_pyfunction!(updates::load_updates, module)?)?;
    module.add_function(wrap_pyfunction!(tools::aggregate, module)?)?;
    module.add_function(wrap_pyfunction!(tools::diff, module)?)?;
    module.add_function(wrap_pyfunction!(several::lookup_many, module)?)?;
    module.add_function(wrap_pyfunction!(keys::canonical, module)?)
}
