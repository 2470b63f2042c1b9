//! Why a structure cannot be built from a table, in one line.

use std::error::Error;
use std::fmt;
use std::io;

use popfib::CompileError;

/// A limit of a structure that a table goes beyond.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CannotBuild {
    /// The structure is for IPv4 only.
    KeyWidth {
        /// Bits of the key that was asked for.
        width: u8,
    },
    /// A next hop does not fit into the structure's entries.
    NextHop {
        /// The next hop.
        next_hop: u32,
        /// The highest that fits.
        max: u32,
    },
    /// The routes need more of something than its field can number.
    TooMany {
        /// What there are too many of, in the plural.
        what: &'static str,
        /// The most there can be.
        max: u64,
    },
    /// A Poptrie could not be compiled.
    Compile(CompileError),
    /// The system has not got the memory.
    Memory,
}

impl fmt::Display for CannotBuild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyWidth { width } => {
                write!(f, "keys have {width} bits: this structure is for IPv4 only")
            }
            Self::NextHop { next_hop, max } => {
                write!(f, "next hop {next_hop} does not fit: at most {max}")
            }
            Self::TooMany { what, max } => write!(f, "the routes need more than {max} {what}"),
            Self::Compile(error) => error.fmt(f),
            Self::Memory => f.write_str("out of memory"),
        }
    }
}

impl Error for CannotBuild {}

impl From<CompileError> for CannotBuild {
    fn from(error: CompileError) -> Self {
        Self::Compile(error)
    }
}

impl From<io::Error> for CannotBuild {
    /// The only thing here that the system is asked for is memory.
    fn from(_: io::Error) -> Self {
        Self::Memory
    }
}
