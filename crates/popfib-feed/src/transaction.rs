//! What decoders make of bytes and tables apply: transactions, which are changes of paths that belong together.

use std::mem;

use popfib::IpPrefix;

use crate::target::Target;

/// The routes of one peer for one table, as one connection sends them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stream {
    /// The name of the table.
    pub table: String,
    /// The name of the peer; empty if a connection has only one peer.
    pub peer: String,
}

/// The index of a stream in [`Decoder::streams`](crate::Decoder::streams).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub u32);

impl StreamId {
    /// All streams of the connection that have the name of a peer, in the table of its first stream: to withdraw their paths, after what
    /// takes the place of these.
    pub const PEERS: Self = Self(u32::MAX);
}

/// One change of one path of a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathChange {
    /// The stream that the change belongs to.
    pub stream: StreamId,
    /// The prefix of the path.
    pub prefix: IpPrefix,
    /// Distinguishes the stream's paths of one prefix: a BGP path identifier, a metric of the kernel,
    /// otherwise 0. Of equally good paths, the one with the lower number is used.
    pub path: u32,
    /// The new target; `None` if the path is withdrawn.
    pub target: Option<Target>,
}

/// An event of a whole stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEvent {
    /// Its peer is up.
    Up(StreamId),
    /// Its peer is down, so all of its routes are lost.
    Down(StreamId),
    /// All of its routes of this family have been sent.
    EndOfRib {
        /// The stream.
        stream: StreamId,
        /// Whether the family is IPv6; otherwise it is IPv4.
        is_ipv6: bool,
    },
}

/// The changes of one message or frame, which belong together, and events of streams after them.
#[derive(Debug, Default)]
pub struct Transaction {
    changes: Vec<PathChange>,
    /// Without changes.
    events: Vec<TransactionPart>,
    /// How many of the changes, and of the events, have been taken out.
    taken: [usize; 2],
    /// How many transactions were put together in this one; 0 is one.
    parts: u64,
    has_objects: bool,
    is_begun: bool,
}

/// One of the things that a [`Transaction`] contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TransactionPart {
    Change(PathChange),
    Event(StreamEvent),
    /// All routes of a stream are lost that earlier connections of the feed may have had.
    Lost(Stream),
    /// Whether peers are up and have not sent routes yet.
    Silent(bool),
}

impl Transaction {
    /// Adds a change.
    pub fn change(&mut self, change: PathChange) {
        self.changes.push(change);
    }

    /// Adds an event, which applies after all changes.
    pub fn event(&mut self, event: StreamEvent) {
        self.other_event(TransactionPart::Event(event));
    }

    /// Adds another event, as [`event`](Self::event) does.
    pub(crate) fn other_event(&mut self, event: TransactionPart) {
        self.events.push(event);
    }

    /// Notes that next-hop objects of the connection have changed, and with them the targets of the routes that name them.
    pub fn change_objects(&mut self) {
        self.has_objects = true;
    }

    /// Keeps only the last of several changes of one path: a withdrawal and an announcement become one replacement.
    /// O(changes * log changes).
    pub fn settle(&mut self) {
        if self.changes.len() < 2 {
            return;
        }
        let key = |change: &PathChange| (change.stream, change.prefix, change.path);
        if self.changes.is_sorted_by(|a, b| key(a) < key(b)) {
            return;
        }
        self.changes.sort_by_key(key);
        self.changes.dedup_by(|later, kept| {
            let is_same = key(later) == key(kept);
            if is_same {
                mem::swap(later, kept);
            }
            is_same
        });
    }

    /// The changes.
    pub fn changes(&self) -> &[PathChange] {
        &self.changes
    }

    /// The events.
    pub(crate) fn events(&self) -> &[TransactionPart] {
        &self.events
    }

    /// Whether it has no changes, no events and no changed objects.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.events.is_empty() && !self.has_objects
    }

    /// The number of changes and events.
    pub fn len(&self) -> usize {
        self.changes.len() + self.events.len()
    }

    /// Moves the content of a later transaction to the end of this one. Returns false and does nothing if this one has events, which the
    /// later changes would come before.
    pub fn append(&mut self, later: &mut Self) -> bool {
        if !self.events.is_empty() && !later.changes.is_empty() {
            return false;
        }
        self.parts += later.count();
        self.has_objects |= later.has_objects;
        self.changes.append(&mut later.changes);
        self.events.append(&mut later.events);
        later.clear();
        true
    }

    /// How many transactions were put together.
    pub(crate) fn count(&self) -> u64 {
        self.parts.max(1)
    }

    /// Whether next-hop objects have changed.
    pub(crate) fn has_objects(&self) -> bool {
        self.has_objects
    }

    /// Whether it is taken out for the first time.
    pub(crate) fn begin(&mut self) -> bool {
        !mem::replace(&mut self.is_begun, true)
    }

    /// Takes out the next change, or event after the changes; at the end all are removed.
    pub(crate) fn take(&mut self) -> Option<TransactionPart> {
        let [changes, events] = &mut self.taken;
        if let Some(change) = self.changes.get_mut(*changes) {
            *changes += 1;
            return Some(TransactionPart::Change(PathChange {
                target: change.target.take(),
                ..*change
            }));
        }
        if let Some(event) = self.events.get(*events) {
            *events += 1;
            return Some(event.clone());
        }
        self.clear();
        None
    }

    /// Removes all changes and events.
    pub fn clear(&mut self) {
        self.changes.clear();
        self.events.clear();
        self.taken = [0, 0];
        self.parts = 0;
        self.has_objects = false;
        self.is_begun = false;
    }
}
