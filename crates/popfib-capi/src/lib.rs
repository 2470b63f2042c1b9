//! popfib for C and C++: the shared and the static library whose functions `include/popfib.h` documents.
//!
//! `table.rs`, `walk.rs`, `reader.rs`, `groups.rs`, `image.rs`, `table_set.rs`, `watcher.rs`, `records.rs`, `record_builder.rs` and `kernel.rs` have the functions that C calls. They turn
//! pointers into references and values and stop panics, both by `border.rs`, and pass the call on. What differs by family
//! is generic code behind the traits of `engine.rs`, which `typed.rs` implements once for tables that
//! change (`live.rs`) and those of images (`image_table.rs`). A call costs one indirect call more than in Rust. Rejected: a
//! function for each family, twice as many in the header.
//!
//! `xdp.rs` has those of `include/popfib_xdp.h`, with the feature of that name.
//!
//! Handles are boxes behind raw pointers. The contract on threads and pointers stands in the header and is the caller's to
//! keep; the words in which `# Safety` sections name it are explained in `border.rs`. What is checked at run time costs no
//! lookup anything that can be measured.

mod border;
mod bulk;
mod config;
mod engine;
mod error;
mod group;
mod groups;
mod image;
mod image_table;
mod kernel;
mod live;
mod memory;
mod reader;
mod record_builder;
mod records;
mod table;
mod table_set;
mod typed;
mod walk;
mod watcher;
#[cfg(all(feature = "xdp", target_os = "linux"))]
mod xdp;

#[cfg(test)]
#[allow(dead_code)]
#[path = "../../popfib/tests/common/random.rs"]
mod random;
