//! Several routes for each prefix, of which one is best: [`MultiRib`], the trait of its paths, and the effect of a change on the best
//! of them.

mod link;
mod many;
mod paths;
mod slab;
mod sorted;
mod walk;

pub use link::Path;
pub use paths::{BestChange, MultiRib};
pub use walk::Position;
