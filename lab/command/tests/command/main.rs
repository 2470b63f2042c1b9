//! The tests of the laboratory's command, one file a subcommand, in one program.

mod bench;
mod common;
mod evaluate;
mod info;
mod many;
mod png;
mod replay;
mod usage;
mod verify;
