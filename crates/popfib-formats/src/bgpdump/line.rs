//! One line of `bgpdump -m`: bytes in, the fields of a route, a change or a peer's state out.
//!
//! Fields are slices of the line. Those of a path are taken apart only for the paths that are wanted ([`fill`]): of most lines of
//! a table the prefix, the length of the AS path and the next hop decide.

use std::net::IpAddr;
use std::str;

use popfib::IpPrefix;

use crate::as_path;
use crate::best_path::NO_NEXT_HOP;
use crate::bgp_path::BgpPath;
use crate::date::parse_seconds;
use crate::error::{not, parsed, quote};
use crate::input::head_lines;
use crate::name_rule::checked;
use crate::update::Session;
use crate::update_text::parse_prefix;

/// Whether a file begins with such a line.
pub(super) fn is_bgpdump(head: &[u8]) -> bool {
    let first = head_lines(head).find(|line| !line.is_empty());
    first.and_then(line_type).is_some()
}

/// What the first field of a line says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BgpdumpType {
    /// `TABLE_DUMP2`: an entry of a table.
    Table,
    /// `BGP4MP`: a change, or the state of a peer.
    Update,
}

/// The type of a line, and whether a path identifier stands after the prefix.
fn line_type(line: &[u8]) -> Option<(BgpdumpType, bool)> {
    let end = line.iter().position(|&byte| byte == b'|')?;
    let (name, has_path_id) = match line[..end].strip_suffix(b"_AP") {
        Some(name) => (name, true),
        None => (&line[..end], false),
    };
    // `_LOCAL` marks messages that the collector itself sent.
    let kind = match name.strip_suffix(b"_LOCAL").unwrap_or(name) {
        b"TABLE_DUMP" | b"TABLE_DUMP2" | b"TABLE_DUMP_V2" => BgpdumpType::Table,
        b"BGP4MP" | b"BGP4MP_ET" => BgpdumpType::Update,
        _ => return None,
    };
    Some((kind, has_path_id))
}

/// The address of a next hop, as it is written.
pub(super) fn next_hop(text: &str) -> Result<&str, String> {
    match text.parse::<IpAddr>() {
        Ok(_) => Ok(text),
        Err(_) if text.is_empty() => Err(NO_NEXT_HOP.to_owned()),
        Err(_) => Err(not(text, "an address")),
    }
}

/// One line that says something of a route.
pub(super) struct BgpdumpLine<'a> {
    pub(super) kind: BgpdumpType,
    pub(super) is_table_dump: bool,
    pub(super) time: u64,
    pub(super) peer: (IpAddr, u32),
    pub(super) prefix: IpPrefix,
    pub(super) path_id: Option<u32>,
    /// The fields of routes and announcements.
    pub(super) route: Option<BgpdumpFields<'a>>,
}

/// What a line says of a path.
#[derive(Clone, Copy, Default)]
pub(super) struct BgpdumpFields<'a> {
    pub(super) as_path: &'a str,
    pub(super) origin: &'a str,
    pub(super) next_hop: &'a str,
    /// Local preference, MED, communities, `AG` or `NAG`, aggregator.
    rest: [&'a str; 5],
}

/// Reads a line; `None` if it is no route and no change of one (a peer's state).
pub(super) fn parse(line: &[u8], mask: bool) -> Result<Option<BgpdumpLine<'_>>, String> {
    let (kind, has_path_id) = line_type(line).ok_or("not a line of bgpdump -m")?;
    let line = str::from_utf8(line).map_err(|_| String::new())?;
    let mut fields = line.split('|').skip(1);
    let mut field = |what: &str| {
        fields
            .next()
            .ok_or_else(|| format!("no {what} in this line"))
    };

    let text = field("time")?;
    let time = parse_seconds(text).ok_or_else(|| not(text, "a time"))?;
    let change = field("type")?;
    if change == "STATE" {
        return Ok(None);
    }
    if !matches!(change, "A" | "B" | "W") {
        return Err(not(change, "a type of line"));
    }
    let text = field("peer")?;
    let address = parsed(text, "an address")?;
    let text = field("peer's AS")?;
    let asn = parsed(text, "an AS number")?;
    let prefix = parse_prefix(field("prefix")?, mask)?;
    let path_id = match has_path_id {
        true => {
            let text = field("path identifier")?;
            Some(parsed(text, "a path identifier")?)
        }
        false => None,
    };
    let route = if change == "W" {
        None
    } else {
        Some(BgpdumpFields {
            as_path: field("AS path")?,
            origin: field("origin")?,
            next_hop: field("next hop")?,
            rest: std::array::from_fn(|_| fields.next().unwrap_or_default()),
        })
    };
    // A bar may end the line.
    let end = fields.next().unwrap_or_default();
    if let Some(more) = Some(end).filter(|end| !end.is_empty()).or(fields.next()) {
        return Err(format!("more than a line of bgpdump -m: {}", quote(more)));
    }
    Ok(Some(BgpdumpLine {
        kind,
        is_table_dump: line.starts_with("TABLE_DUMP|"),
        time,
        peer: (address, asn),
        prefix,
        path_id,
        route,
    }))
}

/// Reads the line of a peer's state.
pub(super) fn session(line: &[u8]) -> Result<Session, String> {
    let line = str::from_utf8(line).map_err(|_| String::new())?;
    let fields: Vec<_> = line.split('|').collect();
    let session = match fields[..] {
        [_, time, _, peer, asn, old, new] | [_, time, _, peer, asn, old, new, ""] => (|| {
            Some(Session {
                time: parse_seconds(time)?,
                peer: (peer.parse().ok()?, asn.parse().ok()?),
                old: old.parse().ok()?,
                new: new.parse().ok()?,
            })
        })(),
        _ => None,
    };
    session.ok_or_else(|| "not a change of a state: TIME|STATE|PEER|PEER_AS|OLD|NEW".to_owned())
}

/// The length of an AS path, or why it is none.
pub(crate) fn path_length(as_path: &str) -> Result<u32, String> {
    as_path::length(as_path).map_err(|_| no_path(as_path))
}

/// The error of a field that is no AS path.
pub(super) fn no_path(as_path: &str) -> String {
    not(as_path, "an AS path")
}

/// Sets in `path` what the fields of a line say; what they do not say is unset.
pub(super) fn fill(path: &mut BgpPath, fields: BgpdumpFields<'_>) -> Result<(), String> {
    // bgpdump writes 0 for a path without the attribute, too, so 0 is taken for none.
    let number = |text: &str| match text {
        "" | "0" => Ok(None),
        text => text.parse().map(Some).map_err(|_| not(text, "a number")),
    };
    let copy = |text: &str, to: &mut String| {
        to.clear();
        to.push_str(text);
        if to.is_empty() {
            Ok(())
        } else {
            checked(to).map(|_| ())
        }
    };
    let [local_preference, med, communities, atomic, aggregator] = fields.rest;
    path_length(fields.as_path)?;
    if !matches!(fields.origin, "IGP" | "EGP" | "INCOMPLETE" | "") {
        return Err(not(fields.origin, "an origin"));
    }
    if !matches!(atomic, "AG" | "NAG" | "") {
        return Err(not(atomic, "AG or NAG"));
    }
    copy(fields.as_path, &mut path.as_path)?;
    copy(fields.origin, &mut path.origin)?;
    path.next_hop = match fields.next_hop {
        "" => None,
        text => Some(parsed(text, "an address")?),
    };
    path.local_preference = number(local_preference)?;
    path.med = number(med)?;
    copy(communities, &mut path.communities)?;
    path.is_atomic = atomic == "AG";
    copy(aggregator, &mut path.aggregator)
}
