//! Live routes: tables that follow what routing daemons and routers send.
//!
//! The bytes of a connection go into a [`Decoder`] of FPM (FRR) or BMP (routers), or a [`KernelReader`] (Linux); [`files::FileUpdates`] reads files and pipes of updates. [`Transaction`]s come out: changes of paths that
//! belong together, and events such as the end of a table.
//! [`Tables`] applies them. It keeps every path of every peer, chooses the best path of each prefix, and publishes it to a live map,
//! in which any number of threads look up without waiting ([`TableView`]). When a connection is lost, its routes stay until the other
//! side has sent its table again; routes that it did not send again are then removed.
//!
//! Decoders and tables do no input or output and have no clock: bytes, addresses and the time come from the caller. So tests drive them
//! through any order of events, and the caller chooses threads and sockets.

#![forbid(unsafe_code)]

mod best_path_updates;
mod bmp;
mod decoder;
mod family_paths;
mod feed_slots;
mod feeds;
mod file_updates;
mod fpm;
mod freshness;
mod journal;
mod kernel;
mod kernel_routes;
mod left_out;
mod memory_budget;
mod message_buffer;
mod netlink;
mod netlink_hops;
mod next_hop_objects;
mod received;
mod rtnetlink;
mod table_info;
mod table_view;
mod tables;
mod target;
mod target_book;
mod transaction;

pub use decoder::Decoder;
pub use feeds::ConnectionId;
pub use journal::BestPathChange;
pub use kernel::{KernelReader, KernelStep};
pub use memory_budget::{BudgetShare, MemoryBudget};
pub use received::{Commit, DecodeError};
pub use table_info::{BestRoutes, Limits};
pub use table_view::{TableMirror, TableView, WatchedView};
pub use tables::Tables;
pub use tables::publication::Publication;
pub use tables::queries::DEFAULT_TABLES;
pub use target::Target;
pub use transaction::{PathChange, Stream, StreamEvent, StreamId, Transaction};

/// Updates of files that `popfib-formats` opens, as transactions or as changes of best paths.
pub mod files {
    pub use crate::best_path_updates::BestPathUpdates;
    pub use crate::file_updates::{FileUpdates, UpdateError};
}

/// Figures of [`Tables`] and decoders: sizes, counts, the paths of a prefix, what was dropped or left out.
pub mod info {
    pub use crate::left_out::LeftOutMessages;
    pub use crate::received::MessageCounts;
    pub use crate::table_info::{DroppedPaths, PathInfo, TableInfo, Totals};
    pub use crate::tables::queries::PathsQuery;
    pub use crate::tables::sweep::SweepResult;
}

/// Files of all paths, from which [`Tables`] are restored after a restart.
pub mod snapshot {
    pub use crate::tables::snapshot::{Snapshot, SnapshotError};
}

/// What is inside a [`Target`], and what keeps its number.
pub mod targets {
    pub use crate::netlink_hops::{NetlinkHop, NetlinkHops};
    pub use crate::target::ReservedTarget;
}
