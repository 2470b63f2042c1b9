//! A message of RIS Live, without the envelope of the WebSocket, in; the prefixes that a peer announces and withdraws out.

use std::net::IpAddr;

use serde::Deserialize;

use super::parts::{add_change, add_communities, as_path, asn, take_state, take_time};
use crate::error::{parsed, quote};
use crate::json::members::Members;
use crate::update_lines::LineUpdates;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RisAnnouncement {
    next_hop: String,
    prefixes: Vec<String>,
}

/// Reads a message of this type.
pub(super) fn read(
    kind: &str,
    mut message: Members<'_>,
    mask: bool,
    to: &mut LineUpdates,
) -> Result<(), String> {
    match kind {
        "UPDATE" | "RIS_PEER_STATE" | "STATE" => {}
        "OPEN" | "KEEPALIVE" | "NOTIFICATION" => return Ok(()),
        _ => {
            let kind = quote(kind);
            return Err(format!("{kind}: not a type of RIS Live or popfib updates"));
        }
    }
    take_time(&mut message, "timestamp", to)?;
    to.peer = Some((message.need("peer")?, asn(message.take("peer_asn")?)?));
    if kind != "UPDATE" {
        take_state(&message.need::<String>("state")?, to)?;
    }
    for prefix in message.optional::<Vec<String>>("withdrawals")? {
        add_change(&prefix, None, None, mask, to)?;
    }
    for of in message.optional::<Vec<RisAnnouncement>>("announcements")? {
        // A global and a link-local address, separated by a comma.
        let hops = of.next_hop.split(',').map(|hop| parsed(hop, "an address"));
        let hops: Vec<IpAddr> = hops.collect::<Result<_, _>>()?;
        for prefix in &of.prefixes {
            add_change(prefix, None, Some(hops[0]), mask, to)?;
        }
    }
    to.path.as_path = as_path(&message.optional::<Vec<_>>("path")?);
    to.path.med = message.take("med")?;
    to.path.origin = message.optional::<String>("origin")?.to_ascii_uppercase();
    to.path.aggregator = message.optional::<String>("aggregator")?.replace(':', " ");
    add_communities::<2>(&message.optional::<Vec<_>>("community")?, &mut to.path);
    // Of no effect.
    message.end("id host raw")
}
