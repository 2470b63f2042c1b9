//! `popfib.load_set`: a file in, the set of the addresses of its prefixes out.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use popfib_formats::{Input, LoadOptions, load};
use pyo3::prelude::*;

use super::addresses::SetAddresses;
use super::class::PyIpSet;
use crate::files::{GivenFile, given_file, in_background, input, peer_of, read_error, wrong};
use crate::store::warn;

/// Load the set of the addresses that the prefixes of a file have, whatever their values; the options are those of `load`.
#[pyfunction]
#[pyo3(signature = (path, /, format = None, *, peer = None, vrf = None, prefix_column = None, length_column = None,
    skip_invalid = false, mask = false, leading_zeros = false, max_size = None))]
#[expect(clippy::too_many_arguments)] // keywords of Python
pub(crate) fn load_set(
    py: Python<'_>,
    #[pyo3(from_py_with = given_file)] path: GivenFile,
    format: Option<&str>,
    peer: Option<&Bound<'_, PyAny>>,
    vrf: Option<String>,
    prefix_column: Option<String>,
    length_column: Option<String>,
    skip_invalid: bool,
    mask: bool,
    leading_zeros: bool,
    max_size: Option<u64>,
) -> PyResult<PyIpSet> {
    let format = format.map(|name| name.parse().map_err(|error| wrong("format", name, error)));
    let options = LoadOptions {
        format: format.transpose()?,
        peer: peer.map(peer_of).transpose()?,
        table: vrf,
        prefix_column,
        length_column,
        skip_invalid,
        mask,
        leading_zeros,
        ..LoadOptions::new()
    };
    let cancel = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&cancel);
    let (addresses, name, remarks) = in_background(py, &cancel, move || {
        let input = input(path, seen)?.max_size(max_size.unwrap_or(Input::DEFAULT_MAX_SIZE));
        let list = load::<Vec<_>>(input, &options).map_err(read_error)?;
        PyResult::Ok((SetAddresses::new(&list), list.name.clone(), list.remarks()))
    })??;
    for line in remarks {
        warn(py, &format!("{name}: {line}"))?;
    }
    Ok(addresses.into())
}
