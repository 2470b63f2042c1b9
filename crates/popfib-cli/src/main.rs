//! The command `popfib`.

use std::process::ExitCode;

fn main() -> ExitCode {
    popfib_cli::main()
}
