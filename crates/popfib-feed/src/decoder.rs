//! The bytes of a connection in, transactions out, whichever protocol a router speaks.

use std::sync::Arc;

use crate::bmp::{self, BmpReader};
use crate::fpm;
use crate::left_out::LeftOutMessages;
use crate::memory_budget::MemoryBudget;
use crate::message_buffer::MessageBuffer;
use crate::received::{Commit, DecodeError, MessageCounts, ReceivedMessages};
use crate::rtnetlink::RouteMessages;
use crate::transaction::{Stream, Transaction};

/// Converts the bytes of one connection to transactions.
#[derive(Debug)]
pub struct Decoder {
    buffer: MessageBuffer,
    reader: ProtocolReader,
    transaction: Transaction,
}

#[derive(Debug)]
enum ProtocolReader {
    Fpm(RouteMessages),
    Bmp(BmpReader),
}

impl Decoder {
    /// Decodes FPM. Its next-hop objects and unfinished messages draw from the memory budget of the [tables](crate::Tables::memory_budget).
    pub fn fpm(budget: &Arc<MemoryBudget>) -> Self {
        Self::of(budget, ProtocolReader::Fpm(RouteMessages::new(budget)))
    }

    /// Decodes BMP, whose peers and unfinished messages draw from the same.
    pub fn bmp(budget: &Arc<MemoryBudget>) -> Self {
        Self::of(budget, ProtocolReader::Bmp(BmpReader::new(budget)))
    }

    fn of(budget: &Arc<MemoryBudget>, reader: ProtocolReader) -> Self {
        Self {
            buffer: MessageBuffer::within(budget),
            reader,
            transaction: Transaction::default(),
        }
    }

    /// Decodes the next bytes, which may end anywhere. Calls `commit` for each transaction that they complete, after
    /// [settling](Transaction::settle) it.
    ///
    /// # Errors
    /// The connection has to be closed. `commit` was called for the transactions before the error.
    pub fn push(&mut self, bytes: &[u8], commit: &mut Commit<'_>) -> Result<(), DecodeError> {
        let Self {
            buffer,
            reader,
            transaction,
        } = self;
        let (head, length): (_, fn(&[u8]) -> _) = match reader {
            ProtocolReader::Fpm(_) => (fpm::HEADER, fpm::length),
            ProtocolReader::Bmp(_) => (bmp::HEADER, bmp::length),
        };
        buffer.push(bytes, head, length, |message| {
            transaction.clear();
            let received = match reader {
                ProtocolReader::Fpm(routes) => {
                    fpm::read(routes, message, transaction)?;
                    &routes.received
                }
                ProtocolReader::Bmp(reader) => {
                    reader.message(message, transaction)?;
                    &reader.received
                }
            };
            if !transaction.is_empty() {
                transaction.settle();
                commit(&received.streams.0, transaction);
            }
            Ok(())
        })
    }

    /// Whether the beginning of a message has arrived, and not its end: the other side must not leave it at that.
    pub fn is_begun(&self) -> bool {
        self.buffer.is_begun()
    }

    fn received(&self) -> &ReceivedMessages {
        match &self.reader {
            ProtocolReader::Fpm(routes) => &routes.received,
            ProtocolReader::Bmp(reader) => &reader.received,
        }
    }

    /// The streams found so far; the list only grows.
    pub fn streams(&self) -> &[Stream] {
        &self.received().streams.0
    }

    /// Counts of what was received so far.
    pub fn counts(&self) -> MessageCounts {
        self.received().counts
    }

    /// The messages that were left out so far, by reason.
    pub fn left_out(&self) -> &[LeftOutMessages] {
        self.received().left_out.all()
    }
}
