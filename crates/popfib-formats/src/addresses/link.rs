//! From the bytes of a captured packet to its IP addresses: skips the header of the link, whose type the capture names, and
//! reads two addresses out of the IP header.
//!
//! ```text
//! Ethernet: destination MAC, source MAC, [VLAN tags], EtherType | IPv4: version and length ... source, destination
//! ```
//! Nothing after the addresses is looked at: neither checksums, nor the transport, nor the packets inside of a tunnel.

use std::net::IpAddr;

/// Which addresses of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PacketSide {
    /// Where it goes.
    #[default]
    Destination,
    /// Where it comes from.
    Source,
    /// The source, then the destination: two cells of one row.
    Both,
}

/// The addresses of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PacketEnds {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
}

/// What stands before the IP header, by its number in the registry of link types (tcpdump.org).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkType {
    /// 1: two addresses, VLAN tags, EtherType.
    Ethernet,
    /// 0 and 108: four bytes of address family.
    Loopback,
    /// 12, 14, 101, 228, 229: nothing.
    RawIp,
    /// 113: sixteen bytes, the last two an EtherType.
    Cooked,
    /// 276: twenty bytes, the first two an EtherType.
    Cooked2,
}

impl LinkType {
    pub(super) fn new(number: i32) -> Option<Self> {
        Some(match number {
            0 | 108 => Self::Loopback,
            1 => Self::Ethernet,
            12 | 14 | 101 | 228 | 229 => Self::RawIp,
            113 => Self::Cooked,
            276 => Self::Cooked2,
            _ => return None,
        })
    }
}

/// Why a packet gives no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoAddress {
    /// It is something else, which is nothing wrong.
    NotIp,
    /// Its IP header is not there as a whole, or is none.
    Damaged(&'static str),
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// 802.1Q, 802.1ad (QinQ) and the number that QinQ had before it was a standard.
const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const CUT: NoAddress = NoAddress::Damaged("cut off before its addresses");

/// The addresses of `packet`. Fragments have addresses like any packet.
pub(super) fn ends(link: LinkType, packet: &[u8]) -> Result<PacketEnds, NoAddress> {
    let ether_type = |at: usize| match packet.get(at..at + 2) {
        Some(bytes) => Ok(u16::from_be_bytes([bytes[0], bytes[1]])),
        None => Err(CUT),
    };
    let (kind, at) = match link {
        LinkType::Ethernet => {
            let mut at = 12;
            let mut kind = ether_type(at)?;
            // Any number of tags: each takes bytes of the packet.
            while VLAN.contains(&kind) {
                at += 4;
                kind = ether_type(at)?;
            }
            (Some(kind), at + 2)
        }
        LinkType::Cooked => (Some(ether_type(14)?), 16),
        LinkType::Cooked2 => (Some(ether_type(0)?), 20),
        // The numbers of address families differ between systems; the IP version doesn't.
        LinkType::Loopback => (None, 4),
        LinkType::RawIp => (None, 0),
    };
    let header = packet.get(at..).ok_or(CUT)?;
    let version = header.first().ok_or(CUT)? >> 4;
    match (kind, version) {
        (Some(IPV4) | None, 4) => {
            let header: &[u8; 20] = header.first_chunk().ok_or(CUT)?;
            pair::<4>(&header[12..]).ok_or(CUT)
        }
        (Some(IPV6) | None, 6) => {
            let header: &[u8; 40] = header.first_chunk().ok_or(CUT)?;
            pair::<16>(&header[8..]).ok_or(CUT)
        }
        (Some(IPV4 | IPV6), _) => Err(NoAddress::Damaged("the IP version is wrong")),
        _ => Err(NoAddress::NotIp),
    }
}

/// Two addresses, one after the other.
fn pair<const LEN: usize>(bytes: &[u8]) -> Option<PacketEnds>
where
    IpAddr: From<[u8; LEN]>,
{
    let (source, rest) = bytes.split_first_chunk()?;
    let destination = rest.first_chunk()?;
    Some(PacketEnds {
        source: IpAddr::from(*source),
        destination: IpAddr::from(*destination),
    })
}
