//! What can keep a Rib from being compiled, whatever the form.

use core::error::Error;
use core::fmt;

use crate::memory::OutOfMemory;

/// Why a Rib could not be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompileError {
    /// More direct bits than the key or a direct table can have.
    DirectBits {
        /// How many were asked for.
        direct_bits: u8,
        /// The most that is possible for this key.
        max: u8,
    },
    /// The next hop of a route does not fit into a leaf.
    NextHop {
        /// The next hop.
        next_hop: u32,
        /// The highest that the leaf holds.
        max: u32,
    },
    /// The routes need more nodes than their form can number.
    Nodes {
        /// The most nodes possible.
        max: u64,
    },
    /// The routes need more leaves than their form can number.
    Leaves {
        /// The most leaves possible.
        max: u64,
    },
    /// The routes need more words of memory than their form can number.
    Words {
        /// The most words of 32 bits possible.
        max: u64,
    },
    /// More tables than one set can number.
    Tables {
        /// The most tables possible.
        max: u32,
    },
    /// The allocator refused.
    OutOfMemory(OutOfMemory),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DirectBits { direct_bits, max } => {
                write!(
                    f,
                    "direct bits {direct_bits}: at most {max} are possible here"
                )
            }
            Self::NextHop { next_hop, max } => write!(
                f,
                "next hop {next_hop} does not fit: 1 to {max} are possible here"
            ),
            Self::Nodes { max } => write!(f, "the routes need more than {max} nodes"),
            Self::Leaves { max } => write!(f, "the routes need more than {max} leaves"),
            Self::Words { max } => write!(f, "the routes need more than {max} words"),
            Self::Tables { max } => write!(f, "more than {max} tables"),
            Self::OutOfMemory(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl Error for CompileError {}

impl From<OutOfMemory> for CompileError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory(error)
    }
}
