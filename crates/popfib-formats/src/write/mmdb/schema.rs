//! The type of a database and a column's name in, the member out that readers of this type look at.
//!
//! Readers of GeoIP2 have fixed members (`country.iso_code`), whatever else a record has: programs that use them (Logstash, Graylog,
//! Envoy) answer from no other. What is not known here stays where its name leads.

/// Members of the types whose names end so, and what columns of them are called elsewhere, without a table's name before it.
const SCHEMAS: [(&str, &[Member]); 3] = [("City", PLACES), ("Country", PLACES), ("ASN", NETWORKS)];

/// A member, and what columns are called elsewhere that are it.
type Member = (&'static str, &'static [&'static str]);

/// A country before its city: of the two, databases of countries have that one alone.
const PLACES: &[Member] = &[
    (
        "country.iso_code",
        &["country", "country_code", "country_iso_code", "cc"],
    ),
    ("country.names.en", &["country_name"]),
    ("continent.code", &["continent", "continent_code"]),
    ("continent.names.en", &["continent_name"]),
    ("city.names.en", &["city", "city_name"]),
    ("location.latitude", &["latitude", "lat"]),
    ("location.longitude", &["longitude", "lon", "lng"]),
    ("location.time_zone", &["time_zone", "timezone"]),
    ("postal.code", &["postal", "postal_code", "zip"]),
    (
        "subdivisions[0].iso_code",
        &["region_code", "subdivision_1_iso_code"],
    ),
    (
        "subdivisions[0].names.en",
        &["region", "region_name", "subdivision_1_name"],
    ),
    ("traits.is_anonymous_proxy", &["is_anonymous_proxy"]),
    ("traits.is_satellite_provider", &["is_satellite_provider"]),
];

const NETWORKS: &[Member] = &[
    (
        "autonomous_system_number",
        &["asn", "as", "as_number", "origin"],
    ),
    (
        "autonomous_system_organization",
        &["as_name", "as_org", "as_organization", "organization"],
    ),
];

/// The member of a database of type `database` for the column `name`, if readers of the type expect it anywhere.
pub(super) fn member(database: &str, name: &str) -> Option<&'static str> {
    let ends = |(end, _): &&(&str, _)| database.ends_with(end);
    let (_, members) = SCHEMAS.iter().find(ends)?;
    let is_it = |name: &str| {
        let is = |(member, names): &&Member| *member == name || names.contains(&name);
        members.iter().find(is).map(|(member, _)| *member)
    };
    // A joined column has its table's name before its own, or that alone.
    is_it(name).or_else(|| is_it(name.split_once('.')?.1))
}
