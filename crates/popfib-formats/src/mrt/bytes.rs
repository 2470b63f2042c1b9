//! The bytes of a record or a BGP message in, its fields out: numbers, addresses, prefixes, all big-endian.
//!
//! Every length in such a file may lie. [`WireBytes`] never leaves what it was made of, so a parser is a row of calls with
//! `?`, and there is no place where a check could be forgotten.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use popfib::{IpPrefix, Prefix};

/// What is wrong with a record or a message. A text that is known beforehand: to say which bytes they were would cost
/// a `String` for each of perhaps millions, and the place of the record is told anyway.
pub(super) type WireFlaw = &'static str;

const SHORT: WireFlaw = "a field reaches beyond its record";

/// An address family by its number in BGP (Address Family Identifier): 1 and 2, of a few dozen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Afi {
    Ipv4,
    Ipv6,
}

impl Afi {
    pub(super) fn from_afi(afi: u16) -> Option<Self> {
        match afi {
            1 => Some(Self::Ipv4),
            2 => Some(Self::Ipv6),
            _ => None,
        }
    }

    /// The bytes of an address.
    fn bytes(self) -> usize {
        match self {
            Self::Ipv4 => 4,
            Self::Ipv6 => 16,
        }
    }
}

/// What is left of a record or a message.
#[derive(Clone, Copy)]
pub(super) struct WireBytes<'a>(pub(super) &'a [u8]);

impl<'a> WireBytes<'a> {
    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], WireFlaw> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(SHORT)?;
        self.0 = rest;
        Ok(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireFlaw> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(SHORT)?;
        self.0 = rest;
        Ok(*taken)
    }

    #[inline]
    pub(super) fn u8(&mut self) -> Result<u8, WireFlaw> {
        self.array::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub(super) fn u16(&mut self) -> Result<u16, WireFlaw> {
        self.array().map(u16::from_be_bytes)
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32, WireFlaw> {
        self.array().map(u32::from_be_bytes)
    }

    /// An AS number of 2 or 4 bytes.
    #[inline]
    pub(super) fn asn(&mut self, width: usize) -> Result<u32, WireFlaw> {
        match width {
            2 => self.u16().map(u32::from),
            _ => self.u32(),
        }
    }

    pub(super) fn address(&mut self, family: Afi) -> Result<IpAddr, WireFlaw> {
        Ok(match family {
            Afi::Ipv4 => Ipv4Addr::from(self.array::<4>()?).into(),
            Afi::Ipv6 => Ipv6Addr::from(self.array::<16>()?).into(),
        })
    }

    /// A prefix as in BGP: its length in bits, then as many bytes as hold them.
    /// Bits beyond the length mean nothing (RFC 4271, section 4.3).
    #[inline]
    pub(super) fn prefix(&mut self, family: Afi) -> Result<IpPrefix, WireFlaw> {
        let (address, len) = self.prefix_bytes(family)?;
        prefix(family, address, len)
    }

    /// As [`WireBytes::prefix`], and whether bits beyond the length are set.
    pub(super) fn exact_prefix(&mut self, family: Afi) -> Result<(IpPrefix, bool), WireFlaw> {
        let (address, len) = self.prefix_bytes(family)?;
        let beyond = u128::from_be_bytes(address).checked_shl(len.into());
        Ok((prefix(family, address, len)?, beyond.unwrap_or(0) != 0))
    }

    /// The bytes of a prefix at the start of 16, zeros after them, and its length.
    #[inline]
    fn prefix_bytes(&mut self, family: Afi) -> Result<([u8; 16], u8), WireFlaw> {
        let len = self.u8()?;
        let bytes = self.take(usize::from(len).div_ceil(8))?;
        let mut address = [0; 16];
        address
            .get_mut(..bytes.len())
            .filter(|_| bytes.len() <= family.bytes())
            .ok_or(TOO_LONG)?
            .copy_from_slice(bytes);
        Ok((address, len))
    }

    /// A prefix as in `TABLE_DUMP`: a whole address, then the length.
    pub(super) fn address_prefix(&mut self, family: Afi) -> Result<IpPrefix, WireFlaw> {
        let mut address = [0; 16];
        let bytes = self.take(family.bytes())?;
        address[..bytes.len()].copy_from_slice(bytes);
        prefix(family, address, self.u8()?)
    }
}

const TOO_LONG: WireFlaw = "a prefix is longer than its addresses";

/// A prefix of the first bytes of `address`; host bits are cleared.
fn prefix(family: Afi, address: [u8; 16], len: u8) -> Result<IpPrefix, WireFlaw> {
    let bits = u128::from_be_bytes(address);
    match family {
        Afi::Ipv4 => Prefix::new_masked((bits >> 96) as u32, len).map(IpPrefix::V4),
        Afi::Ipv6 => Prefix::new_masked(bits, len).map(IpPrefix::V6),
    }
    .map_err(|_| TOO_LONG)
}
