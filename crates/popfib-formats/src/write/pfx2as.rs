//! Routes in, CAIDA's pfx2as out: `192.0.2.0<TAB>24<TAB>64500`.
//!
//! A route of several origins has their numbers joined by `_`, one of an AS set
//! has its members joined by `,`; next hops of that form pass through. The braces that
//! other forms have around a set are left out.

use popfib::IpPrefix;

use super::bytes::push;
use super::form::{WriteEntry, WriteMethod};
use crate::origins::{is_as_list, without_braces};

pub(super) static FORM: WriteEntry = WriteEntry {
    name: "pfx2as",
    aliases: &[],
    description: "CAIDA's prefix to AS: address, length and AS number, separated by tabs",
    method: WriteMethod::Routes {
        needed: Some("an AS number"),
        append,
        absent: None,
    },
};

fn append(out: &mut Vec<u8>, prefix: IpPrefix, next_hop: &str) -> Result<(), &'static str> {
    if !is_as_list(next_hop) {
        return Err("not an AS number");
    }
    push(
        out,
        format_args!(
            "{}\t{}\t{}\n",
            prefix.address(),
            prefix.len(),
            without_braces(next_hop)
        ),
    );
    Ok(())
}
