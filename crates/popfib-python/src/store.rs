//! Tables written: a table in, an image file out, or the form in which it is pickled, and back.

use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use popfib::image::{Keep, Source};
use popfib::{Address, Image, ImageWriter, NextHop, Options, Prefix};
use popfib_formats::Escaped;
use popfib_table::{Dictionary, Records, Table, TableError};
use pyo3::exceptions::{PyOSError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyList, PyString, PyTuple};

use crate::routes::{NumberMap, lacking};
use crate::state::{SharedState, TableState};
use crate::values::PyValues;

/// A path as Python's own functions take it: `str`, `bytes` or what has `__fspath__`.
pub(crate) fn path_of(path: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let os = path.py().import("os")?;
    os.call_method1("fsdecode", (path,))?.extract()
}

/// The `OSError` that Python's own functions raise: of the class that fits, with number and file name.
pub(crate) fn os_error(name: &str, error: &io::Error) -> PyErr {
    let number = match error.kind() {
        // EISDIR on every Unix; Windows opens no directory. An error of this kind may be our own, without a number.
        io::ErrorKind::IsADirectory => Some(21),
        _ => error.raw_os_error(),
    };
    match number {
        Some(number) => PyOSError::new_err((number, without_number(error), name.to_owned())),
        None => {
            let message = format!("{}: {error}", name.escape_debug());
            io::Error::new(error.kind(), message).into()
        }
    }
}

/// The text of an error of the system without its number, which Python puts in front.
pub(crate) fn without_number(error: &dyn std::error::Error) -> String {
    let message = error.to_string();
    let end = message.find(" (os error ").unwrap_or(message.len());
    message[..end].to_owned()
}

/// Writes the image of a table; one that was opened keeps all columns of its records.
pub(crate) fn save(
    table: &SharedState,
    py: Python<'_>,
    path: &Path,
    encode: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (image, sources) = table.read(py, |state| {
        Ok((state.routes.image().cloned(), state.sources()))
    })?;
    if let (Some(image), None) = (
        image.filter(|image| image.table.records().is_some()),
        encode,
    ) {
        let write = |to: &mut ImageWriter| image.table.write(to, &Options::default(), Keep::Routes);
        return py.detach(|| save_image(path, &sources, write));
    }
    let state = table.copy(py)?;
    let texts = table_of_texts(py, &state, |value| {
        let text = match encode {
            // The value of a list without values.
            None if value.is(PyBool::new(py, true)) => PyString::new(py, "").into_any(),
            None => value.clone(),
            Some(encode) => encode.call1((value,))?,
        };
        text.cast_into::<PyString>().map_err(|error| {
            let name = error.into_inner().get_type().name();
            type_error!(
                "an image holds values that are str, not {}; `encode` may make them so",
                name.map_or_else(|_| "this".to_owned(), |name| name.to_string())
            )
        })
    })?;
    py.detach(|| {
        save_image(path, &sources, |image| {
            texts.write(image, &Options::default(), Keep::Routes)
        })
    })
}

/// The routes of a state, with the texts that `text` makes of values. Values with the same text become one next hop.
pub(crate) fn table_of_texts<'py>(
    py: Python<'py>,
    state: &TableState,
    text: impl Fn(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>>,
) -> PyResult<Table> {
    let mut names = Dictionary::new();
    let mut numbers = Vec::new();
    for value in state.values.places().iter() {
        numbers.push(match value {
            Some(value) => names.intern(text(value.bind(py))?.to_str()?),
            None => NextHop::MIN,
        });
    }
    let number = |old: NextHop| numbers[old.get() as usize - 1];
    let ribs = py.detach(|| state.routes.map().ribs(number));
    Ok(Table::of_texts(ribs, names))
}

/// Saves an image of one table, which comes from `sources` and which `write` writes into it.
pub(crate) fn save_image(
    path: &Path,
    sources: &[Source],
    write: impl FnOnce(&mut ImageWriter) -> Result<(), TableError>,
) -> PyResult<()> {
    let name = path.display().to_string();
    let failed = |error: TableError| value_error!("{}: {error}", name.escape_debug());
    let mut image = ImageWriter::new(seconds_now());
    let begun = image.table("", sources).map_err(TableError::from);
    begun.and_then(|()| write(&mut image)).map_err(failed)?;
    popfib_table::save_image(&image, path).map_err(|error| os_error(&name, &error))
}

/// Warns of what was left out of a file, or could not be done.
pub(crate) fn warn(py: Python<'_>, line: &str) -> PyResult<()> {
    let message = CString::new(Escaped(line).to_string())?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)
}

/// The time, in seconds since 1970.
pub(crate) fn seconds_now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs())
}

/// The state that `pickle` stores: routes of either family as bytes, values as a list. If the values are those of records with
/// several columns, all of it is in an image, which comes as a fourth part; if a change has dropped the columns, it is empty.
pub(crate) fn pickle<'py>(py: Python<'py>, state: &TableState) -> PyResult<Bound<'py, PyTuple>> {
    let places = state.values.places();
    let mut values = Vec::new();
    let mut numbers = Vec::new();
    for value in places.iter() {
        values.extend(value.as_ref().map(|value| value.clone_ref(py)));
        numbers.push(values.len() as u32);
    }
    let values = PyList::new(py, values)?;
    if let Some(image) = state.routes.image().filter(|image| image.has_columns()) {
        let bytes = py.detach(|| image_bytes(&image.table)).map_err(lacking)?;
        let none = PyBytes::new(py, &[]);
        return (&none, &none, values, PyBytes::new(py, &bytes)).into_pyobject(py);
    }
    let map = state.routes.map();
    let ipv4 = PyBytes::new(py, &to_bytes(map.0.ipv4.iter(), &numbers));
    let ipv6 = PyBytes::new(py, &to_bytes(map.0.ipv6.iter(), &numbers));
    match state.routes.records() {
        Ok(_) => (ipv4, ipv6, values).into_pyobject(py),
        Err(_) => (ipv4, ipv6, values, PyBytes::new(py, &[])).into_pyobject(py),
    }
}

/// An image of the table, whose records keep their numbers.
fn image_bytes(table: &Table) -> Result<Vec<u8>, TableError> {
    let mut image = ImageWriter::new(seconds_now());
    image.table("", &[])?;
    table.write(&mut image, &Options::default(), Keep::Routes)?;
    let mut bytes = Vec::new();
    image.write(&mut bytes).expect("memory takes all bytes");
    Ok(bytes)
}

/// A route: address in network order, length in 1 byte, number in 4, little-endian.
fn to_bytes<A: Address>(
    routes: impl Iterator<Item = (Prefix<A>, NextHop)>,
    numbers: &[u32],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (prefix, number) in routes {
        bytes.extend(prefix.address().to_be_bytes().as_ref());
        bytes.push(prefix.len());
        bytes.extend(numbers[number.get() as usize - 1].to_le_bytes());
    }
    bytes
}

/// The routes that `to_bytes` wrote, whose numbers are at most `values`; `None` for bytes that are damaged.
fn from_bytes<A: Address<Bytes = [u8; N]>, const N: usize>(
    bytes: &[u8],
    values: usize,
) -> Option<Vec<(Prefix<A>, NextHop)>> {
    let mut routes = bytes.chunks_exact(N + 5);
    let read = (&mut routes).map(|route| {
        let (address, rest) = route.split_first_chunk::<N>()?;
        let (length, number) = rest.split_first()?;
        let prefix = Prefix::new(A::from_be_bytes(*address), *length).ok()?;
        let number = u32::from_le_bytes(number.try_into().ok()?);
        let number = NextHop::new(number).filter(|_| number as usize <= values)?;
        Some((prefix, number))
    });
    let read = read.collect::<Option<_>>()?;
    routes.remainder().is_empty().then_some(read)
}

/// The table that was pickled.
pub(crate) fn unpickle(
    py: Python<'_>,
    ipv4: &[u8],
    ipv6: &[u8],
    values: Vec<Py<PyAny>>,
    columns: Option<&[u8]>,
) -> PyResult<TableState> {
    let count = values.len();
    if let Some(image) = columns.filter(|image| !image.is_empty()) {
        let opened = Image::from_bytes(image).map_err(TableError::from);
        let table = opened.and_then(|image| Table::of_image(image.table(None)?));
        let table = table.map_err(lacking)?;
        if table.records().map(Records::len) != Some(count) {
            return Err(value_error!("the pickled records are damaged"));
        }
        return Ok(TableState::of_image(table, PyValues::numbered(py, values)));
    }
    let routes = from_bytes::<u32, 4>(ipv4, count).zip(from_bytes::<u128, 16>(ipv6, count));
    let Some((ipv4, ipv6)) = routes else {
        return Err(value_error!("the pickled routes are damaged"));
    };
    let values = PyValues::numbered(py, values);
    let map = py.detach(|| NumberMap::new(ipv4, ipv6))?;
    let mut state = TableState::new(py, map, values);
    state.routes.has_lost_columns = columns.is_some();
    Ok(state)
}
