//! What tables are asked to do, and what they say of themselves.

use std::time::Duration;

use popfib::Prefix;

use crate::target::Target;

/// Prefixes and where they lead.
pub type Routes<A> = Vec<(Prefix<A>, Target)>;

/// What tables may grow to, and how long they wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// After a reconnection, how long after the last route that was announced again the others leave.
    pub idle: Duration,
    /// The most paths of all tables together; what is announced beyond is refused and counted.
    pub max_paths: usize,
    /// The most paths of one peer in one table; one that announces more is dropped.
    pub max_peer_paths: usize,
    /// The most heap bytes of tables, lookups and where routes lead; what is announced beyond is refused and counted.
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

/// What has happened to all tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Transactions applied.
    pub transactions: u64,
    /// Paths announced.
    pub announced: u64,
    /// Paths withdrawn; those of no path count, too.
    pub withdrawn: u64,
    /// Paths that left because they were not announced again, or with their peer.
    pub swept: u64,
    /// Announcements refused: more paths, more bytes or more sources than there may be, or of a peer that is dropped.
    pub refused: u64,
    /// Peers dropped, for want of an end of their paths.
    pub dropped: u64,
    /// Changes that readers do not see, for want of memory or of numbers.
    pub failed: u64,
    /// Connections.
    pub connections: u64,
    /// Feeds that are connected now.
    pub connected: usize,
    /// Paths there are.
    pub paths: usize,
    /// Paths that a feed had not announced again since it reconnected, or is rid of, at the last tick.
    pub older: usize,
}

/// A peer that has announced more paths than it may: they leave, and what it announces is refused until it comes
/// up again or its feed connects again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The feed it comes from.
    pub feed: String,
    /// The peer, empty if the feed has but one.
    pub peer: String,
    /// The table.
    pub table: String,
}

/// A table as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// Its name.
    pub name: String,
    /// Prefixes of IPv4 and of IPv6.
    pub prefixes: [usize; 2],
    /// Paths of IPv4 and of IPv6.
    pub paths: [usize; 2],
}

/// One of the paths of a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathOf {
    /// The feed it comes from.
    pub feed: String,
    /// The peer, empty if the feed has but one.
    pub peer: String,
    /// Its identifier.
    pub id: u32,
    /// Whether the feed has not announced it again since it has reconnected.
    pub is_older: bool,
    /// Where it leads.
    pub target: Target,
}
