//! `popfib man`: the definitions of all options in, manual pages with the text of `--help` out.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;

use crate::output::StandardOutput;

/// Write the manual pages.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib man | man -l -
  popfib man /usr/local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Directory for the pages [default: print popfib.1]
    ///
    /// popfib.1 and a page for each subcommand. It is created if missing.
    directory: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs, command: Command) -> Result<Verdict, Failure> {
    match &args.directory {
        None => {
            let mut page = Vec::new();
            Man::new(command)
                .render(&mut page)
                .map_err(Failure::Output)?;
            let mut output = StandardOutput::new();
            output.bytes(&page)?;
            output.flush()?;
        }
        Some(directory) => fs::create_dir_all(directory)
            .and_then(|()| clap_mangen::generate_to(command, directory))
            .map_err(|error| Failure::of_file(directory, error))?,
    }
    Ok(Verdict::Good)
}
