//! Tables of fields: CSV and TSV with prefixes or ranges, CAIDA's pfx2as, the registries' statistics.

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
