//! Files that are there as a whole or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use popfib_table::NewFile;

use crate::error::{ReportError, at};

/// Writes `bytes` to a file that then takes its place at `path`.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    let written = NewFile::create(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.finish()
    });
    written.map_err(at(path))
}

/// The directory at `path`, made if it is not there, and without what an interrupted run left.
pub(crate) fn directory(path: &Path) -> Result<(), ReportError> {
    fs::create_dir_all(path).map_err(at(path))?;
    for entry in fs::read_dir(path).map_err(at(path))? {
        let file = entry.map_err(at(path))?.path();
        let name = file.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.starts_with(".popfib-") && name.ends_with(".tmp")) {
            fs::remove_file(&file).map_err(at(&file))?;
        }
    }
    Ok(())
}
