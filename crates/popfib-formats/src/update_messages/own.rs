//! A line of `popfib updates --json` in, the change or the state of a session that it says out.

use super::parts::{add_change, take_time};
use crate::json::members::Members;
use crate::update::Session;
use crate::update_lines::LineUpdates;

/// Reads a line of this type, with all members that it has.
pub(super) fn read(
    kind: &str,
    mut line: Members<'_>,
    mask: bool,
    to: &mut LineUpdates,
) -> Result<(), String> {
    take_time(&mut line, "time", to)?;
    let peer = (line.need("peer")?, line.need("peer_as")?);
    to.peer = Some(peer);
    if kind == "state" {
        let (old, new) = (line.need("old")?, line.need("new")?);
        let time = to.time.unwrap_or_default();
        to.session = Some(Session {
            time,
            peer,
            old,
            new,
        });
        return line.end("");
    }
    let mut next_hop = None;
    if kind == "announce" {
        next_hop = Some(line.need("next_hop")?);
        let path = &mut to.path;
        path.as_path = line.need("as_path")?;
        path.origin = line.need("origin")?;
        path.local_preference = line.need("local_preference")?;
        path.med = line.need("med")?;
        path.communities = line.need::<Vec<String>>("communities")?.join(" ");
        path.is_atomic = line.need("atomic")?;
        path.aggregator = line.need::<Option<_>>("aggregator")?.unwrap_or_default();
    }
    let prefix: String = line.need("prefix")?;
    add_change(&prefix, line.need("id")?, next_hop, mask, to)?;
    // The origin follows from the path.
    line.end("origin_as")
}
