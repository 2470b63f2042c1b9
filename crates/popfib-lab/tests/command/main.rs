//! The tests of the laboratory's command, one file a subcommand, in one program.

mod bench;
#[path = "../../../popfib-cli/tests/command/common/mod.rs"]
mod common;
mod draw;
mod evaluate;
mod image;
mod info;
mod replay;
mod usage;
mod verify;

/// What the tests run.
const PROGRAM: &str = env!("CARGO_BIN_EXE_popfib-lab");
/// What its errors begin with.
const NAME: &str = "popfib-lab";
