//! The tests of the command, one file a subcommand, in one program, which is linked once.

mod aggregate;
mod annotate;
mod annotate_output;
mod bad_input;
mod clickhouse;
mod common;
mod comparison;
mod convert;
mod count;
mod diff;
mod draw;
mod explore;
mod formats;
mod forms;
mod full_disk;
mod grep;
mod image;
mod info;
mod kernels;
mod lists;
mod logs;
mod lookup;
#[cfg(target_os = "linux")]
mod one_thread;
#[cfg(feature = "parquet")]
mod parquet;
mod paths;
mod pictures;
#[cfg(unix)]
mod pseudo_terminal;
mod recipes;
mod refusals;
mod reports;
mod routes;
mod rov;
#[cfg(unix)]
mod rov_bird;
mod set;
mod streams;
#[cfg(unix)]
mod terminal;
mod usage;
mod verify;

/// What the tests run.
fn program() -> &'static str {
    env!("CARGO_BIN_EXE_popfib")
}
