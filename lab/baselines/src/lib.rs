//! Other longest-prefix-match structures, each from its paper, to compare
//! popfib's own with.
//!
//! All are an [`Lpm`]: built from the routes of a `Rib`, looked up one by one,
//! in batches, or in a chain; [`Baseline`] has them by name. They get their
//! best: population counts and other bit instructions chosen at run time,
//! arrays on huge pages, no bounds checks, batches that overlap where that
//! gains.
//!
//! * [`Radix`], a binary radix tree.
//! * [`Patricia`], a path-compressed binary trie.
//! * [`TreeBitmap`], Tree BitMap, 16-ary and 64-ary.
//! * [`Dir24x8`], DIR-24-8-BASIC.
//! * [`Sail`], SAIL_L.
//! * [`Dxr`], D16R and D18R.
//! * [`poptrie`], Poptrie in the paper's exact layout, with and without leafvec.

mod algorithm;
pub mod binary;
mod buffer;
mod cannot_build;
pub mod dir_24_8;
pub mod dxr;
mod loops;
mod lpm;
pub mod poptrie;
mod routes;
pub mod sail;
pub mod tree_bitmap;

pub use algorithm::{Baseline, either_width};
pub use binary::{Patricia, Radix};
pub use buffer::Buffer;
pub use cannot_build::CannotBuild;
pub use dir_24_8::Dir24x8;
pub use dxr::Dxr;
pub use loops::{Find, dependent, empty};
pub use lpm::{Key, Lpm, Structure, Width};
pub use sail::Sail;
pub use tree_bitmap::TreeBitmap;
