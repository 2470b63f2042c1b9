//! The attributes of a path in, a [`BgpPath`] out: those attributes that people look at, as text.
//!
//! The same `BgpPath` is filled again and again, so that its texts keep their memory. They are written as `bgpdump` writes
//! them, since programs read its lines.

use std::fmt::Write;

use super::attributes::{
    AGGREGATOR, AS4_AGGREGATOR, ATOMIC_AGGREGATE, Attributes, COMMUNITIES, LARGE_COMMUNITIES,
    LOCAL_PREFERENCE, MED, ORIGIN, walk,
};
use super::bytes::{Afi, WireBytes, WireFlaw};
use super::communities;
use crate::bgp_path::BgpPath;

/// Sets in `path` what the attributes in `bytes` say, which have AS numbers of `width` bytes; what they don't say is empty.
/// Prefix, peer and time are the caller's.
pub(super) fn fill(
    path: &mut BgpPath,
    bytes: WireBytes<'_>,
    width: usize,
    family: Afi,
) -> Result<(), WireFlaw> {
    let attributes = Attributes::read(bytes)?;
    for text in [
        &mut path.as_path,
        &mut path.origin,
        &mut path.communities,
        &mut path.aggregator,
    ] {
        text.clear();
    }
    attributes.write_path(width, &mut path.as_path)?;
    path.next_hop = attributes.rib_next_hop(family);
    (path.local_preference, path.med, path.is_atomic) = (None, None, false);
    let mut large = String::new();
    let mut flaw = None;
    walk(bytes, |kind, value| {
        let result = match kind {
            ORIGIN => origin(value, &mut path.origin),
            MED => number(value).map(|med| path.med = Some(med)),
            LOCAL_PREFERENCE => {
                number(value).map(|preference| path.local_preference = Some(preference))
            }
            // These two are left out if they are invalid (RFC 7606, sections 7.6 and 7.7).
            ATOMIC_AGGREGATE => {
                path.is_atomic = value.is_empty();
                Ok(())
            }
            // AS4_AGGREGATOR has the real number, and comes after the other.
            AGGREGATOR | AS4_AGGREGATOR => {
                let _ = aggregator(value, &mut path.aggregator);
                Ok(())
            }
            COMMUNITIES => communities::write(value, &mut path.communities),
            LARGE_COMMUNITIES => communities::write_large(value, &mut large),
            _ => Ok(()),
        };
        flaw = flaw.or(result.err());
    })?;
    // The large ones come last, whatever the order of the attributes.
    if !path.communities.is_empty() && !large.is_empty() {
        path.communities.push(' ');
    }
    path.communities.push_str(&large);
    flaw.map_or(Ok(()), Err)
}

/// The value of MED and local preference.
fn number(value: &[u8]) -> Result<u32, WireFlaw> {
    let bytes = value
        .try_into()
        .map_err(|_| "an attribute that is no number of 4 bytes")?;
    Ok(u32::from_be_bytes(bytes))
}

/// Sets how the route came into BGP, which is a byte; the words are those of `bgpdump`.
fn origin(value: &[u8], to: &mut String) -> Result<(), WireFlaw> {
    to.clear();
    to.push_str(match value {
        [0] => "IGP",
        [1] => "EGP",
        [2] => "INCOMPLETE",
        _ => return Err("an origin that is none of IGP, EGP and INCOMPLETE"),
    });
    Ok(())
}

/// Sets the AS, of 2 bytes or 4, and the address of the router that aggregated the route.
fn aggregator(value: &[u8], to: &mut String) -> Result<(), WireFlaw> {
    if !matches!(value.len(), 6 | 8) {
        return Err("an aggregator that is no AS and address");
    }
    let mut bytes = WireBytes(value);
    let asn = bytes.asn(value.len() - 4)?;
    let address = bytes.address(Afi::Ipv4)?;
    to.clear();
    // Writing to a String cannot fail.
    let _ = write!(to, "{asn} {address}");
    Ok(())
}
