//! The bytes of an FPM connection in, transactions out. By FPM, FRR's zebra sends its routes to a forwarding process. A frame has a
//! header of 4 bytes (version 1, type 1 for netlink, the length with the header, big-endian), and one or more rtnetlink messages.
//!
//! A frame is a transaction: FRR sends a changed route as a withdrawal and an announcement.

use std::sync::Arc;

use crate::left_out::LeftOutMessages;
use crate::memory_budget::MemoryBudget;
use crate::message_buffer::MessageBuffer;
use crate::netlink;
use crate::rtnetlink::RouteMessages;
use crate::transaction::{Commit, DecodeError, Decoder, MessageCounts, Stream, Transaction};

const HEADER: usize = 4;

/// The [`Decoder`] of one FPM connection; the default one has no limits of memory.
#[derive(Debug, Default)]
pub struct FpmDecoder {
    buffer: MessageBuffer,
    routes: RouteMessages,
    transaction: Transaction,
}

impl FpmDecoder {
    /// Makes the decoder of a new connection, whose next-hop objects are limited by the memory budget of the
    /// [tables](crate::Tables::memory_budget).
    pub fn within(budget: &Arc<MemoryBudget>) -> Self {
        Self {
            buffer: MessageBuffer::within(budget),
            routes: RouteMessages::new(budget),
            transaction: Transaction::default(),
        }
    }
}

impl Decoder for FpmDecoder {
    fn push(&mut self, bytes: &[u8], commit: &mut Commit<'_>) -> Result<(), DecodeError> {
        let Self {
            buffer,
            routes,
            transaction,
        } = self;
        buffer.push(bytes, HEADER, length, |frame| {
            let kind = frame[1];
            let mut rest = &frame[HEADER..];
            if kind != 1 {
                routes.counts.messages += 1;
                routes.counts.other += 1;
                return Ok(());
            }
            transaction.clear();
            while !rest.is_empty() {
                match netlink::message(&mut rest) {
                    Ok(message) => routes.message(message, transaction)?,
                    Err(reason) => {
                        routes.leave_out(reason, rest);
                        break;
                    }
                }
            }
            // If a next-hop object has changed, its routes have changed, too.
            if routes.take_changed() {
                transaction.change_objects();
            }
            if !transaction.is_empty() {
                transaction.settle();
                commit(&routes.streams.0, transaction);
            }
            Ok(())
        })
    }

    fn is_begun(&self) -> bool {
        self.buffer.is_begun()
    }

    fn streams(&self) -> &[Stream] {
        &self.routes.streams.0
    }

    fn counts(&self) -> MessageCounts {
        self.routes.counts
    }

    fn left_out(&self) -> &[LeftOutMessages] {
        self.routes.left_out.all()
    }
}

fn length(head: &[u8]) -> Result<usize, DecodeError> {
    let &[version, _, high, low] = head else {
        unreachable!("a head of 4 bytes");
    };
    if version != 1 {
        return Err(DecodeError(format!("FPM of version {version}, not 1")));
    }
    match usize::from(u16::from_be_bytes([high, low])) {
        length @ HEADER.. => Ok(length),
        length => Err(DecodeError(format!("an FPM frame of {length} bytes"))),
    }
}
