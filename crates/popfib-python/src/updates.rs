//! Updates from files, which `Table.apply` takes.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use popfib::{IpPrefix, NextHop};
use popfib_formats::{Change, Input, NextHopNames, ReadError, UpdateOptions, open_updates};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::files::{in_background, input, peer_of, read_error, values, wrong};
use crate::keys;
use crate::store::path_of;

/// Updates in the order of their file: prefix and next hop, none for a withdrawal.
struct Read {
    updates: Vec<(IpPrefix, Option<NextHop>)>,
    names: NextHopNames,
}

fn read(input: Input, options: &UpdateOptions, skip_invalid: bool) -> Result<Read, ReadError> {
    let mut source = open_updates(input, options)?;
    let mut read = Read {
        updates: Vec::new(),
        names: NextHopNames::new(),
    };
    loop {
        match source.next_update() {
            Ok(Some(update)) => read.updates.push((
                update.prefix,
                match update.change {
                    Change::Announce(next_hop) => Some(read.names.intern(next_hop)),
                    Change::Withdraw => None,
                },
            )),
            Ok(None) => return Ok(read),
            Err(error) if skip_invalid && error.is_invalid_line() => {}
            Err(error) if skip_invalid && error.is_cut() => return Ok(read),
            Err(error) => return Err(error),
        }
    }
}

type Pair<'py> = (Bound<'py, PyString>, Option<Py<PyAny>>);

/// Load updates from a file: (prefix, next hop) of each announcement, (prefix, None) of each withdrawal.
#[pyfunction]
#[pyo3(signature = (path, /, format = None, *, peer = None, skip_invalid = false, mask = false, decode = None))]
pub(crate) fn load_updates<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = path_of)] path: PathBuf,
    format: Option<&str>,
    peer: Option<&Bound<'py, PyAny>>,
    skip_invalid: bool,
    mask: bool,
    decode: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Pair<'py>>> {
    let mut options = UpdateOptions::default();
    if let Some(name) = format {
        options.format = Some(name.parse().map_err(|error| wrong("format", name, error))?);
    }
    options.peer = peer.map(peer_of).transpose()?;
    options.mask = mask;
    let cancel = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&cancel);
    let Read { updates, names } = in_background(py, &cancel, move || {
        read(input(&path, seen)?, &options, skip_invalid).map_err(read_error)
    })??;
    let objects = values(
        py,
        (1..).map_while(|n| names.name(NextHop::new(n)?)),
        decode,
    )?;
    let updates = updates.into_iter().map(|(prefix, next_hop)| {
        let value = next_hop.and_then(|next_hop| objects.get(next_hop.get()));
        Ok((
            keys::text(py, prefix)?,
            value.map(|value| value.clone_ref(py)),
        ))
    });
    updates.collect()
}
