//! Writes the text format: `PREFIX NEXTHOP`, one route a line.

use super::bytes::push_prefix;
use super::form::{Body, Form};
use crate::origins::is_token;
use crate::route::Route;

pub(super) static FORM: Form = Form {
    name: "text",
    alias: None,
    description: "PREFIX NEXTHOP, one route a line",
    body: Body::Routes {
        header: "",
        list: Ok(""),
        append,
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
