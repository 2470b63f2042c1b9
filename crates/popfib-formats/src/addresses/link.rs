//! From the bytes of a captured packet to its IP addresses: skips the header of the link, whose type the capture names, and
//! reads two addresses out of the IP header.
//!
//! ```text
//! Ethernet: destination MAC, source MAC, [VLAN tags], EtherType | IPv4: version and length ... source, destination
//! ```
//! What providers put between them is passed over: PPPoE, MPLS, and Ethernet inside of MPLS.
//!
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

/// Whether packets of a link are read, by its number in the registry of link types (tcpdump.org).
pub(super) fn is_read(link: i32) -> bool {
    !matches!(ends(link, &[]), Err(NoAddress::OfLink(_)))
}

/// The name of a type that is not read, of those that captures often have.
pub(super) fn unread_link(number: i32) -> Option<&'static str> {
    Some(match number {
        105 => "802.11",
        107 => "frame relay",
        119 | 163 => "802.11 with a header of a driver",
        127 => "802.11 with radiotap",
        _ => return None,
    })
}

/// Why a packet gives no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoAddress {
    /// It is something else, which is nothing wrong: by its EtherType, if the link has such.
    NotIp(Option<u16>),
    /// Its IP header is not there as a whole, or is none.
    Damaged(&'static str),
    /// It came by a link of this type, which is not read.
    OfLink(i32),
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// 802.1Q, 802.1ad (QinQ) and the number that QinQ had before it was a standard.
const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// VN-tag of switches that extend others.
const VN_TAG: u16 = 0x8926;
const PPPOE: u16 = 0x8864;
const MPLS: [u16; 2] = [0x8847, 0x8848];
const CUT: NoAddress = NoAddress::Damaged("cut off before its addresses");

/// What a packet without addresses is, by its EtherType.
pub(super) fn kind(ether_type: Option<u16>) -> String {
    let name = match ether_type {
        None => "of no IP version",
        Some(0x0806) => "ARP",
        Some(PPPOE | 0x8863) => "PPPoE without IP",
        Some(0x8847 | 0x8848) => "MPLS without IP",
        Some(0x88cc) => "LLDP",
        Some(0x88e7) => "802.1ah",
        Some(0..=1500) => "802.3 without an EtherType",
        Some(other) => return format!("EtherType 0x{other:04x}"),
    };
    name.to_owned()
}

/// The addresses of a `packet` that came by a link of this type. Fragments have addresses like any packet.
#[inline(always)]
pub(super) fn ends(link: i32, packet: &[u8]) -> Result<PacketEnds, NoAddress> {
    let number = |at: usize| match packet.get(at..at + 2) {
        Some(bytes) => Ok(u16::from_be_bytes([bytes[0], bytes[1]])),
        None => Err(CUT),
    };
    let (mut kind, mut at) = match link {
        // Ethernet: two addresses, VLAN tags, EtherType.
        1 => (Some(number(12)?), 14),
        // Linux's "any" device: sixteen bytes, the last two an EtherType; or twenty, the first two one.
        113 => (Some(number(14)?), 16),
        276 => (Some(number(0)?), 20),
        // Cisco HDLC: two bytes and an EtherType.
        104 => (Some(number(2)?), 4),
        // PPPoE without Ethernet.
        51 => (Some(PPPOE), 0),
        // PPP: as if it came by PPPoE, with the address and control bytes that it has on lines.
        9 | 50 => match packet {
            [0xff, 0x03, ..] => (Some(of_ppp(number(2)?)?), 4),
            _ => (Some(of_ppp(number(0)?)?), 2),
        },
        // Loopback: four bytes of address family, whose numbers differ between systems; the IP version doesn't.
        0 | 108 => (None, 4),
        // Bare IP.
        12 | 14 | 101 | 228 | 229 => (None, 0),
        _ => return Err(NoAddress::OfLink(link)),
    };
    // Any number of tags and labels: each takes bytes of the packet.
    while let Some(tag) = kind.filter(|kind| !matches!(*kind, IPV4 | IPV6)) {
        (kind, at) = match tag {
            _ if VLAN.contains(&tag) => (Some(number(at + 2)?), at + 4),
            VN_TAG => (Some(number(at + 4)?), at + 6),
            PPPOE => (Some(of_ppp(number(at + 6)?)?), at + 8),
            _ if MPLS.contains(&tag) => {
                while number(at + 2)? & 0x100 == 0 {
                    at += 4;
                }
                at += 4;
                match packet.get(at).ok_or(CUT)? >> 4 {
                    4 => (Some(IPV4), at),
                    6 => (Some(IPV6), at),
                    // The control word of a pseudowire, and Ethernet after it.
                    0 => (Some(number(at + 16)?), at + 18),
                    _ => return Err(NoAddress::NotIp(Some(tag))),
                }
            }
            _ => return Err(NoAddress::NotIp(Some(tag))),
        };
    }
    let header = packet.get(at..).ok_or(CUT)?;
    match (kind, header.first().ok_or(CUT)? >> 4) {
        (Some(IPV4) | None, 4) => {
            let header: &[u8; 20] = header.first_chunk().ok_or(CUT)?;
            pair::<4>(&header[12..]).ok_or(CUT)
        }
        (Some(IPV6) | None, 6) => {
            let header: &[u8; 40] = header.first_chunk().ok_or(CUT)?;
            pair::<16>(&header[8..]).ok_or(CUT)
        }
        (Some(_), _) => Err(NoAddress::Damaged("the IP version is wrong")),
        (None, _) => Err(NoAddress::NotIp(None)),
    }
}

/// The EtherType of what PPP calls by this number.
fn of_ppp(protocol: u16) -> Result<u16, NoAddress> {
    match protocol {
        0x0021 => Ok(IPV4),
        0x0057 => Ok(IPV6),
        0x0281 => Ok(MPLS[0]),
        _ => Err(NoAddress::NotIp(Some(PPPOE))),
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
