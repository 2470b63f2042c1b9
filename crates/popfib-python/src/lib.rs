//! The Python package's native half: `popfib._popfib`.
//!
//! One file for each concern: `keys` turns Python objects into prefixes and back,
//! `words` reads what values say, `values` numbers the objects that prefixes map
//! to, `routes` is the map of a table (or the image), `state` the table itself (routes, values), `walk` its iterators,
//! `live` a table that changes while threads look up,
//! `columns` looks up many addresses at a time, `store` saves and pickles, `table`
//! is the face of all that towards Python and `live_table` that of `live`, `pairs` reads what both take, `files` loads tables and `updates` what changes them, `several` looks up in several, `tools` makes
//! them smaller and compares them, `ip_set` is the face of sets, `vrps` validates origins, and `anonymizer` puts addresses in the place of others. Each imports those before it
//! alone. What users read is in `python/popfib` and docs/python.md.
//!
//! No Python code runs while a table's lock is held: neither `__eq__` nor
//! `__hash__` nor `__del__` of a value can find the table in the middle of a
//! change, or wait for itself.

mod anonymizer;
mod columns;
mod files;
mod ip_set;
mod join;
mod keys;
mod live;
mod live_table;
mod pairs;
mod quote;
mod records;
mod routes;
mod several;
mod state;
mod store;
mod table;
mod tools;
mod updates;
mod values;
mod vrps;
mod walk;
mod words;

use popfib::Kernel;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The module `popfib._popfib`.
#[pymodule]
fn _popfib(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // A mistyped name is an error here, in one line; later it would be a panic of the first lookup. From here on
    // the variable may change: it is read once.
    Kernel::from_env().map_err(|error| PyValueError::new_err(format!("POPFIB_KERNEL: {error}")))?;
    Kernel::best();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<table::Table>()?;
    module.add_class::<live_table::LiveTable>()?;
    module.add_class::<live_table::Sweep>()?;
    module.add_class::<walk::Routes>()?;
    module.add_class::<columns::ArrowColumn>()?;
    module.add_function(wrap_pyfunction!(files::load, module)?)?;
    module.add_function(wrap_pyfunction!(files::open, module)?)?;
    module.add_function(wrap_pyfunction!(files::default_table, module)?)?;
    module.add_function(wrap_pyfunction!(files::special_table, module)?)?;
    module.add_function(wrap_pyfunction!(join::join, module)?)?;
    module.add_class::<ip_set::IPSet>()?;
    module.add_class::<ip_set::Parts>()?;
    module.add_function(wrap_pyfunction!(ip_set::load_set, module)?)?;
    module.add_function(wrap_pyfunction!(ip_set::compare, module)?)?;
    module.add_class::<anonymizer::Anonymizer>()?;
    module.add_class::<vrps::Vrps>()?;
    module.add_function(wrap_pyfunction!(vrps::load_vrps, module)?)?;
    module.add_function(wrap_pyfunction!(vrps::rov, module)?)?;
    module.add_function(wrap_pyfunction!(updates::load_updates, module)?)?;
    module.add_function(wrap_pyfunction!(tools::aggregate, module)?)?;
    module.add_function(wrap_pyfunction!(tools::diff, module)?)?;
    module.add_function(wrap_pyfunction!(several::lookup_many, module)?)?;
    module.add_function(wrap_pyfunction!(keys::canonical, module)?)
}
