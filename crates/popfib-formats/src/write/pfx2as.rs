//! Writes CAIDA's pfx2as: `192.0.2.0<TAB>24<TAB>64500`.
//!
//! A route of several origins has their numbers joined by `_`, one of an AS set
//! has its members joined by `,`; next hops of that form pass through.

use super::{Form, push};
use crate::Route;

pub(super) static FORM: Form = Form {
    name: "pfx2as",
    alias: None,
    description: "CAIDA's prefix to AS: address, length and AS number, separated by tabs",
    header: "",
    append,
};

fn append(out: &mut Vec<u8>, route: Route<'_>) -> Result<(), &'static str> {
    if !route.next_hop.split(['_', ',']).all(is_as_number) {
        return Err("not an AS number");
    }
    let prefix = route.prefix;
    push(
        out,
        format_args!(
            "{}\t{}\t{}\n",
            prefix.address(),
            prefix.len(),
            route.next_hop
        ),
    );
    Ok(())
}

/// Whether `text` is an AS number: a number of 32 bits, or two of 16 joined by a dot.
fn is_as_number(text: &str) -> bool {
    // Digits alone: `from_str` would take a sign.
    let digits = |n: &str| n.bytes().all(|b| b.is_ascii_digit());
    match text.split_once('.') {
        None => digits(text) && text.parse::<u32>().is_ok(),
        Some(halves) => [halves.0, halves.1]
            .iter()
            .all(|half| digits(half) && half.parse::<u16>().is_ok()),
    }
}
