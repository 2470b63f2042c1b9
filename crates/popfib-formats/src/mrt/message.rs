//! UPDATE messages of BGP (RFC 4271, section 4.3), as MRT files and BMP hold them: a message in, its changes of prefixes out,
//! and the attributes that they share.
//!
//! ```text
//! marker, length, type 2      19 bytes
//! length, prefixes            IPv4 prefixes withdrawn
//! length, attributes          and in them, prefixes of other families announced and withdrawn
//! prefixes                    IPv4 prefixes announced
//! ```
//! Nothing in a message says how its AS numbers and prefixes are written: the session's ends agreed on that when it began,
//! so it comes from outside as a [`BgpForm`].

use std::net::IpAddr;

use popfib::IpPrefix;

use super::attributes::{Attributes, MP_UNREACH_NLRI};
use super::bytes::{Afi, WireBytes, WireFlaw};
use super::packed::pack;

/// What the two ends of a BGP session agreed on about the form of their messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BgpForm {
    /// AS numbers take 2 bytes, not 4 (RFC 6793).
    pub has_two_byte_as: bool,
    /// Prefixes of IPv4 have a path identifier (RFC 7911).
    pub ipv4_path_ids: bool,
    /// Prefixes of IPv6 have one.
    pub ipv6_path_ids: bool,
}

impl BgpForm {
    fn has_ids(self, family: Afi) -> bool {
        match family {
            Afi::Ipv4 => self.ipv4_path_ids,
            Afi::Ipv6 => self.ipv6_path_ids,
        }
    }
}

/// What an UPDATE says of one prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BgpChange {
    /// Whose path it is; no host bits set.
    pub prefix: IpPrefix,
    /// The path's identifier, where the session has them.
    pub id: Option<u32>,
    /// Where the path leads; `None` if it is withdrawn.
    pub next_hop: Option<IpAddr>,
}

/// An UPDATE whose changes have been read: the attributes that they share.
#[derive(Clone, Copy)]
pub struct BgpUpdate<'a> {
    bytes: &'a [u8],
    form: BgpForm,
    flaw: Option<WireFlaw>,
    end_of_rib: Option<(u16, u8)>,
}

impl<'a> BgpUpdate<'a> {
    /// Reads a whole BGP message and adds its changes of unicast prefixes to `changes`, withdrawals first;
    /// `None` if it is another message than an UPDATE. O(bytes).
    ///
    /// # Errors
    /// What is wrong with the message. The changes in front of it have been added.
    pub fn read(
        message: &'a [u8],
        form: BgpForm,
        changes: &mut Vec<BgpChange>,
    ) -> Result<Option<Self>, &'static str> {
        const HEADER: usize = 19;
        const UPDATE: u8 = 2;
        const NO_NEXT_HOP: WireFlaw = "an announcement without a next hop";
        let mut body = WireBytes(message);
        body.take(16)?; // the marker
        let length = usize::from(body.u16()?);
        if body.u8()? != UPDATE {
            return Ok(None);
        }
        let length = length
            .checked_sub(HEADER)
            .ok_or("a BGP message of less than a header")?;
        let mut rest = WireBytes(body.take(length)?);
        let count = rest.u16()?;
        let withdrawn = WireBytes(rest.take(usize::from(count))?);
        let count = rest.u16()?;
        let bytes = rest.take(usize::from(count))?;
        let (attributes, mut flaw) = match Attributes::read(WireBytes(bytes)) {
            Ok(attributes) => (attributes, None),
            // Nobody knows then which prefixes of other families it has.
            Err(flaw) => (Attributes::default(), Some(flaw)),
        };
        let mut add = |family, mut prefixes: WireBytes<'_>, next_hop| {
            let has_ids = form.has_ids(family);
            if !has_ids && hides_ids(family, prefixes) {
                return Err("prefixes with path identifiers that were not negotiated");
            }
            while !prefixes.is_empty() {
                let id = match has_ids {
                    true => Some(prefixes.u32()?),
                    false => None,
                };
                changes.push(BgpChange {
                    prefix: prefixes.prefix(family)?,
                    id,
                    next_hop,
                });
            }
            Ok::<_, WireFlaw>(())
        };
        // Withdrawals first: what is also announced is there in the end.
        add(Afi::Ipv4, withdrawn, None)?;
        if let Some((family, prefixes)) = attributes.withdrawn()? {
            add(family, prefixes, None)?;
        }
        if let Some((family, next_hop, prefixes)) = attributes.announced()?
            && !prefixes.is_empty()
        {
            flaw = flaw.or(next_hop.is_none().then_some(NO_NEXT_HOP));
            add(family, prefixes, next_hop)?;
        }
        if !rest.is_empty() {
            let next_hop = attributes.next_hop();
            flaw = flaw.or(next_hop.is_none().then_some(NO_NEXT_HOP));
            add(Afi::Ipv4, rest, next_hop)?;
        }
        let end_of_rib = match (withdrawn.is_empty() && rest.is_empty(), bytes) {
            (true, []) => Some((1, 1)),
            // Of a family and without a prefix, and nothing else; a length of one byte or two.
            (true, &[_, MP_UNREACH_NLRI, 3, a, f, safi])
            | (true, &[_, MP_UNREACH_NLRI, 0, 3, a, f, safi]) => {
                Some((u16::from_be_bytes([a, f]), safi))
            }
            _ => None,
        };
        Ok(Some(Self {
            bytes,
            form,
            flaw,
            end_of_rib,
        }))
    }

    /// Whether its attributes could be read and have a next hop; else what it announces is withdrawn (RFC 7606, section 2).
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(&self) -> Result<(), &'static str> {
        self.flaw.map_or(Ok(()), Err)
    }

    /// The numbers of a family (AFI, SAFI) all of whose routes have been sent, if that is what the message
    /// says (RFC 4724, section 2).
    pub fn end_of_rib(&self) -> Option<(u16, u8)> {
        self.end_of_rib
    }

    /// Packs the attributes that a [`BgpPath`](crate::bgp::BgpPath) shows, with this next hop, for
    /// [`unpack_path`](crate::bgp::unpack_path): as small as they came, and equal where the attributes are.
    ///
    /// # Errors
    /// What is wrong with the attributes.
    pub fn pack_path(&self, next_hop: IpAddr, to: &mut Vec<u8>) -> Result<(), &'static str> {
        let width = if self.form.has_two_byte_as { 2 } else { 4 };
        pack(self.bytes, width, next_hop, to)
    }
}

/// Whether prefixes that should have no path identifiers have some: a speaker that sends them without having said so
/// would announce 0.0.0.0/0 and the like, since its identifiers begin with zeros. Read without, a prefix then has host bits or
/// the default route is there twice; read with them, all is right. Host bits alone are no fault (RFC 4271, section 4.3).
fn hides_ids(family: Afi, prefixes: WireBytes<'_>) -> bool {
    // Few lists can be read in both ways, so this costs next to nothing.
    let mut rest = prefixes;
    while !rest.is_empty() {
        match rest.u32().and_then(|_| rest.exact_prefix(family)) {
            Ok((_, false)) => {}
            Ok((_, true)) | Err(_) => return false,
        }
    }
    let mut rest = prefixes;
    let mut defaults = 0;
    while !rest.is_empty() {
        match rest.exact_prefix(family) {
            Ok((prefix, false)) => defaults += usize::from(prefix.len() == 0),
            Ok((_, true)) | Err(_) => return true,
        }
    }
    defaults > 1
}

impl std::fmt::Debug for BgpUpdate<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BgpUpdate")
            .field("form", &self.form)
            .field("end_of_rib", &self.end_of_rib)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}
