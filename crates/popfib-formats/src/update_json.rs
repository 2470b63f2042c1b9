//! Updates as JSON: objects in, one a line, updates out. Three programs write them, which their members tell apart:
//!
//! ```text
//! {"type":"ris_message","data":{"timestamp":1.5,"peer":"192.0.2.9","type":"UPDATE",...}}    RIS Live
//! {"exabgp":"4.0.1","time":1.5,"type":"update","neighbor":{...}}                            ExaBGP
//! {"type":"announce","prefix":"10.1.0.0/16","peer":"192.0.2.9","time":1.5,...}              popfib updates --json
//! ```
//! A member that is not known may be a prefix or a part of its path under another name, so it makes the line invalid.
//! [`read_json`] reads a single line, for whoever gets them from elsewhere.

mod exabgp;
mod own;
mod parts;
mod ris;

use serde_json::value::RawValue;

use crate::input::head_lines;
use crate::json::members::Members;
use crate::lines::text;
use crate::registry::FormatCapabilities;
use crate::update::UpdateEntry;
use crate::update_lines::{LineUpdates, UpdatesOfLines};

pub(crate) const FORMAT: UpdateEntry = UpdateEntry {
    name: "json",
    description: "JSON, one object a line: of RIS Live, ExaBGP, popfib updates",
    can: FormatCapabilities::PEERS,
    detect: |head| {
        let first = head_lines(head).find(|line| !line.trim_ascii().is_empty());
        first.is_some_and(|line| line.trim_ascii().starts_with(b"{"))
    },
    open: |input, options| {
        let read = |line: &[u8], mask, to: &mut _| read_json(text(line)?, mask, to);
        Ok(Box::new(UpdatesOfLines::new(input, options, read)))
    },
};

/// Reads an object, and sets in `to` what it says: nothing if it says nothing of routes. Host bits of prefixes are cleared if `mask` is set.
///
/// # Errors
/// What is wrong with it; an object that no program writes as an update, or with a member that is not known.
pub fn read_json(text: &str, mask: bool, to: &mut LineUpdates) -> Result<(), String> {
    *to = LineUpdates::default();
    let mut members = Members::of(text)?;
    if members.has("exabgp") {
        return exabgp::read(members, mask, to);
    }
    let kind = members.take::<String>("type")?;
    match (kind.as_deref(), members.take::<&RawValue>("data")?) {
        (None | Some("ris_message"), Some(data)) => {
            let mut data = Members::of(data.get())?;
            ris::read(&data.need::<String>("type")?, data, mask, to)
        }
        // What the server says of the connection.
        (
            Some("ris_error" | "ris_rrc_list" | "ris_subscribe_ok" | "ris_unsubscribe_ok" | "pong"),
            _,
        ) => Ok(()),
        (Some(kind @ ("announce" | "withdraw" | "state")), None) => {
            own::read(kind, members, mask, to)
        }
        (Some(kind), None) => ris::read(kind, members, mask, to),
        _ => Err("no object of RIS Live, ExaBGP or popfib updates".to_owned()),
    }
}
