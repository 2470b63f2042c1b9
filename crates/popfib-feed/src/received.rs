//! What every reader of messages has found, counts and leaves out, and why it may end.

use thiserror::Error;

use crate::left_out::LeftOutByReason;
use crate::transaction::{Stream, StreamId, Transaction};

/// A function that receives transactions, with the streams that they refer to. It may take out their content.
pub type Commit<'a> = dyn FnMut(&[Stream], &mut Transaction) + 'a;

/// What a reader of messages has found and counted.
#[derive(Debug, Default)]
pub(crate) struct ReceivedMessages {
    pub(crate) streams: Streams,
    pub(crate) counts: MessageCounts,
    pub(crate) left_out: LeftOutByReason,
}

impl ReceivedMessages {
    /// Counts an invalid message; `about` says what is known about it.
    pub(crate) fn leave_out(
        &mut self,
        reason: &'static str,
        about: impl FnOnce() -> String,
        message: &[u8],
    ) {
        self.counts.invalid += 1;
        self.left_out.add(reason, about, message);
    }
}

/// Counts of what a connection has received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Messages of all kinds.
    pub messages: u64,
    /// Invalid messages, lines or parts of them, which were left out.
    pub invalid: u64,
    /// Messages of unknown kinds, or of kinds that do not affect these routes.
    pub other: u64,
    /// Routes that name a next-hop object that was not announced before.
    pub unknown_next_hops: u64,
}

/// Why a connection cannot be decoded further: it is no longer known where messages begin, or a limit was exceeded. Other invalid
/// messages are left out and counted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct DecodeError(pub String);

/// The maximum number of streams of a connection; no router has more.
pub(crate) const MAX_STREAMS: usize = 8192;

/// Streams in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct Streams(pub(crate) Vec<Stream>);

impl Streams {
    /// Adds a stream.
    pub(crate) fn add(&mut self, table: String, peer: String) -> Result<StreamId, DecodeError> {
        if self.0.len() == MAX_STREAMS {
            return Err(DecodeError(format!(
                "more than {MAX_STREAMS} tables and peers"
            )));
        }
        self.0.push(Stream { table, peer });
        Ok(StreamId(self.0.len() as u32 - 1))
    }
}
