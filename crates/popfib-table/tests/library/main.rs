//! Tests by the library's interface in one program: each of its own would have the library once more.

#[allow(dead_code)]
#[path = "../../../popfib/tests/common/random.rs"]
mod random;

mod changed_images;
mod join;
mod multi_rib;
mod records;
mod rpki;
mod table;
mod table_set;
mod watcher;
