//! Tables of fields, a line each: CSV and TSV with prefixes or ranges, geofeeds, CAIDA's pfx2as, RIS's dumps for whois, the
//! registries' statistics. Lines in, routes out. What they share: fields with and without quotes (`fields`), ranges that overlap
//! (`overlap`), the columns that were asked for (`fixed`).

pub(crate) mod csv;
pub(crate) mod fields;
mod fixed;
pub(crate) mod geofeed;
mod layout;
pub(crate) mod locations;
pub(crate) mod overlap;
pub(crate) mod pfx2as;
pub(crate) mod rir;
pub(crate) mod riswhois;

pub(crate) use geofeed::is_country;
