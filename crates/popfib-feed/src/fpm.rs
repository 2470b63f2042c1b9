//! The bytes of an FPM connection in, transactions out. By FPM, FRR's zebra sends its routes to a forwarding process. A frame has a
//! header of 4 bytes (version 1, type 1 for netlink, the length with the header, big-endian), and one or more rtnetlink messages.
//!
//! A frame is a transaction: FRR sends a changed route as a withdrawal and an announcement.

use crate::netlink;
use crate::received::DecodeError;
use crate::rtnetlink::RouteMessages;
use crate::transaction::Transaction;

pub(crate) const HEADER: usize = 4;

/// Reads a frame.
pub(crate) fn read(
    routes: &mut RouteMessages,
    frame: &[u8],
    to: &mut Transaction,
) -> Result<(), DecodeError> {
    let mut rest = &frame[HEADER..];
    if frame[1] != 1 {
        routes.received.counts.messages += 1;
        routes.received.counts.other += 1;
        return Ok(());
    }
    while !rest.is_empty() {
        match netlink::message(&mut rest) {
            Ok(message) => routes.message(message, to)?,
            Err(reason) => {
                routes.leave_out(reason, rest);
                break;
            }
        }
    }
    // If a next-hop object has changed, its routes have changed, too.
    if routes.take_changed() {
        to.change_objects();
    }
    Ok(())
}

pub(crate) fn length(head: &[u8]) -> Result<usize, DecodeError> {
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
