//! The executable `popfib`, all of which is in the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    popfib_cli::main()
}
