//! MRT records made of their parts.
#![allow(dead_code)] // each test program uses its own part

pub(crate) fn record(kind: u16, subtype: u16, body: &[u8]) -> Vec<u8> {
    let mut record = 1_000_000_000u32.to_be_bytes().to_vec();
    record.extend(kind.to_be_bytes());
    record.extend(subtype.to_be_bytes());
    record.extend((body.len() as u32).to_be_bytes());
    record.extend(body);
    record
}

/// Peers of IPv4 addresses and 4-byte AS numbers.
pub(crate) fn peer_table(peers: &[([u8; 4], u32)]) -> Vec<u8> {
    let mut body = vec![0, 0, 0, 0, 0, 4];
    body.extend(b"view");
    body.extend((peers.len() as u16).to_be_bytes());
    for (address, asn) in peers {
        body.extend([2, 0, 0, 0, 0]);
        body.extend(address);
        body.extend(asn.to_be_bytes());
    }
    record(13, 1, &body)
}

/// A prefix with the routes of peers: index and attributes.
pub(crate) fn rib(subtype: u16, prefix: &[u8], routes: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut body = vec![0; 4];
    body.extend(prefix);
    body.extend((routes.len() as u16).to_be_bytes());
    for (peer, attributes) in routes {
        body.extend(peer.to_be_bytes());
        body.extend([0; 4]);
        body.extend((attributes.len() as u16).to_be_bytes());
        body.extend(attributes);
    }
    record(13, subtype, &body)
}

pub(crate) fn path_attribute(kind: u8, value: &[u8]) -> Vec<u8> {
    // Of both forms of the length, each is met.
    let length = value.len() as u16;
    let head = match kind % 2 {
        0 => vec![0x50, kind, (length >> 8) as u8, length as u8],
        _ => vec![0x40, kind, u8::try_from(length).unwrap()],
    };
    [head, value.to_vec()].concat()
}

/// An AS path of segments with 4-byte numbers.
pub(crate) fn as_path(segments: &[(u8, &[u32])]) -> Vec<u8> {
    let mut path = Vec::new();
    for (kind, numbers) in segments {
        path.extend([*kind, numbers.len() as u8]);
        path.extend(numbers.iter().flat_map(|n| n.to_be_bytes()));
    }
    path_attribute(2, &path)
}

pub(crate) fn next_hop(address: [u8; 4]) -> Vec<u8> {
    path_attribute(3, &address)
}

/// The next hop of another family, alone, as in RIBs.
pub(crate) fn reach(next_hop: &[u8]) -> Vec<u8> {
    path_attribute(14, &[&[next_hop.len() as u8][..], next_hop].concat())
}

/// A record of TABLE_DUMP: address and length, a peer of AS 64500 that is the
/// next hop, too.
pub(crate) fn table_dump(prefix: [u8; 5], peer: [u8; 4], asns: &[u16]) -> Vec<u8> {
    let mut path = vec![2, asns.len() as u8];
    path.extend(asns.iter().flat_map(|n| n.to_be_bytes()));
    table_dump_with(
        prefix,
        peer,
        &[path_attribute(2, &path), next_hop(peer)].concat(),
    )
}

/// [`table_dump`] with these attributes.
pub(crate) fn table_dump_with(prefix: [u8; 5], peer: [u8; 4], attributes: &[u8]) -> Vec<u8> {
    let mut body = vec![0; 4];
    body.extend(prefix);
    body.extend([1, 0, 0, 0, 0]);
    body.extend(peer);
    body.extend(64500u16.to_be_bytes());
    body.extend((attributes.len() as u16).to_be_bytes());
    body.extend(attributes);
    record(12, 1, &body)
}

/// A BGP4MP_MESSAGE_AS4 with an UPDATE: withdrawn, attributes, announced.
pub(crate) fn update(peer: [u8; 4], withdrawn: &[u8], attributes: &[u8], nlri: &[u8]) -> Vec<u8> {
    record(16, 4, &message(peer, withdrawn, attributes, nlri))
}

/// The body of [`update`].
pub(crate) fn message(peer: [u8; 4], withdrawn: &[u8], attributes: &[u8], nlri: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend(64501u32.to_be_bytes());
    body.extend(64500u32.to_be_bytes());
    body.extend([0, 0, 0, 1]);
    body.extend(peer);
    body.extend([192, 0, 2, 254]);
    body.extend([0xff; 16]);
    let length = 19 + 4 + withdrawn.len() + attributes.len() + nlri.len();
    body.extend((length as u16).to_be_bytes());
    body.push(2);
    body.extend((withdrawn.len() as u16).to_be_bytes());
    body.extend(withdrawn);
    body.extend((attributes.len() as u16).to_be_bytes());
    body.extend(attributes);
    body.extend(nlri);
    body
}

/// A BGP4MP_STATE_CHANGE_AS4 of a peer of AS 64501.
pub(crate) fn session(peer: [u8; 4], old: u8, new: u8) -> Vec<u8> {
    let mut body = vec![0, 0, 0xfb, 0xf5, 0, 0, 0xfb, 0xf4, 0, 0, 0, 1];
    body.extend(peer);
    body.extend([192, 0, 2, 254, 0, old, 0, new]);
    record(16, 5, &body)
}
