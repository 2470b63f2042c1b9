//! The paths in records of tables: the bytes of a record in, prefix, peer and attributes of each path out.
//!
//! A record of TABLE_DUMP is one path. One of TABLE_DUMP_V2 has a prefix, then all its paths, whose peers are numbers in the
//! table of peers. Both readers of tables, of [best paths](super::table) and of [all](super::paths), take paths from here.

use std::net::IpAddr;

use popfib::IpPrefix;

use super::bytes::{Afi, WireBytes, WireFlaw};

/// One path in a record of TABLE_DUMP_V2 (RFC 6396, section 4.3.4).
pub(super) struct RibEntry<'a> {
    /// The index of its peer in the table of peers.
    pub(super) peer: usize,
    /// Its identifier, in records that have such (RFC 8050).
    pub(super) id: Option<u32>,
    pub(super) attributes: WireBytes<'a>,
}

impl<'a> RibEntry<'a> {
    #[inline]
    pub(super) fn read(bytes: &mut WireBytes<'a>, has_ids: bool) -> Result<Self, WireFlaw> {
        let peer = usize::from(bytes.u16()?);
        bytes.u32()?; // when it was received
        let id = match has_ids {
            true => Some(bytes.u32()?),
            false => None,
        };
        let length = bytes.u16()?;
        Ok(Self {
            peer,
            id,
            attributes: WireBytes(bytes.take(usize::from(length))?),
        })
    }
}

/// A path in a record of TABLE_DUMP (RFC 6396, section 4.2) of one peer, AS numbers of 2 bytes.
pub(super) struct TableDump<'a> {
    pub(super) prefix: IpPrefix,
    pub(super) peer_address: IpAddr,
    pub(super) peer_as: u32,
    pub(super) attributes: WireBytes<'a>,
    /// How many bytes of the record are left: in dumps of before 2001 there may be more paths in them, without view and number.
    pub(super) rest: usize,
}

impl<'a> TableDump<'a> {
    pub(super) fn read(body: &'a [u8], family: Afi) -> Result<Self, WireFlaw> {
        let mut body = WireBytes(body);
        body.u32()?; // view and sequence number
        let prefix = body.address_prefix(family)?;
        body.take(5)?; // status, and when it was received
        let peer_address = body.address(family)?;
        let peer_as = body.asn(2)?;
        let length = body.u16()?;
        Ok(Self {
            prefix,
            peer_address,
            peer_as,
            attributes: WireBytes(body.take(usize::from(length))?),
            rest: body.0.len(),
        })
    }
}
