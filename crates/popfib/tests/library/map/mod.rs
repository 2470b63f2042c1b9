//! Maps: every function against a sorted map and a linear scan.

mod ip_map;
mod model;
mod next_hops;
mod values;
