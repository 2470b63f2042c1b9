//! Writes geofeeds (RFC 8805): `192.0.2.0/24,US,,,`, the next hop as the country.

use super::bytes::push;
use super::form::{Body, Form};
use crate::delimited::is_country;
use crate::route::Route;

pub(super) static FORM: Form = Form {
    name: "geofeed",
    alias: None,
    description: "a geofeed (RFC 8805): prefix and country; next hops have to be country codes",
    body: Body::Routes {
        header: "",
        list: Err("a country"),
        append,
        records: None,
    },
};

fn append(out: &mut Vec<u8>, route: Route<'_>) -> Result<(), &'static str> {
    let country = route.next_hop;
    if !is_country(country.as_bytes()) {
        return Err("not a country of two letters");
    }
    push(out, format_args!("{},{country},,,\n", route.prefix));
    Ok(())
}
