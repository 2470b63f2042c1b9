//! VRPs of the RPKI from files, and route origin validation by them (RFC 6811): routes and their origins in, states out.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use popfib::Prefix;
use popfib::family::{ByFamily, Family};
use popfib_formats::bgp::{Origin, origins};
use popfib_formats::{LoadOptions, Loaded, load};
use popfib_table::rpki::{FamilyVrps, Validity, Vrps};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use crate::files::{GivenFile, given_file, in_background, input, read_error};
use crate::keys;
use crate::quote::Quoted;
use crate::routes::NumberMap;
use crate::table::PyTable;
use crate::tools::copy;

/// VRPs, any number for one prefix; by `load_vrps`.
#[pyclass(name = "Vrps", frozen, module = "popfib")]
pub(crate) struct PyVrps {
    vrps: Loaded<ByFamily<FamilyVrps>>,
}

type PyVrpRow<'py> = (Bound<'py, PyString>, u8, u32);

#[pymethods]
impl PyVrps {
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
    /// The origin is an AS number, an int or a str as in tables, which may be an AS set ("{64500,64501}"); None means
    /// no AS.
    #[pyo3(signature = (prefix, origin, /))]
    fn validate(
        &self,
        prefix: &Bound<'_, PyAny>,
        origin: &Bound<'_, PyAny>,
    ) -> PyResult<&'static str> {
        let origin = as_number(origin)?;
        let vrps = &*self.vrps;
        let prefix = keys::prefix(prefix)?;
        Ok(popfib::by_family!(prefix, |prefix: Prefix<A>| {
            A::of(vrps).validate(prefix, origin).name()
        }))
    }

    /// Return the VRPs that cover the prefix: (prefix, maximum length, AS), shortest prefix first.
    #[pyo3(signature = (prefix, /))]
    fn covering<'py>(&self, prefix: &Bound<'py, PyAny>) -> PyResult<Vec<PyVrpRow<'py>>> {
        let (py, vrps) = (prefix.py(), &*self.vrps);
        let prefix = keys::prefix(prefix)?;
        popfib::by_family!(prefix, |prefix: Prefix<A>| rows(py, A::of(vrps), prefix))
    }
}

fn rows<'py, A: Family>(
    py: Python<'py>,
    vrps: &Vrps<A>,
    prefix: Prefix<A>,
) -> PyResult<Vec<PyVrpRow<'py>>> {
    let rows = vrps.covering(prefix).map(|vrp| {
        let prefix = keys::text(py, A::ip_prefix(vrp.prefix()))?;
        Ok((prefix, vrp.max_length(), vrp.asn()))
    });
    rows.collect()
}

/// The origins that a value stands for; `None` is an AS set or no origin.
fn origins_of(value: &Bound<'_, PyAny>) -> PyResult<Vec<Option<u32>>> {
    if value.is_none() {
        return Ok(vec![None]);
    }
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_str()?;
        let Some(found) = origins(text) else {
            let text = Quoted(text.as_bytes());
            return Err(value_error!("{text}: no origin AS"));
        };
        let as_number = |(origin, _)| match origin {
            Origin::As(asn) => Some(asn),
            Origin::Set => None,
        };
        return Ok(found.into_iter().map(as_number).collect());
    }
    if !value.is_instance_of::<PyInt>() {
        return Err(type_error!("an origin is an int, a str or None"));
    }
    let number = value.extract::<u32>();
    let number = number.map_err(|_| value_error!("an AS number has 32 bits"))?;
    Ok(vec![Some(number)])
}

/// The AS that an origin is, if it is one.
fn as_number(origin: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    match origins_of(origin)?[..] {
        [origin] => Ok(origin),
        _ => Err(value_error!(
            "{}: not one origin AS",
            Quoted(origin.str()?.to_str()?.as_bytes())
        )),
    }
}

type PyValidatedRoute<'py> = (Bound<'py, PyString>, Option<u32>, Bound<'py, PyString>);

/// Return (prefix, origin, state) of each route of a table whose values are origins.
///
/// An origin is an AS number, or None for an AS set; a value of several origins ("64500_64501") counts as one route
/// for each.
#[pyfunction]
#[pyo3(signature = (table, vrps, /))]
pub(crate) fn rov<'py>(
    py: Python<'py>,
    table: &Bound<'py, PyTable>,
    vrps: &Bound<'py, PyVrps>,
) -> PyResult<Vec<PyValidatedRoute<'py>>> {
    let state = copy(table)?;
    // Each different value is read once.
    let places = state.values.places();
    let places = places.iter().map(|value| {
        let value = value.as_ref().map(|value| value.bind(py));
        value.map(origins_of)
    });
    let places: Vec<_> = places.collect();
    let map = state.routes.map();
    let mut rows = Vec::with_capacity(map.len());
    let vrps = &vrps.get().vrps;
    validate_all(py, map, &vrps.ipv4, &places, &mut rows)?;
    validate_all(py, map, &vrps.ipv6, &places, &mut rows)?;
    Ok(rows)
}

/// Validates the routes of a family, whose values have these origins.
fn validate_all<'py, A: Family>(
    py: Python<'py>,
    map: &NumberMap,
    vrps: &Vrps<A>,
    origins: &[Option<PyResult<Vec<Option<u32>>>>],
    rows: &mut Vec<PyValidatedRoute<'py>>,
) -> PyResult<()> {
    let states = Validity::ALL.map(|state| (state, PyString::intern(py, state.name())));
    for (prefix, value) in A::of(&map.0).iter() {
        let text = keys::text(py, A::ip_prefix(prefix))?;
        let found = match origins.get(value.get() as usize - 1) {
            Some(Some(Ok(found))) => &found[..],
            Some(Some(Err(error))) => {
                let (error, message) = (error.clone_ref(py), error.value(py).str()?);
                let message = format!("{text}: {message}");
                let class = error.get_type(py);
                return Err(PyErr::from_type(class, message));
            }
            _ => &[],
        };
        for &origin in found {
            let validity = vrps.validate(prefix, origin);
            let known = states.iter().find(|(state, _)| *state == validity);
            if let Some((_, state)) = known {
                rows.push((text.clone(), origin, state.clone()));
            }
        }
    }
    Ok(())
}

/// Load VRPs from JSON or CSV of rpki-client, routinator or StayRTR.
#[pyfunction]
#[pyo3(signature = (path, /, *, skip_invalid = false, mask = false))]
pub(crate) fn load_vrps(
    py: Python<'_>,
    #[pyo3(from_py_with = given_file)] path: GivenFile,
    skip_invalid: bool,
    mask: bool,
) -> PyResult<PyVrps> {
    let cancel = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&cancel);
    let vrps = in_background(py, &cancel, move || {
        let options = LoadOptions {
            skip_invalid,
            mask,
            ..LoadOptions::new()
        };
        load(input(path, seen)?, &options).map_err(read_error)
    })??;
    Ok(PyVrps { vrps })
}
