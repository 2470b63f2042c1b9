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
use crate::error::{ReadError, quote};
use crate::input::{Input, head_lines};
use crate::lines::Lines;
use crate::masks::second_address;
use crate::name_rule::checked;
use crate::origins::is_token;
use crate::peers::Peer;
use crate::ranges::prefix;
use crate::registry::FormatCapabilities;
use crate::update::{Message, PeerGate, UpdateEntry, UpdateHead, UpdateOptions, UpdateSource};

pub(crate) const FORMAT: UpdateEntry = UpdateEntry {
    name: "text",
    description: "text, one update a line: A PREFIX NEXTHOP, W PREFIX",
    can: FormatCapabilities::PEERS,
    detect: |head| first_fields(head).is_some_and(|[first, ..]| is_change(first)),
    open: |input, options| Ok(Box::new(UpdateText::new(input, options, false))),
};

pub(crate) const GOBGPDUMP: UpdateEntry = UpdateEntry {
    name: "gobgpdump",
    description: "gobgpdump's text: TIME PEER A PREFIX NEXTHOP ORIGIN, TIME PEER W PREFIX",
    can: FormatCapabilities::PEERS,
    detect: |head| {
        first_fields(head).is_some_and(|[time, peer, change]| {
            parse_seconds(time).is_some() && is_change(change) && peer.parse::<IpAddr>().is_ok()
        })
    },
    open: |input, options| Ok(Box::new(UpdateText::new(input, options, true))),
};

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
    let end = line.iter().position(|b| matches!(b, b'#' | b';'));
    line[..end.unwrap_or(line.len())].trim_ascii()
}

/// A prefix, its host bits cleared or refused.
pub(crate) fn parse_prefix(text: &str, mask: bool) -> Result<IpPrefix, String> {
    prefix(text, mask).map_err(|e| format!("{}: {e}", quote(text.as_bytes())))
}

/// An [`UpdateSource`] of either form.
#[derive(Debug)]
struct UpdateText {
    lines: Lines,
    gate: PeerGate,
    mask: bool,
    /// Whether time and peer come first.
    with_peer: bool,
    head: UpdateHead,
    next_hop: String,
}

/// A line's update, its next hop kept apart.
struct UpdateLine<'a> {
    time: Option<u64>,
    peer: Option<IpAddr>,
    prefix: IpPrefix,
    next_hop: Option<&'a str>,
}

impl UpdateText {
    fn new(input: Input, options: &UpdateOptions, with_peer: bool) -> Self {
        Self {
            lines: Lines::new(input),
            gate: PeerGate::new(options.peer),
            mask: options.mask,
            with_peer,
            head: UpdateHead::default(),
            next_hop: String::new(),
        }
    }
}

impl UpdateSource for UpdateText {
    fn advance(&mut self) -> Result<bool, ReadError> {
        while self.lines.advance()? {
            let line = content(self.lines.line());
            if line.is_empty() {
                continue;
            }
            let parsed = str::from_utf8(line)
                .map_err(|_| String::new())
                .and_then(|line| parse(line, self.with_peer, self.mask));
            let line = match parsed {
                Ok(line) => line,
                Err(reason) => {
                    let error = self.lines.not_text();
                    return Err(error.unwrap_or_else(|| self.lines.invalid(reason)));
                }
            };
            let index = match line.peer {
                None if self.gate.admits_anonymous() => None,
                None => return Err(self.lines.invalid("this update names no peer to choose by")),
                // Neither form names the AS of the peer: 0 stands for it.
                Some(address) => match self.gate.peer(address, 0) {
                    None => return Err(self.lines.invalid("too many peers")),
                    Some((_, false)) => continue,
                    Some((index, true)) => Some(index),
                },
            };
            let UpdateLine { time, prefix, .. } = line;
            let peer = line.peer.map(|address| (address, 0));
            self.gate.count(time, index, prefix);
            self.next_hop.clear();
            self.next_hop.push_str(line.next_hop.unwrap_or_default());
            self.head = UpdateHead {
                time,
                peer,
                prefix,
                path_id: None,
                is_announced: line.next_hop.is_some(),
            };
            return Ok(true);
        }
        Ok(false)
    }

    fn message(&self) -> Message<'_> {
        self.head.message(&self.next_hop, None)
    }

    fn out_of_order(&self) -> u64 {
        self.gate.out_of_order()
    }

    fn peers(&self) -> &[Peer] {
        self.gate.peers()
    }
}

/// Reads a line of either form.
fn parse(line: &str, with_peer: bool, mask: bool) -> Result<UpdateLine<'_>, String> {
    let mut fields = line.split_ascii_whitespace();
    let mut field = |what: &str| {
        fields
            .next()
            .ok_or_else(|| format!("no {what} in this line"))
    };
    let (mut time, mut peer) = (None, None);
    if with_peer {
        let text = field("time")?;
        let parsed = parse_seconds(text);
        time = Some(parsed.ok_or_else(|| format!("{}: not a time", quote(text.as_bytes())))?);
        let text = field("peer")?;
        let parsed = text.parse().ok();
        peer = Some(parsed.ok_or_else(|| format!("{}: not an address", quote(text.as_bytes())))?);
    }
    let change = field("A or W")?;
    if !is_change(change) {
        return Err(format!("{}: neither A nor W", quote(change.as_bytes())));
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
            return Err(format!("more than a next hop: {}", quote(name.as_bytes())));
        }
        // An address without a length, and another: a mask or the end of a range would make a wrong host route.
        if let (Ok(host), Ok(next_hop)) = (host.parse(), name.parse())
            && let Some(reason) = second_address(host, next_hop)
        {
            return Err(reason);
        }
    }
    // After the next hop, gobgpdump has the origin AS.
    if with_peer && next_hop.is_some() {
        fields.next();
    }
    match fields.next() {
        None => Ok(UpdateLine {
            time,
            peer,
            prefix,
            next_hop,
        }),
        Some(more) => Err(format!("more than an update: {}", quote(more.as_bytes()))),
    }
}
