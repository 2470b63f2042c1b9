//! Why a Parquet file could not be read or written, in one line.

use std::error::Error;
use std::fmt::{self, Display};

/// Why a Parquet file could not be read or written: one line that names the file, the row if one is at fault, and the reason.
#[derive(Debug)]
pub struct ParquetError(String);

impl ParquetError {
    pub(crate) fn new(file: &str, reason: impl Display) -> Self {
        // Reasons come from libraries and quote what is in files: no line ends, no controls.
        let text = format!("{file}: {reason}");
        let text = text.chars().flat_map(|c| {
            let shown = (!c.is_control()).then_some(c);
            let escaped = c.is_control().then(|| c.escape_default());
            shown.into_iter().chain(escaped.into_iter().flatten())
        });
        Self(text.collect())
    }
}

impl Display for ParquetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ParquetError {}
