//! FPM, by which FRR's zebra sends its routes to a forwarding process. A frame has a header of 4 bytes (version 1, type
//! 1 for netlink, the length including the header, big-endian), and one or more rtnetlink messages.
//!
//! A frame is a transaction: FRR sends a changed route as a withdrawal and an announcement.

use std::sync::Arc;

use crate::buffer::Buffer;
use crate::left_out::LeftOut;
use crate::netlink;
use crate::room::Room;
use crate::rtnetlink::RouteMessages;
use crate::transaction::{Commit, Counts, Decoder, Flaw, Stream, Transaction};

const HEADER: usize = 4;

/// The [`Decoder`] of one FPM connection.
#[derive(Debug)]
pub struct Fpm {
    buffer: Buffer,
    routes: RouteMessages,
    transaction: Transaction,
}

impl Default for Fpm {
    fn default() -> Self {
        Self::new()
    }
}

impl Fpm {
    /// Makes the decoder of a new connection, without limits of memory.
    pub fn new() -> Self {
        Self::within(&Arc::default())
    }

    /// Makes the decoder of a new connection, whose next-hop objects are limited by the room of the
    /// [tables](crate::Tables::room).
    pub fn within(room: &Arc<Room>) -> Self {
        Self {
            buffer: Buffer::default(),
            routes: RouteMessages::new(room),
            transaction: Transaction::default(),
        }
    }
}

impl Decoder for Fpm {
    fn push(&mut self, bytes: &[u8], commit: &mut Commit<'_>) -> Result<(), Flaw> {
        self.buffer.push(bytes);
        while let Some(frame) = self.buffer.next(HEADER, length)? {
            let kind = frame[1];
            let mut rest = &frame[HEADER..];
            if kind != 1 {
                self.routes.counts.messages += 1;
                self.routes.counts.other += 1;
                continue;
            }
            self.transaction.clear();
            while !rest.is_empty() {
                match netlink::message(&mut rest) {
                    Ok(message) => self.routes.message(message, &mut self.transaction)?,
                    Err(reason) => {
                        self.routes.leave_out(reason, rest);
                        break;
                    }
                }
            }
            // If a next-hop object has changed, its routes have changed, too.
            if self.routes.take_changed() {
                self.transaction.change_objects();
            }
            if !self.transaction.is_empty() {
                self.transaction.settle();
                commit(&self.routes.streams.0, &mut self.transaction);
            }
        }
        Ok(())
    }

    fn streams(&self) -> &[Stream] {
        &self.routes.streams.0
    }

    fn counts(&self) -> Counts {
        self.routes.counts
    }

    fn left_out(&self) -> &[LeftOut] {
        self.routes.left_out.all()
    }
}

fn length(head: &[u8]) -> Result<usize, Flaw> {
    let &[version, _, high, low] = head else {
        unreachable!("a head of 4 bytes");
    };
    if version != 1 {
        return Err(Flaw(format!("FPM of version {version}, not 1")));
    }
    match usize::from(u16::from_be_bytes([high, low])) {
        length @ HEADER.. => Ok(length),
        length => Err(Flaw(format!("an FPM frame of {length} bytes"))),
    }
}
