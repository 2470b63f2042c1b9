//! What is measured, and against what: shared by `popfib bench` and the
//! comparison with other implementations, so that both mean the same.
//!
//! [`Traffic`] makes the addresses of a pass from a seed; [`Buffer`] holds them
//! on huge pages; [`modes`] takes the time of a lookup in three ways,
//! [`measure`] times passes in turn with the [`Yardstick`], on the core that
//! [`pin`] names. [`skewed_next_hops`] gives a table of bare prefixes the next
//! hops of a router, and [`datasets`] makes whole tables.

pub mod datasets;
mod depths;
mod latencies;
mod measure;
mod modes;
mod next_hops;
mod pin;
mod random;
mod traffic;
mod yardstick;
mod zipf;

pub use depths::{DepthMap, Depths};
pub use latencies::Latencies;
pub use measure::{Passes, Spread, measure};
pub use modes::{Modes, modes};
pub use next_hops::skewed_next_hops;
pub use pin::{cores, pin};
pub use popfib_baselines::Buffer;
pub use random::Random;
pub use traffic::{Traffic, Traveller, generate};
pub use yardstick::Yardstick;

/// Results of a router's burst: lookups are measured into a buffer of this
/// length that is written over and over.
pub const BURST: usize = 256;
