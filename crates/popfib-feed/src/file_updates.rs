//! Updates of every format that `popfib-formats` reads in, transactions out.

use std::collections::HashMap;
use std::net::IpAddr;

use popfib::IpPrefix;
use popfib_formats::updates::Message;
use popfib_formats::{Change, ReadError, UpdateSource};

use crate::shared_targets::SharedTargets;
use crate::transaction::{
    DecodeError, PathChange, Stream, StreamEvent, StreamId, Streams, Transaction,
};

/// Reads messages of an [`UpdateSource`]. Each update is a transaction of the table `main`; each peer is a stream, which goes
/// down when its session ends or begins.
#[derive(Debug, Default)]
pub struct FileUpdates {
    streams: Streams,
    peers: HashMap<Option<(IpAddr, u32)>, StreamId>,
    shared: SharedTargets,
    invalid: Option<(IpPrefix, &'static str)>,
}

/// Why no update could be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum UpdateError {
    /// The file is invalid, perhaps in one line only ([`ReadError::is_invalid_line`]).
    Read(ReadError),
    /// There are too many peers.
    TooManyPeers(DecodeError),
}

impl FileUpdates {
    /// Makes a reader without peers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Clears `to` and reads the next update, or the end or beginning of a session, into it. Returns false at the end.
    ///
    /// # Errors
    /// [`UpdateError`].
    pub fn next(
        &mut self,
        source: &mut dyn UpdateSource,
        to: &mut Transaction,
    ) -> Result<bool, UpdateError> {
        to.clear();
        self.invalid = None;
        let update = loop {
            if !source.advance().map_err(UpdateError::Read)? {
                return Ok(false);
            }
            match source.message() {
                Message::Update(update) => break update,
                Message::Session(session) if session.is_reset() => {
                    let stream = self.stream(Some(session.peer))?;
                    to.event(StreamEvent::Down(stream));
                    return Ok(true);
                }
                Message::Session(_) => {}
            }
        };
        let stream = self.stream(update.peer)?;
        let target = match (update.change, update.attributes) {
            (Change::Withdraw, _) => None,
            (Change::Announce(_), Some(packed)) => match self.shared.packed(packed) {
                Ok(target) => Some(target),
                Err(reason) => {
                    self.invalid = Some((update.prefix, reason));
                    None
                }
            },
            (Change::Announce(name), None) => Some(self.shared.named(name)),
        };
        to.change(PathChange {
            stream,
            prefix: update.prefix,
            path: update.path_id.unwrap_or(0),
            target,
        });
        Ok(true)
    }

    /// The stream of a peer, old or new.
    fn stream(&mut self, peer: Option<(IpAddr, u32)>) -> Result<StreamId, UpdateError> {
        if let Some(&stream) = self.peers.get(&peer) {
            return Ok(stream);
        }
        let name = peer.map(|(address, _)| address.to_string());
        let stream = self
            .streams
            .add("main".to_owned(), name.unwrap_or_default())
            .map_err(UpdateError::TooManyPeers)?;
        self.peers.insert(peer, stream);
        Ok(stream)
    }

    /// The prefix of the last update, and the reason, if its attributes are invalid: then it counts as withdrawn (RFC 7606,
    /// section 2).
    pub fn invalid(&self) -> Option<(IpPrefix, &'static str)> {
        self.invalid
    }

    /// The streams read so far.
    pub fn streams(&self) -> &[Stream] {
        &self.streams.0
    }
}

impl std::fmt::Display for UpdateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::TooManyPeers(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for UpdateError {}
