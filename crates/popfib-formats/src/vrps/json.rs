//! VRPs as JSON.
//!
//! ```text
//! { "metadata": { "vrps": 2 }, "roas": [
//!   { "asn": 64500, "prefix": "192.0.2.0/24", "maxLength": 24, "ta": "ripe", "expires": 1765000000 },
//!   { "asn": "AS64501", "prefix": "2001:db8::/32", "maxLength": 48, "ta": "ripe" } ] }
//! ```
//! An array of such objects alone will do, too. Other members don't matter.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::row::{AnyVrp, Source, vrp};
use crate::error::{ReadError, quote};
use crate::input::Input;
use crate::items::Items;
use crate::json::reason;

/// Whether a file that begins so is JSON; `None` if that is not known yet.
pub(super) fn is_json(head: &[u8]) -> Option<bool> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let first = head.trim_ascii_start().first()?;
    Some(matches!(first, b'{' | b'['))
}

#[derive(Deserialize)]
#[serde(expecting = "an object with prefix, maxLength and asn")]
struct Roa<'a> {
    #[serde(borrow)]
    prefix: Cow<'a, str>,
    #[serde(borrow, rename = "maxLength")]
    max_length: Option<&'a RawValue>,
    #[serde(borrow)]
    asn: &'a RawValue,
}

pub(super) struct Roas {
    items: Items,
}

impl Roas {
    pub(super) fn new(input: Input) -> Self {
        Self {
            items: Items::new(input),
        }
    }
}

/// Whether what is in a member are items: the outermost object, and the list of payloads.
fn opens(key: &str, is_list: bool) -> bool {
    key == if is_list { "roas" } else { "" }
}

impl Source for Roas {
    fn next(&mut self) -> Result<Option<AnyVrp>, ReadError> {
        while self.items.advance(opens)? {
            // What has a key is about the file, or of other objects of the RPKI.
            if !self.items.key().is_empty() {
                continue;
            }
            let read = read(self.items.json()?);
            return match read {
                Ok(vrp) => Ok(Some(vrp)),
                Err(reason) => Err(self.items.invalid(self.items.line(), reason)),
            };
        }
        Ok(None)
    }
}

fn read(json: &str) -> Result<AnyVrp, String> {
    let roa: Roa<'_> = serde_json::from_str(json).map_err(|e| reason(&e))?;
    let max_length = roa.max_length.map_or("", |length| bare(length.get()));
    let asn = roa.asn.get();
    // As a number, 1.10 is a fraction and not an AS.
    if !asn.starts_with('"') && asn.contains('.') {
        return Err(format!("{}: not an AS number", quote(asn.as_bytes())));
    }
    vrp(&roa.prefix, max_length, bare(asn))
}

/// A string or a number, either without escapes if it is right.
fn bare(json: &str) -> &str {
    let quoted = json
        .strip_prefix('"')
        .and_then(|json| json.strip_suffix('"'));
    quoted.unwrap_or(json)
}
