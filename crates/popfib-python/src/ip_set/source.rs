//! What a set is made of in (texts and objects that stand for addresses, collections of these, tables), prefixes out.

use std::collections::HashMap;

use popfib::family::Family;
use popfib::{IpPrefix, Prefix, aggregate};
use popfib_formats::ranges::IpRangePrefixes;
use popfib_formats::{LoadOptions, prefixes_of_text};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

use super::addresses::SetAddresses;
use super::class::PyIpSet;
use crate::keys;
use crate::quote::Quoted;
use crate::state::host;
use crate::table::PyTable;

/// Items between two looks at signals.
const SIGNALS: usize = 1 << 16;

/// The set that an argument is, or that is made of it.
pub(super) fn set_of<'py>(source: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIpSet>> {
    match source.cast::<PyIpSet>() {
        Ok(set) => Ok(set.clone()),
        Err(_) => Bound::new(source.py(), PyIpSet::from(addresses(source, false)?)),
    }
}

/// The addresses that `source` stands for, or that its items stand for.
///
/// # Errors
/// `TypeError` for an object that is neither, `ValueError` for one that is no address, both with the place in a collection.
pub(super) fn addresses(source: &Bound<'_, PyAny>, mask: bool) -> PyResult<SetAddresses> {
    if let Ok(table) = source.cast::<PyTable>() {
        return of_table(table, None);
    }
    Ok(SetAddresses::new(&prefixes(source, mask)?))
}

/// The prefixes that `source` stands for, or that its items stand for, as they come.
pub(super) fn prefixes(source: &Bound<'_, PyAny>, mask: bool) -> PyResult<Vec<IpPrefix>> {
    let py = source.py();
    let mut found = Vec::new();
    if let Ok(set) = source.cast::<PyIpSet>() {
        return Ok(set.get().addresses.iter().collect());
    }
    let is_text = source.is_instance_of::<PyString>() || source.is_instance_of::<PyBytes>();
    if is_text || keys::is_object(source)? {
        add(source, mask, &mut found).map_err(|error| match is_text {
            true => value_error!("{}; load_set reads files", error.value(py)),
            false => error,
        })?;
        return Ok(found);
    }
    // An IPSet of netaddr iterates over its addresses, one by one; this over its prefixes.
    let items = match source.getattr_opt("iter_cidrs")? {
        Some(prefixes) => prefixes.call0()?,
        None => source.clone(),
    };
    let items = items.try_iter().map_err(|_| {
        let name = source.get_type().name();
        type_error!("a set is made of a table, a set, a prefix or a range, or an iterable of these, not of {}",
            name.map_or_else(|_| "this".to_owned(), |name| name.to_string()))
    })?;
    for (at, item) in items.enumerate() {
        if at % SIGNALS == SIGNALS - 1 {
            py.check_signals()?;
            py.detach(|| ());
        }
        add(&item?, mask, &mut found).map_err(|error| {
            let reason = error.value(py);
            let message = format!("item {at}: {reason}");
            match error {
                _ if error.is_instance_of::<PyTypeError>(py) => PyTypeError::new_err(message),
                _ if error.is_instance_of::<PyValueError>(py) => PyValueError::new_err(message),
                _ => error,
            }
        })?;
    }
    Ok(found)
}

/// The prefixes that one text or object stands for.
pub(super) fn item(item: &Bound<'_, PyAny>) -> PyResult<Vec<IpPrefix>> {
    let mut found = Vec::new();
    add(item, false, &mut found)?;
    Ok(found)
}

/// Adds the prefixes that a text or an object stands for: a key, or a range.
fn add(item: &Bound<'_, PyAny>, mask: bool, to: &mut Vec<IpPrefix>) -> PyResult<()> {
    if let Ok(text) = item.cast::<PyString>() {
        let text = text.to_str()?;
        match keys::parse(text) {
            Ok(prefix) => to.push(prefix),
            Err(error) => {
                let options = LoadOptions {
                    mask,
                    ..LoadOptions::new()
                };
                to.extend(prefixes_of_text(text, &options).map_err(|reason| {
                    match text.contains('-') {
                        true => PyValueError::new_err(reason),
                        false => error,
                    }
                })?)
            }
        }
        return Ok(());
    }
    if let Ok(ends) = item.cast::<PyTuple>()
        && ends.len() == 2
        && !keys::is_number(&ends.get_item(1)?)?
    {
        return add_range(&ends.get_item(0)?, &ends.get_item(1)?, to);
    }
    match keys::ends(item)? {
        Some((first, last)) => {
            let prefixes = IpRangePrefixes::new(first, last);
            to.extend(prefixes.map_err(|error| PyValueError::new_err(error.to_string()))?);
        }
        None => to.push(keys::prefix(item)?),
    }
    Ok(())
}

/// Adds the prefixes of a range by its first and its last address.
fn add_range<'py>(
    first: &Bound<'py, PyAny>,
    last: &Bound<'py, PyAny>,
    to: &mut Vec<IpPrefix>,
) -> PyResult<()> {
    let address = |end: &Bound<'py, PyAny>| {
        let prefix = keys::prefix(end)?;
        host(prefix).ok_or_else(|| {
            value_error!("{prefix}: a pair is the first and the last address of a range")
        })
    };
    let (first, last) = (address(first)?, address(last)?);
    let prefixes = IpRangePrefixes::new(first, last).map_err(|error| {
        let range = format!("{first}-{last}");
        value_error!("{}: {error}", Quoted(range.as_bytes()))
    })?;
    to.extend(prefixes);
    Ok(())
}

/// The addresses of a table; with `test`, those whose longest match has a value for which it is true.
pub(super) fn of_table(
    table: &Bound<'_, PyTable>,
    test: Option<&Bound<'_, PyAny>>,
) -> PyResult<SetAddresses> {
    let py = table.py();
    let state = table.get().shared.copy(py)?;
    let map = state.routes.map();
    let Some(test) = test else {
        return Ok(py.detach(|| {
            fn prefixes<T, A: Family>((prefix, _): (Prefix<A>, T)) -> Prefix<A> {
                prefix
            }
            let (ipv4, ipv6) = (map.0.ipv4.iter(), map.0.ipv6.iter());
            SetAddresses::in_order(ipv4.map(prefixes), ipv6.map(prefixes))
        }));
    };
    let mut wanted = HashMap::new();
    for number in map.numbers() {
        if let (None, Some(value)) = (wanted.get(&number), state.values.get(number.get())) {
            wanted.insert(number, test.call1((value,))?.is_truthy()?);
        }
    }
    Ok(py.detach(|| {
        let ribs = map.ribs(|number| number);
        let is_wanted = |number| wanted.get(&number) == Some(&true);
        SetAddresses::in_order(
            aggregate::answered(&ribs.ipv4, is_wanted),
            aggregate::answered(&ribs.ipv6, is_wanted),
        )
    }))
}
