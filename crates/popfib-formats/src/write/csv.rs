//! Writes comma-separated values (RFC 4180, lines end in LF): `prefix,next_hop`, a list as `prefix`.

use super::bytes::push;
use super::form::{Body, Form};
use crate::route::Route;

pub(super) static FORM: Form = Form {
    name: "csv",
    alias: None,
    description: "comma-separated values: prefix, next_hop",
    body: Body::Routes {
        header: "prefix,next_hop
",
        list: Ok("prefix\n"),
        append,
    },
};

fn append(out: &mut Vec<u8>, route: Route<'_>) -> Result<(), &'static str> {
    push(out, format_args!("{}", route.prefix));
    let next_hop = route.next_hop;
    if !next_hop.is_empty() {
        out.push(b',');
    }
    // Blanks at the ends are quoted, too: some readers would trim them.
    if next_hop.contains([',', '"', '\r', '\n']) || next_hop.trim() != next_hop {
        push(out, format_args!("\"{}\"", next_hop.replace('"', "\"\"")));
    } else {
        out.extend_from_slice(next_hop.as_bytes());
    }
    out.push(b'\n');
    Ok(())
}
