//! Updates as programs send them to each other: objects of JSON and commands, one a line, in; updates out. Three programs write the
//! objects, which their members tell apart:
//!
//! ```text
//! {"type":"ris_message","data":{"timestamp":1.5,"peer":"192.0.2.9","type":"UPDATE",...}}    RIS Live
//! {"exabgp":"4.0.1","time":1.5,"type":"update","neighbor":{...}}                            ExaBGP
//! {"type":"announce","prefix":"10.1.0.0/16","peer":"192.0.2.9","time":1.5,...}              popfib updates --json
//! neighbor 192.0.2.9 announce route 10.1.0.0/16 next-hop 192.0.2.1                          a command of ExaBGP
//! announce 10.1.0.0/16 east                                                                 the same of any value
//! ```
//! A member that is not known may be a prefix or a part of its path under another name, so it makes the line invalid. A program that is
//! given ExaBGP's objects may pass them on beside its own commands, so either format takes lines of the other. A line that begins with
//! `#` is a comment.

mod commands;
mod exabgp;
mod own;
mod parts;
mod ris;

use serde_json::value::RawValue;

use crate::input::head_lines;
use crate::json::members::Members;
use crate::lines::text;
use crate::registry::Capability::Peers;
use crate::update::UpdateEntry;
use crate::update_lines::{LineUpdates, UpdatesOfLines, is_comment};
use commands::{is_command, read_command};

pub(crate) const FORMAT: UpdateEntry = UpdateEntry {
    name: "json",
    description: "JSON, one object a line: of RIS Live, ExaBGP, popfib updates",
    can: &[Peers],
    detect: |head| first_line(head).is_some_and(|line| line.starts_with(b"{")),
    open: |input, options| {
        let read = |line: &[u8], mask, to: &mut _| match text(line)?.trim_ascii() {
            line if is_command(line.as_bytes()) => read_command(line, mask, to),
            line => read_json(line, mask, to),
        };
        UpdatesOfLines::open(input, options, COMMENTS, read)
    },
};

pub(crate) const COMMANDS: UpdateEntry = UpdateEntry {
    name: "exabgp",
    description: "commands of ExaBGP, and those of any value: announce PREFIX VALUE, withdraw PREFIX",
    can: &[Peers],
    detect: |head| first_line(head).is_some_and(is_command),
    open: |input, options| {
        let read = |line: &[u8], mask, to: &mut _| match text(line)?.trim_ascii() {
            line if line.starts_with('{') => read_json(line, mask, to),
            line => read_command(line, mask, to),
        };
        UpdatesOfLines::open(input, options, COMMENTS, read)
    },
};

/// What comments begin with.
const COMMENTS: &[u8] = b"#";

/// The first line that is no comment.
fn first_line(head: &[u8]) -> Option<&[u8]> {
    let line = head_lines(head).find(|line| !is_comment(line, COMMENTS));
    line.map(<[u8]>::trim_ascii_start)
}

/// Reads an object, and sets in `to` what it says: nothing if it says nothing of routes. Host bits of prefixes are cleared if `mask` is set.
///
/// # Errors
/// What is wrong with it; an object that no program writes as an update, or with a member that is not known.
fn read_json(text: &str, mask: bool, to: &mut LineUpdates) -> Result<(), String> {
    to.clear();
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
