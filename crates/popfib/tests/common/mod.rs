//! What the tests of walks, paths and allocation failure share; each uses its part.

#![allow(dead_code)]

pub(crate) mod failing;
pub(crate) mod model;
pub(crate) mod random;
pub(crate) mod rounds;
#[cfg(target_os = "linux")]
pub(crate) mod system;
