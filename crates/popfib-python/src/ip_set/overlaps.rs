//! `popfib.compare`: several sets in, how much of each is in each other out.

use popfib::algebra;
use popfib::family::Family;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use super::class::PyIpSet;
use super::source::set_of;

/// A set beside its name.
type NamedSet<'py> = (Bound<'py, PyAny>, Bound<'py, PyIpSet>);

/// Compare the sets of a mapping of names: for each and each family a dict of its `list` (the name), `family`, `prefixes`,
/// `addresses`, `unique` (addresses that no other has) and `shared`, a dict of the others' names and the addresses that both have.
///
/// O(prefixes × sets). Of all of IPv6 the numbers are one less. A family that no set has is left out.
#[pyfunction]
#[pyo3(signature = (sets, /))]
pub(crate) fn compare<'py>(sets: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let mapping = sets.cast::<PyMapping>().map_err(|_| {
        let name = sets.get_type().name();
        let name = name.map_or_else(|_| "this".to_owned(), |name| name.to_string());
        type_error!("compare takes a mapping of names to sets, not {name}")
    })?;
    let mut named: Vec<NamedSet<'_>> = Vec::new();
    for pair in mapping.items()? {
        let (name, set): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        named.push((name, set_of(&set)?));
    }
    let mut rows = Vec::new();
    add::<u32>(sets.py(), &named, &mut rows)?;
    add::<u128>(sets.py(), &named, &mut rows)?;
    Ok(rows)
}

/// Adds the rows of one family, if any set has some of it.
fn add<'py, A: Family>(
    py: Python<'py>,
    named: &[NamedSet<'py>],
    rows: &mut Vec<Bound<'py, PyDict>>,
) -> PyResult<()> {
    let sets = named.iter().map(|(_, set)| &set.get().addresses);
    let sets: Vec<_> = sets.collect();
    if sets.iter().all(|set| set.family::<A>().next().is_none()) {
        return Ok(());
    }
    let overlaps = py.detach(|| algebra::overlaps(sets.iter().map(|set| set.family::<A>())));
    for (at, (name, set)) in named.iter().enumerate() {
        let shared = PyDict::new(py);
        for (other, (name, _)) in named.iter().enumerate().filter(|(other, _)| *other != at) {
            shared.set_item(name, overlaps.shared(at, other))?;
        }
        let row = PyDict::new(py);
        let addresses = &set.get().addresses;
        row.set_item("list", name)?;
        row.set_item("family", A::NAME)?;
        row.set_item("prefixes", addresses.family::<A>().count())?;
        row.set_item("addresses", overlaps.shared(at, at))?;
        row.set_item("unique", overlaps.unique(at))?;
        row.set_item("shared", shared)?;
        rows.push(row);
    }
    Ok(())
}
