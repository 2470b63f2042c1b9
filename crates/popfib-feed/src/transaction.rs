//! What decoders hand out: changes of routes that belong together.

use std::{fmt, mem};

use popfib::IpPrefix;

use crate::target::Target;

/// Which table routes belong to, and who says so.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stream {
    /// The table's name.
    pub table: String,
    /// The peer's, empty where a connection has but one.
    pub peer: String,
}

/// A stream's place in [`Decoder::streams`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub u32);

/// One change of one path of a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Who says so, of which table.
    pub stream: StreamId,
    /// Whose path it is.
    pub prefix: IpPrefix,
    /// What tells the stream's paths of one prefix apart: an identifier of BGP, a metric of the kernel's,
    /// else 0. Of equally good paths the lower is taken.
    pub path: u32,
    /// Where it leads from now on; `None` if it is gone.
    pub target: Option<Target>,
}

/// What is said of a stream as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Its peer is there.
    Up(StreamId),
    /// Its peer is lost, and all of its routes.
    Down(StreamId),
    /// All of its routes of this family have been sent.
    EndOfRib {
        /// The stream.
        stream: StreamId,
        /// Whether the family is IPv6, or else IPv4.
        is_ipv6: bool,
    },
}

/// Changes that belong together, then marks: one message or frame.
#[derive(Debug, Default)]
pub struct Transaction {
    changes: Vec<Change>,
    marks: Vec<Mark>,
}

impl Transaction {
    /// Adds a change.
    pub fn change(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// Adds a mark, which comes after all changes.
    pub fn mark(&mut self, mark: Mark) {
        self.marks.push(mark);
    }

    /// Of several changes of one path the last: a withdrawal and an announcement are one replacement.
    /// O(changes * log changes).
    pub fn settle(&mut self) {
        if self.changes.len() < 2 {
            return;
        }
        let key = |change: &Change| (change.stream, change.prefix, change.path);
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
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The marks.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.marks.is_empty()
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.changes.clear();
        self.marks.clear();
    }
}

/// What a connection has brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages of every kind.
    pub messages: u64,
    /// Messages, lines or parts of them that are not as they should be, and were left out.
    pub invalid: u64,
    /// Messages of kinds that have nothing to do with routes here, or that nobody knows.
    pub other: u64,
    /// Routes that name a next-hop object that was not announced before.
    pub unknown_next_hops: u64,
}

/// Why a connection cannot be read on: where messages begin is no longer known, or it asks for too much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw(pub String);

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Flaw {}

/// Bytes of one connection in, transactions out.
pub trait Decoder {
    /// Takes the next bytes, cut anywhere; calls `commit` for each transaction that they complete, settled.
    ///
    /// # Errors
    /// The connection has to be closed; transactions before have been handed out.
    fn push(&mut self, bytes: &[u8], commit: &mut Commit<'_>) -> Result<(), Flaw>;

    /// The streams met so far; the list only grows.
    fn streams(&self) -> &[Stream];

    /// What came so far.
    fn counts(&self) -> Counts;
}

/// Who takes transactions, with the streams that they name.
pub type Commit<'a> = dyn FnMut(&[Stream], &Transaction) + 'a;

/// The most streams of a connection: more are no router's.
const MAX_STREAMS: usize = 8192;

/// Streams in the order in which they were met.
#[derive(Debug, Default)]
pub(crate) struct Streams(pub(crate) Vec<Stream>);

impl Streams {
    /// A new one.
    pub(crate) fn add(&mut self, table: String, peer: String) -> Result<StreamId, Flaw> {
        if self.0.len() == MAX_STREAMS {
            return Err(Flaw(format!("more than {MAX_STREAMS} tables and peers")));
        }
        self.0.push(Stream { table, peer });
        Ok(StreamId(self.0.len() as u32 - 1))
    }
}
