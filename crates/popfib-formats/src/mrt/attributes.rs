//! The path attributes of a route in (RFC 4271, section 4.3), AS path and next hop out, and the prefixes of other
//! families, which BGP has among the attributes (RFC 4760).
//!
//! An attribute is flags, a type, a length and a value: `40 03 04 c0000201` is the next hop 192.0.2.1.
//!
//! All attributes are walked, so that a length that doesn't fit is noticed;
//! only these are looked into, and only when asked for: to rank a route among the hundred of its prefix takes two of them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::bytes::{Afi, WireBytes, WireFlaw};
use crate::as_path::{SegmentKind, write_origin};

/// A flag: the length has two bytes.
pub(super) const EXTENDED_LENGTH: u8 = 0x10;

// The types of attributes that are read anywhere here, by their numbers in BGP.
pub(super) const ORIGIN: u8 = 1;
pub(super) const AS_PATH: u8 = 2;
pub(super) const NEXT_HOP: u8 = 3;
pub(super) const MED: u8 = 4;
pub(super) const LOCAL_PREFERENCE: u8 = 5;
pub(super) const ATOMIC_AGGREGATE: u8 = 6;
pub(super) const AGGREGATOR: u8 = 7;
pub(super) const COMMUNITIES: u8 = 8;
pub(super) const MP_REACH_NLRI: u8 = 14;
pub(super) const MP_UNREACH_NLRI: u8 = 15;
pub(super) const AS4_PATH: u8 = 17;
pub(super) const AS4_AGGREGATOR: u8 = 18;
pub(super) const LARGE_COMMUNITIES: u8 = 32;

/// Hands each attribute to `see`: its type and its value; of several alike, the first (RFC 7606, section 3).
#[inline]
pub(super) fn walk<'a>(
    mut bytes: WireBytes<'a>,
    mut see: impl FnMut(u8, &'a [u8]),
) -> Result<(), WireFlaw> {
    // Of those that are read here, whose types are below 64.
    let mut seen = 0_u64;
    while !bytes.is_empty() {
        let flags = bytes.u8()?;
        let kind = bytes.u8()?;
        let length = match flags & EXTENDED_LENGTH {
            0 => usize::from(bytes.u8()?),
            _ => usize::from(bytes.u16()?),
        };
        let value = bytes.take(length)?;
        let this = 1_u64.checked_shl(kind.into()).unwrap_or(0);
        if seen & this == 0 {
            see(kind, value);
        }
        seen |= this;
    }
    Ok(())
}

/// The attributes as they are.
#[derive(Clone, Copy, Default)]
pub(super) struct Attributes<'a> {
    as_path: Option<&'a [u8]>,
    as4_path: Option<&'a [u8]>,
    next_hop: Option<&'a [u8]>,
    reach: Option<&'a [u8]>,
    unreach: Option<&'a [u8]>,
}

impl<'a> Attributes<'a> {
    #[inline]
    pub(super) fn read(bytes: WireBytes<'a>) -> Result<Self, WireFlaw> {
        let mut all = Self::default();
        walk(bytes, |kind, value| {
            let place = match kind {
                AS_PATH => &mut all.as_path,
                NEXT_HOP => &mut all.next_hop,
                MP_REACH_NLRI => &mut all.reach,
                MP_UNREACH_NLRI => &mut all.unreach,
                AS4_PATH => &mut all.as4_path,
                _ => return,
            };
            *place = Some(value);
        })?;
        Ok(all)
    }

    /// The AS path, of AS numbers of `width` bytes.
    pub(super) fn as_path(&self, width: usize) -> AsPath<'a> {
        AsPath {
            bytes: WireBytes(self.as_path.unwrap_or_default()),
            width,
        }
    }

    /// If AS numbers take `width` = 2 bytes, the part of the path that has the real ones (AS4_PATH, RFC 6793, section
    /// 4.2.3). It may be shorter than the path: routers that only know 2 bytes stand before it.
    fn real_path(&self, width: usize) -> Option<AsPath<'a>> {
        let bytes = self.as4_path.filter(|_| width == 2)?;
        Some(AsPath {
            bytes: WireBytes(bytes),
            width: 4,
        })
    }

    /// Writes the origin AS of a route of a peer of the AS `peer_as`.
    pub(super) fn write_origin(
        &self,
        width: usize,
        peer_as: u32,
        to: &mut String,
    ) -> Result<(), WireFlaw> {
        let path = self.as_path(width);
        match self.real_path(width) {
            Some(real) if (1..=path.length()?).contains(&real.length()?) => {
                real.write_origin(peer_as, to)
            }
            _ => path.write_origin(peer_as, to),
        }
    }

    /// Writes the AS path as `bgpdump` does: numbers between blanks, a set in braces, confederations in
    /// parentheses and brackets; at the end the [real numbers](Attributes::real_path).
    pub(super) fn write_path(&self, width: usize, to: &mut String) -> Result<(), WireFlaw> {
        let mut parts = self.as_path(width).parts()?;
        if let Some(real) = self.real_path(width) {
            let real = real.parts()?;
            // Confederations don't count for the length of a path.
            let counts = |part: &&String| !part.starts_with(['(', '[']);
            let (all, known) = (
                parts.iter().filter(counts).count(),
                real.iter().filter(counts).count(),
            );
            if known > 0 && known <= all {
                let mut left = all - known;
                let end = parts.iter().position(|part| {
                    let is_beyond = counts(&part) && left == 0;
                    left -= usize::from(counts(&part) && left > 0);
                    is_beyond
                });
                parts.truncate(end.unwrap_or(parts.len()));
                parts.extend(real);
            }
        }
        to.push_str(&parts.join(" "));
        Ok(())
    }

    /// The next hop of an IPv4 route of the message itself.
    pub(super) fn next_hop(&self) -> Option<IpAddr> {
        self.next_hop.and_then(next_hop)
    }

    /// The next hop of a prefix of `family` in a RIB, where the one for other
    /// families stands alone (RFC 6396, section 4.3.4), or before its prefixes
    /// all the same: old programs, and all of `TABLE_DUMP`.
    pub(super) fn rib_next_hop(&self, family: Afi) -> Option<IpAddr> {
        let other = || {
            let reach = self.reach?;
            let length = match *reach {
                // An address family begins with a zero, a length never does.
                [0, _, _, length, ..] => &reach[4..].get(..usize::from(length))?,
                [length, ..] => &reach[1..].get(..usize::from(length))?,
                [] => return None,
            };
            next_hop(length)
        };
        match family {
            Afi::Ipv4 => self.next_hop().or_else(other),
            Afi::Ipv6 => other().or_else(|| self.next_hop()),
        }
    }

    /// The prefixes of other families announced (MP_REACH_NLRI), their family
    /// and next hop; `None` without any, and for families that aren't unicast.
    pub(super) fn announced(
        &self,
    ) -> Result<Option<(Afi, Option<IpAddr>, WireBytes<'a>)>, WireFlaw> {
        let Some(reach) = self.reach else {
            return Ok(None);
        };
        let mut bytes = WireBytes(reach);
        let family = unicast(&mut bytes)?;
        let length = usize::from(bytes.u8()?);
        let next_hop = next_hop(bytes.take(length)?);
        bytes.u8()?; // reserved
        Ok(family.map(|family| (family, next_hop, bytes)))
    }

    /// The prefixes of other families withdrawn (MP_UNREACH_NLRI), as
    /// [`Attributes::announced`].
    pub(super) fn withdrawn(&self) -> Result<Option<(Afi, WireBytes<'a>)>, WireFlaw> {
        let Some(unreach) = self.unreach else {
            return Ok(None);
        };
        let mut bytes = WireBytes(unreach);
        let family = unicast(&mut bytes)?;
        Ok(family.map(|family| (family, bytes)))
    }
}

/// Takes the address family and the kind of its routes; `None` if not unicast IP.
fn unicast(bytes: &mut WireBytes<'_>) -> Result<Option<Afi>, WireFlaw> {
    const UNICAST: u8 = 1;
    let (afi, safi) = (bytes.u16()?, bytes.u8()?);
    Ok(Afi::from_afi(afi).filter(|_| safi == UNICAST))
}

/// A next hop of 4 or 16 bytes, or of 32: a global address and one of the link,
/// of which the first that is of use counts.
fn next_hop(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        return Some(Ipv4Addr::from(bytes).into());
    }
    if !matches!(bytes.len(), 16 | 32) {
        return None;
    }
    let (addresses, _) = bytes.as_chunks::<16>();
    let address = |&bytes: &[u8; 16]| Ipv6Addr::from(bytes);
    let mut set = addresses
        .iter()
        .map(address)
        .filter(|a| !a.is_unspecified());
    let first = set.next().unwrap_or(Ipv6Addr::UNSPECIFIED);
    let second = set.next().filter(|_| first.is_unicast_link_local());
    Some(second.unwrap_or(first).into())
}

/// An AS path as BGP has it: segments, each of a kind, a count and AS numbers of `width` bytes.
#[derive(Clone, Copy)]
pub(super) struct AsPath<'a> {
    bytes: WireBytes<'a>,
    width: usize,
}

impl<'a> AsPath<'a> {
    /// Its length as routers compare it.
    #[inline]
    pub(super) fn length(self) -> Result<u32, WireFlaw> {
        let mut length = 0;
        self.segments(|kind, count, _| length += kind.length(count))?;
        Ok(length)
    }

    /// Writes the origin: the end of the last segment outside of the peer's confederation; the peer's AS if there is none.
    fn write_origin(self, peer_as: u32, to: &mut String) -> Result<(), WireFlaw> {
        let mut last = None;
        self.segments(|kind, count, numbers| {
            if count > 0 && kind.is_outside() {
                last = Some((kind, numbers));
            }
        })?;
        let last = last.map(|(kind, bytes)| (kind, bytes.chunks_exact(self.width).map(number)));
        write_origin(last, peer_as, to);
        Ok(())
    }

    /// The numbers, sets and confederations of the path as text.
    fn parts(self) -> Result<Vec<String>, WireFlaw> {
        let mut parts = Vec::new();
        self.segments(|kind, _, numbers| {
            let numbers = numbers.chunks_exact(self.width).map(number);
            match kind {
                SegmentKind::Sequence => parts.extend(numbers.map(|number| number.to_string())),
                _ => parts.push(kind.text(numbers)),
            }
        })?;
        Ok(parts)
    }

    /// Hands each segment to `see`: its kind, how many AS numbers it has, and these.
    #[inline]
    fn segments(self, mut see: impl FnMut(SegmentKind, u32, &'a [u8])) -> Result<(), WireFlaw> {
        let mut bytes = self.bytes;
        while !bytes.is_empty() {
            let (kind, count) = (bytes.u8()?, bytes.u8()?);
            let numbers = bytes.take(usize::from(count) * self.width)?;
            let kind = SegmentKind::from_number(kind);
            let kind = kind.ok_or("an AS path has a segment of no known kind")?;
            see(kind, u32::from(count), numbers);
        }
        Ok(())
    }
}

/// An AS number of 2 or 4 bytes.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |n, &byte| n << 8 | u32::from(byte))
}
