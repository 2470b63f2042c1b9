//! Live routes: tables that follow what routing daemons and routers send.
//!
//! The bytes of a connection are passed to a decoder ([`Fpm`], [`Bmp`], [`Updates`], [`Kernel`]). It returns
//! [`Transaction`]s: changes of routes that belong together, and marks such as the end of a table.
//! [`Tables`] applies them: it keeps every path of every peer, chooses the best path of each prefix, and publishes
//! it to a live table, in which any number of threads look up without waiting. When a connection is lost, its routes stay
//! until the other side has sent its table again; routes that it did not send again are then removed.
//!
//! Decoders and tables do no input or output and have no clock: bytes, addresses and the time come from
//! the caller.

#![forbid(unsafe_code)]

mod best_updates;
mod bmp;
mod buffer;
mod exabgp;
mod feeds;
mod files;
mod fpm;
mod freshness;
mod held;
mod hops;
mod info;
mod journal;
mod kernel;
mod kernel_routes;
mod left_out;
mod netlink;
mod objects;
mod ris;
mod room;
mod rtnetlink;
mod shared;
mod slots;
mod tables;
mod target;
mod text;
mod transaction;
mod view;

pub use best_updates::BestUpdates;
pub use bmp::Bmp;
pub use feeds::FeedId;
pub use files::{FileUpdates, UpdateError};
pub use fpm::Fpm;
pub use hops::{Hop, Hops};
pub use info::{Dropped, Limits, PathOf, Routes, TableInfo, Totals};
pub use journal::BestChange;
pub use kernel::{Kernel, Next};
pub use left_out::LeftOut;
pub use room::Room;
pub use tables::Tables;
pub use tables::publication::Publication;
pub use tables::queries::PathsQuery;
pub use tables::snapshot::{Snapshot, SnapshotError};
pub use tables::sweep::Swept;
pub use target::{Place, Target};
pub use text::Updates;
pub use transaction::{Change, Commit, Counts, Decoder, Flaw, Mark, Stream, StreamId, Transaction};
pub use view::View;
