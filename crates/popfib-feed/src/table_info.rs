//! What goes into and comes out of tables besides routes: their limits, counts, sizes, and the paths of a prefix, as plain values.

use std::time::Duration;

use popfib::Prefix;
use serde::Serialize;

use crate::target::Target;

/// Prefixes of one family and the targets of their best paths, in prefix order.
pub type BestRoutes<A> = Vec<(Prefix<A>, Target)>;

/// Limits of the size of tables, and how long they wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// After a reconnection, routes that were not announced again are removed this long after the last one that was.
    pub idle: Duration,
    /// The maximum number of paths in all tables; more are refused and counted.
    pub max_paths: usize,
    /// The maximum number of paths of one peer in one table; a peer that announces more is dropped.
    pub max_peer_paths: usize,
    /// The maximum number of heap bytes of tables, lookup structures and targets; more paths are refused and counted.
    pub max_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(120),
            max_paths: 64_000_000,
            max_peer_paths: 5_000_000,
            max_bytes: usize::MAX,
        }
    }
}

/// Counts of all tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Transactions applied.
    pub transactions: u64,
    /// Paths announced.
    pub announced: u64,
    /// Paths withdrawn; withdrawals of paths that do not exist count, too.
    pub withdrawn: u64,
    /// Paths that were removed because they were not announced again, or because their peer was lost.
    pub swept: u64,
    /// Announcements that were refused, because a limit of paths, bytes or sources was reached or the peer is dropped.
    pub refused: u64,
    /// Peers that were dropped because they announced too many paths.
    pub dropped: u64,
    /// Changes that readers do not see, because there was no memory or no number left.
    pub failed: u64,
    /// Connections so far.
    pub connections: u64,
    /// Feeds that are connected now.
    pub connected: usize,
    /// Paths in all tables now.
    pub paths: usize,
    /// Stale paths at the last tick: those that a feed has not announced again since it reconnected, or that will be removed.
    pub older: usize,
}

/// Whose paths are removed because of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DroppedPaths {
    /// A peer that has announced more paths than allowed. Its announcements are refused until it comes
    /// up again or its feed connects again.
    Peer {
        /// The name of its feed.
        feed: String,
        /// The peer; empty if the feed has only one.
        peer: String,
        /// The table.
        table: String,
    },
    /// The feed of this name, which has been away for the longest time: the places of its peers are needed for others.
    Feed(String),
}

/// The name and the size of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// Its name.
    pub name: String,
    /// The number of IPv4 prefixes, and of IPv6 prefixes.
    pub prefixes: [usize; 2],
    /// The number of IPv4 paths, and of IPv6 paths.
    pub paths: [usize; 2],
}

/// One of the paths of a prefix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathInfo {
    /// The name of its feed.
    pub feed: String,
    /// The peer; empty if the feed has only one.
    pub peer: String,
    /// The path identifier.
    #[serde(rename = "path_id")]
    pub id: u32,
    /// Whether the path is stale: the feed has not announced it again since it reconnected.
    #[serde(rename = "stale")]
    pub is_older: bool,
    /// The target of the path.
    #[serde(rename = "next_hop")]
    pub target: Target,
}
