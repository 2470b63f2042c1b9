//! Objects of Python in, prefixes out: `str`, packed `bytes`, tuples, objects of `ipaddress` and of netaddr. And prefixes and
//! addresses back as `str`.
//!
//! A bare `int` is refused: 1 is an address of either family, and a table that guesses mixes them up. An address is the prefix
//! of that one address.

use std::net::{IpAddr, Ipv4Addr};

use popfib::{IpPrefix, Prefix, PrefixError};
use popfib_formats::ranges::IpRangePrefixes;
use popfib_table::{IPV6_TEXT, PrefixText, write_ip};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyInt, PyString, PyTuple, PyType};

use crate::quote::Quoted;

/// What a key may be, for errors.
const FORMS: &str = "a key is a str, packed bytes (4 or 16), (bytes, length), (int, 4 or 6), \
    (int, 4 or 6, length) or an address or network of `ipaddress` or netaddr";

/// The prefix that `key` means; host bits are an error.
///
/// # Errors
/// `TypeError` for an object that is no key, `ValueError` for a text, number or object that is no prefix.
#[inline]
pub(crate) fn prefix(key: &Bound<'_, PyAny>) -> PyResult<IpPrefix> {
    match key.cast::<PyString>() {
        Ok(text) => parse(text.to_str()?),
        Err(_) => prefix_of_object(key),
    }
}

/// The prefix that a text means.
#[inline]
pub(crate) fn parse(text: &str) -> PyResult<IpPrefix> {
    // Addresses first: the general parser looks for colon and slash before.
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Ok(Prefix::from(address).into());
    }
    text.parse().map_err(|error| invalid(text, error))
}

#[cold]
fn invalid(text: &str, error: PrefixError) -> PyErr {
    value_error!("{}: {error}", Quoted(text.as_bytes()))
}

#[cold]
fn prefix_of_object(key: &Bound<'_, PyAny>) -> PyResult<IpPrefix> {
    if let Ok(bytes) = key.cast::<PyBytes>() {
        return Ok(IpPrefix::host(packed(bytes.as_bytes())?));
    }
    if let Ok(tuple) = key.cast::<PyTuple>() {
        return prefix_of_tuple(tuple);
    }
    let (address, len) = match ipaddress_kind(key)? {
        Some(IpaddressKind::Address) => (key.clone(), None),
        Some(IpaddressKind::Network) => {
            let len = key.getattr("prefixlen")?.extract::<u8>()?;
            (key.getattr("network_address")?, Some(len))
        }
        Some(IpaddressKind::Interface) => {
            return Err(type_error!(
                "an interface is an address and a network: use its `ip` or its `network`"
            ));
        }
        None => return prefix_of_ends(key),
    };
    if let Ok(scope) = address.getattr("scope_id")
        && !scope.is_none()
    {
        let text = address.str()?;
        return Err(value_error!(
            "{}: prefixes know no scope (the part after %)",
            Quoted(text.to_str()?.as_bytes())
        ));
    }
    let bytes = address.getattr("packed")?.cast_into::<PyBytes>()?;
    with_len(packed(bytes.as_bytes())?, len)
}

fn prefix_of_tuple(tuple: &Bound<'_, PyTuple>) -> PyResult<IpPrefix> {
    let forms = || PyTypeError::new_err(FORMS);
    if tuple.is_empty() {
        return Err(forms());
    }
    let first = tuple.get_item(0)?;
    if let Ok(bytes) = first.cast::<PyBytes>() {
        if tuple.len() != 2 {
            return Err(forms());
        }
        let len = length(&tuple.get_item(1)?)?;
        return with_len(packed(bytes.as_bytes())?, Some(len));
    }
    let number = integer(&first).ok_or_else(forms)?;
    if !(2..=3).contains(&tuple.len()) {
        return Err(forms());
    }
    let family = tuple.get_item(1)?.extract::<i64>().map_err(|_| forms())?;
    let too_wide =
        |_| value_error!("the number is no IPv{family} address: it is negative or too large");
    let address = match family {
        4 => IpAddr::V4(number.extract::<u32>().map_err(too_wide)?.into()),
        6 => IpAddr::V6(number.extract::<u128>().map_err(too_wide)?.into()),
        _ => {
            return Err(value_error!("the family is 4 or 6, not {family}"));
        }
    };
    let len = match tuple.len() {
        2 => None,
        _ => Some(length(&tuple.get_item(2)?)?),
    };
    with_len(address, len)
}

/// The prefix that has the addresses of an object of netaddr.
fn prefix_of_ends(key: &Bound<'_, PyAny>) -> PyResult<IpPrefix> {
    let Some((first, last)) = ends(key)? else {
        return Err(PyTypeError::new_err(match integer(key) {
            Some(_) => "an int may be of either family: use (number, 4) or (number, 6)".to_owned(),
            None => format!("{FORMS}, not {}", key.get_type().name()?),
        }));
    };
    let mut prefixes = IpRangePrefixes::new(first, last).into_iter().flatten();
    match (prefixes.next(), prefixes.next()) {
        (Some(prefix), None) => Ok(prefix),
        _ => Err(value_error!("{first}-{last} is no single prefix")),
    }
}

/// The first and the last address of an object of netaddr, by what such objects have: a family, and numbers.
pub(crate) fn ends(object: &Bound<'_, PyAny>) -> PyResult<Option<(IpAddr, IpAddr)>> {
    let number = |name| -> PyResult<Option<u128>> {
        let number = object.getattr_opt(name)?;
        Ok(number.and_then(|number| number.extract().ok()))
    };
    let version = number("version")?;
    let ends = match version {
        Some(4 | 6) => match (number("first")?, number("last")?) {
            (Some(first), Some(last)) => Some((first, last)),
            _ => number("value")?.map(|value| (value, value)),
        },
        _ => None,
    };
    let Some((first, last)) = ends else {
        return Ok(None);
    };
    Ok(match version {
        Some(4) => u32::try_from(first)
            .ok()
            .zip(u32::try_from(last).ok())
            .map(|(first, last)| (IpAddr::V4(first.into()), IpAddr::V4(last.into()))),
        _ => Some((IpAddr::V6(first.into()), IpAddr::V6(last.into()))),
    })
}

/// Whether this is an object of `ipaddress` or netaddr: one key, although Python can iterate over it.
pub(crate) fn is_object(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(is_ipaddress(object)? || ends(object)?.is_some())
}

/// Whether this is an object of `ipaddress`.
pub(crate) fn is_ipaddress(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(ipaddress_kind(object)?.is_some())
}

/// Whether the second element of a tuple is a family or a length, and not an address of netaddr, which passes for an int.
pub(crate) fn is_number(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(integer(object).is_some() && ends(object)?.is_none())
}

/// An int, or what passes for one, as the scalars of numpy do.
fn integer<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyInt>> {
    match object.cast::<PyInt>() {
        Ok(number) => Some(number.clone()),
        Err(_) => object.call_method0("__index__").ok()?.cast_into().ok(),
    }
}

fn length(object: &Bound<'_, PyAny>) -> PyResult<u8> {
    let number = integer(object).ok_or_else(|| type_error!("the prefix length is an int"))?;
    // What does not fit is too long for either family; `with_len` says so.
    match number.extract::<i64>() {
        Ok(len) if len < 0 => Err(value_error!("the prefix length is negative")),
        len => Ok(len.map_or(u8::MAX, |len| len.try_into().unwrap_or(u8::MAX))),
    }
}

fn with_len(address: IpAddr, len: Option<u8>) -> PyResult<IpPrefix> {
    match len {
        None => Ok(IpPrefix::host(address)),
        Some(len) => {
            IpPrefix::new(address, len).map_err(|error| value_error!("{address}: {error}"))
        }
    }
}

/// A prefix as Python sees it.
#[inline]
pub(crate) fn text(py: Python<'_>, prefix: IpPrefix) -> PyResult<Bound<'_, PyString>> {
    PyString::from_bytes(py, PrefixText::new(prefix).as_bytes())
}

/// An address as Python sees it.
pub(crate) fn address_text(py: Python<'_>, address: IpAddr) -> PyResult<Bound<'_, PyString>> {
    let mut text = [0; IPV6_TEXT];
    let len = write_ip(address, &mut text);
    PyString::from_bytes(py, &text[..len])
}

/// The address of 4 or 16 bytes in network order.
pub(crate) fn packed(bytes: &[u8]) -> PyResult<IpAddr> {
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        Ok(IpAddr::from(bytes))
    } else if let Ok(bytes) = <[u8; 16]>::try_from(bytes) {
        Ok(IpAddr::from(bytes))
    } else {
        Err(value_error!(
            "packed addresses have 4 or 16 bytes, not {}",
            bytes.len()
        ))
    }
}

enum IpaddressKind {
    Address,
    Network,
    Interface,
}

/// Which class of `ipaddress` an object is of.
fn ipaddress_kind(object: &Bound<'_, PyAny>) -> PyResult<Option<IpaddressKind>> {
    static TYPES: PyOnceLock<[Py<PyType>; 6]> = PyOnceLock::new();
    let py = object.py();
    let types = TYPES.get_or_try_init(py, || {
        let module = py.import("ipaddress")?;
        let class = |name| -> PyResult<Py<PyType>> {
            Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind())
        };
        // Interfaces are addresses too, so they come first.
        PyResult::Ok([
            class("IPv4Interface")?,
            class("IPv6Interface")?,
            class("IPv4Address")?,
            class("IPv6Address")?,
            class("IPv4Network")?,
            class("IPv6Network")?,
        ])
    })?;
    for (index, class) in types.iter().enumerate() {
        if object.is_instance(class.bind(py))? {
            return Ok(Some(match index {
                0 | 1 => IpaddressKind::Interface,
                2 | 3 => IpaddressKind::Address,
                _ => IpaddressKind::Network,
            }));
        }
    }
    Ok(None)
}

/// Return (address, length, family) of a key in canonical form; clear host bits with `mask`.
#[pyfunction]
#[pyo3(signature = (key, /, *, mask = false))]
pub(crate) fn canonical(key: &Bound<'_, PyAny>, mask: bool) -> PyResult<(String, u8, u8)> {
    let prefix = match key.cast::<PyString>() {
        Ok(text) if mask => {
            let text = text.to_str()?;
            IpPrefix::parse_masked(text).map_err(|error| invalid(text, error))?
        }
        _ => prefix(key)?,
    };
    let family = match prefix {
        IpPrefix::V4(_) => 4,
        IpPrefix::V6(_) => 6,
    };
    Ok((prefix.address().to_string(), prefix.len(), family))
}
