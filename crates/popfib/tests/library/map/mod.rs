//! Maps: every function against a sorted map and a linear scan.

mod model;
mod table;
mod values;
