//! What tables know of a feed: its connections, their streams, and what events have left to do.
//!
//! Usually a feed has one connection, and a new one replaces it. A router may also have several at a time (FRR has one for each target
//! or VRF). Each of them then has sources of its own, until another one sends the same streams.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use crate::transaction::Stream;

/// Identifies a connection of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionId {
    pub(crate) feed: usize,
    pub(crate) connection: u64,
}

pub(crate) struct Feed {
    pub(crate) name: String,
    /// Whether its routes are wanted; otherwise they are being removed.
    pub(crate) is_followed: bool,
    /// When a stale path of any of its streams was last announced again: a router sends one table after the
    /// other, so a stream may have to wait for its turn.
    pub(crate) confirmed: Instant,
    /// The number of its last connection.
    pub(crate) last: u64,
    /// The connections that have not ended, the oldest first.
    pub(crate) connections: Vec<Connection>,
    /// In an order, so that a walk over them can be interrupted. Nothing here is moved when there are many.
    pub(crate) sources: BTreeMap<Arc<Stream>, u16>,
    /// What its events have left to do, in their order.
    pub(crate) walks: VecDeque<FeedWalk>,
}

pub(crate) struct Connection {
    /// No other connection has this number; later ones have higher numbers.
    pub(crate) number: u64,
    pub(crate) began: Instant,
    /// When it last sent anything.
    pub(crate) heard: Instant,
    /// The source of each of its streams; `None` if it has announced no path yet, or if there are too many sources.
    pub(crate) streams: Vec<Option<u16>>,
}

/// The rest of an event of a feed that concerns many of its sources.
pub(crate) enum FeedWalk {
    /// These are no longer streams of a connection.
    Leave(Vec<Option<u16>>),
    /// Tables of the connection have changed, from this stream on.
    Change { connection: u64, next: usize },
    /// The event has reached all sources up to this one.
    Sources {
        event: SourceEvent,
        after: Option<Arc<Stream>>,
    },
}

/// What happens to each source of a feed.
#[derive(Clone)]
pub(crate) enum SourceEvent {
    /// The connection has begun, beside others: those sources are its that belong to none of them.
    Joined {
        connection: u64,
        others: Arc<[u64]>,
        /// Whether the paths are right, as far as is known.
        is_right: bool,
        at: Instant,
    },
    /// The connection has ended, and the successor comes in its place.
    Ended {
        connection: u64,
        successor: Option<u64>,
        at: Instant,
    },
    /// All paths are gone.
    Lost,
}

impl Feed {
    pub(crate) fn new(name: &str, now: Instant) -> Self {
        Self {
            name: name.to_owned(),
            is_followed: true,
            confirmed: now,
            last: 0,
            connections: Vec::new(),
            sources: BTreeMap::new(),
            walks: VecDeque::new(),
        }
    }

    /// The connection of this number, if it has not ended.
    pub(crate) fn connection(&self, number: u64) -> Option<&Connection> {
        self.connections.iter().find(|c| c.number == number)
    }

    pub(crate) fn connection_mut(&mut self, number: u64) -> Option<&mut Connection> {
        self.connections.iter_mut().find(|c| c.number == number)
    }
}
