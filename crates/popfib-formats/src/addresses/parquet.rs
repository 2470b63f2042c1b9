//! Parquet, which a crate of its own reads: known here, so that it can be told
//! from the rest and refused where that crate is not.

use super::source::AddressEntry;
use crate::error::ReadError;
use crate::registry::FormatCapabilities;

pub(super) const MAGIC: &[u8; 4] = b"PAR1";

pub(super) static FORMAT: AddressEntry = AddressEntry {
    name: "parquet",
    description: "a column of a Parquet file, where popfib was built with Parquet",
    can: FormatCapabilities::COLUMNS,
    detect: |head| head.starts_with(MAGIC),
    open: |input, _| {
        Err(ReadError::file(
            input.name(),
            "Parquet is read from files only, uncompressed as a whole",
        ))
    },
};
