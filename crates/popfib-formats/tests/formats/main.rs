//! The tests of all formats, in one program: each is linked with the library's
//! generic code, which takes longer than to run it. `memory.rs` measures its process and stands alone.

#[path = "../common/mod.rs"]
mod common;

mod addresses;
mod anywhere;
mod bad_files;
mod beside;
mod bgpdump;
mod captures;
mod columns;
mod comparison;
mod delimited;
mod detection;
mod frr_bird;
mod hostile;
mod inputs;
mod listings;
mod lists;
mod log_files;
mod log_lines;
mod mmdb;
mod mrt;
mod mrt_file;
mod names;
mod packets;
mod path_columns;
mod paths;
mod real_mrt;
mod real_tables;
mod records;
mod records_out;
mod replay;
mod round_trip;
mod routers;
mod sets;
mod smallest;
mod text_format;
mod tokens;
mod tools;
mod update_commands;
mod updates;
mod vrps;
mod write;
mod write_lists;
mod write_template;
