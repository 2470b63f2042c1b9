//! A column of addresses and one of the tables that each is looked up in: a [`TableSet`] answers all in one call for each family.

use std::net::IpAddr;

use popfib::Kernel;
use popfib::family::Family;
use popfib_table::{AddressColumn, FamilyAddresses, TableError, TableSet};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyInt, PyString};

use super::output::ColumnOutput;
use super::records::RowRecords;
use super::{ColumnLookup, lookup, room};
use crate::routes::lacking;
use crate::state::SharedState;

impl<'py> ColumnLookup<'_, 'py> {
    /// The answers of tables to all rows, each in the table that `tables` has at its place: of these columns, in a dict, or of the value.
    pub(super) fn in_tables(
        &self,
        shared: &SharedState,
        tables: &Bound<'py, PyAny>,
        columns: Option<&[String]>,
        output: ColumnOutput,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let ColumnOutput::Numbers(form) = output else {
            return Err(value_error!(
                "a TableSet has output='values', 'indices', 'list' or 'arrow'"
            ));
        };
        let routes = shared.read(py, |state| Ok(state.routes.clone()))?;
        let Some(image) = routes.image() else {
            return Err(value_error!("the tables are closed"));
        };
        let (Some(set), Some(records)) = (image.table.set(), image.table.records()) else {
            return Err(value_error!("the file has no tables with names"));
        };
        let columns = columns.map(|names| {
            let form = output.of_columns()?;
            let indices = names
                .iter()
                .map(|name| crate::records::column(records, name));
            Ok::<_, PyErr>((form, names, indices.collect::<PyResult<Vec<_>>>()?))
        });
        let columns = columns.transpose()?;
        let count = self.count();
        let tables = numbers_of_tables(set, tables, count)?;
        room::ask_for_memory(count, 2 * size_of::<(Option<IpAddr>, u32)>())?;
        let (rows, invalid, threads) = (&self.rows, self.invalid, self.threads);
        let found = py.detach(|| {
            let mut numbers = vec![0; count];
            let mut column = AddressColumn::new();
            let addresses = lookup::addresses(rows, count, invalid, threads)?;
            addresses
                .into_iter()
                .for_each(|address| column.push(address));
            let all = in_family(set, &tables, column.ipv4(), &mut numbers)
                .and_then(|()| in_family(set, &tables, column.ipv6(), &mut numbers));
            Ok::<_, String>(all.map(|()| numbers))
        });
        let numbers = found.map_err(PyValueError::new_err)?.map_err(lacking)?;
        if let Some((form, names, indices)) = columns {
            let of_rows = py.detach(|| RowRecords::new(records, numbers));
            let columns = names.iter().zip(indices);
            let columns = columns.map(|(name, index)| Ok((name, of_rows.column(py, form, index)?)));
            let columns = columns.collect::<PyResult<Vec<_>>>()?;
            return Ok(columns.into_py_dict(py)?.into_any());
        }
        let mut answers = form.answers(py, count, None)?;
        answers.numbers()?.copy_from_slice(&numbers);
        let known = shared.read(py, |state| Ok(form.known(state, count)))?;
        let known = self.read(shared, known)?;
        form.make(py, answers, &known)
    }
}

/// The number of the table that each of `count` rows names.
///
/// # Errors
/// `TypeError` for a row that is neither a name nor a number, `ValueError` for other numbers of rows.
fn numbers_of_tables(
    set: &TableSet,
    tables: &Bound<'_, PyAny>,
    count: usize,
) -> PyResult<Vec<u32>> {
    if tables.is_instance_of::<PyString>() || tables.is_instance_of::<PyBytes>() {
        return Err(type_error!(
            "a column of tables is asked for, one for each address, not one {}",
            tables.get_type().name()?
        ));
    }
    let mut numbers = Vec::new();
    for (row, table) in tables.try_iter()?.enumerate() {
        let table = table?;
        numbers.push(if let Ok(name) = table.cast::<PyString>() {
            set.id(name.to_str()?).unwrap_or(TableSet::NONE)
        } else if table.is_none() {
            TableSet::NONE
        } else if table.is_instance_of::<PyInt>() || table.hasattr("__index__")? {
            table.extract().unwrap_or(TableSet::NONE)
        } else {
            let name = table.get_type().name()?;
            return Err(type_error!(
                "row {row}: a table is a name or a number, not {name}"
            ));
        });
    }
    match numbers.len() == count {
        true => Ok(numbers),
        false => Err(value_error!(
            "{} tables for {count} addresses",
            numbers.len()
        )),
    }
}

/// Looks up the addresses of one family, each in the table of its row.
fn in_family<A: Family>(
    set: &TableSet,
    tables: &[u32],
    addresses: &FamilyAddresses<A>,
    numbers: &mut [u32],
) -> Result<(), TableError> {
    let rows = addresses.rows().iter();
    let tables: Vec<u32> = rows.map(|row| tables[*row as usize]).collect();
    let mut found = vec![0; tables.len()];
    set.numbers(false, Kernel::best(), (&tables, addresses), &mut found)?;
    addresses.scatter(&found, numbers);
    Ok(())
}
