//! Maps: every function against a sorted map and a linear scan.

#[path = "../common/mod.rs"]
mod common;
mod model;
mod table;
mod values;
