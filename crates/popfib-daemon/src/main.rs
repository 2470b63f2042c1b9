//! The executable `popfibd`, all of which is in the library of this crate.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    popfib_daemon::main()
}
