//! IP longest-prefix match by Poptrie (Asai and Ohara, SIGCOMM 2015): a full Internet table takes a
//! few MiB, which fit into the CPU's cache.
//!
//! ```
//! use popfib::{IpMap, IpPrefix};
//! use std::net::IpAddr;
//!
//! // Equal values are stored once. In an `IpMap::new()` each route has its own value, of any type, at a third to two
//! // thirds of the lookup rate and up to twice the memory.
//! let mut table = IpMap::shared();
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
//! | prefixes and values of any type, IPv4 and IPv6 | [`IpMap`] |
//! | the same for one family, or for keys of 8 to 128 bits | [`PrefixMap`] |
//! | prefixes without values | [`IpSet`]; for one family [`PrefixSet`] |
//! | a map that changes while other threads look up | [`LiveIpMap`]; for one family [`LiveMap`] |
//! | your own numbers as next hops, always ready for lookups | [`NextHopMap`] |
//! | the same, compiled explicitly | [`Rib`] for the routes, [`Fib`] compiled from it for lookups, [`longest`] for lookups of prefix and next hop |
//! | the same, changing while other threads look up, with your allocator | [`LiveFib`] |
//! | a compiled table as a file, used by many processes | [`Image`], written by [`ImageWriter`] |
//! | prefixes as sets of addresses: union, intersection, difference | [`algebra`] |
//! | a table to make smaller, or two to compare | [`aggregate`], [`diff`], [`intervals`] |
//!
//! # Modules
//!
//! Maps, tables and prefixes are in the crate's root. The other types are in modules:
//!
//! | module | what is there |
//! |---|---|
//! | [`map`] | entries, iterators, and how values are stored ([`Own`](map::Own), [`Shared`](map::Shared)) |
//! | [`live`] | readers of what changes, sweeps |
//! | [`rib`] | iterators of a [`Rib`] |
//! | [`image`] | the tables of an [`Image`], and what is kept in one |
//! | [`family`] | code for both families, written once |
//! | [`longest`] | a Fib that finds prefix and next hop |
//! | [`algebra`], [`aggregate`], [`diff`], [`intervals`] | prefixes and routes computed from others |
//! | [`fold`] | the nodes of a Poptrie, for layouts of your own |
//! | [`memory`] | allocators |
//! | [`fib`], [`kernel`] | errors of checks, and of unknown kernels |
//!
//! Files (MRT, router output, CSV, MaxMind databases, lists) are read by the crate
//! [`popfib-formats`](https://docs.rs/popfib-formats), live routes from routers by
//! [`popfib-feed`](https://docs.rs/popfib-feed). Several paths for a prefix, route origin validation (RFC 6811) and files that are
//! replaced as a whole are in [`popfib-table`](https://docs.rs/popfib-table).
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
pub mod family;
pub mod fib;
mod fib_set;
pub mod fold;
pub mod image;
pub mod intervals;
pub mod kernel;
pub mod live;
pub mod longest;
pub mod map;
pub mod memory;
mod next_hop;
mod patch;
mod prefix;
pub mod rib;
#[cfg(feature = "serde")]
mod serialize;
mod sync;

pub use address::Address;
pub use batch::Kernel;
pub use compile_error::CompileError;
pub use fib::options::Options;
pub use fib::poptrie::Fib;
pub use fib::size::Size;
pub use fib_set::FibSet;
pub use image::error::ImageError;
pub use image::open::Image;
pub use image::write::ImageWriter;
pub use live::live_fib::LiveFib;
pub use live::live_set::LiveFibSet;
pub use live::map::LiveMap;
pub use live::map::ip_map::LiveIpMap;
pub use map::ip_map::IpMap;
pub use map::next_hops::NextHopMap;
pub use map::prefix_map::PrefixMap;
pub use map::set::{IpSet, PrefixSet};
pub use next_hop::NextHop;
pub use prefix::{IpPrefix, Prefix, PrefixError};
pub use rib::trie::Rib;

#[cfg(test)]
#[path = "../tests/common/rounds.rs"]
mod rounds;

// The examples of the two READMEs and of the guides to maps, live tables and many tables are tests.
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
#[cfg(doctest)]
#[doc = include_str!("../../../docs/many-tables.md")]
struct ManyTablesGuide;
