//! Members of messages in, parts of what they say out: what the languages share.

use std::net::IpAddr;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::as_path::SegmentKind;
use crate::bgp_path::BgpPath;
use crate::date::parse_seconds;
use crate::error::{not, parsed};
use crate::json::members::Members;
use crate::mrt::BgpChange;
use crate::update::Session;
use crate::update_lines::LineUpdates;
use crate::update_text::parse_prefix;

/// Takes the state of a session: only its end is one for the routes.
pub(super) fn take_state(state: &str, to: &mut LineUpdates) -> Result<(), String> {
    match (state, to.peer) {
        // From established to idle.
        ("down", Some(peer)) => {
            let time = to.time.unwrap_or_default();
            to.session = Some(Session {
                time,
                peer,
                old: 6,
                new: 1,
            });
        }
        ("connected" | "up", _) => {}
        _ => {
            return Err(not(state, "a state of a session"));
        }
    }
    Ok(())
}

/// Takes the time of a message, in seconds.
pub(super) fn take_time(
    message: &mut Members<'_>,
    name: &str,
    to: &mut LineUpdates,
) -> Result<(), String> {
    if let Some(value) = message.take::<&RawValue>(name)? {
        let time = parse_seconds(value.get());
        to.time = Some(time.ok_or_else(|| not(value.get(), "a time"))?);
    }
    Ok(())
}

/// An AS as a number or text; 0 without one.
pub(super) fn asn(value: Option<&RawValue>) -> Result<u32, String> {
    let text = value.map_or("0", |value| value.get().trim_matches('"'));
    parsed(text, "an AS number")
}

/// The maximum number of changes of a line: a change takes ten times the bytes of the shortest prefix.
const MAX_CHANGES: usize = 1 << 16;

/// Adds a change of a prefix.
pub(super) fn add_change(
    prefix: &str,
    id: Option<u32>,
    next_hop: Option<IpAddr>,
    mask: bool,
    to: &mut LineUpdates,
) -> Result<(), String> {
    if to.changes.len() == MAX_CHANGES {
        return Err("more than 65,536 prefixes in a line".to_owned());
    }
    to.changes.push(BgpChange {
        prefix: parse_prefix(prefix, mask)?,
        id,
        next_hop,
    });
    Ok(())
}

/// One AS of a path, or a set.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum AsPathStep {
    One(u32),
    Set(Vec<u32>),
}

/// An AS path as text.
pub(super) fn as_path(path: &[AsPathStep]) -> String {
    let step = |step: &AsPathStep| match step {
        AsPathStep::One(number) => number.to_string(),
        AsPathStep::Set(numbers) => SegmentKind::Set.text(numbers.iter().copied()),
    };
    path.iter().map(step).collect::<Vec<_>>().join(" ")
}

/// Adds communities of `N` numbers.
pub(super) fn add_communities<const N: usize>(communities: &[[u32; N]], to: &mut BgpPath) {
    for community in communities {
        to.communities += &community.map(|number| number.to_string()).join(":");
        to.communities.push(' ');
    }
}
