//! `popfib.Anonymizer`: addresses in, other addresses out, always the same for the same, for data that is handed on.

use std::net::IpAddr;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::{columns, keys};

/// What a key may be, for errors.
const KEY: &str = "a key is 32 bytes, or 64 hexadecimal digits";

/// Puts other addresses in the place of addresses, always the same in that of the same.
///
/// `Anonymizer(key)` is Crypto-PAn: two addresses have as many first bits in common as before. The key is 32 bytes, or 64
/// hexadecimal digits; who has it finds the addresses again. `Anonymizer.cut(ipv4=24, ipv6=48)` clears the bits after the
/// first ones.
#[pyclass(name = "Anonymizer", frozen, module = "popfib")]
pub(crate) struct PyAnonymizer(popfib_formats::Anonymizer);

#[pymethods]
impl PyAnonymizer {
    #[new]
    #[pyo3(signature = (key, /))]
    fn new(key: &Bound<'_, PyAny>) -> PyResult<Self> {
        // No error shows a key.
        let key = if let Ok(bytes) = key.cast::<PyBytes>() {
            popfib_formats::Anonymizer::parse_key(bytes.as_bytes())
        } else if let Ok(text) = key.cast::<PyString>() {
            // Digits only: a text of 32 characters is not taken for 32 bytes.
            let text = text.to_cow()?;
            Some(text.as_bytes())
                .filter(|text| text.len() > 32)
                .and_then(popfib_formats::Anonymizer::parse_key)
        } else {
            let name = key.get_type().name()?;
            return Err(type_error!("{KEY}, not {name}"));
        };
        let key = key.ok_or_else(|| PyValueError::new_err(KEY))?;
        Ok(Self(popfib_formats::Anonymizer::crypto_pan(&key)))
    }

    /// Return one that keeps so many first bits of an IPv4 and of an IPv6 address and clears the others.
    #[staticmethod]
    #[pyo3(signature = (*, ipv4 = 24, ipv6 = 48))]
    fn cut(ipv4: i64, ipv6: i64) -> PyResult<Self> {
        let length = |name, length: i64, most: u8| {
            let known = u8::try_from(length).ok().filter(|length| *length <= most);
            known.ok_or_else(|| value_error!("{name} is a length from 0 to {most}, not {length}"))
        };
        let (ipv4, ipv6) = (length("ipv4", ipv4, 32)?, length("ipv6", ipv6, 128)?);
        Ok(Self(popfib_formats::Anonymizer::cut(ipv4, ipv6)))
    }

    /// Return the address in place of another, as that is: a str, packed bytes or an object of `ipaddress`; of other keys a
    /// str, of None None.
    #[pyo3(signature = (address, /))]
    fn anonymize<'py>(&self, address: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = address.py();
        let Some(found) = columns::of_object(address, false)? else {
            return Ok(py.None().into_bound(py));
        };
        let found = self.0.ip(found);
        if address.is_instance_of::<PyBytes>() {
            return Ok(match found {
                IpAddr::V4(found) => PyBytes::new(py, &found.octets()),
                IpAddr::V6(found) => PyBytes::new(py, &found.octets()),
            }
            .into_any());
        }
        if keys::is_ipaddress(address)? {
            return found.into_pyobject(py);
        }
        Ok(keys::address_text(py, found)?.into_any())
    }

    /// Return a column of the addresses in place of those of another, which is as for `lookup_many`: an array of numbers or of
    /// packed addresses as it is, Arrow as text for Arrow, and a list of str of all else; None and null stay.
    #[pyo3(signature = (addresses, /, *, invalid = "raise", threads = 1))]
    fn anonymize_many<'py>(
        &self,
        addresses: &Bound<'py, PyAny>,
        invalid: &str,
        threads: isize,
    ) -> PyResult<Bound<'py, PyAny>> {
        columns::anonymize(&self.0, addresses, invalid, threads)
    }
}
