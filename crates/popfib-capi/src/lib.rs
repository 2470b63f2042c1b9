//! popfib for C and C++. `include/popfib.h` documents what each function does; this is how.
//!
//! `table.rs`, `walk.rs`, `reader.rs`, `groups.rs`, `image.rs`, `records.rs` and `kernel.rs` hold the functions that C calls: they
//! check pointers, stop panics (`border.rs`) and pass on. What differs by family and by width of
//! next hops is generic code behind the traits of `engine.rs`, which `typed.rs` implements once for tables that
//! change (`live.rs`) and those in images (`image_table.rs`). A call costs one indirect call more than in Rust.
//!
//! Handles are boxes behind raw pointers. The contract on threads stands in the header and is the
//! caller's to keep; what is checked at run time costs no lookup anything that can be measured.

mod border;
mod bulk;
mod config;
mod engine;
mod error;
mod groups;
mod image;
mod image_table;
mod kernel;
mod live;
mod memory;
mod reader;
mod records;
mod table;
mod typed;
mod walk;
