//! Writes the text format: `PREFIX NEXTHOP`, one route a line.

use super::{Form, push};
use crate::Route;
use crate::origins::is_as_list;

pub(super) static FORM: Form = Form {
    name: "text",
    alias: None,
    description: "PREFIX NEXTHOP, one route a line",
    header: "",
    append,
};

fn append(out: &mut Vec<u8>, route: Route<'_>) -> Result<(), &'static str> {
    if route.next_hop.is_empty() {
        return Err("text has no empty next hops");
    }
    // What the reader takes for the end of a next hop, or for no text at all.
    let ends = |c: char| matches!(c, ' ' | ',' | '#' | ';') || c.is_control();
    if route.next_hop.contains(ends) && !is_as_list(route.next_hop) {
        return Err(
            "text has no next hops with blanks, comment signs, control characters, or commas except between AS numbers",
        );
    }
    push(out, format_args!("{} {}\n", route.prefix, route.next_hop));
    Ok(())
}
