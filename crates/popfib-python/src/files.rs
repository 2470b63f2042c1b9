//! Files and images in, a `popfib.Table` out: `load`, `open` and the built-in tables.
//!
//! Files are read by a thread of their own without the interpreter, while the caller's thread looks at signals several times
//! a second: Ctrl-C ends a load at once, whatever the reader waits for. The thread then ends at its next read, or, if it was
//! at the updates, when it has applied them.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use popfib::{Image, ImageError, NextHop};
use popfib_formats::text::no_column_message;
use popfib_formats::{
    ColumnSelection, Input, LoadOptions, LookupTable, PeerFilter, ReadError, RouteTable,
    UpdateFiles,
};
use popfib_table::{Dictionary, Records};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyString};

use crate::quote::Quoted;
use crate::records;
use crate::routes::{NumberMap, lacking};
use crate::state::TableState;
use crate::store::{os_error, path_of, warn, without_number};
use crate::table::PyTable;
use crate::values::PyValues;

/// How often signals are looked at while a thread works.
const SIGNALS: Duration = Duration::from_millis(50);

/// A reader that fails once `cancel` is set: when nobody waits for what it reads any more.
pub(crate) struct CancellableReader<R> {
    reader: R,
    cancel: Arc<AtomicBool>,
}

impl<R: Read> Read for CancellableReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(io::Error::other("interrupted"));
        }
        self.reader.read(buf)
    }
}

/// Runs `work` in a thread of its own, while this one looks at signals; in this one if no other can be started.
pub(crate) fn in_background<T: Send + 'static, W: FnOnce() -> T + Send + 'static>(
    py: Python<'_>,
    cancel: &AtomicBool,
    work: W,
) -> PyResult<T> {
    let (done, mut result) = mpsc::sync_channel(1);
    // A thread that cannot be started would take the work with it: it is handed over once there is one.
    let (hand, handed) = mpsc::channel::<W>();
    let worker = thread::Builder::new().name("popfib-load".into());
    let run = move || drop(handed.recv().map(|work| done.send(work())));
    if worker.spawn(run).is_err() {
        return Ok(py.detach(work));
    }
    let _ = hand.send(work);
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

/// Load a table of routes from a file in any format that popfib reads, compressed or not: a path, or an open file.
///
/// `columns` are those of its records: a name, which is the value, a list of names, or "*" for all. Without it the value of a route
/// is the most telling column. Invalid lines are a ValueError that names file, line and reason; what the table lacks of the file is
/// a UserWarning. docs/python.md has every argument.
///
///     >>> import io
///     >>> t = popfib.load(io.StringIO("prefix,asn,city\\n10.0.0.0/8,64500,Graz\\n"), columns="*")
///     >>> t.record("10.1.2.3")
///     {'asn': 64500, 'city': 'Graz'}
#[pyfunction]
#[pyo3(signature = (path, /, format = None, *, value = "next-hop", columns = None, locations = None, peer = None,
    vrf = None, prefix_column = None, length_column = None, value_regex = None, skip_invalid = false, mask = false,
    leading_zeros = false, fill = false, mapped = false, max_size = None, updates = None, until = None, decode = None))]
#[expect(clippy::too_many_arguments)] // keywords of Python
pub(crate) fn load(
    py: Python<'_>,
    #[pyo3(from_py_with = given_file)] path: GivenFile,
    format: Option<&str>,
    value: &str,
    columns: Option<&Bound<'_, PyAny>>,
    locations: Option<Bound<'_, PyAny>>,
    peer: Option<&Bound<'_, PyAny>>,
    vrf: Option<String>,
    prefix_column: Option<String>,
    length_column: Option<String>,
    value_regex: Option<&str>,
    skip_invalid: bool,
    mask: bool,
    leading_zeros: bool,
    fill: bool,
    mapped: bool,
    max_size: Option<u64>,
    updates: Option<&Bound<'_, PyAny>>,
    until: Option<&Bound<'_, PyAny>>,
    decode: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyTable> {
    let mut options = LoadOptions::new();
    if let Some(name) = format {
        options.format = Some(name.parse().map_err(|error| wrong("format", name, error))?);
    }
    options.value = value
        .parse()
        .map_err(|error| wrong("value", value, error))?;
    options.peer = peer.map(peer_of).transpose()?;
    options.columns = of_columns(columns)?;
    options.locations = locations.as_ref().map(path_of).transpose()?;
    options.table = vrf;
    options.prefix_column = prefix_column;
    options.length_column = length_column;
    if let Some(regex) = value_regex {
        let parsed = regex.parse();
        options.value_regex = Some(parsed.map_err(|error| wrong("value_regex", regex, error))?);
    }
    options.skip_invalid = skip_invalid;
    options.mask = mask;
    options.leading_zeros = leading_zeros;
    options.fill = fill;
    options.mapped = mapped;
    let max_size = max_size.unwrap_or(Input::DEFAULT_MAX_SIZE);
    let until = until.map(time_of).transpose()?;
    options.updates = match updates {
        Some(updates) => Some(UpdateFiles {
            files: paths_of(updates)?,
            until,
            max_size,
        }),
        None if until.is_some() => {
            return Err(value_error!(
                "until goes with updates, the files whose updates are applied up to it"
            ));
        }
        None => None,
    };
    let cancel = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&cancel);
    let mut table: RouteTable = in_background(py, &cancel, move || {
        let input = input(path, seen)?.max_size(max_size);
        popfib_formats::load(input, &options).map_err(read_error)
    })??;
    // Success is no warning.
    table.applied = None;
    for line in table.remarks() {
        warn(py, &format!("{}: {line}", table.name))?;
    }
    of_routes(py, table, decode)
}

/// The paths of files of updates.
fn paths_of(updates: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    let several = || type_error!("updates is a list of paths: [path] of one");
    if updates.is_instance_of::<PyString>() || updates.is_instance_of::<PyBytes>() {
        return Err(several());
    }
    let paths = updates.try_iter().map_err(|_| several())?;
    let path = |path: PyResult<Bound<'_, PyAny>>| {
        let path = path_of(&path?)?;
        // A file of that name, as elsewhere in Python.
        Ok(match path.as_os_str() == "-" {
            true => Path::new(".").join(path),
            false => path,
        })
    };
    paths.map(path).collect()
}

/// A time in microseconds since 1970.
fn time_of(until: &Bound<'_, PyAny>) -> PyResult<u64> {
    let seconds = match until.getattr_opt("timestamp")? {
        Some(_) if until.getattr("tzinfo")?.is_none() => {
            return Err(value_error!(
                "until has no time zone: datetime(..., tzinfo=timezone.utc) has one"
            ));
        }
        Some(timestamp) => timestamp.call0()?,
        None => until.clone(),
    };
    let Ok(seconds) = seconds.extract::<f64>() else {
        let name = until.get_type().name()?;
        return Err(type_error!(
            "until is a datetime, or seconds since 1970 as an int or float, not {name}"
        ));
    };
    let micros = (seconds * 1e6).round();
    match (0.0..u64::MAX as f64).contains(&micros) {
        true => Ok(micros as u64),
        false => Err(value_error!("until is a time from 1970 on, not {seconds}")),
    }
}

/// The error of an argument called `what`.
pub(crate) fn wrong(what: &str, given: &str, error: String) -> PyErr {
    value_error!("{what} {}: {error}", Quoted(given.as_bytes()))
}

/// The peer that an argument means.
pub(crate) fn peer_of(peer: &Bound<'_, PyAny>) -> PyResult<PeerFilter> {
    if !peer.is_instance_of::<PyInt>() && !peer.is_instance_of::<PyString>() {
        return Err(type_error!("a peer is an int (index) or a str"));
    }
    let text = peer.str()?.to_str()?.to_owned();
    text.parse().map_err(|error| wrong("peer", &text, error))
}

/// A file as Python's callers give it.
pub(crate) enum GivenFile {
    Path(PathBuf),
    /// The name and the contents of an open one.
    Open(String, Vec<u8>),
}

/// The file of an argument: a path, or an object that has `read`, as open files have, which is read to its end.
pub(crate) fn given_file(file: &Bound<'_, PyAny>) -> PyResult<GivenFile> {
    let Some(read) = file.getattr_opt("read")? else {
        return path_of(file).map(GivenFile::Path);
    };
    let name = file.getattr_opt("name")?;
    let name = name.and_then(|name| name.extract().ok());
    let content = read.call0()?;
    let bytes = match content.cast::<PyBytes>() {
        Ok(bytes) => bytes.as_bytes().to_vec(),
        Err(_) => content.extract::<String>()?.into_bytes(),
    };
    let name = name.unwrap_or_else(|| "<file>".to_owned());
    Ok(GivenFile::Open(name, bytes))
}

/// Opens a file; `-` is a file of that name, as elsewhere in Python.
pub(crate) fn input(file: GivenFile, cancel: Arc<AtomicBool>) -> PyResult<Input> {
    let path = match file {
        GivenFile::Path(path) => path,
        GivenFile::Open(name, bytes) => return Ok(Input::from_reader(name, Cursor::new(bytes))),
    };
    let name = path.display().to_string();
    let reader = opened(&path, cancel).map_err(|error| os_error(&name, &error))?;
    Ok(Input::from_reader(name, reader))
}

/// The file at `path`, which is no folder.
pub(crate) fn opened(path: &Path, cancel: Arc<AtomicBool>) -> io::Result<CancellableReader<File>> {
    let reader = File::open(path)?;
    match reader.metadata()?.is_dir() {
        true => Err(io::ErrorKind::IsADirectory.into()),
        false => Ok(CancellableReader { reader, cancel }),
    }
}

/// A file that can't be read is an `OSError`, one that is not as it should be a `ValueError`.
pub(crate) fn read_error(error: ReadError) -> PyErr {
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

/// Return the built-in table: a tier-1 router's prefixes and their origin AS, or with columns="as_name" its name.
#[pyfunction]
#[pyo3(signature = (*, columns = None, decode = None))]
pub(crate) fn default_table(
    py: Python<'_>,
    columns: Option<&Bound<'_, PyAny>>,
    decode: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyTable> {
    embedded(py, Input::built_in(), columns, decode)
}

/// Return the built-in table of special-purpose addresses (IANA, RFC 6890): their names, or with columns="global" or another flag
/// "true" or "false".
#[pyfunction]
#[pyo3(signature = (*, columns = None, decode = None))]
pub(crate) fn special_table(
    py: Python<'_>,
    columns: Option<&Bound<'_, PyAny>>,
    decode: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyTable> {
    embedded(py, Input::special(), columns, decode)
}

fn embedded(
    py: Python<'_>,
    input: Input,
    columns: Option<&Bound<'_, PyAny>>,
    decode: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyTable> {
    let mut options = LoadOptions::new();
    options.columns = of_columns(columns)?;
    let table = py.detach(|| popfib_formats::load(input, &options));
    of_routes(py, table.map_err(read_error)?, decode)
}

/// The columns that a name, a list of names or `"*"` stands for.
pub(crate) fn of_columns(columns: Option<&Bound<'_, PyAny>>) -> PyResult<ColumnSelection> {
    let Some(columns) = columns else {
        return Ok(ColumnSelection::Value);
    };
    let selection = records::names_of(columns)
        .ok()
        .and_then(ColumnSelection::of);
    selection.ok_or_else(|| type_error!("columns is a name, a list of names, or '*' for all"))
}

fn of_routes(
    py: Python<'_>,
    table: RouteTable,
    decode: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyTable> {
    let values = values_of_records(py, &table.records, decode)?;
    if table.columns != ColumnSelection::Value {
        let table = LookupTable::from(table);
        let state = TableState::of_image(table.content, values);
        return Ok(PyTable::of(state.with_sources(table.sources)));
    }
    let map = py.detach(|| NumberMap::from_ribs(table.content.ribs))?;
    let state = TableState::new(py, map, values).with_sources(table.sources);
    Ok(PyTable::of(state))
}

/// The values of records: the objects, or what `decode` makes of them; None for one that is absent. That of a value-less list is True,
/// so that a match does not look like no match.
pub(crate) fn values_of_records(
    py: Python<'_>,
    records: &Records,
    decode: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyValues> {
    let numbers = (1..=records.len() as u32).filter_map(NextHop::new);
    let index = records.value_column();
    let column = &records.columns()[index];
    let value = |number: NextHop| {
        let code = records.code(number.get(), index);
        let cell = match decode {
            Some(_) => column.value(code),
            None => records::value(column, code),
        };
        cell.map(|cell| records::object(py, cell)).transpose()
    };
    values(py, numbers.map(value), decode)
}

/// Values with the numbers that texts have: the texts, or what `decode` makes of them; True for an empty one.
pub(crate) fn values_of_texts(
    py: Python<'_>,
    texts: &Dictionary,
    decode: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyValues> {
    let object = |text: &str| match text {
        "" if decode.is_none() => PyBool::new(py, true).to_owned().into_any(),
        text => PyString::new(py, text).into_any(),
    };
    values(py, texts.iter().map(|text| Ok(Some(object(text)))), decode)
}

/// Values numbered in the order of `found`: the objects, or what `decode` makes of them; Python's None for `None`.
fn values<'py>(
    py: Python<'py>,
    found: impl Iterator<Item = PyResult<Option<Bound<'py, PyAny>>>>,
    decode: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyValues> {
    let mut objects = Vec::new();
    for value in found {
        objects.push(match (value?, decode) {
            (None, _) => py.None(),
            (Some(value), None) => value.unbind(),
            (Some(value), Some(decode)) => decode.call1((value,))?.unbind(),
        });
    }
    Ok(PyValues::numbered(py, objects))
}

/// Open an image that `Table.save` or `popfib compile` has written.
#[pyfunction]
#[pyo3(signature = (path, /, *, table = None, column = None, map = false, trust = false, decode = None))]
pub(crate) fn open(
    py: Python<'_>,
    #[pyo3(from_py_with = path_of)] path: PathBuf,
    table: Option<&str>,
    column: Option<&str>,
    map: bool,
    trust: bool,
    decode: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyTable> {
    let name = path.display().to_string();
    let verified = |image| popfib_table::check_records(&image).map(|()| image);
    // In the background, since to open a pipe waits for a writer.
    let opened = in_background(py, &AtomicBool::new(false), move || match (map, trust) {
        // SAFETY: `trust=True` promises that popfib has written the file and that nobody writes to it, as the documents of
        // `popfib.open` say.
        (_, true) => unsafe { Image::map_trusted(&path) },
        // SAFETY: `map=True` promises that nobody writes to the file, as the documents of `popfib.open` say; it is validated
        // all the same.
        (true, false) => unsafe { Image::map(&path) }.and_then(verified),
        (false, false) => Image::open(&path).and_then(verified),
    })?;
    let image = opened.map_err(|error| match error {
        ImageError::Io(error) => os_error(&name, &error),
        error => value_error!("{}: {error}", name.escape_debug()),
    })?;
    let failed = |error: popfib_table::TableError| value_error!("{}: {error}", name.escape_debug());
    let in_image = image.table(table).map_err(|error| failed(error.into()))?;
    let mut table = popfib_table::Table::of_image(in_image).map_err(failed)?;
    if let Some(column) = column
        && table.set_value_column(column).is_err()
    {
        let missing = no_column_message(column, table.records());
        return Err(value_error!("{}: {missing}", name.escape_debug()));
    }
    let state = match table.records() {
        Some(records) => {
            let values = values_of_records(py, records, decode)?;
            TableState::of_image(table, values)
        }
        None => of_numbers(py, table)?,
    };
    Ok(PyTable::of(state.with_sources(in_image.sources())))
}

/// The table of an image without names: its next hops as ints.
fn of_numbers(py: Python<'_>, table: popfib_table::Table) -> PyResult<TableState> {
    let routes = table
        .routes()
        .map_err(|_| value_error!("the image has neither names of its next hops nor routes"))?;
    let mut found: Vec<_> = routes.map(|(_, next_hop)| next_hop).collect();
    let count = found.len();
    found.sort_unstable();
    found.dedup();
    let highest = found.last().map_or(0, |highest| highest.get());
    let ints = |numbers: &mut dyn Iterator<Item = u32>| {
        let objects = numbers.map(|number| Ok(number.into_pyobject(py)?.into_any().unbind()));
        PyResult::Ok(PyValues::numbered(py, objects.collect::<PyResult<_>>()?))
    };
    if highest as usize <= count {
        return Ok(TableState::of_image(table, ints(&mut (1..=highest))?));
    }
    // An object for each number up to the highest would be any amount of memory. So the next hops are
    // numbered one by one, at the price of compiling the table again.
    let number = |next_hop| found.binary_search(&next_hop).map_or(0, |place| place + 1);
    let number = |next_hop| NextHop::new(number(next_hop) as u32).unwrap_or(NextHop::MIN);
    let ipv4 = table.ipv4().routes().map_err(lacking)?;
    let ipv6 = table.ipv6().routes().map_err(lacking)?;
    let map = NumberMap::new(
        ipv4.map(|(prefix, next_hop)| (prefix, number(next_hop))),
        ipv6.map(|(prefix, next_hop)| (prefix, number(next_hop))),
    )?;
    let values = ints(&mut found.iter().map(|next_hop| next_hop.get()))?;
    Ok(TableState::new(py, map, values))
}
