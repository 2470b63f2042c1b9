//! Other longest-prefix-match structures, each from its paper, to compare
//! popfib's own with.
//!
//! * [`poptrie`]: Poptrie in the paper's exact layout, with and without leafvec.

pub mod poptrie;
