//! The attributes of a path as bytes: the form in which paths are kept, whatever source they come from.
//!
//! ```text
//! 04                          the width of AS numbers
//! 10 03 0004 c0000201         the next hop 192.0.2.1, a NEXT_HOP for both families
//! 10 02 0006 02 01 0000fbf0   the AS path 64496
//! ```
//! After the width are path attributes as in a message, of those kinds that a [`BgpPath`] shows. So what came in a message is
//! copied and not parsed, and is parsed when somebody looks at the path; equal attributes are equal bytes, of which a table
//! keeps one. A `BgpPath` for each path would take many times the memory.

use std::net::IpAddr;

use super::attributes::{
    AGGREGATOR, AS_PATH, AS4_AGGREGATOR, AS4_PATH, ATOMIC_AGGREGATE, COMMUNITIES, EXTENDED_LENGTH,
    LARGE_COMMUNITIES, LOCAL_PREFERENCE, MED, NEXT_HOP, ORIGIN, walk,
};
use super::bytes::{Afi, WireBytes, WireFlaw};
use super::communities;
use super::fill::fill;
use crate::as_path;
use crate::bgp_path::BgpPath;

/// Packs the attributes of a message with AS numbers of `width` bytes: as small as they came.
pub(super) fn pack(
    attributes: &[u8],
    width: u8,
    next_hop: IpAddr,
    to: &mut Vec<u8>,
) -> Result<(), WireFlaw> {
    to.clear();
    to.push(width);
    add_next_hop(next_hop, to)?;
    let mut result = Ok(());
    walk(WireBytes(attributes), |kind, value| {
        if matches!(
            kind,
            ORIGIN | AS_PATH | MED..=COMMUNITIES | AS4_PATH | AS4_AGGREGATOR | LARGE_COMMUNITIES
        ) && result.is_ok()
        {
            result = add(kind, value, to);
        }
    })?;
    result
}

/// Packs the attributes of `path`: the reverse of [`unpack_path`]. Clears `to` first.
///
/// # Errors
/// What is wrong with them.
pub fn pack_path(path: &BgpPath, to: &mut Vec<u8>) -> Result<(), &'static str> {
    to.clear();
    to.push(4);
    if let Some(next_hop) = path.next_hop {
        add_next_hop(next_hop, to)?;
    }
    match path.origin.as_str() {
        "" => {}
        "IGP" => add(ORIGIN, &[0], to)?,
        "EGP" => add(ORIGIN, &[1], to)?,
        "INCOMPLETE" => add(ORIGIN, &[2], to)?,
        _ => return Err("an origin that is none of IGP, EGP and INCOMPLETE"),
    }
    let mut bytes = Vec::new();
    for segment in as_path::segments(&path.as_path) {
        const NO_PATH: WireFlaw = "not an AS path";
        let (kind, numbers) = segment.map_err(|_| NO_PATH)?;
        let numbers = as_path::numbers(numbers).map_err(|_| NO_PATH)?;
        for numbers in numbers.chunks(255) {
            bytes.extend([kind as u8, numbers.len() as u8]);
            bytes.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
        }
    }
    add(AS_PATH, &bytes, to)?;
    if let Some(med) = path.med {
        add(MED, &med.to_be_bytes(), to)?;
    }
    if let Some(preference) = path.local_preference {
        add(LOCAL_PREFERENCE, &preference.to_be_bytes(), to)?;
    }
    if path.is_atomic {
        add(ATOMIC_AGGREGATE, &[], to)?;
    }
    if !path.aggregator.is_empty() {
        const NO_AGGREGATOR: WireFlaw = "an aggregator that is no AS and address";
        let (asn, address) = path.aggregator.split_once(' ').ok_or(NO_AGGREGATOR)?;
        let asn: u32 = asn.parse().map_err(|_| NO_AGGREGATOR)?;
        let address: std::net::Ipv4Addr = address.parse().map_err(|_| NO_AGGREGATOR)?;
        let bytes = [asn.to_be_bytes(), address.octets()].concat();
        add(AGGREGATOR, &bytes, to)?;
    }
    let (mut plain, mut large) = (Vec::new(), Vec::new());
    for word in path.communities.split_ascii_whitespace() {
        communities::read(word, &mut plain, &mut large)?;
    }
    for (kind, bytes) in [(COMMUNITIES, plain), (LARGE_COMMUNITIES, large)] {
        if !bytes.is_empty() {
            add(kind, &bytes, to)?;
        }
    }
    Ok(())
}

/// Sets AS path, origin, next hop, local preference, MED, communities and aggregator of `path` to those of packed
/// attributes.
///
/// # Errors
/// What is wrong with them.
pub fn unpack_path(bytes: &[u8], path: &mut BgpPath) -> Result<(), &'static str> {
    let mut bytes = WireBytes(bytes);
    let width = usize::from(bytes.u8()?);
    fill(path, bytes, width, Afi::Ipv4)
}

/// Adds a next hop of either family as NEXT_HOP: `unpack_path` tells them apart by their length.
fn add_next_hop(next_hop: IpAddr, to: &mut Vec<u8>) -> Result<(), WireFlaw> {
    match next_hop {
        IpAddr::V4(address) => add(NEXT_HOP, &address.octets(), to),
        IpAddr::V6(address) => add(NEXT_HOP, &address.octets(), to),
    }
}

/// Adds an attribute, always with a length of two bytes.
fn add(kind: u8, value: &[u8], to: &mut Vec<u8>) -> Result<(), WireFlaw> {
    let length = u16::try_from(value.len()).map_err(|_| "an attribute longer than BGP allows")?;
    let [high, low] = length.to_be_bytes();
    to.extend([EXTENDED_LENGTH, kind, high, low]);
    to.extend(value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_paths_are_the_same_again() {
        let path = BgpPath {
            as_path: format!(
                "(65001 65002) [65003,65004] {}{{64510,64511}} 7",
                "1 ".repeat(300)
            ),
            origin: "EGP".to_owned(),
            next_hop: Some("2001:db8::1".parse().unwrap()),
            local_preference: Some(200),
            med: Some(0),
            communities: "64500:1 no-export no-advertise local-AS 65535:666 4200000000:1:2"
                .to_owned(),
            is_atomic: true,
            aggregator: "4200000000 192.0.2.1".to_owned(),
            ..BgpPath::default()
        };
        for path in [path, BgpPath::default()] {
            let mut bytes = Vec::new();
            pack_path(&path, &mut bytes).unwrap();
            let mut again = BgpPath::default();
            unpack_path(&bytes, &mut again).unwrap();
            assert_eq!(again, path);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let path = |change: fn(&mut BgpPath)| {
            let mut path = BgpPath::default();
            change(&mut path);
            pack_path(&path, &mut Vec::new())
        };
        assert!(path(|path| path.origin = "igp".to_owned()).is_err());
        assert!(path(|path| path.as_path = "64500 {1".to_owned()).is_err());
        assert!(path(|path| path.communities = "64500:65536".to_owned()).is_err());
        assert!(path(|path| path.communities = "no-such".to_owned()).is_err());
        assert!(path(|path| path.aggregator = "64500".to_owned()).is_err());
        assert!(path(|path| path.as_path = "1 ".repeat(20_000)).is_err());
    }
}
