//! What comes with maps and sets of prefixes: entries, iterators, how values are stored, errors of texts.
//!
//! The maps and sets themselves are [`IpMap`](crate::IpMap), [`PrefixMap`], [`IpSet`](crate::IpSet),
//! [`PrefixSet`](crate::PrefixSet) and [`NextHopMap`](crate::NextHopMap).

mod algebra;
pub(crate) mod batch;
pub(crate) mod both;
mod bulk;
pub(crate) mod check;
mod cover;
mod entry;
mod family;
mod follow;
mod free;
pub(crate) mod ip_map;
mod iter;
mod lazy;
mod list_text;
pub(crate) mod next_hops;
pub(crate) mod pairs;
pub(crate) mod prefix_map;
pub(crate) mod set;
mod storage;
mod stores;
mod text_error;
mod traits;
mod value_mut;
mod view;

pub(crate) use prefix_map::PrefixMap;

pub use both::{Both, IpIntoIter, IpIter};
pub use entry::{Entry, OccupiedEntry, VacantEntry};
pub use family::Keyed;
pub use iter::{IntoIter, Iter, IterMut};
pub use storage::{Own, Shared, Storage};
pub use stores::Stores;
pub use text_error::ListTextError;
pub use value_mut::ValueMut;
pub use view::Subtree;
