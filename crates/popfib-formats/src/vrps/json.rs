//! VRPs as JSON: objects in, the VRP of each out.
//!
//! ```text
//! { "metadata": { "vrps": 2 }, "roas": [
//!   { "asn": 64500, "prefix": "192.0.2.0/24", "maxLength": 24, "ta": "ripe", "expires": 1765000000 },
//!   { "asn": "AS64501", "prefix": "2001:db8::/32", "maxLength": 48, "ta": "ripe" } ] }
//! ```
//! An array of such objects alone will do, too. Other members don't matter. Local exceptions (SLURM, RFC 8416) have their
//! VRPs in `prefixAssertions`, with `maxPrefixLength`; their filters are about the VRPs of others, and counted:
//!
//! ```text
//! { "slurmVersion": 1, "validationOutputFilters": { "prefixFilters": [ { "asn": 64496 } ], "bgpsecFilters": [] },
//!   "locallyAddedAssertions": { "prefixAssertions": [ { "asn": 64496, "prefix": "198.51.100.0/24", "maxPrefixLength": 24 } ] } }
//! ```

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::row::{AnyVrp, VrpEntry, VrpSource, vrp};
use crate::error::{ReadError, not};
use crate::items::Items;
use crate::json::members::Members;
use crate::json::{first_byte, parse};
use crate::names::note_left_out;
use crate::words::is_one_of;

pub(super) const FORMAT: VrpEntry = VrpEntry {
    name: "json",
    description: "JSON of rpki-client, routinator, StayRTR, and SLURM",
    can: &[],
    detect: |head| matches!(first_byte(head), Some(b'{' | b'[')),
    open: |input, options| {
        Ok(Box::new(VrpObjects {
            items: Items::new(input),
            mask: options.mask,
            are_filters: false,
            filters: 0,
        }))
    },
};

/// An object of a VRP. The numbers stay text until [`vrp`] reads them as it does those of CSV: validators write an
/// AS as a number, or as `AS64500`.
#[derive(Deserialize)]
#[serde(expecting = "an object with prefix, maxLength and asn")]
struct VrpObject<'a> {
    #[serde(borrow)]
    prefix: Cow<'a, str>,
    #[serde(borrow, rename = "maxLength", alias = "maxPrefixLength")]
    max_length: Option<&'a RawValue>,
    #[serde(borrow)]
    asn: &'a RawValue,
}

/// Members that have no VRPs.
const OTHERS: &str = "metadata bgpsec_keys routerKeys aspas provider_authorizations bgpsecFilters \
                      bgpsecAssertions aspaFilters aspaAssertions";

/// A [`VrpSource`] of objects.
struct VrpObjects {
    items: Items,
    mask: bool,
    /// Whether the items are filters of SLURM, and how many there were.
    are_filters: bool,
    filters: u64,
}

/// Whether what is in a member are items: in the outermost object, the list of payloads, and the parts of SLURM.
fn opens(key: &str, is_list: bool) -> bool {
    match is_list {
        true => matches!(key, "roas" | "prefixAssertions" | "prefixFilters"),
        false => matches!(
            key,
            "" | "locallyAddedAssertions" | "validationOutputFilters"
        ),
    }
}

impl VrpSource for VrpObjects {
    fn next(&mut self) -> Result<Option<AnyVrp>, ReadError> {
        let are_filters = &mut self.are_filters;
        while self.items.advance(|key, is_list| {
            *are_filters = key == "prefixFilters";
            opens(key, is_list)
        })? {
            let key = self.items.key();
            if !key.is_empty() {
                // About the file, or other objects of the RPKI.
                let is_known = is_one_of(OTHERS, key);
                if is_known || !matches!(self.items.bytes(), [b'[' | b'{', _, _, ..]) {
                    continue;
                }
                let reason = not(key, "a member of a file of VRPs");
                return Err(self.items.invalid(self.items.line(), reason));
            }
            if *are_filters {
                self.filters += 1;
                continue;
            }
            let read = read(self.items.json()?, self.mask);
            return match read {
                Ok(vrp) => Ok(Some(vrp)),
                Err(reason) => Err(self.items.invalid(self.items.line(), reason)),
            };
        }
        Ok(None)
    }

    fn notes(&self) -> Vec<String> {
        note_left_out(self.filters, "prefix filter", " of SLURM")
    }
}

fn read(json: &str, mask: bool) -> Result<AnyVrp, String> {
    let roa: VrpObject<'_> = parse(json)?;
    if roa.max_length.is_none() {
        // It may be there under a name that is not known.
        let known = "prefix asn maxLength maxPrefixLength ta expires source comment";
        Members::of(json)?.end(known)?;
    }
    let max_length = roa.max_length.map_or("", |length| bare(length.get()));
    let asn = roa.asn.get();
    // As a number, 1.10 is a fraction and not an AS.
    if !asn.starts_with('"') && asn.contains('.') {
        return Err(not(asn, "an AS number"));
    }
    vrp(&roa.prefix, max_length, bare(asn), mask)
}

/// A string or a number, either without escapes if it is right.
fn bare(json: &str) -> &str {
    let quoted = json
        .strip_prefix('"')
        .and_then(|json| json.strip_suffix('"'));
    quoted.unwrap_or(json)
}
