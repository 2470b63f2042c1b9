//! A message of ExaBGP (version 4) in; the prefixes that a peer announces and withdraws out.
//!
//! ```text
//! {"exabgp":"4.0.1","time":1.5,"type":"update","neighbor":{"address":{"local":"192.0.2.9","peer":"192.0.2.1"},
//!   "asn":{"local":64999,"peer":64500},"direction":"receive","message":{"update":{"attribute":{"origin":"igp",
//!   "as-path":[64500,64510]},"announce":{"ipv4 unicast":{"192.0.2.1":[{"nlri":"10.1.0.0/16"}]}},
//!   "withdraw":{"ipv4 unicast":[{"nlri":"10.2.0.0/16"}]}}}}}
//! ```

use std::net::{IpAddr, Ipv4Addr};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::parts::{AsPathStep, add_change, add_communities, as_path, asn, take_state, take_time};
use crate::bgp_path::BgpPath;
use crate::error::{not, parsed};
use crate::json::members::{Members, pairs};
use crate::json::parse;
use crate::update_lines::LineUpdates;

/// A prefix, with its path identifier in the form of an address.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExabgpPrefix {
    nlri: String,
    #[serde(rename = "path-information")]
    id: Option<Ipv4Addr>,
}

/// Reads a message.
pub(super) fn read(mut line: Members<'_>, mask: bool, to: &mut LineUpdates) -> Result<(), String> {
    let kind: String = line.need("type")?;
    match &*kind {
        "update" | "state" => {}
        "open" | "keepalive" | "notification" | "refresh" | "operational" | "negotiated"
        | "fsm" | "signal" => return Ok(()),
        _ => return Err(not(kind, "a type of ExaBGP")),
    }
    take_time(&mut line, "time", to)?;
    let mut neighbor = line.object("neighbor")?;
    line.end("exabgp host pid ppid counter")?;
    let (mut address, mut number) = (neighbor.object("address")?, neighbor.object("asn")?);
    to.peer = Some((address.need("peer")?, asn(Some(number.need("peer")?))?));
    address.end("local")?;
    number.end("local")?;
    if kind == "state" {
        return take_state(&neighbor.need::<String>("state")?, to);
    }
    let direction = neighbor.optional::<String>("direction")?;
    let mut message = neighbor.object("message")?;
    neighbor.end("ip header body")?;
    if message.has("eor") {
        return Ok(());
    }
    let mut update = message.object("update")?;
    message.end("")?;
    if matches!(&*direction, "send" | "out") {
        to.left_out.push(("update", " that ExaBGP sent"));
        return Ok(());
    }
    for (family, list) in update.pairs("withdraw")? {
        if is_unicast(&family, to) {
            add(list, None, mask, to)?;
        }
    }
    for (family, by_next_hop) in update.pairs("announce")? {
        if is_unicast(&family, to) {
            for (next_hop, list) in pairs(by_next_hop.get())? {
                add(list, Some(parsed(&next_hop, "an address")?), mask, to)?;
            }
        }
    }
    if update.has("attribute") {
        attributes(update.object("attribute")?, &mut to.path)?;
    }
    update.end("")
}

/// Whether a family has unicast routes; those of others are left out.
fn is_unicast(family: &str, to: &mut LineUpdates) -> bool {
    let is_unicast = matches!(family, "ipv4 unicast" | "ipv6 unicast");
    if !is_unicast {
        to.left_out.push(("update", " of other families"));
    }
    is_unicast
}

/// Adds a change of each prefix of a list.
fn add(
    list: &RawValue,
    next_hop: Option<IpAddr>,
    mask: bool,
    to: &mut LineUpdates,
) -> Result<(), String> {
    let list: Vec<ExabgpPrefix> = parse(list.get())?;
    for ExabgpPrefix { nlri, id } in list {
        add_change(&nlri, id.map(u32::from), next_hop, mask, to)?;
    }
    Ok(())
}

fn attributes(mut all: Members<'_>, path: &mut BgpPath) -> Result<(), String> {
    path.origin = all.optional::<String>("origin")?.to_ascii_uppercase();
    path.med = all.take("med")?;
    path.local_preference = all.take("local-preference")?;
    path.is_atomic = all.optional("atomic-aggregate")?;
    path.aggregator = all.optional::<String>("aggregator")?.replace(':', " ");
    add_communities::<2>(&all.optional::<Vec<_>>("community")?, path);
    add_communities::<3>(&all.optional::<Vec<_>>("large-community")?, path);
    // The numbers of each kind of segment are by themselves.
    let mut steps: Vec<AsPathStep> = all.optional("as-path")?;
    steps.push(AsPathStep::Set(all.optional("as-set")?));
    let confederation: Vec<AsPathStep> = all.optional("confederation-path")?;
    path.as_path = format!("({}) {}", as_path(&confederation), as_path(&steps));
    // Those that ExaBGP itself does not know, and those of no effect.
    all.0.retain(|name, _| !name.starts_with("attribute-"));
    all.end("extended-community originator-id cluster-list aigp")
}
