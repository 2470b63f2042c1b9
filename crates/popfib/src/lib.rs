//! Poptrie (Asai and Ohara, SIGCOMM 2015): IP longest-prefix match from a few
//! MiB that stay in the CPU's cache.
//!
//! Four types, from the whole to the parts:
//!
//! * [`Table`]: a map of both families, values of any type, always fast;
//!   [`PrefixMap`] is that of one family, [`PrefixSet`] and [`IpSet`] hold
//!   prefixes alone. This is what most programs want.
//! * [`LiveTable`]: the same while other threads look up: one writer, and readers who never
//!   wait. [`LiveGroups`] are next-hop groups that change for all their routes at once,
//!   [`LiveFib`] is a table of next-hop numbers with the caller's allocator.
//! * [`Rib`]: the routes of one family, prefix to next hop, changed one by one,
//!   walked in order, asked for exact and longest matches.
//! * [`Fib`]: the Poptrie compiled from a Rib; it answers
//!   [`lookup`](Fib::lookup) and [`lookup_batch`](Fib::lookup_batch) with the
//!   next hop only, an order of magnitude faster.
//!
//! Beside them [`MultiRib`] keeps several routes for one prefix and knows the
//! best.
//!
//! Over Ribs work [`aggregate`] (fewer routes, the same answers), [`diff`] (what
//! two of them differ in) and [`Intervals`] (all answers, in order).
//!
//! [`algebra`] is union, intersection, difference and complement of prefixes as sets of addresses,
//! and [`Vrps`] validates the origins of routes (RFC 6811).
//!
//! All are generic over the key: `u32` for IPv4, `u128` for IPv6, `u8`, `u16`
//! and `u64` for anything else that has prefixes ([`Address`]). The words are
//! the paper's, so that paper and code read side by side.
//!
//! # Features
//! * `std` (default): kernels and population counts chosen at run time. Without
//!   it the library needs `alloc` only, and uses the instructions that the
//!   build targets.
//! * `ipnet`: conversions from and to the prefix types of the crate `ipnet`.
//! * `serde`: prefixes, maps and sets in the formats of the crate `serde`: prefixes as text where
//!   people read it, maps as sequences of (prefix, value).

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod address;
pub mod aggregate;
pub mod algebra;
mod batch;
mod compile_error;
pub mod diff;
mod fib;
// For crates of this project, which lay out the same nodes in other forms: no promise to others.
#[doc(hidden)]
pub mod fold;
mod image;
mod intervals;
mod live;
mod longest;
mod map;
mod memory;
mod multi_rib;
#[cfg(feature = "std")]
mod new_file;
mod next_hop;
mod origin;
mod patch;
mod prefix;
mod rib;
#[cfg(feature = "serde")]
mod serialize;
mod slab;
mod sync;

pub use address::Address;
pub use batch::{Kernel, KernelError};
pub use compile_error::CompileError;
pub use fib::{CheckError, Fib, MAX_DIRECT_BITS, Options};
pub use image::{Image, ImageError, ImageTable, ImageWriter};
pub use intervals::{Interval, Intervals};
pub use live::{Guard, LiveBytes, LiveFib, Reader};
pub use longest::LongestFib;
pub use map::{
    Both, Entry, Group, GroupError, GroupGuard, GroupReader, IntoIter, IpSet, Iter, IterMut, Keyed,
    Keys, LiveGroups, LiveMap, LiveTable, MapGuard, MapReader, OccupiedEntry, Own, PrefixMap,
    PrefixSet, RouteTextError, Shared, Storage, Stores, Subtree, Sweep, Table, TableGuard,
    TableIntoIter, TableIter, TableReader, TableSweep, VacantEntry, ValueMut, Values,
};
pub use memory::{AllocError, Allocator, Global, OutOfMemory};
pub use multi_rib::{BestChange, MultiRib, Path};
// For crates of this project, whose files are written as images are: tables have nothing to do with it.
#[cfg(feature = "std")]
#[doc(hidden)]
pub use new_file::NewFile;
pub use next_hop::{Leaf, NextHop};
pub use origin::{Validity, Vrp, VrpError, Vrps};
pub use patch::{Changes, Replaced};
pub use prefix::{IpPrefix, Prefix, PrefixError};
pub use rib::{ByLength, Iter as RibIter, Range as RibRange, Rib, Supernets};
// What `fold` works on.
#[doc(hidden)]
pub use rib::Vertex;

// The README's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
