//! What comes with a [`Rib`]: iterators over its routes.

mod build;
mod by_length;
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

pub use by_length::ByLength;
pub use walk::{Iter, Range, Supernets};
