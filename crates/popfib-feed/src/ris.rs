//! RIS Live messages, one JSON object a line, with or without the envelope of the WebSocket.

use std::net::IpAddr;

use popfib::IpPrefix;
use serde::Deserialize;

use crate::pack::{Attributes, Segment};

#[derive(Deserialize)]
struct Envelope {
    data: Option<Message>,
}

/// The parts of a message that are used.
#[derive(Deserialize)]
struct Message {
    peer: Option<IpAddr>,
    #[serde(rename = "type")]
    kind: Option<String>,
    state: Option<String>,
    #[serde(default)]
    path: Vec<Step>,
    origin: Option<String>,
    med: Option<u32>,
    #[serde(default)]
    community: Vec<[u16; 2]>,
    #[serde(default)]
    announcements: Vec<Announcement>,
    #[serde(default)]
    withdrawals: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Step {
    One(u32),
    Set(Vec<u32>),
}

#[derive(Deserialize)]
struct Announcement {
    next_hop: String,
    prefixes: Vec<String>,
}

/// The content of a line.
#[derive(Debug)]
pub(crate) enum Said {
    /// The prefixes of a peer: withdrawn ones, then announced ones with their next hop. The other attributes are those of all.
    Update {
        peer: IpAddr,
        withdrawn: Vec<IpPrefix>,
        attributes: Attributes,
        announced: Vec<(IpAddr, Vec<IpPrefix>)>,
    },
    /// A peer is lost.
    Down(IpAddr),
    /// Something else.
    Other,
}

/// Reads a line; `None` if it is invalid.
pub(crate) fn read(line: &str) -> Option<Said> {
    let message = match serde_json::from_str::<Envelope>(line) {
        Ok(Envelope { data: Some(data) }) => data,
        Ok(Envelope { data: None }) => serde_json::from_str::<Message>(line).ok()?,
        Err(_) => return None,
    };
    let peer = match message.kind.as_deref() {
        Some("UPDATE") => message.peer?,
        Some("RIS_PEER_STATE" | "STATE") => {
            let peer = message.peer?;
            return Some(match message.state.as_deref() {
                Some("down") => Said::Down(peer),
                _ => Said::Other,
            });
        }
        _ => return Some(Said::Other),
    };
    let prefixes = |texts: Vec<String>| -> Option<Vec<IpPrefix>> {
        let read = |text: String| IpPrefix::parse_masked(&text).ok();
        texts.into_iter().map(read).collect()
    };
    let withdrawn = prefixes(message.withdrawals)?;
    let mut announced = Vec::new();
    for announcement in message.announcements {
        // A global and a link-local address, separated by a comma.
        let first = announcement.next_hop.split(',').next()?;
        announced.push((first.parse().ok()?, prefixes(announcement.prefixes)?));
    }
    let attributes = Attributes {
        next_hop: None,
        origin: message.origin.as_deref().map(origin),
        as_path: segments(&message.path),
        med: message.med,
        local_preference: None,
        communities: message.community,
    };
    Some(Said::Update {
        peer,
        withdrawn,
        attributes,
        announced,
    })
}

pub(crate) fn origin(name: &str) -> u8 {
    match name.to_ascii_lowercase().as_str() {
        "igp" => 0,
        "egp" => 1,
        _ => 2,
    }
}

fn segments(path: &[Step]) -> Vec<Segment> {
    let mut segments = Vec::new();
    for step in path {
        match (step, segments.last_mut()) {
            (Step::One(number), Some(Segment::Sequence(last))) => last.push(*number),
            (Step::One(number), _) => segments.push(Segment::Sequence(vec![*number])),
            (Step::Set(numbers), _) => segments.push(Segment::Set(numbers.clone())),
        }
    }
    segments
}
