//! Updates of every format that `popfib-formats` reads in, transactions out.

use std::collections::HashMap;
use std::net::IpAddr;

use popfib::IpPrefix;
use popfib_formats::updates::Message;
use popfib_formats::{Change, Input, ReadError, Update, UpdateOptions, UpdateSource, open_updates};
use thiserror::Error;

use crate::received::{DecodeError, MessageCounts, Streams};
use crate::target::Target;
use crate::transaction::{PathChange, Stream, StreamEvent, StreamId, Transaction};

/// Reads a file or pipe of updates. What a line or record says is a transaction of the table `main`; each peer is a stream, which goes
/// down when its session ends or begins.
pub struct FileUpdates {
    source: Box<dyn UpdateSource>,
    peers: FilePeers,
    counts: MessageCounts,
    may_wait: bool,
}

/// What is known of the peers, and of the line or record at hand.
#[derive(Default)]
struct FilePeers {
    streams: Streams,
    known: HashMap<Option<(IpAddr, u32)>, StreamId>,
    /// That of the last update: successive ones are often of one peer.
    last: Option<(Option<(IpAddr, u32)>, StreamId)>,
    /// Whether one has a name.
    is_any_named: bool,
    invalid: Option<(IpPrefix, &'static str)>,
}

/// Why no update could be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// The file is invalid, perhaps in one line only ([`ReadError::is_invalid_line`]).
    #[error("{0}")]
    Read(ReadError),
    /// There are too many peers.
    #[error("{0}")]
    TooManyPeers(DecodeError),
}

impl FileUpdates {
    /// Opens the updates of a file: see [`open_updates`].
    ///
    /// # Errors
    /// Those of [`open_updates`].
    pub fn open(input: Input, options: &UpdateOptions) -> Result<Self, ReadError> {
        let options = UpdateOptions {
            ends: true,
            ..*options
        };
        Ok(Self {
            source: open_updates(input, &options)?,
            peers: FilePeers::default(),
            counts: MessageCounts::default(),
            may_wait: false,
        })
    }

    /// Clears `to` and reads into it what the next line or record says; that may be nothing. Returns false at the end.
    ///
    /// # Errors
    /// [`UpdateError`]; `to` has no meaning then.
    pub fn next(&mut self, to: &mut Transaction) -> Result<bool, UpdateError> {
        to.clear();
        self.peers.invalid = None;
        loop {
            match self.source.advance() {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => {
                    self.counts.messages += 1;
                    self.counts.invalid += 1;
                    self.may_wait = true;
                    return Err(UpdateError::Read(error));
                }
            }
            let peers = &mut self.peers;
            match self.source.message() {
                Message::Update(update) => {
                    let is_valid = peers.change(&update, to)?;
                    self.counts.invalid += u64::from(!is_valid);
                }
                Message::Session(session) if session.is_reset() => {
                    let stream = peers.stream(Some(session.peer))?;
                    to.event(StreamEvent::Down(stream));
                }
                Message::Session(_) => {}
                Message::End { may_wait } => {
                    self.may_wait = may_wait;
                    self.counts.messages += 1;
                    self.counts.other += u64::from(to.is_empty());
                    return Ok(true);
                }
            }
        }
    }

    /// Whether [`next`](Self::next) may have to wait for what comes after the last transaction.
    pub fn may_wait(&self) -> bool {
        self.may_wait
    }

    /// A prefix of the last transaction, and the reason, if its attributes are invalid: then it counts as withdrawn (RFC 7606,
    /// section 2).
    pub fn invalid(&self) -> Option<(IpPrefix, &'static str)> {
        self.peers.invalid
    }

    /// The streams read so far.
    pub fn streams(&self) -> &[Stream] {
        &self.peers.streams.0
    }

    /// Counts of what was read so far.
    pub fn counts(&self) -> MessageCounts {
        self.counts
    }

    /// What was left out so far without being invalid, for the user: a line for each kind.
    pub fn notes(&self) -> Vec<String> {
        self.source.notes()
    }
}

impl FilePeers {
    /// Adds an update to a transaction; false if its attributes are invalid.
    fn change(&mut self, update: &Update<'_>, to: &mut Transaction) -> Result<bool, UpdateError> {
        let stream = self.stream(update.peer)?;
        let target = match (update.change, update.attributes) {
            (Change::Withdraw, _) => Ok(None),
            (Change::Announce(_), Some(packed)) => Target::path(packed).map(Some),
            (Change::Announce(name), None) => Ok(Some(Target::name(name))),
        };
        if let Err(reason) = target {
            self.invalid = Some((update.prefix, reason));
        }
        let is_valid = target.is_ok();
        let change = PathChange {
            stream,
            prefix: update.prefix,
            path: update.path_id.unwrap_or(0),
            target: target.unwrap_or_default(),
        };
        let is_for_all = update.peer.is_none() && self.is_any_named;
        let replaced = is_for_all.then(|| PathChange {
            stream: StreamId::PEERS,
            target: None,
            ..change
        });
        to.change(change);
        if let Some(replaced) = replaced {
            to.change(replaced);
        }
        Ok(is_valid)
    }

    /// The stream of a peer, old or new.
    fn stream(&mut self, peer: Option<(IpAddr, u32)>) -> Result<StreamId, UpdateError> {
        if let Some((last, stream)) = self.last
            && last == peer
        {
            return Ok(stream);
        }
        if let Some(&stream) = self.known.get(&peer) {
            self.last = Some((peer, stream));
            return Ok(stream);
        }
        let name = peer.map(|(address, _)| address.to_string());
        let stream = self
            .streams
            .add("main".to_owned(), name.unwrap_or_default())
            .map_err(UpdateError::TooManyPeers)?;
        self.known.insert(peer, stream);
        self.is_any_named |= peer.is_some();
        Ok(stream)
    }
}
