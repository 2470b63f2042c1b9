//! The path attributes of a route (RFC 4271, section 4.3) that matter here: AS
//! path, next hop, and the prefixes of other families (RFC 4760).
//!
//! All attributes are walked, so that a length that doesn't fit is noticed;
//! only these are looked into, and only when asked for.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::bytes::{Bytes, Family, Flaw};
use crate::as_path::{SegmentKind, write_origin};

/// A flag: the length has two bytes.
pub(super) const EXTENDED_LENGTH: u8 = 0x10;

/// Hands each attribute to `see`: its type and its value.
#[inline]
pub(super) fn walk<'a>(
    mut bytes: Bytes<'a>,
    mut see: impl FnMut(u8, &'a [u8]),
) -> Result<(), Flaw> {
    while !bytes.is_empty() {
        let flags = bytes.u8()?;
        let kind = bytes.u8()?;
        let length = match flags & EXTENDED_LENGTH {
            0 => usize::from(bytes.u8()?),
            _ => usize::from(bytes.u16()?),
        };
        see(kind, bytes.take(length)?);
    }
    Ok(())
}

/// The attributes as they are; of several alike, the first (RFC 7606, section 3).
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
    pub(super) fn read(bytes: Bytes<'a>) -> Result<Self, Flaw> {
        let mut all = Self::default();
        walk(bytes, |kind, value| {
            let place = match kind {
                2 => &mut all.as_path,
                3 => &mut all.next_hop,
                14 => &mut all.reach,
                15 => &mut all.unreach,
                17 => &mut all.as4_path,
                _ => return,
            };
            place.get_or_insert(value);
        })?;
        Ok(all)
    }

    /// The AS path, of AS numbers of `width` bytes.
    pub(super) fn as_path(&self, width: usize) -> AsPath<'a> {
        AsPath {
            bytes: Bytes(self.as_path.unwrap_or_default()),
            width,
        }
    }

    /// Writes the origin AS of a route of a peer of the AS `peer_as`.
    ///
    /// Where AS numbers take 2 bytes, the real ones may be in AS4_PATH
    /// (RFC 6793, section 4.2.3).
    pub(super) fn write_origin(
        &self,
        width: usize,
        peer_as: u32,
        to: &mut String,
    ) -> Result<(), Flaw> {
        let path = self.as_path(width);
        if let (2, Some(bytes)) = (width, self.as4_path) {
            let real = AsPath {
                bytes: Bytes(bytes),
                width: 4,
            };
            if (1..=path.length()?).contains(&real.length()?) {
                return real.write_origin(peer_as, to);
            }
        }
        path.write_origin(peer_as, to)
    }

    /// Writes the AS path as `bgpdump` does: numbers between blanks, a set in braces, confederations in
    /// parentheses and brackets; the real numbers of [`Attributes::write_origin`], after those of routers
    /// that only know 2 bytes.
    pub(super) fn write_path(&self, width: usize, to: &mut String) -> Result<(), Flaw> {
        let mut parts = self.as_path(width).parts()?;
        if let (2, Some(bytes)) = (width, self.as4_path) {
            let real = AsPath {
                bytes: Bytes(bytes),
                width: 4,
            };
            let real = real.parts()?;
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
    pub(super) fn rib_next_hop(&self, family: Family) -> Option<IpAddr> {
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
            Family::Ipv4 => self.next_hop().or_else(other),
            Family::Ipv6 => other().or_else(|| self.next_hop()),
        }
    }

    /// The prefixes of other families announced (MP_REACH_NLRI), their family
    /// and next hop; `None` without any, and for families that aren't unicast.
    pub(super) fn announced(&self) -> Result<Option<(Family, Option<IpAddr>, Bytes<'a>)>, Flaw> {
        let Some(reach) = self.reach else {
            return Ok(None);
        };
        let mut bytes = Bytes(reach);
        let family = unicast(&mut bytes)?;
        let length = usize::from(bytes.u8()?);
        let next_hop = next_hop(bytes.take(length)?);
        bytes.u8()?; // reserved
        Ok(family.map(|family| (family, next_hop, bytes)))
    }

    /// The prefixes of other families withdrawn (MP_UNREACH_NLRI), as
    /// [`Attributes::announced`].
    pub(super) fn withdrawn(&self) -> Result<Option<(Family, Bytes<'a>)>, Flaw> {
        let Some(unreach) = self.unreach else {
            return Ok(None);
        };
        let mut bytes = Bytes(unreach);
        let family = unicast(&mut bytes)?;
        Ok(family.map(|family| (family, bytes)))
    }
}

/// The address family and the kind of its routes; `None` if not unicast IP.
fn unicast(bytes: &mut Bytes<'_>) -> Result<Option<Family>, Flaw> {
    const UNICAST: u8 = 1;
    let (afi, safi) = (bytes.u16()?, bytes.u8()?);
    Ok(Family::from_afi(afi).filter(|_| safi == UNICAST))
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

/// An AS path: segments of a kind, a count and AS numbers.
#[derive(Clone, Copy)]
pub(super) struct AsPath<'a> {
    bytes: Bytes<'a>,
    width: usize,
}

impl<'a> AsPath<'a> {
    /// Its length as routers compare it.
    #[inline]
    pub(super) fn length(self) -> Result<u32, Flaw> {
        let mut length = 0;
        self.segments(|kind, count, _| length += kind.length(count))?;
        Ok(length)
    }

    fn write_origin(self, peer_as: u32, to: &mut String) -> Result<(), Flaw> {
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
    fn parts(self) -> Result<Vec<String>, Flaw> {
        let mut parts = Vec::new();
        self.segments(|kind, _, numbers| {
            let numbers = numbers
                .chunks_exact(self.width)
                .map(|bytes| number(bytes).to_string());
            if kind == SegmentKind::Sequence {
                parts.extend(numbers);
                return;
            }
            let numbers: Vec<_> = numbers.collect();
            parts.push(match kind {
                SegmentKind::Set => format!("{{{}}}", numbers.join(",")),
                SegmentKind::ConfedSequence => format!("({})", numbers.join(" ")),
                _ => format!("[{}]", numbers.join(",")),
            });
        })?;
        Ok(parts)
    }

    #[inline]
    fn segments(self, mut see: impl FnMut(SegmentKind, u32, &'a [u8])) -> Result<(), Flaw> {
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

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |n, &byte| n << 8 | u32::from(byte))
}
