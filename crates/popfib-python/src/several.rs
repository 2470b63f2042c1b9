//! `popfib.lookup_many`: a column of addresses and several tables and sets in, a column of answers for each out.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::columns::{self, TableOrLive, TableOrSet};
use crate::ip_set::PyIpSet;
use crate::live_table::PyLiveTable;
use crate::quote::Quoted;
use crate::table::PyTable;

/// Look up a column of addresses in several tables and sets, reading it once; return a dict of their names and
/// answers, of a set those of `contains`.
///
/// `output`, `invalid` and `threads` are those of `Table.lookup_many`; with prefixes=True the dict also has
/// the matched prefixes of each table, as NAME_prefix before its answers.
#[pyfunction]
#[pyo3(signature = (tables, addresses, /, *, output = "values", prefixes = false, invalid = "raise", threads = 1))]
pub(crate) fn lookup_many<'py>(
    tables: &Bound<'py, PyAny>,
    addresses: &Bound<'py, PyAny>,
    output: &str,
    prefixes: bool,
    invalid: &str,
    threads: isize,
) -> PyResult<Bound<'py, PyDict>> {
    let mapping = tables
        .cast::<PyMapping>()
        .ok()
        .filter(|tables| !tables.is_instance_of::<PyTable>());
    let Some(mapping) = mapping else {
        let name = tables.get_type().name()?;
        return Err(type_error!(
            "lookup_many takes a mapping of names to tables, not {name}"
        ));
    };
    let mut named: Vec<(String, Bound<'py, PyAny>)> = Vec::new();
    for pair in mapping.items()? {
        let (name, table): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        let wrong = || -> PyResult<String> {
            let (name, table) = (name.repr()?, table.get_type().name()?);
            Ok(format!("{name}: {table}"))
        };
        match (name.extract::<String>(), asked(&table)?) {
            (Ok(name), Some(_)) => named.push((name, table)),
            _ => {
                return Err(type_error!(
                    "lookup_many takes a mapping of names to tables, not of {}",
                    wrong()?
                ));
            }
        }
    }
    // Each was asked for above, so none is missing now.
    let tables = named.iter();
    let tables = tables.filter_map(|(name, table)| Some((name.clone(), asked(table).ok()??)));
    let tables: Vec<_> = tables.collect();
    let answers = columns::lookup_several(&tables, addresses, output, prefixes, invalid, threads)?;
    let columns = PyDict::new(addresses.py());
    for (name, answer) in answers {
        if columns.contains(&name)? {
            return Err(value_error!(
                "two columns would be called {}",
                Quoted(name.as_bytes())
            ));
        }
        columns.set_item(name, answer)?;
    }
    Ok(columns)
}

/// What an object is looked up in; `None` if it is neither a table nor a set.
fn asked<'a>(table: &'a Bound<'_, PyAny>) -> PyResult<Option<TableOrSet<'a>>> {
    if let Ok(set) = table.cast::<PyIpSet>() {
        return Ok(Some(TableOrSet::Set(set.get().compiled()?)));
    }
    let live = table.cast::<PyLiveTable>();
    let routes = match table.cast::<PyTable>() {
        Ok(table) => Some(TableOrLive::Table(&table.get().shared)),
        Err(_) => live.ok().map(|table| TableOrLive::Live(&table.get().live)),
    };
    Ok(routes.map(TableOrSet::Routes))
}
