//! All paths of a collector's dump, where a table keeps the best one of each prefix.

use crate::bgp_path::{PathSource, Wanted};
use crate::error::ReadError;
use crate::format::open_with;
use crate::input::Input;
use crate::table_format::LoadOptions;
use crate::{bgpdump, mrt};

/// Opens the paths of `input`, an MRT table or lines of `bgpdump -m`, that lead to prefixes `wanted`.
///
/// Takes the memory of one record of the file at a time. Only the options for peers, host bits and format are
/// used.
///
/// # Errors
/// A format that has no paths.
pub fn open_paths(
    input: Input,
    options: &LoadOptions,
    wanted: Wanted,
) -> Result<Box<dyn PathSource>, ReadError> {
    open_with(input, options, |input, format| {
        if format.name() == bgpdump::FORMAT.name {
            return Ok(Box::new(bgpdump::BgpdumpPaths::new(input, options, wanted)) as _);
        }
        if format.name() == mrt::FORMAT.name {
            return Ok(Box::new(mrt::MrtPaths::new(input, options, wanted)) as _);
        }
        let reason = format!("{} has no paths: mrt and bgpdump have", format.name());
        Err(ReadError::file(input.name(), reason))
    })
}
