//! Routes in, the text format out: `PREFIX NEXTHOP`, one route a line; a prefix and a tab if its next hop is absent; of a list, prefixes
//! alone.
//!
//! It has no quotes, so a next hop that a reader would cut in pieces is refused and not written wrongly: CSV and JSON
//! lines hold any.

use super::bytes::push_prefix;
use super::form::{WriteEntry, WriteMethod};
use crate::origins::is_token;
use crate::route::Route;

pub(super) static FORM: WriteEntry = WriteEntry {
    name: "text",
    alias: None,
    description: "PREFIX NEXTHOP, one route a line",
    method: WriteMethod::Routes {
        header: "",
        list: Ok(""),
        append,
        absent: Some("\t\n"),
        records: None,
    },
};

fn append(out: &mut Vec<u8>, route: Route<'_>) -> Result<(), &'static str> {
    if route.next_hop.is_empty() {
        push_prefix(out, route.prefix);
        out.push(b'\n');
        return Ok(());
    }
    if !is_token(route.next_hop) {
        return Err(
            "text has no next hops with blanks, comment signs, or commas except between AS numbers",
        );
    }
    push_prefix(out, route.prefix);
    out.push(b' ');
    out.extend_from_slice(route.next_hop.as_bytes());
    out.push(b'\n');
    Ok(())
}
