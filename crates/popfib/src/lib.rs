//! Poptrie (Asai and Ohara, SIGCOMM 2015): IP longest-prefix match.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod address;
pub mod fib;
pub mod next_hop;
pub mod prefix;
pub mod rib;

pub use address::Address;
pub use fib::{BasicNode, CheckError, CompileError, Fib, LeafvecNode, Node, Options};
pub use next_hop::{Leaf, NextHop};
pub use prefix::{IpPrefix, Prefix, PrefixError};
pub use rib::Rib;
