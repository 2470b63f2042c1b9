//! A line with a RIS Live message in, a JSON object with or without the envelope of the WebSocket; the prefixes that a peer announces and
//! withdraws out.

use std::net::IpAddr;

use popfib::IpPrefix;
use popfib_formats::bgp::BgpPath;
use serde::Deserialize;

#[derive(Deserialize)]
struct RisEnvelope {
    data: Option<RisMessage>,
}

/// The parts of a message that are used.
#[derive(Deserialize)]
struct RisMessage {
    peer: Option<IpAddr>,
    #[serde(rename = "type")]
    kind: Option<String>,
    state: Option<String>,
    #[serde(default)]
    path: Vec<AsPathStep>,
    origin: Option<String>,
    med: Option<u32>,
    #[serde(default)]
    community: Vec<[u16; 2]>,
    #[serde(default)]
    announcements: Vec<RisAnnouncement>,
    #[serde(default)]
    withdrawals: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum AsPathStep {
    One(u32),
    Set(Vec<u32>),
}

#[derive(Deserialize)]
struct RisAnnouncement {
    next_hop: String,
    prefixes: Vec<String>,
}

/// The content of a line.
#[derive(Debug)]
pub(crate) enum RisEvent {
    /// The prefixes of a peer: withdrawn ones, then announced ones with their next hop. The other attributes are those of all.
    Update {
        peer: IpAddr,
        withdrawn: Vec<IpPrefix>,
        path: Box<BgpPath>,
        announced: Vec<(IpAddr, Vec<IpPrefix>)>,
    },
    /// A peer is lost.
    Down(IpAddr),
    /// Something else.
    Other,
}

/// Reads a line; `None` if it is invalid.
pub(crate) fn read(line: &str) -> Option<RisEvent> {
    let message = match serde_json::from_str::<RisEnvelope>(line) {
        Ok(RisEnvelope { data: Some(data) }) => data,
        Ok(RisEnvelope { data: None }) => serde_json::from_str::<RisMessage>(line).ok()?,
        Err(_) => return None,
    };
    let peer = match message.kind.as_deref() {
        Some("UPDATE") => message.peer?,
        Some("RIS_PEER_STATE" | "STATE") => {
            let peer = message.peer?;
            return Some(match message.state.as_deref() {
                Some("down") => RisEvent::Down(peer),
                _ => RisEvent::Other,
            });
        }
        _ => return Some(RisEvent::Other),
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
    let community = |[high, low]: &[u16; 2]| format!("{high}:{low}");
    let communities: Vec<_> = message.community.iter().map(community).collect();
    let mut path = Box::<BgpPath>::default();
    path.origin = message.origin.as_deref().map_or("", origin).to_owned();
    path.as_path = as_path(&message.path);
    path.med = message.med;
    path.communities = communities.join(" ");
    Some(RisEvent::Update {
        peer,
        withdrawn,
        path,
        announced,
    })
}

/// The origin by the name that a [`BgpPath`] has for it.
pub(crate) fn origin(name: &str) -> &'static str {
    match name.to_ascii_lowercase().as_str() {
        "igp" => "IGP",
        "egp" => "EGP",
        _ => "INCOMPLETE",
    }
}

fn as_path(path: &[AsPathStep]) -> String {
    let step = |step: &AsPathStep| match step {
        AsPathStep::One(number) => number.to_string(),
        AsPathStep::Set(numbers) => {
            let numbers: Vec<_> = numbers.iter().map(u32::to_string).collect();
            format!("{{{}}}", numbers.join(","))
        }
    };
    path.iter().map(step).collect::<Vec<_>>().join(" ")
}
