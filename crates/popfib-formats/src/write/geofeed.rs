//! Routes in, a geofeed out (RFC 8805): `192.0.2.0/24,US,,,`, the next hop as the country.
//!
//! Region, city and postal code stay empty: a next hop is one value. Other values than countries are refused, since whoever
//! fetches a geofeed takes what stands there for one.

use popfib::IpPrefix;

use super::bytes::push;
use super::form::{WriteEntry, WriteMethod};
use crate::delimited::is_country;

pub(super) static FORM: WriteEntry = WriteEntry {
    name: "geofeed",
    aliases: &[],
    description: "a geofeed (RFC 8805): prefix and country; next hops have to be country codes",
    method: WriteMethod::Routes {
        needed: Some("a country"),
        append,
        absent: Some(",,,,\n"),
    },
};

fn append(out: &mut Vec<u8>, prefix: IpPrefix, country: &str) -> Result<(), &'static str> {
    if !is_country(country.as_bytes()) {
        return Err("not a country of two letters");
    }
    push(out, format_args!("{prefix},{country},,,\n"));
    Ok(())
}
