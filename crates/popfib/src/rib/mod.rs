//! What comes with a [`Rib`]: iterators over its routes.

mod build;
mod change;
mod node;
mod runs;
pub(crate) mod trie;
pub(crate) mod vertex;
mod view;
mod walk;

pub(crate) use build::RibBuilder;
pub(crate) use trie::Rib;
pub(crate) use view::RibView;

pub use walk::Iter;
