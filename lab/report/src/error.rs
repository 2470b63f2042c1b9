//! Why there is no report, in one line.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use popfib::CompileError;

/// What stops an evaluation. A structure that cannot be built does not: its row says so.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReportError {
    /// A file or directory of the output could not be read or written.
    Output {
        /// Which.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The system has not got the memory for addresses.
    Memory(io::Error),
    /// A table that changes could not be made.
    Live(CompileError),
    /// There is nothing to evaluate.
    Nothing,
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Memory(error) => write!(f, "memory for addresses: {error}"),
            Self::Live(error) => write!(f, "a table with updates: {error}"),
            Self::Nothing => f.write_str("there is no table to evaluate"),
        }
    }
}

impl Error for ReportError {}

impl From<CompileError> for ReportError {
    fn from(error: CompileError) -> Self {
        Self::Live(error)
    }
}

/// An error of the output at `path`.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> ReportError {
    let path = path.to_owned();
    move |error| ReportError::Output { path, error }
}
