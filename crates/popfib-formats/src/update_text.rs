//! Updates as text: `A PREFIX VALUE` and `W PREFIX`, and the same after time and peer as gobgpdump writes it. Lines in,
//! updates out.
//!
//! ```text
//! A 10.0.0.0/8 192.0.2.1                                  text
//! W 10.0.0.0/8
//! 1779000000 192.0.2.9 A 10.0.0.0/8 192.0.2.1 64500       gobgpdump: time, peer, and after the next hop the origin
//! ```
//! Fields are separated by blanks or tabs; `#` and `;` begin a comment, as in text tables.

use std::net::IpAddr;
use std::str;

use popfib::IpPrefix;

use crate::date::parse_seconds;
use crate::error::{not, parsed, quote};
use crate::input::head_lines;
use crate::lines::begins_comment;
use crate::masks::second_word;
use crate::mrt::BgpChange;
use crate::name_rule::checked;
use crate::origins::{is_as_list, is_token};
use crate::ranges::{no_prefix, prefix};
use crate::registry::Capability::Peers;
use crate::update::UpdateEntry;
use crate::update_lines::{LineUpdates, UpdatesOfLines};

pub(crate) const FORMAT: UpdateEntry = UpdateEntry {
    name: "text",
    description: "text, one update a line: A PREFIX NEXTHOP, W PREFIX",
    can: &[Peers],
    detect: |head| first_fields(head).is_some_and(|[first, ..]| is_change(first)),
    open: |input, options| UpdatesOfLines::open(input, options, COMMENTS, read::<false>),
};

pub(crate) const GOBGPDUMP: UpdateEntry = UpdateEntry {
    name: "gobgpdump",
    description: "gobgpdump's text: TIME PEER A PREFIX NEXTHOP ORIGIN, TIME PEER W PREFIX",
    can: &[Peers],
    detect: |head| {
        first_fields(head).is_some_and(|[time, peer, change]| {
            parse_seconds(time).is_some() && is_change(change) && peer.parse::<IpAddr>().is_ok()
        })
    },
    open: |input, options| UpdatesOfLines::open(input, options, COMMENTS, read::<true>),
};

/// What comments begin with.
const COMMENTS: &[u8] = b"#;";

/// Whether a field says that a route comes or goes.
fn is_change(field: &str) -> bool {
    matches!(field, "A" | "W")
}

/// The first three fields of the first line that isn't a comment.
fn first_fields(head: &[u8]) -> Option<[&str; 3]> {
    let line = head_lines(head)
        .map(content)
        .find(|line| !line.is_empty())?;
    let mut fields = str::from_utf8(line).ok()?.split_ascii_whitespace();
    // `W PREFIX` has but two.
    Some([fields.next()?, fields.next()?, fields.next().unwrap_or("")])
}

/// A line without its comment and the blanks around the rest.
fn content(line: &[u8]) -> &[u8] {
    let is_comment = |&at: &usize| COMMENTS.contains(&line[at]) && begins_comment(line, at);
    let end = (0..line.len()).find(is_comment);
    line[..end.unwrap_or(line.len())].trim_ascii()
}

/// A prefix, its host bits cleared or refused.
pub(crate) fn parse_prefix(text: &str, mask: bool) -> Result<IpPrefix, String> {
    prefix(text, mask).map_err(|e| no_prefix(text.as_bytes(), e))
}

/// Reads a line of either form: of one with time and peer, if that is set.
fn read<const WITH_PEER: bool>(
    line: &[u8],
    mask: bool,
    to: &mut LineUpdates,
) -> Result<(), String> {
    let line = str::from_utf8(content(line)).map_err(|_| String::new())?;
    let mut fields = line.split_ascii_whitespace().peekable();
    let mut field = |what: &str| {
        fields
            .next()
            .ok_or_else(|| format!("no {what} in this line"))
    };
    if WITH_PEER {
        let text = field("time")?;
        to.time = Some(parse_seconds(text).ok_or_else(|| not(text, "a time"))?);
        let text = field("peer")?;
        // Neither form names the AS of the peer: 0 stands for it.
        to.peer = Some((parsed(text, "an address")?, 0));
    }
    let change = field("A or W")?;
    if !is_change(change) {
        return Err(format!("{}: neither A nor W", quote(change)));
    }
    let host = field("prefix")?;
    let prefix = parse_prefix(host, mask)?;
    let next_hop = match change {
        "A" => Some(field("next hop")?),
        _ => None,
    };
    if let Some(name) = next_hop {
        checked(name)?;
        if !is_token(name) {
            return Err(format!("more than a next hop: {}", quote(name)));
        }
        // An address without a length, and one: a mask, a length or the end of a range would make a wrong host route.
        if let Ok(host) = host.parse()
            && let Some(reason) = second_word(host, name)
        {
            return Err(reason);
        }
    }
    // After the next hop, gobgpdump has the origin AS.
    if let Some(origin) = fields.next_if(|_| WITH_PEER && next_hop.is_some())
        && !is_as_list(origin)
    {
        return Err(not(origin, "an origin AS"));
    }
    if let Some(more) = fields.next() {
        return Err(format!("more than an update: {}", quote(more)));
    }
    to.name = next_hop.map(str::to_owned);
    to.changes.push(BgpChange {
        prefix,
        id: None,
        next_hop: None,
    });
    Ok(())
}
