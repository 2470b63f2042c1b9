//! `popfib.join`: tables, images and folders of lists in, one image file out.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use popfib::Options;
use popfib::image::Keep;
use popfib_formats::{Input, JoinFiles, ReadError};
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::files::{in_background, opened, read_error};
use crate::records;
use crate::store::{path_of, save_image, warn};

/// Join tables, images and folders of lists into one image.
#[pyfunction]
#[pyo3(signature = (tables, output, /, *, columns = None, prefixes = false, fill = false, skip_invalid = false, mask = false,
    leading_zeros = false, mapped = false))]
#[expect(clippy::too_many_arguments)] // keywords of Python
pub(crate) fn join(
    py: Python<'_>,
    tables: &Bound<'_, PyMapping>,
    #[pyo3(from_py_with = path_of)] output: PathBuf,
    columns: Option<&Bound<'_, PyAny>>,
    prefixes: bool,
    fill: bool,
    skip_invalid: bool,
    mask: bool,
    leading_zeros: bool,
    mapped: bool,
) -> PyResult<()> {
    let mut named = Vec::new();
    for item in tables.items()?.iter() {
        let (name, path): (String, Bound<'_, PyAny>) = item.extract()?;
        named.push((name, path_of(&path)?));
    }
    let files = JoinFiles {
        tables: named,
        columns: columns
            .map(records::names_of)
            .transpose()?
            .unwrap_or_default(),
        lengths: prefixes,
        fill,
        skip_invalid,
        mask,
        leading_zeros,
        mapped,
    };
    let cancel = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&cancel);
    let (saved, left_out) = in_background(py, &cancel, move || {
        let mut left_out = Vec::new();
        let mut open = |path: &Path| {
            let reader = opened(path, Arc::clone(&seen));
            let reader =
                reader.map_err(|error| ReadError::opening(&path.display().to_string(), error))?;
            Ok(Input::from_reader(path.display().to_string(), reader))
        };
        let mut tell = |file: &str, lines: &[String]| {
            left_out.extend(lines.iter().map(|line| format!("{file}: {line}")));
        };
        let joined = files.read(&mut open, &mut tell).map_err(read_error);
        let saved = joined.and_then(|joined| {
            let write = |image: &mut _| joined.write(image, &Options::default(), Keep::Routes);
            save_image(&output, &joined.sources, write)
        });
        (saved, left_out)
    })?;
    for line in left_out {
        warn(py, &line)?;
    }
    saved
}
