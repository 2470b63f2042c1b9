//! Writes JSON lines: `{"prefix":"192.0.2.0/24","next_hop":"east"}`; those of a list have a prefix alone.

use super::bytes::push;
use super::form::{Body, Form};
use crate::route::Route;

pub(super) static FORM: Form = Form {
    name: "json-lines",
    alias: Some("jsonl"),
    description: "one JSON object a line: prefix, next_hop",
    body: Body::Routes {
        header: "",
        list: Ok(""),
        append,
    },
};

fn append(out: &mut Vec<u8>, route: Route<'_>) -> Result<(), &'static str> {
    push(out, format_args!("{{\"prefix\":\"{}\"", route.prefix));
    if !route.next_hop.is_empty() {
        out.extend_from_slice(b",\"next_hop\":");
        // Only the escapes need a library; a string into memory cannot fail.
        serde_json::to_writer(&mut *out, route.next_hop).map_err(|_| "JSON cannot hold it")?;
    }
    out.extend_from_slice(b"}\n");
    Ok(())
}
