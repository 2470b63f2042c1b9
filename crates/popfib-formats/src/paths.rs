//! All paths of a collector's dump, one for each peer and prefix, where a table keeps the best one of each prefix: an [`Input`] of
//! MRT or of bgpdump's lines in, a [`PathSource`] out.

use crate::bgp_path::{PathSource, PrefixFilter};
use crate::error::ReadError;
use crate::format::open_with;
use crate::input::Input;
use crate::table_format::{Format, LoadOptions};
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
    wanted: PrefixFilter,
) -> Result<Box<dyn PathSource>, ReadError> {
    open_with(input, options, |input, format| {
        if !has_paths(format) {
            let reason = format!("{} has no paths: mrt and bgpdump have", format.name());
            return Err(ReadError::file(input.name(), reason));
        }
        Ok(paths_of(input, format, options, wanted))
    })
}

/// Whether all paths of files of this format can be read.
pub(crate) fn has_paths(format: Format) -> bool {
    [bgpdump::FORMAT.name, mrt::FORMAT.name].contains(&format.name())
}

/// The paths of a file of a format that has them.
pub(crate) fn paths_of(
    input: Input,
    format: Format,
    options: &LoadOptions,
    wanted: PrefixFilter,
) -> Box<dyn PathSource> {
    if format.name() == mrt::FORMAT.name {
        Box::new(mrt::MrtPaths::new(input, options, wanted))
    } else {
        Box::new(bgpdump::BgpdumpPaths::new(input, options, wanted))
    }
}
