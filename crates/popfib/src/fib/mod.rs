//! What comes with a [`Fib`]: its words, and the error of a check that found it broken.

pub(crate) mod arena;
pub(crate) mod block;
pub(crate) mod check;
pub(crate) mod compile;
pub(crate) mod encode;
pub(crate) mod flat;
pub(crate) mod flat_block;
pub(crate) mod index;
pub(crate) mod layout;
pub(crate) mod lookup;
pub(crate) mod poptrie;
pub(crate) mod size;
pub(crate) mod words;

pub(crate) use poptrie::{Fib, Options};
pub(crate) use size::Size;

pub use check::CheckError;
pub use words::FibWords;
