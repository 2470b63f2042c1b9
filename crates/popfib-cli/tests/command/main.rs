//! The tests of the command, one file a subcommand, in one program, which is linked once.

mod aggregate;
mod annotate;
mod bad_input;
mod bench;
mod common;
mod convert;
mod diff;
mod draw;
mod evaluate;
mod formats;
mod full_disk;
mod image;
mod info;
mod lookup;
mod replay;
mod routes;
mod usage;
mod verify;
