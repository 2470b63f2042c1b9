//! The attributes of a path in an MRT file, those that people look at.

use std::fmt::Write;

use super::attributes::{Attributes, walk};
use super::bytes::{Bytes, Family, Flaw};
use super::communities;
use crate::bgp_path::BgpPath;

/// Sets what the attributes say, AS numbers of `width` bytes.
pub(super) fn fill(
    path: &mut BgpPath,
    bytes: Bytes<'_>,
    width: usize,
    family: Family,
) -> Result<(), Flaw> {
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
            1 => origin(value, &mut path.origin),
            4 => number(value).map(|med| path.med = Some(med)),
            5 => number(value).map(|preference| path.local_preference = Some(preference)),
            6 => {
                path.is_atomic = true;
                Ok(())
            }
            // AS4_AGGREGATOR has the real number.
            7 | 18 => aggregator(value, &mut path.aggregator),
            8 => communities::write(value, &mut path.communities),
            32 => communities::write_large(value, &mut large),
            _ => Ok(()),
        };
        flaw = flaw.or(result.err());
    })?;
    if !path.communities.is_empty() && !large.is_empty() {
        path.communities.push(' ');
    }
    path.communities.push_str(&large);
    flaw.map_or(Ok(()), Err)
}

fn number(value: &[u8]) -> Result<u32, Flaw> {
    let bytes = value
        .try_into()
        .map_err(|_| "an attribute that is no number of 4 bytes")?;
    Ok(u32::from_be_bytes(bytes))
}

fn origin(value: &[u8], to: &mut String) -> Result<(), Flaw> {
    to.clear();
    to.push_str(match value {
        [0] => "IGP",
        [1] => "EGP",
        [2] => "INCOMPLETE",
        _ => return Err("an origin that is none of IGP, EGP and INCOMPLETE"),
    });
    Ok(())
}

fn aggregator(value: &[u8], to: &mut String) -> Result<(), Flaw> {
    if !matches!(value.len(), 6 | 8) {
        return Err("an aggregator that is no AS and address");
    }
    let mut bytes = Bytes(value);
    let asn = bytes.asn(value.len() - 4)?;
    let address = bytes.address(Family::Ipv4)?;
    to.clear();
    // Writing to a String cannot fail.
    let _ = write!(to, "{asn} {address}");
    Ok(())
}
