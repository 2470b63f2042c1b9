//! Tables of popfib for BPF programs: a table in, a pinned map out that XDP and tc programs look up in, and back.
//!
//! There is one map, [`PinnedMap`], an array of maps with one slot. What the slot holds is one table of both families, a
//! [`MappedTable`]: an array of rows of 4 KiB (`layout.rs` has its header). Its words are those of a Fib, unchanged, so that a table
//! is copied and not built, and a changed route is a few stored words. `engines/bpf/popfib.bpf.h` is the programs' side.
//!
//! A new table is filled while no program knows of it, and then takes the slot: one store of a pointer. The kernel returns from it
//! after a grace period, when no program looks up in the previous table any more. So programs see whole tables only, of any size, and
//! if the process ends at any moment, the last one stays. What is in the map is checked by nobody: programs read inside of it
//! whatever it holds, as this crate does.
//!
//! Rejected: two halves of one array, with a word that says which is current: a table could not outgrow it, and the half that is not
//! used would take its memory all the time. One value of many MiB, which is quicker by 1 to 5 ns a lookup: its length would be a
//! constant of every program. Arrays of a fixed number of rows, in which the kernel inlines lookups: no measurable gain with
//! rows of this length. libbpf-rs, which builds libbpf by a C compiler, and aya: what is needed are a few system calls (`sys.rs`).
//!
//! ```no_run
//! use std::path::Path;
//! use popfib_bpf::{PinnedMap, ProgramValues};
//! use popfib_table::Table;
//!
//! let table: Table = [("192.0.2.0/24".parse()?, "office")].into_iter().collect();
//!
//! let map = PinnedMap::open_or_create(Path::new("/sys/fs/bpf/popfib"))?;
//! map.load(&table, &ProgramValues::of(&table), false)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg(target_os = "linux")]

mod counts;
mod error;
mod layout;
mod live;
mod load;
mod lookup;
mod mapped;
mod pinned;
mod sys;
mod value_ids;

pub use counts::PinnedCounts;
pub use error::BpfError;
pub use layout::{FibKind, ValueKind};
pub use live::{MirrorCounts, MirroredTable};
pub use load::ProgramValues;
pub use mapped::MappedTable;
pub use pinned::PinnedMap;
pub use value_ids::{ValueIds, read_value_ids};
