//! Updates out of the lines of `bgpdump -m`: those of BGP4MP, and the states of peers. Lines of tables are left out and counted.

use super::line::{BgpdumpType, fill, is_bgpdump, next_hop, parse, session};
use crate::mrt::BgpChange;
use crate::registry::Capability::Peers;
use crate::update::UpdateEntry;
use crate::update_lines::{LineUpdates, UpdatesOfLines};

pub(crate) const UPDATE_FORMAT: UpdateEntry = UpdateEntry {
    name: "bgpdump",
    description: "text of bgpdump -m",
    can: &[Peers],
    detect: is_bgpdump,
    open: |input, options| UpdatesOfLines::open(input, options, b"", read),
};

/// Reads a line.
fn read(text: &[u8], mask: bool, to: &mut LineUpdates) -> Result<(), String> {
    let Some(line) = parse(text, mask)? else {
        let session = session(text)?;
        (to.peer, to.session) = (Some(session.peer), Some(session));
        return Ok(());
    };
    if line.kind == BgpdumpType::Table {
        to.left_out.push(("line", " of a table"));
        return Ok(());
    }
    let next_hop = match line.route {
        None => None,
        Some(fields) => {
            next_hop(fields.next_hop)?;
            fill(&mut to.path, fields)?;
            to.path.next_hop
        }
    };
    (to.time, to.peer) = (Some(line.time), Some(line.peer));
    to.changes.push(BgpChange {
        prefix: line.prefix,
        id: line.path_id,
        next_hop,
    });
    Ok(())
}
