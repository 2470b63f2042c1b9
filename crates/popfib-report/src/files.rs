//! Files that are there as a whole or not at all.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use crate::error::{ReportError, at};

/// Behind the name of a file that is not complete.
const UNFINISHED: &str = "unfinished";

/// Writes `bytes` to a file beside `path`, which then takes its name.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    let beside = path.with_added_extension(UNFINISHED);
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    });
    if written.is_err() {
        // Half a file helps nobody, and on a full disk it is in the way.
        let _ = fs::remove_file(&beside);
    }
    written.map_err(at(path))
}

/// The directory at `path`, made if it is not there, and without what an interrupted run left.
pub(crate) fn directory(path: &Path) -> Result<(), ReportError> {
    fs::create_dir_all(path).map_err(at(path))?;
    for entry in fs::read_dir(path).map_err(at(path))? {
        let file = entry.map_err(at(path))?.path();
        if file.extension().is_some_and(|end| end == UNFINISHED) {
            fs::remove_file(&file).map_err(at(&file))?;
        }
    }
    Ok(())
}
