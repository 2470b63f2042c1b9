//! How forms of a route a line write all columns of the record of each route; CSV and JSON lines do.

use popfib::{IpPrefix, NextHop};
use popfib_table::Records;

/// How the routes of a form are written that lead to records.
#[derive(Clone, Copy)]
pub(super) struct RecordForm {
    /// What comes first.
    pub(super) header: fn(&Records) -> Vec<u8>,
    /// Appends the bytes of a route.
    pub(super) append: fn(&mut Vec<u8>, IpPrefix, &Records, NextHop),
}
