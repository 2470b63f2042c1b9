//! What can go wrong when a table is written: one line for the user, with the prefix of the route if it is about one.

use std::error::Error;
use std::fmt;
use std::io;

use popfib::IpPrefix;

use crate::error::{escape, quote};

/// Why a table could not be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The file or stream does not take it.
    Io(io::Error),
    /// The form cannot be written with these options, or not of this table.
    Form(String),
    /// The form cannot hold the next hop of a route.
    NextHop {
        /// The route's prefix.
        prefix: IpPrefix,
        /// Its next hop.
        next_hop: String,
        /// What is wrong with that.
        reason: &'static str,
    },
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Other libraries' messages promise nothing about their characters.
            Self::Io(error) => escape(&error.to_string(), f),
            Self::Form(reason) => f.write_str(reason),
            Self::NextHop {
                prefix,
                next_hop,
                reason,
            } => write!(f, "{prefix} {}: {reason}", quote(next_hop.as_bytes())),
        }
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Form(_) | Self::NextHop { .. } => None,
        }
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
