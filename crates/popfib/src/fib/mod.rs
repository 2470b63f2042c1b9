//! What comes with a [`Fib`]: its words, and the error of a check that found it broken.

pub(crate) mod arena;
pub(crate) mod arrays;
pub(crate) mod block;
pub(crate) mod check;
pub(crate) mod compile;
pub(crate) mod encode;
pub(crate) mod flat;
pub(crate) mod flat_block;
pub(crate) mod index;
pub(crate) mod layout;
pub(crate) mod lookup;
pub(crate) mod options;
pub(crate) mod poptrie;
pub(crate) mod route_block;
pub(crate) mod size;
pub(crate) mod words;

pub(crate) use options::Options;
pub(crate) use poptrie::Fib;
pub(crate) use size::Size;

pub use check::CheckError;
pub use words::FibWords;
