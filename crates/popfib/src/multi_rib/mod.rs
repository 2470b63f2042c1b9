//! What comes with a [`MultiRib`](crate::MultiRib), several routes for each prefix: the trait of its paths, and the effect of a
//! change on the best of them.

mod many;
pub(crate) mod paths;
mod sorted;
mod walk;

pub use paths::{BestChange, Path};
pub use walk::Position;
