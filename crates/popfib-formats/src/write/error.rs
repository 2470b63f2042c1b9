//! What can go wrong when a table is written: one line for the user, with the prefix of the route if it is about one.

use std::io;

use popfib::IpPrefix;
use thiserror::Error;

use crate::error::{Escaped, quote};

/// Why a table could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The file or stream does not take it.
    // Other libraries' messages promise nothing about their characters.
    #[error("{}", Escaped(&.0.to_string()))]
    Io(#[from] io::Error),
    /// The form cannot be written with these options, or not of this table.
    #[error("{0}")]
    Form(String),
    /// The form cannot hold the next hop of a route.
    #[error("{prefix} {}: {reason}", quote(.next_hop))]
    NextHop {
        /// The route's prefix.
        prefix: IpPrefix,
        /// Its next hop.
        next_hop: String,
        /// What is wrong with that.
        reason: &'static str,
    },
}
