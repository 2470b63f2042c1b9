//! `popfib.TableSet`: all tables of a file with several, in which each address of a column is looked up in the table that another column
//! names.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use popfib_formats::{LoadOptions, LookupTable};
use pyo3::prelude::*;

use crate::columns;
use crate::files::{self, GivenFile, in_background, input, of_columns, read_error, wrong};
use crate::state::{SharedState, TableState};
use crate::store::warn;
use crate::table;

/// All tables of an image, or of a router's output, by their names.
///
/// `columns` are those of the records, as for `load`.
#[pyclass(name = "TableSet", frozen, weakref, module = "popfib")]
pub(crate) struct PyTableSet {
    shared: SharedState,
}

#[pymethods]
impl PyTableSet {
    #[new]
    #[pyo3(signature = (path, /, format = None, *, columns = None, value = "next-hop", skip_invalid = false))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = files::given_file)] path: GivenFile,
        format: Option<&str>,
        columns: Option<&Bound<'_, PyAny>>,
        value: &str,
        skip_invalid: bool,
    ) -> PyResult<Self> {
        let format = format.map(|name| name.parse().map_err(|error| wrong("format", name, error)));
        let options = LoadOptions {
            format: format.transpose()?,
            columns: of_columns(columns)?,
            value: value
                .parse()
                .map_err(|error| wrong("value", value, error))?,
            skip_invalid,
            every_table: true,
            ..LoadOptions::new()
        };
        let cancel = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&cancel);
        let table: LookupTable = in_background(py, &cancel, move || {
            popfib_formats::load(input(path, seen)?, &options).map_err(read_error)
        })??;
        for line in table.remarks() {
            warn(py, &format!("{}: {line}", table.name))?;
        }
        let records = table.records().cloned().unwrap_or_default();
        let values = files::values_of_records(py, &records, None)?;
        let state = TableState::of_image(table.content, values);
        Ok(Self {
            shared: SharedState::new(state),
        })
    }

    /// The names of the tables, in the order of their numbers: "" is that of the main one, which "main" names as well.
    #[getter]
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.shared.read(py, |state| {
            let set = state.routes.image().and_then(|image| image.table.set());
            Ok(set.map_or_else(Vec::new, |set| set.names().to_vec()))
        })
    }

    /// Look up each address of a column in the table that the other column has beside it: a name, or the number of one. An address
    /// of no such table, or of None, has no match. All else is as for `Table.lookup_many`.
    #[pyo3(signature = (tables, addresses, /, *, columns = None, output = "values", invalid = "raise", threads = 1))]
    fn lookup_many<'py>(
        &self,
        tables: &Bound<'py, PyAny>,
        addresses: &Bound<'py, PyAny>,
        columns: Option<&Bound<'py, PyAny>>,
        output: &str,
        invalid: &str,
        threads: isize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let columns = columns.map(|names| table::names_of_columns(&self.shared, names));
        let columns = columns.transpose()?;
        let columns = columns.as_deref();
        columns::lookup_in_tables(
            &self.shared,
            tables,
            addresses,
            columns,
            output,
            invalid,
            threads,
        )
    }
}
