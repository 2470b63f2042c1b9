//! Parquet, which the crate popfib-parquet reads. The format is known here so that a Parquet file is recognised, and refused by
//! a program that was built without that crate, in place of being read as text.

use super::source::AddressEntry;
use crate::error::ReadError;
use crate::registry::Capability::Rows;

pub(super) const MAGIC: &[u8; 4] = b"PAR1";

pub(super) static FORMAT: AddressEntry = AddressEntry {
    name: "parquet",
    description: "a column of a Parquet file, where popfib was built with Parquet",
    can: &[Rows],
    detect: |head| head.starts_with(MAGIC),
    open: |input, _| {
        Err(ReadError::file(
            input.name(),
            "Parquet is read from files only, uncompressed as a whole",
        ))
    },
};
