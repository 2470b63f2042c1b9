//! All columns of the record of each route, in forms of a route a line.

use popfib::{IpPrefix, NextHop};
use popfib_table::Records;

/// How a form is written whose routes have records.
#[derive(Clone, Copy)]
pub(super) struct RecordForm {
    /// What comes first.
    pub(super) header: fn(&Records) -> Vec<u8>,
    /// Appends the bytes of a route.
    pub(super) append: fn(&mut Vec<u8>, IpPrefix, &Records, NextHop),
}
