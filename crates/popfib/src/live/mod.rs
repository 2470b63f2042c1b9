//! What comes with tables and maps that change while other threads look up: readers and their guards, sweeps, figures
//! of memory and changes.
//!
//! The tables and maps themselves are [`LiveIpMap`](crate::LiveIpMap), [`LiveMap`](crate::LiveMap) and
//! [`LiveFib`]. Each is its own only writer and hands out readers, one for each thread.

#[cfg(all(test, loom))]
mod model;
#[cfg(test)]
mod tests;

mod epochs;
mod home;
mod limbo;
pub(crate) mod live_fib;
pub(crate) mod live_set;
pub(crate) mod map;
mod membarrier;
mod mirror;
mod reader;
mod seat;
mod set_reader;
mod shared;

pub(crate) use epochs::Epochs;
pub(crate) use limbo::Limbo;
pub(crate) use live_fib::{LiveFib, last_of_each};

pub use live_fib::LiveBytes;
pub use map::{IpMapGuard, IpMapReader, IpMapSweep, MapGuard, MapReader, Sweep};
pub use mirror::Mirror;
pub use reader::{Guard, Reader};
pub use set_reader::{FibSetGuard, FibSetReader};
