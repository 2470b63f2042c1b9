//! Tables in, a smaller table or the routes that differ out: `popfib.aggregate` and `popfib.diff`.
//!
//! Both work on copies of the tables, so that no lock is held, and mostly without the interpreter.

use std::cell::RefCell;
use std::collections::HashMap;

use popfib::diff::RouteChange;
use popfib::family::ByFamily;
use popfib::{Address, IpPrefix, NextHop, Prefix, aggregate as aggregation};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::keys;
use crate::quote::Quoted;
use crate::routes::NumberMap;
use crate::state::TableState;
use crate::table::PyTable;

/// A copy of a table, with the routes in a map.
pub(crate) fn copy(table: &Bound<'_, PyTable>) -> PyResult<TableState> {
    let py = table.py();
    table.get().shared.copy(py)
}

/// Return a smaller table that answers every address as this one does; method is "ortc" or "simple".
#[pyfunction]
#[pyo3(signature = (table, /, *, method = "ortc"))]
pub(crate) fn aggregate(
    py: Python<'_>,
    table: &Bound<'_, PyTable>,
    method: &str,
) -> PyResult<PyTable> {
    let is_ortc = match method {
        "ortc" => true,
        "simple" => false,
        _ => {
            let method = Quoted(method.as_bytes());
            return Err(value_error!("method {method}: there are: ortc, simple"));
        }
    };
    let state = copy(table)?;
    let TableState { routes, values, .. } = state;
    let map = py.detach(|| {
        let ByFamily { ipv4, ipv6 } = routes.map().ribs(|number| number);
        if is_ortc {
            NumberMap::new(&aggregation::ortc(&ipv4), &aggregation::ortc(&ipv6))
        } else {
            NumberMap::new(&aggregation::simple(&ipv4), &aggregation::simple(&ipv6))
        }
    })?;
    Ok(PyTable::of(TableState::new(py, map, values)))
}

type PyRouteDiff<'py> = (Bound<'py, PyString>, Option<Py<PyAny>>, Option<Py<PyAny>>);

/// Return the routes that differ: (prefix, old value, new value); None for no route.
#[pyfunction]
#[pyo3(signature = (old, new, /))]
pub(crate) fn diff<'py>(
    py: Python<'py>,
    old: &Bound<'py, PyTable>,
    new: &Bound<'py, PyTable>,
) -> PyResult<Vec<PyRouteDiff<'py>>> {
    let (old, new) = (copy(old)?, copy(new)?);
    // Each pair of values is compared once.
    let known = RefCell::new(HashMap::new());
    let failed = RefCell::new(None);
    let same = |a: NextHop, b: NextHop| {
        if let Some(&same) = known.borrow().get(&(a, b)) {
            return same;
        }
        let values = old.values.get(a.get()).zip(new.values.get(b.get()));
        let same = values.is_some_and(|(a, b)| {
            let (a, b) = (a.bind(py), b.bind(py));
            // Identity first, as containers of Python do.
            a.is(b)
                || a.eq(b).unwrap_or_else(|error| {
                    failed.borrow_mut().get_or_insert(error);
                    true
                })
        });
        known.borrow_mut().insert((a, b), same);
        same
    };
    let (of_old, of_new) = (old.routes.map(), new.routes.map());
    let (of_old, of_new) =
        py.detach(|| (of_old.ribs(|number| number), of_new.ribs(|number| number)));
    let mut changes = Vec::new();
    add(
        py,
        popfib::diff::routes(&of_old.ipv4, &of_new.ipv4, same),
        [&old, &new],
        &mut changes,
    )?;
    add(
        py,
        popfib::diff::routes(&of_old.ipv6, &of_new.ipv6, same),
        [&old, &new],
        &mut changes,
    )?;
    match failed.take() {
        Some(error) => Err(error),
        None => Ok(changes),
    }
}

fn add<'py, A: Address>(
    py: Python<'py>,
    found: impl Iterator<Item = RouteChange<A>>,
    [old, new]: [&TableState; 2],
    changes: &mut Vec<PyRouteDiff<'py>>,
) -> PyResult<()>
where
    IpPrefix: From<Prefix<A>>,
{
    let value = |state: &TableState, number: Option<NextHop>| {
        let value = state.values.get(number?.get())?;
        Some(value.clone_ref(py))
    };
    for change in found {
        let prefix = keys::text(py, change.prefix.into())?;
        changes.push((prefix, value(old, change.old), value(new, change.new)));
    }
    Ok(())
}
