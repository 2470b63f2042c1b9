//! Encoders of netlink, FPM, BGP and BMP.

use std::net::IpAddr;

use popfib::IpPrefix;

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

pub(crate) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = (value.len() as u16 + 4).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

pub(crate) fn netlink(kind: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = (body.len() as u32 + 16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend([1, 5, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(body);
    bytes
}

/// RTM_NEWROUTE with `attributes`, or RTM_DELROUTE without.
pub(crate) fn route(prefix: IpPrefix, table: u8, kind: u8, attributes: Option<&[u8]>) -> Vec<u8> {
    let family = if matches!(prefix, IpPrefix::V4(_)) {
        2
    } else {
        10
    };
    let mut body = vec![family, prefix.len(), 0, 0, table, 186, 0, kind, 0, 0, 0, 0];
    if prefix.len() > 0 {
        body.extend(attribute(1, &octets(prefix.address())));
    }
    body.extend(attribute(6, &20u32.to_ne_bytes()));
    body.extend(attributes.unwrap_or_default());
    netlink(if attributes.is_some() { 24 } else { 25 }, &body)
}

pub(crate) fn gateway(address: IpAddr, interface: u32) -> Vec<u8> {
    let mut bytes = attribute(5, &octets(address));
    bytes.extend(attribute(4, &interface.to_ne_bytes()));
    bytes
}

/// RTA_MULTIPATH of next hops and weights, with the flag of nested attributes.
pub(crate) fn multipath(hops: &[(IpAddr, u32, u8)]) -> Vec<u8> {
    let mut value = Vec::new();
    for &(address, interface, weight) in hops {
        let inner = attribute(5, &octets(address));
        value.extend((inner.len() as u16 + 8).to_ne_bytes());
        value.extend([0, weight - 1]);
        value.extend(interface.to_ne_bytes());
        value.extend(inner);
    }
    attribute(0x8009, &value)
}

/// RTM_NEWNEXTHOP of one next hop.
pub(crate) fn object(id: u32, address: IpAddr, interface: u32) -> Vec<u8> {
    let mut body = vec![2, 0, 11, 0, 0, 0, 0, 0];
    body.extend(attribute(1, &id.to_ne_bytes()));
    body.extend(attribute(6, &octets(address)));
    body.extend(attribute(5, &interface.to_ne_bytes()));
    netlink(104, &body)
}

/// RTM_NEWNEXTHOP of a group.
pub(crate) fn group(id: u32, members: &[(u32, u8)]) -> Vec<u8> {
    let mut body = vec![0, 0, 11, 0, 0, 0, 0, 0];
    body.extend(attribute(1, &id.to_ne_bytes()));
    let mut value = Vec::new();
    for &(member, weight) in members {
        value.extend(member.to_ne_bytes());
        value.extend([weight - 1, 0, 0, 0]);
    }
    body.extend(attribute(2, &value));
    netlink(104, &body)
}

pub(crate) fn named(id: u32) -> Vec<u8> {
    attribute(30, &id.to_ne_bytes())
}

pub(crate) fn frame(messages: &[Vec<u8>]) -> Vec<u8> {
    let body = messages.concat();
    let mut bytes = vec![1, 1];
    bytes.extend((body.len() as u16 + 4).to_be_bytes());
    bytes.extend(body);
    bytes
}

fn nlri(prefixes: &[(Option<u32>, IpPrefix)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (id, prefix) in prefixes {
        bytes.extend(id.iter().flat_map(|id| id.to_be_bytes()));
        bytes.push(prefix.len());
        bytes.extend(&octets(prefix.address())[..usize::from(prefix.len()).div_ceil(8)]);
    }
    bytes
}

fn path_attribute(kind: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x50, kind];
    bytes.extend((value.len() as u16).to_be_bytes());
    bytes.extend(value);
    bytes
}

fn bgp(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xff; 16];
    bytes.extend((body.len() as u16 + 19).to_be_bytes());
    bytes.push(kind);
    bytes.extend(body);
    bytes
}

/// An UPDATE of prefixes of one family; without `path` they are withdrawn.
pub(crate) fn update(
    prefixes: &[(Option<u32>, IpPrefix)],
    path: Option<(IpAddr, u32, &[u32])>,
) -> Vec<u8> {
    let nlri = nlri(prefixes);
    let is_ipv4 = matches!(prefixes[0].1, IpPrefix::V4(_));
    let mut attributes = Vec::new();
    let (mut withdrawn, mut announced) = (Vec::new(), Vec::new());
    match path {
        None if is_ipv4 => withdrawn = nlri,
        None => attributes.extend(path_attribute(15, &[&[0, 2, 1], &nlri[..]].concat())),
        Some((next_hop, preference, as_path)) => {
            attributes.extend(path_attribute(1, &[0]));
            let mut path = vec![2, as_path.len() as u8];
            path.extend(as_path.iter().flat_map(|number| number.to_be_bytes()));
            attributes.extend(path_attribute(2, &path));
            attributes.extend(path_attribute(5, &preference.to_be_bytes()));
            let next_hop = octets(next_hop);
            if is_ipv4 {
                attributes.extend(path_attribute(3, &next_hop));
                announced = nlri;
            } else {
                let head = [0, 2, 1, next_hop.len() as u8];
                attributes.extend(path_attribute(
                    14,
                    &[&head, &next_hop[..], &[0], &nlri].concat(),
                ));
            }
        }
    }
    let mut body = (withdrawn.len() as u16).to_be_bytes().to_vec();
    body.extend(withdrawn);
    body.extend((attributes.len() as u16).to_be_bytes());
    body.extend(attributes);
    body.extend(announced);
    bgp(2, &body)
}

pub(crate) fn end_of_rib(is_ipv6: bool) -> Vec<u8> {
    match is_ipv6 {
        false => bgp(2, &[0; 4]),
        true => bgp(2, &[0, 0, 0, 6, 0x80, 15, 3, 0, 2, 1]),
    }
}

/// A peer as BMP's header has it: type, flags, address, and a distinguisher.
#[derive(Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) address: [u8; 4],
    pub(crate) distinguisher: u64,
}

pub(crate) fn bmp(kind: u8, peer: Option<Peer>, body: &[u8]) -> Vec<u8> {
    let mut rest = Vec::new();
    if let Some(peer) = peer {
        rest.extend([peer.kind, peer.flags]);
        rest.extend(peer.distinguisher.to_be_bytes());
        rest.extend([0; 12]);
        // The router's own table has no address, but the router's identifier.
        let is_own = peer.kind == 3;
        rest.extend(if is_own { [0; 4] } else { peer.address });
        rest.extend([0; 4]);
        rest.extend(peer.address);
        rest.extend([0; 8]);
    }
    rest.extend(body);
    let mut bytes = vec![3];
    bytes.extend((rest.len() as u32 + 6).to_be_bytes());
    bytes.push(kind);
    bytes.extend(rest);
    bytes
}

/// The body of a PeerUp, in which the router receives path identifiers and its peer sends them, or not.
pub(crate) fn peer_up(has_ids: bool) -> Vec<u8> {
    let open = |bits: u8| {
        let capabilities = [69, 8, 0, 1, 1, bits, 0, 2, 1, bits];
        let mut body = vec![
            4,
            0,
            100,
            0,
            180,
            192,
            0,
            2,
            1,
            capabilities.len() as u8 + 2,
        ];
        body.extend([2, capabilities.len() as u8]);
        body.extend(capabilities);
        bgp(1, &body)
    };
    let mut body = vec![0; 20];
    body.extend(open(1));
    body.extend(open(if has_ids { 2 } else { 1 }));
    body
}
