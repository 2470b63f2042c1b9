//! Tables from files and into images, and the form in which they are pickled.
//!
//! Files are read by a thread of their own without the interpreter, while the
//! caller's looks at signals several times a second: Ctrl-C ends a load at once,
//! whatever the reader waits for. The thread ends at its next read then.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use popfib::{Address, Image, ImageError, ImageWriter, NextHop, Options, Prefix, Rib};
use popfib_formats::{Input, LoadOptions, NextHopNames, ReadError, RouteTable};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString, PyTuple};

use crate::keys;
use crate::state::State;
use crate::table::Table;
use crate::values::Values;

/// How often signals are looked at while a thread works.
const SIGNALS: Duration = Duration::from_millis(50);

/// A reader that fails when nobody waits for it any more.
struct Cancelled<R> {
    reader: R,
    cancel: Arc<AtomicBool>,
}

impl<R: Read> Read for Cancelled<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(io::Error::other("interrupted"));
        }
        self.reader.read(buf)
    }
}

/// Runs `work` in a thread of its own, while this one looks at signals.
fn in_background<T: Send + 'static>(
    py: Python<'_>,
    cancel: &AtomicBool,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, mut result) = mpsc::sync_channel(1);
    let worker = thread::Builder::new().name("popfib-load".into());
    worker.spawn(move || done.send(work()))?;
    loop {
        let waiting = &mut result;
        match py.detach(move || waiting.recv_timeout(SIGNALS)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| {
                cancel.store(true, Ordering::Relaxed);
            })?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyOSError::new_err(
                    "the thread that reads the file has failed",
                ));
            }
        }
    }
}

/// Load a table of routes from a file.
#[pyfunction]
#[pyo3(signature = (path, /, format = None, *, value = "next-hop", peer = None,
    skip_invalid = false, mask = false, decode = None))]
#[expect(clippy::too_many_arguments)] // keywords of Python
pub(crate) fn load(
    py: Python<'_>,
    #[pyo3(from_py_with = path_of)] path: PathBuf,
    format: Option<&str>,
    value: &str,
    peer: Option<&Bound<'_, PyAny>>,
    skip_invalid: bool,
    mask: bool,
    decode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Table> {
    let wrong = |what: &str, given: &str, error: String| {
        PyValueError::new_err(format!("{what} {}: {error}", keys::quote(given)))
    };
    let mut options = LoadOptions::new();
    if let Some(name) = format {
        options.format = Some(name.parse().map_err(|error| wrong("format", name, error))?);
    }
    options.value = value
        .parse()
        .map_err(|error| wrong("value", value, error))?;
    if let Some(peer) = peer {
        if !peer.is_instance_of::<PyInt>() && !peer.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("a peer is an int (index) or a str"));
        }
        let text = peer.str()?.to_str()?.to_owned();
        options.peer = Some(text.parse().map_err(|error| wrong("peer", &text, error))?);
    }
    options.skip_invalid = skip_invalid;
    options.mask = mask;
    let cancel = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&cancel);
    let table = in_background(py, &cancel, move || read(&path, seen, &options))??;
    of_routes(py, table, decode)
}

/// Reads a file; `-` is a file of that name, as elsewhere in Python.
fn read(path: &Path, cancel: Arc<AtomicBool>, options: &LoadOptions) -> PyResult<RouteTable> {
    let name = path.display().to_string();
    let failed = |error| os_error(&name, &error);
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    let reader = Cancelled {
        reader: file,
        cancel,
    };
    popfib_formats::load_from(Input::from_reader(name.clone(), reader), options).map_err(read_error)
}

/// A path as Python's own functions take it: `str`, `bytes` or what has `__fspath__`.
pub(crate) fn path_of(path: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let os = path.py().import("os")?;
    os.call_method1("fsdecode", (path,))?.extract()
}

/// The `OSError` that Python's own functions raise: of the class that fits, with number and file name.
fn os_error(name: &str, error: &io::Error) -> PyErr {
    let number = match error.kind() {
        // EISDIR on every Unix; Windows opens no directory. Who found it out asked for it himself.
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

/// What an error of the system says without its number, which Python puts in front.
fn without_number(error: &dyn std::error::Error) -> String {
    let message = error.to_string();
    let end = message.find(" (os error ").unwrap_or(message.len());
    message[..end].to_owned()
}

/// A file that can't be read is an `OSError`, one that is not as it should be a `ValueError`.
fn read_error(error: ReadError) -> PyErr {
    use std::error::Error;
    let system = error
        .source()
        .and_then(|source| source.downcast_ref::<io::Error>())
        .and_then(io::Error::raw_os_error);
    match system {
        Some(number) => PyOSError::new_err((number, without_number(&error))),
        None => PyValueError::new_err(error.to_string()),
    }
}

/// Return the built-in table: a tier-1 router's prefixes and their origin AS.
#[pyfunction]
#[pyo3(signature = (*, decode = None))]
pub(crate) fn default_table(py: Python<'_>, decode: Option<&Bound<'_, PyAny>>) -> PyResult<Table> {
    let table = py.detach(popfib_formats::default_table);
    of_routes(py, table, decode)
}

fn of_routes(
    py: Python<'_>,
    table: RouteTable,
    decode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Table> {
    let name = |number| table.next_hops.name(number);
    let values = values(py, (1..).map_while(|n| name(NextHop::new(n)?)), decode)?;
    let RouteTable { ipv4, ipv6, .. } = table;
    Ok(Table::of(State::new(py, ipv4, ipv6, values)))
}

/// Values numbered as the names are: the names themselves, or what `decode` makes of them.
fn values<'a>(
    py: Python<'_>,
    names: impl Iterator<Item = &'a str>,
    decode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Values> {
    let mut objects = Vec::new();
    for name in names {
        let text = PyString::new(py, name);
        objects.push(match decode {
            None => text.into_any().unbind(),
            Some(decode) => decode.call1((text,))?.unbind(),
        });
    }
    Ok(Values::numbered(objects))
}

/// Open an image that `Table.save` or `popfib compile` has written.
#[pyfunction]
#[pyo3(signature = (path, /, *, map = true, trust = false, decode = None))]
pub(crate) fn open(
    py: Python<'_>,
    #[pyo3(from_py_with = path_of)] path: PathBuf,
    map: bool,
    trust: bool,
    decode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Table> {
    let name = path.display().to_string();
    // Of a pipe the system waits for a writer.
    let opened = in_background(py, &AtomicBool::new(false), move || match (map, trust) {
        // SAFETY: who says `trust` promises that the file is what popfib has written, and
        // that nobody writes to it, as the documents of `popfib.open` ask.
        (_, true) => unsafe { Image::map_trusted(&path) },
        // SAFETY: the documents of `popfib.open` ask that nobody writes to the file, or for
        // `map=False`; it is validated all the same.
        (true, false) => unsafe { Image::map(&path) },
        (false, false) => Image::open(&path),
    })?;
    let image = Arc::new(opened.map_err(|error| match error {
        ImageError::Io(error) => os_error(&name, &error),
        error => PyValueError::new_err(format!("{}: {error}", name.escape_debug())),
    })?);
    let values = match image.name_count() {
        Some(count) => {
            let name = |n| image.name(NextHop::new(n)?);
            values(py, (1..=count).map_while(name), decode)?
        }
        None => numbers(py, &image)?,
    };
    Ok(Table::of(State::of_image(&image, values)))
}

/// For an image without names: the next hops as ints.
fn numbers(py: Python<'_>, image: &Image) -> PyResult<Values> {
    let highest = highest::<u32>(image)?.max(highest::<u128>(image)?);
    let objects = (1..=highest).map(|number| Ok(number.into_pyobject(py)?.into_any().unbind()));
    Ok(Values::numbered(objects.collect::<PyResult<_>>()?))
}

fn highest<A: Address>(image: &Image) -> PyResult<u32> {
    let Some(table) = image.table::<A>() else {
        return Ok(0);
    };
    if table.route_count() > 0 && !table.has_routes() {
        return Err(PyValueError::new_err(
            "the image has neither names of its next hops nor routes",
        ));
    }
    Ok(table
        .routes()
        .map(|(_, next_hop)| next_hop.get())
        .max()
        .unwrap_or(0))
}

/// Writes the image of a table.
pub(crate) fn save(
    table: &Table,
    py: Python<'_>,
    path: &Path,
    encode: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let state = table.shared.with(py, |state| state.copy(py))?;
    // Values that are written alike are one next hop of the image.
    let mut names = NextHopNames::new();
    let mut numbers = Vec::new();
    for value in state.values.places().iter() {
        let Some(value) = value else {
            numbers.push(NextHop::MIN);
            continue;
        };
        let value = value.bind(py);
        let text = match encode {
            None => value.clone(),
            Some(encode) => encode.call1((value,))?,
        };
        let text = text.cast::<PyString>().map_err(|_| {
            let name = text.get_type().name();
            PyTypeError::new_err(format!(
                "an image holds values that are str, not {}; `encode` may make them so",
                name.map_or_else(|_| "this".to_owned(), |name| name.to_string())
            ))
        })?;
        numbers.push(names.intern(text.to_str()?));
    }
    let created = SystemTime::now().duration_since(UNIX_EPOCH);
    let created = created.map_or(0, |since| since.as_secs());
    let renumbered = (
        renumber(state.ipv4.rib(), &numbers),
        renumber(state.ipv6.rib(), &numbers),
    );
    let saved = py.detach(|| -> Result<(), SaveError> {
        let (ipv4, ipv6) = &renumbered;
        let mut writer = ImageWriter::new("Python", created);
        writer.names((1..).map_while(|n| names.name(NextHop::new(n)?)))?;
        writer.table(ipv4, &Options::default(), true)?;
        writer.table(ipv6, &Options::default(), true)?;
        Ok(writer.save(path)?)
    });
    let name = path.display().to_string();
    saved.map_err(|error| match error.downcast::<io::Error>() {
        Ok(error) => os_error(&name, &error),
        Err(error) => PyValueError::new_err(format!("{}: {error}", name.escape_debug())),
    })
}

type SaveError = Box<dyn std::error::Error + Send + Sync>;

fn renumber<A: Address>(rib: &Rib<A>, numbers: &[NextHop]) -> Rib<A> {
    let routes = rib.iter();
    routes
        .map(|(prefix, number)| (prefix, numbers[number.get() as usize - 1]))
        .collect()
}

/// The state that `pickle` stores: routes of either family as bytes, values as a list.
pub(crate) fn pickle<'py>(py: Python<'py>, state: &State) -> PyResult<Bound<'py, PyTuple>> {
    let places = state.values.places();
    let mut values = Vec::new();
    let mut numbers = Vec::new();
    for value in places.iter() {
        values.extend(value.as_ref().map(|value| value.clone_ref(py)));
        numbers.push(values.len() as u32);
    }
    let ipv4 = PyBytes::new(py, &to_bytes(state.ipv4.rib(), &numbers));
    let ipv6 = PyBytes::new(py, &to_bytes(state.ipv6.rib(), &numbers));
    (ipv4, ipv6, PyList::new(py, values)?).into_pyobject(py)
}

/// A route: address in network order, length in 1 byte, number in 4, little-endian.
fn to_bytes<A: Address>(rib: &Rib<A>, numbers: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(rib.len() * (size_of::<A>() + 5));
    for (prefix, number) in rib.iter() {
        bytes.extend(prefix.address().to_be_bytes().as_ref());
        bytes.push(prefix.len());
        bytes.extend(numbers[number.get() as usize - 1].to_le_bytes());
    }
    bytes
}

fn from_bytes<A: Address<Bytes = [u8; N]>, const N: usize>(
    bytes: &[u8],
    values: usize,
) -> Option<Rib<A>> {
    let mut rib = Rib::new();
    let mut routes = bytes.chunks_exact(N + 5);
    for route in &mut routes {
        let (address, rest) = route.split_first_chunk::<N>()?;
        let (length, number) = rest.split_first()?;
        let prefix = Prefix::new(A::from_be_bytes(*address), *length).ok()?;
        let number = u32::from_le_bytes(number.try_into().ok()?);
        let number = NextHop::new(number).filter(|_| number as usize <= values)?;
        rib.insert(prefix, number);
    }
    routes.remainder().is_empty().then_some(rib)
}

/// The table that was pickled.
pub(crate) fn unpickle(
    py: Python<'_>,
    ipv4: &[u8],
    ipv6: &[u8],
    values: Vec<Py<PyAny>>,
) -> PyResult<State> {
    let count = values.len();
    let ribs = from_bytes::<u32, 4>(ipv4, count).zip(from_bytes::<u128, 16>(ipv6, count));
    let Some((ipv4, ipv6)) = ribs else {
        return Err(PyValueError::new_err("the pickled routes are damaged"));
    };
    let values = Values::numbered(values);
    Ok(State::new(py, ipv4, ipv6, values))
}
