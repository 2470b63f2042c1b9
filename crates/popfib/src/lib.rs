//! IP longest-prefix match by Poptrie (Asai and Ohara, SIGCOMM 2015): a full Internet table takes a
//! few MiB, which fit into the CPU's cache.
//!
//! ```
//! use popfib::{IpPrefix, Table};
//! use std::net::IpAddr;
//!
//! // Equal values are stored once. In a `Table::new()` each route has its own value, of any type, at a third to two
//! // thirds of the lookup rate and up to twice the memory.
//! let mut table = Table::shared();
//! table.insert("10.0.0.0/8".parse::<IpPrefix>()?, "private");
//! table.insert("10.1.0.0/16".parse::<IpPrefix>()?, "lab");
//!
//! let address: IpAddr = "10.1.2.3".parse()?;
//! assert_eq!(table.lookup(address), Some(&"lab"));
//! let (prefix, value) = table.longest_match(address).unwrap();
//! assert_eq!((prefix.to_string().as_str(), *value), ("10.1.0.0/16", "lab"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which type for what
//!
//! | you have | use |
//! |---|---|
//! | prefixes and values of any type, IPv4 and IPv6 | [`Table`] |
//! | the same for one family, or for keys of 8 to 128 bits | [`PrefixMap`] |
//! | prefixes without values | [`IpSet`]; for one family [`PrefixSet`] |
//! | a table that changes while other threads look up | [`LiveTable`], read through a [`TableReader`]; for one family [`LiveMap`] |
//! | next-hop groups (ECMP) that change for all their routes at once | [`LiveGroups`] |
//! | your own numbers as next hops, always ready for lookups | [`NextHopMap`] |
//! | the same, compiled explicitly | [`Rib`] for the routes, [`Fib`] compiled from it for lookups, [`LongestFib`] for lookups of prefix and next hop |
//! | the same, changing while other threads look up, with your allocator | [`LiveFib`], read through a [`Reader`] |
//! | a compiled table as a file, used by many processes | [`Image`], written by [`ImageWriter`] |
//! | several routes for a prefix, the best of which is used | [`MultiRib`] |
//! | prefixes as sets of addresses: union, intersection, difference | [`algebra`] |
//! | a table to make smaller, or two to compare | [`aggregate`], [`diff`], [`Intervals`] |
//! | routes to validate against the RPKI (RFC 6811) | [`Vrps`] |
//!
//! Files (MRT, router output, CSV, MaxMind databases, lists) are read by the crate
//! [`popfib-formats`](https://docs.rs/popfib-formats), live routes from routers by
//! [`popfib-feed`](https://docs.rs/popfib-feed).
//!
//! All are generic over the key: `u32` for IPv4, `u128` for IPv6, and `u8`, `u16` and `u64` for
//! other keys with prefixes ([`Address`]). Names follow the paper.
//!
//! # Features
//! * `std` (default): kernels and population counts are chosen at run time. Without it the library
//!   needs only `alloc`, and uses the instructions of the build target.
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
mod cpu;
pub mod diff;
mod family;
mod fib;
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
pub use family::{ByFamily, Family, PerFamily};
pub use fib::{CheckError, Fib, MAX_DIRECT_BITS, Options, Size};
pub use image::{Image, ImageError, ImageFamily, ImageTable, ImageWriter, Keep, Source};
pub use intervals::{Interval, Intervals};
pub use live::{Guard, LiveBytes, LiveFib, Reader};
pub use longest::LongestFib;
pub use map::{
    Both, Entry, Group, GroupError, GroupGuard, GroupReader, IntoIter, IpSet, Iter, IterMut, Keyed,
    Keys, ListTextError, LiveGroups, LiveMap, LiveTable, MapGuard, MapReader, NextHopMap,
    OccupiedEntry, Own, PrefixMap, PrefixSet, RouteTextError, Shared, Storage, Stores, Subtree,
    Sweep, Table, TableGuard, TableIntoIter, TableIter, TableReader, TableSweep, VacantEntry,
    ValueMut, Values,
};
pub use memory::{AllocError, Allocator, Global, OutOfMemory};
pub use multi_rib::{BestChange, MultiRib, Path, Position};
#[cfg(feature = "std")]
pub use new_file::NewFile;
pub use next_hop::{Leaf, NextHop};
pub use origin::{Validity, Vrp, VrpError, Vrps};
pub use patch::{Changes, Replaced};
pub use prefix::{IpPrefix, Prefix, PrefixError};
pub use rib::{ByLength, Iter as RibIter, Range as RibRange, Rib, Supernets};

#[cfg(test)]
#[path = "../tests/common/rounds.rs"]
mod rounds;

// The examples of the two READMEs and of the guides to maps and live tables are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct CrateReadme;
#[cfg(doctest)]
#[doc = include_str!("../../../docs/maps.md")]
struct MapsGuide;
#[cfg(doctest)]
#[doc = include_str!("../../../docs/live.md")]
struct LiveGuide;
