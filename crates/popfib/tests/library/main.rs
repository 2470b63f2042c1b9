//! The library's parts from outside: images, maps, tables that change, tools, files. One program, as
//! each would be linked with all of the library; the answers of all structures are `tests/proof`.

mod algebra;
#[path = "../common/mod.rs"]
mod common;
mod fib_set;
mod image;
mod live_map;
mod live_out_of_memory;
#[cfg(target_os = "linux")]
mod live_refused;
mod map;
mod map_out_of_memory;
mod out_of_memory;
mod prefix;
mod rib;
#[cfg(feature = "serde")]
mod serde;
mod sets;
mod tools;
mod walks;

/// Refuses what `map_out_of_memory` asks it to, on the thread that asks; else it is the system's.
#[global_allocator]
static HEAP: common::failing::FailingHeap = common::failing::FailingHeap;
