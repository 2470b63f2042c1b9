//! FPM, by which FRR's zebra sends its routes to who forwards: frames of a header of 4 bytes (version 1, type
//! 1 for netlink, the length with the header, big-endian), each with one or more messages of rtnetlink.
//!
//! A frame is a transaction: FRR sends a changed route as its withdrawal and its announcement.

use crate::buffer::Buffer;
use crate::netlink;
use crate::rtnetlink::RouteMessages;
use crate::transaction::{Commit, Counts, Decoder, Flaw, Stream, Transaction};

const HEADER: usize = 4;

/// A [`Decoder`] of FPM, of one connection.
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
    /// For a connection that begins.
    pub fn new() -> Self {
        Self {
            buffer: Buffer::default(),
            routes: RouteMessages::new(),
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
                    Err(_) => {
                        self.routes.counts.invalid += 1;
                        break;
                    }
                }
            }
            // A next hop that changed is seen through its routes.
            if self.routes.take_changed() || !self.transaction.is_empty() {
                self.transaction.settle();
                commit(&self.routes.streams.0, &self.transaction);
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
