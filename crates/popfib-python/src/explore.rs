//! `Table.explore`: a table in, a page for the browser out, as a file that is opened unless the caller has named it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use popfib::image::{Keep, Source};
use popfib::{ImageWriter, Options};
use popfib_explore::special_purposes;
use popfib_formats::SPECIAL_TABLE_NAME;
use popfib_table::{NewFile, Table, TableError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBool, PyString};

use crate::state::SharedState;
use crate::store::{os_error, seconds_now, table_of_texts, warn};

/// Writes the page of a table to `path`, or to a temporary file that the browser opens; returns where it is.
pub(crate) fn explore(
    table: &SharedState,
    py: Python<'_>,
    path: Option<PathBuf>,
) -> PyResult<PathBuf> {
    let Some(path) = path else {
        let page = page(table, py, "table")?;
        let path = temporary(py)?;
        save(py, &path, NewFile::create(&path), &page).inspect_err(|_| {
            // Nothing helps if that fails too.
            let _ = std::fs::remove_file(&path);
        })?;
        open(py, &path)?;
        return Ok(path);
    };
    // Before all work, so that an error of the path comes at once.
    let file = NewFile::create(&path).map_err(|error| failed(&path, &error))?;
    let name = path.file_stem().map(|name| name.to_string_lossy());
    let name = name.filter(|name| name != SPECIAL_TABLE_NAME);
    let page = page(table, py, name.as_deref().unwrap_or("table"))?;
    save(py, &path, Ok(file), &page)?;
    Ok(path)
}

fn failed(path: &Path, error: &io::Error) -> PyErr {
    os_error(&path.display().to_string(), error)
}

fn save(py: Python<'_>, path: &Path, file: io::Result<NewFile>, page: &str) -> PyResult<()> {
    let written = py.detach(|| {
        let mut file = file?;
        file.write_all(page.as_bytes())?;
        file.finish()
    });
    written.map_err(|error| failed(path, &error))
}

/// The page of a table that is called `name` there. One that was opened keeps all columns of its records; other values are shown as `str`
/// makes them.
fn page(table: &SharedState, py: Python<'_>, name: &str) -> PyResult<String> {
    let (image, sources) = table.read(py, |state| {
        Ok((state.routes.image().cloned(), state.sources()))
    })?;
    if let Some(image) = image.filter(|image| image.table.records().is_some()) {
        return py.detach(|| page_of(name, &sources, &image.table));
    }
    let state = table.copy(py)?;
    let places = state.values.places();
    let is_single = places.iter().flatten().count() == 1;
    let table = table_of_texts(py, &state, |value| {
        match is_single && value.is(PyBool::new(py, true)) {
            // A list without values.
            true => Ok(PyString::new(py, "")),
            false => value.str(),
        }
    })?;
    py.detach(|| page_of(name, &sources, &table))
}

fn page_of(name: &str, sources: &[Source], table: &Table) -> PyResult<String> {
    let special = special_purposes().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let mut image = ImageWriter::new(seconds_now());
    let mut write = |name: &str, sources: &[Source], table: &Table| {
        image.table(name, sources)?;
        table.write(&mut image, &Options::default(), Keep::Prefixes)
    };
    let written = write(name, sources, table)
        .and_then(|()| write(SPECIAL_TABLE_NAME, &special.sources, &special.content));
    let page = written
        .and_then(|()| popfib_explore::page(name, &image.to_bytes(), [table, &special.content]));
    page.map_err(|error: TableError| value_error!("the page: {error}"))
}

/// A new file that only its owner may read.
fn temporary(py: Python<'_>) -> PyResult<PathBuf> {
    let options = [("prefix", "popfib-"), ("suffix", ".html")].into_py_dict(py)?;
    let made = py
        .import("tempfile")?
        .call_method("mkstemp", (), Some(&options))?;
    let (file, path): (i32, PathBuf) = made.extract()?;
    py.import("os")?.call_method1("close", (file,))?;
    Ok(path)
}

/// Has the browser of the user open the file.
fn open(py: Python<'_>, path: &Path) -> PyResult<()> {
    let address = py
        .import("pathlib")?
        .call_method1("Path", (path,))?
        .call_method0("as_uri")?;
    let opened = py.import("webbrowser")?.call_method1("open", (address,))?;
    match opened.is_truthy()? {
        true => Ok(()),
        false => warn(
            py,
            &format!("no browser was found to open {}", path.display()),
        ),
    }
}
