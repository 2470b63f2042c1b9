//! VRPs of the RPKI: route origin validation (RFC 6811).

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use popfib::{Address, IpPrefix, Prefix, Validity};
use popfib_formats::{Origin, VrpTable, load_vrps as read_vrps, origins};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use crate::files::{in_background, input, read_error};
use crate::keys;
use crate::quote::Quoted;
use crate::store::path_of;

/// VRPs, any number for one prefix; by `load_vrps`.
#[pyclass(frozen, module = "popfib")]
pub(crate) struct Vrps {
    vrps: VrpTable,
}

type Row<'py> = (Bound<'py, PyString>, u8, u32);

#[pymethods]
impl Vrps {
    fn __len__(&self) -> usize {
        self.vrps.ipv4.len() + self.vrps.ipv6.len()
    }

    fn __repr__(&self) -> String {
        let (ipv4, ipv6) = (self.vrps.ipv4.len(), self.vrps.ipv6.len());
        format!("<popfib.Vrps: {ipv4} IPv4 and {ipv6} IPv6 VRPs>")
    }

    /// How many invalid lines or objects of the file were skipped.
    #[getter]
    fn skipped(&self) -> u64 {
        self.vrps.skipped
    }

    /// Return the state of a route: "valid", "invalid-as", "invalid-length" or "not-found".
    ///
    /// The origin is an AS number, an int or a str as in tables, which may be an AS set ("{64500,64501}"); None
    /// is no AS.
    #[pyo3(signature = (prefix, origin, /))]
    fn validate(
        &self,
        prefix: &Bound<'_, PyAny>,
        origin: &Bound<'_, PyAny>,
    ) -> PyResult<&'static str> {
        let origin = as_number(origin)?;
        let state = match keys::prefix(prefix)? {
            IpPrefix::V4(prefix) => self.vrps.ipv4.validate(prefix, origin),
            IpPrefix::V6(prefix) => self.vrps.ipv6.validate(prefix, origin),
        };
        Ok(match state {
            Validity::Valid => "valid",
            Validity::InvalidAs => "invalid-as",
            Validity::InvalidLength => "invalid-length",
            Validity::NotFound => "not-found",
        })
    }

    /// Return the VRPs that cover the prefix: (prefix, maximum length, AS), those of the shortest prefix first.
    #[pyo3(signature = (prefix, /))]
    fn covering<'py>(&self, prefix: &Bound<'py, PyAny>) -> PyResult<Vec<Row<'py>>> {
        let py = prefix.py();
        match keys::prefix(prefix)? {
            IpPrefix::V4(prefix) => rows(py, &self.vrps.ipv4, prefix),
            IpPrefix::V6(prefix) => rows(py, &self.vrps.ipv6, prefix),
        }
    }
}

fn rows<'py, A: Address>(
    py: Python<'py>,
    vrps: &popfib::Vrps<A>,
    prefix: Prefix<A>,
) -> PyResult<Vec<Row<'py>>>
where
    IpPrefix: From<Prefix<A>>,
{
    let rows = vrps.covering(prefix).map(|vrp| {
        let prefix = keys::text(py, vrp.prefix().into())?;
        Ok((prefix, vrp.max_length(), vrp.asn()))
    });
    rows.collect()
}

/// The AS that an origin is, if it is one.
fn as_number(origin: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    if origin.is_none() {
        return Ok(None);
    }
    if let Ok(text) = origin.cast::<PyString>() {
        let text = text.to_str()?;
        return match origins(text).as_deref() {
            Some([Origin::As(asn)]) => Ok(Some(*asn)),
            Some([Origin::Set]) => Ok(None),
            _ => {
                let text = Quoted(text.as_bytes());
                Err(PyValueError::new_err(format!("{text}: not one origin AS")))
            }
        };
    }
    if !origin.is_instance_of::<PyInt>() {
        return Err(PyTypeError::new_err("an origin is an int, a str or None"));
    }
    let number = origin.extract::<u32>();
    let number = number.map_err(|_| PyValueError::new_err("an AS number has 32 bits"))?;
    Ok(Some(number))
}

/// Load VRPs from JSON or CSV of rpki-client, routinator or StayRTR.
#[pyfunction]
#[pyo3(signature = (path, /, *, skip_invalid = false))]
pub(crate) fn load_vrps(
    py: Python<'_>,
    #[pyo3(from_py_with = path_of)] path: PathBuf,
    skip_invalid: bool,
) -> PyResult<Vrps> {
    let cancel = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&cancel);
    let vrps = in_background(py, &cancel, move || {
        read_vrps(input(&path, seen)?, skip_invalid).map_err(read_error)
    })??;
    Ok(Vrps { vrps })
}
