//! Maps: every function against a sorted map and a linear scan.

mod model;
mod next_hops;
mod table;
mod values;
