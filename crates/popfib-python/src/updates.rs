//! `popfib.load_updates`: a file of updates in; prefixes and the next hops of their best paths out, for `Table.apply`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use popfib::{IpPrefix, NextHop};
use popfib_feed::files::{BestPathUpdates, UpdateError};
use popfib_formats::{Input, UpdateOptions};
use popfib_table::Dictionary;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::files::{
    GivenFile, given_file, in_background, input, peer_of, read_error, values_of_texts, wrong,
};
use crate::keys;
use crate::pairs::PyPair;

/// Updates in the order of their file: prefix and next hop of its best path then, none if it has no path any more.
struct LoadedUpdates {
    updates: Vec<(IpPrefix, Option<NextHop>)>,
    names: Dictionary,
}

fn read(
    input: Input,
    options: &UpdateOptions,
    skip_invalid: bool,
) -> Result<LoadedUpdates, UpdateError> {
    let mut updates = BestPathUpdates::open(input, options).map_err(UpdateError::Read)?;
    let mut read = LoadedUpdates {
        updates: Vec::new(),
        names: Dictionary::new(),
    };
    loop {
        match updates.next_best() {
            Ok(Some((prefix, best))) => {
                let value = best.map(|best| match best.as_path().and_then(|path| path.next_hop) {
                    Some(next_hop) => read.names.intern(&next_hop.to_string()),
                    None => read.names.intern(&best.as_name().unwrap_or_default()),
                });
                read.updates.push((prefix, value));
            }
            Ok(None) => return Ok(read),
            Err(UpdateError::Read(e)) if skip_invalid && e.is_invalid_line() => {}
            Err(UpdateError::Read(e)) if skip_invalid && e.is_cut() => return Ok(read),
            Err(error) => return Err(error),
        }
    }
}

/// Load updates from a file: for each, its prefix and the next hop of the best path that it has then, None without a path.
#[pyfunction]
#[pyo3(signature = (path, /, format = None, *, peer = None, skip_invalid = false, mask = false, decode = None))]
pub(crate) fn load_updates<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = given_file)] path: GivenFile,
    format: Option<&str>,
    peer: Option<&Bound<'py, PyAny>>,
    skip_invalid: bool,
    mask: bool,
    decode: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<PyPair<'py>>> {
    let mut options = UpdateOptions::default();
    if let Some(name) = format {
        options.format = Some(name.parse().map_err(|error| wrong("format", name, error))?);
    }
    options.peer = peer.map(peer_of).transpose()?;
    options.mask = mask;
    let cancel = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&cancel);
    let LoadedUpdates { updates, names } = in_background(py, &cancel, move || {
        read(input(path, seen)?, &options, skip_invalid).map_err(|error| match error {
            UpdateError::Read(error) => read_error(error),
            error => PyValueError::new_err(error.to_string()),
        })
    })??;
    let objects = values_of_texts(py, &names, decode)?;
    let updates = updates.into_iter().map(|(prefix, next_hop)| {
        let value = next_hop.and_then(|next_hop| objects.get(next_hop.get()));
        Ok((
            keys::text(py, prefix)?,
            value.map(|value| value.clone_ref(py)),
        ))
    });
    updates.collect()
}
