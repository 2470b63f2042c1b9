//! The command `popfib`, for the tests: they ask the daemon by it.

use std::process::ExitCode;

fn main() -> ExitCode {
    popfib_cli::main()
}
