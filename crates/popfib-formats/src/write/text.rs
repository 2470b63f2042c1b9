//! Routes in, the text format out: `PREFIX NEXTHOP`, one route a line; a prefix and a tab if its next hop is absent; of a list, prefixes
//! alone.
//!
//! It has no quotes, so a next hop that a reader would cut in pieces is refused and not written wrongly: CSV and JSON
//! lines hold any.

use popfib::IpPrefix;

use super::bytes::push_prefix;
use super::form::{WriteEntry, WriteMethod};
use crate::origins::is_word;

pub(super) static FORM: WriteEntry = WriteEntry {
    name: "text",
    aliases: &[],
    description: "PREFIX NEXTHOP, one route a line",
    method: WriteMethod::Routes {
        needed: None,
        append,
        absent: Some("\t\n"),
    },
};

fn append(out: &mut Vec<u8>, prefix: IpPrefix, next_hop: &str) -> Result<(), &'static str> {
    if next_hop.is_empty() {
        push_prefix(out, prefix);
        out.push(b'\n');
        return Ok(());
    }
    if !is_word(next_hop) {
        return Err(
            "text has no next hops with blanks, comment signs, or commas except between AS numbers",
        );
    }
    push_prefix(out, prefix);
    out.push(b' ');
    out.extend_from_slice(next_hop.as_bytes());
    out.push(b'\n');
    Ok(())
}
