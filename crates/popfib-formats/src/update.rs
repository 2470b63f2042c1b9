//! What every format of updates yields: routes that come and go, in order ([`UpdateSource`]).
//!
//! A message borrows from its source, as a [`Route`](crate::Route) does: days of a collector's updates are read in the memory of
//! one.

use std::mem;
use std::net::IpAddr;

use popfib::{IpPrefix, Prefix};

use crate::error::ReadError;
use crate::peers::{Peer, PeerFilter, PeerList};
use crate::registry::{self, format_type};

/// One change of one route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update<'a> {
    /// The time, in microseconds since 1970 (UTC), if the source has it.
    pub time: Option<u64>,
    /// The peer that sent it, if the source has it: address and AS number. Without one it is for all peers of the source.
    pub peer: Option<(IpAddr, u32)>,
    /// The prefix; no host bits set.
    pub prefix: IpPrefix,
    /// The identifier of the path, if the peer sends several for a prefix (RFC 7911). A change concerns the path of this peer
    /// and identifier alone.
    pub path_id: Option<u32>,
    /// The attributes of the announced path for [`unpack_path`](crate::bgp::unpack_path), if the source has them.
    pub attributes: Option<&'a [u8]>,
    /// The change.
    pub change: Change<'a>,
}

/// What happens to a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// It leads to this next hop from now on: an address, any name.
    Announce(&'a str),
    /// It is gone.
    Withdraw,
}

/// A change of the state of a peer's session, by the numbers of BGP's states from 1 (Idle) to 6 (Established).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// The time, in microseconds since 1970 (UTC).
    pub time: u64,
    /// The peer: address and AS number.
    pub peer: (IpAddr, u32),
    /// The state before.
    pub old: u16,
    /// The state now.
    pub new: u16,
}

impl Session {
    /// Whether the session is established by it or ends, so that the peer has no routes now.
    pub fn is_reset(&self) -> bool {
        const ESTABLISHED: u16 = 6;
        (self.old == ESTABLISHED) != (self.new == ESTABLISHED)
    }
}

/// What one message of a source says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// A route comes or goes.
    Update(Update<'a>),
    /// A session comes or goes.
    Session(Session),
    /// The line or record is at its end: only if [`UpdateOptions::ends`] asks for it.
    End {
        /// Whether the next one has to be read, and so may have to be waited for.
        may_wait: bool,
    },
}

impl Message<'_> {
    /// Its time, in microseconds since 1970 (UTC), if the source has it.
    pub fn time(&self) -> Option<u64> {
        match self {
            Self::Update(update) => update.time,
            Self::Session(session) => Some(session.time),
            Self::End { .. } => None,
        }
    }
}

/// A stream of updates, in the order of its file.
pub trait UpdateSource: Send {
    /// Goes on to the next message; false at the end.
    ///
    /// # Errors
    /// As [`RouteSource::next_route`](crate::RouteSource::next_route).
    fn advance(&mut self) -> Result<bool, ReadError>;

    /// The message that [`advance`](UpdateSource::advance) has gone to. Before that it has no meaning.
    fn message(&self) -> Message<'_>;

    /// The next update, past changes of sessions; `None` at the end.
    ///
    /// # Errors
    /// As [`advance`](UpdateSource::advance).
    fn next_update(&mut self) -> Result<Option<Update<'_>>, ReadError> {
        loop {
            if !self.advance()? {
                return Ok(None);
            }
            if matches!(self.message(), Message::Update(_)) {
                break;
            }
        }
        match self.message() {
            Message::Update(update) => Ok(Some(update)),
            Message::Session(_) | Message::End { .. } => Ok(None),
        }
    }

    /// How many updates so far were older than one before them. They are handed
    /// out all the same, in their place: routers' clocks and collectors' merges
    /// are no reason to lose a route.
    fn out_of_order(&self) -> u64;

    /// What was left out so far without being an error, for the user: one line each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The peers met so far, each with how many updates of each family it sent.
    fn peers(&self) -> &[Peer] {
        &[]
    }
}

/// How updates are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateOptions {
    /// The file's format; detected by its content if `None`.
    pub format: Option<UpdateFormat>,
    /// Only the updates of these peers; of all if `None`.
    pub peer: Option<PeerFilter>,
    /// Clear host bits instead of treating the line as invalid.
    pub mask: bool,
    /// Hand out a [`Message::End`] after what each line or record says, also if that is nothing. An error ends one, too.
    pub ends: bool,
}

impl Update<'static> {
    /// One that says nothing yet, and whose texts are in its source.
    pub(crate) const EMPTY: Self = Self {
        time: None,
        peer: None,
        prefix: IpPrefix::V4(Prefix::DEFAULT_ROUTE),
        path_id: None,
        attributes: None,
        change: Change::Withdraw,
    };

    /// The whole message, with the texts of an announcement.
    pub(crate) fn message<'a>(
        self,
        next_hop: &'a str,
        attributes: Option<&'a [u8]>,
    ) -> Message<'a> {
        Message::Update(match self.change {
            Change::Announce(_) => Update {
                attributes,
                change: Change::Announce(next_hop),
                ..self
            },
            Change::Withdraw => self,
        })
    }
}

/// What the module of a format declares.
pub(crate) type UpdateEntry = registry::FormatEntry<UpdateOptions, dyn UpdateSource>;

format_type! {
    /// A format of updates, known by its name.
    UpdateFormat: UpdateEntry
}

/// The gate that each update passes: it numbers peers, lets through those that the filter admits, counts what
/// is late, and says where messages end.
#[derive(Debug)]
pub(crate) struct PeerGate {
    filter: Option<PeerFilter>,
    peers: PeerList,
    latest: u64,
    out_of_order: u64,
    /// Whether the end of each message is handed out, whether that of the one at hand has to be, and whether it was, last.
    has_ends: bool,
    is_open: bool,
    is_end: bool,
}

impl PeerGate {
    pub(crate) fn new(options: &UpdateOptions) -> Self {
        Self {
            filter: options.peer,
            peers: PeerList::default(),
            latest: 0,
            out_of_order: 0,
            has_ends: options.ends,
            is_open: false,
            is_end: false,
        }
    }

    /// Begins what a line or record says.
    pub(crate) fn begin(&mut self) {
        self.is_open = true;
    }

    /// Whether the end of what was begun is handed out now, before anything else is read.
    pub(crate) fn end(&mut self) -> bool {
        self.is_end = mem::take(&mut self.is_open) && self.has_ends;
        self.is_end
    }

    /// Whether an end was handed out last.
    pub(crate) fn is_end(&self) -> bool {
        self.is_end
    }

    /// The place of a peer in [`PeerGate::peers`] and whether it is admitted.
    pub(crate) fn peer(&mut self, peer: (IpAddr, u32)) -> Result<(usize, bool), &'static str> {
        self.peers.admit(peer, self.filter)
    }

    /// Whether updates of no known peer are admitted.
    pub(crate) fn admits_anonymous(&self) -> bool {
        self.filter.is_none()
    }

    /// Counts an update that was let through.
    pub(crate) fn count(&mut self, time: Option<u64>, peer: Option<usize>, prefix: IpPrefix) {
        if let Some(time) = time {
            self.out_of_order += u64::from(time < self.latest);
            self.latest = self.latest.max(time);
        }
        if let Some(peer) = peer {
            self.peers.count(peer, matches!(prefix, IpPrefix::V4(_)));
        }
    }

    /// As [`UpdateSource::out_of_order`].
    pub(crate) fn out_of_order(&self) -> u64 {
        self.out_of_order
    }

    /// As [`UpdateSource::peers`].
    pub(crate) fn peers(&self) -> &[Peer] {
        self.peers.all()
    }
}
