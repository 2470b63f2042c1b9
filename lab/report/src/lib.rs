//! The Poptrie paper's evaluation (Asai and Ohara, SIGCOMM 2015, section 4),
//! repeated on any table: every structure verified and measured, every figure
//! beside the paper's, as one report.
//!
//! A [`Plan`] says what is measured and how thoroughly; [`evaluate`] measures it
//! part by part and writes the report into a directory. Each part's result is
//! kept there as soon as it is known, so that an interrupted run goes on where
//! it was, and a second run with more tables measures these only.

#![forbid(unsafe_code)]

mod error;
mod experiments;
mod files;
mod machine;
mod page;
mod paper;
mod parts;
mod plan;
mod png;
mod results;
mod run;
mod sheet;
mod store;
mod template;
mod write;

pub use error::ReportError;
pub use machine::Machine;
pub use plan::{Effort, NamedTrace, NamedUpdates, Plan, Table};
pub use png::{MAX_PIXELS, PngError, png};
pub use run::Watcher;

use std::path::{Path, PathBuf};

/// Makes the directory of a report, and finds out whether it can be written to: better before tables
/// are read than after an hour's work. [`evaluate`] does so, too.
///
/// # Errors
/// [`ReportError::Output`].
pub fn prepare(output: &Path) -> Result<(), ReportError> {
    // Not cleaned: others may be writing files of their own there.
    std::fs::create_dir_all(output).map_err(error::at(output))?;
    for name in ["figures", "tables", "units"] {
        files::directory(&output.join(name))?;
    }
    let probe = output.join("probe");
    files::write(&probe, b"can be written")?;
    std::fs::remove_file(&probe).map_err(error::at(&probe))
}

/// Forgets what was measured for the report in `output`, so that all is measured again.
///
/// # Errors
/// [`ReportError::Output`].
pub fn forget(output: &Path) -> Result<(), ReportError> {
    let units = output.join("units");
    match std::fs::remove_dir_all(&units) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error::at(&units)(error)),
        _ => Ok(()),
    }
}

/// Measures what `plan` asks for and writes the report into the directory `output`, which is made
/// if it is not there. Returns the report's page.
///
/// Measured in a thread of its own, which is pinned to a core. In `output`: `report.html`, which needs nothing else;
/// `figures/` (SVG, PNG), `tables/` (CSV, Markdown), `results.json`, and `units/`, the results of
/// single parts, which are used again where tables, effort, machine and build are the same.
///
/// # Errors
/// [`ReportError`]. What was measured before is kept. A structure that cannot be built or that
/// answers wrong is no error: the report says so.
pub fn evaluate(
    plan: &Plan,
    output: &Path,
    watcher: &mut (dyn Watcher + Send),
) -> Result<PathBuf, ReportError> {
    prepare(output)?;
    // The caller's thread would stay on the core that is measured.
    let results = std::thread::scope(|scope| {
        let measured = scope.spawn(|| run::run(plan, output, watcher));
        measured
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    write::write(&results, output)
}
