//! Why a Parquet file could not be read or written, in one line.

use std::fmt::Display;

use popfib_formats::Escaped;
use thiserror::Error;

/// Why a Parquet file could not be read or written: one line that names the file, the row if one is at fault, and the reason.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct ParquetError(String);

impl ParquetError {
    pub(crate) fn new(file: &str, reason: impl Display) -> Self {
        // Reasons come from libraries and quote what is in files: no line ends, no controls.
        Self(Escaped(&format!("{file}: {reason}")).to_string())
    }
}
