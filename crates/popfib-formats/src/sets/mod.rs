//! Sets of prefixes as firewalls and routers hold them: lines of a configuration in, the elements of its sets out, each
//! with the name of its set.
//!
//! An element is a prefix, an address or a range of addresses. Each element counts, unlike in a
//! [listing](crate::show): of several sets with one prefix the last answers.
//!
//! - What a table of prefixes cannot say is an error: exceptions (`nomatch`, `deny`, `!`) and elements that are more
//!   than an address. To leave an exception out would turn "all of 10.0.0.0/8 but 10.1.0.0/16" into a wrong answer.
//! - Bounds of length (`le 24`) are left out and counted: they are about the routes that a filter lets pass, and the
//!   addresses in question are those of the prefix all the same.
//! - Rules, chains, interfaces and the like are passed over.

use crate::rows::RouteRows;

pub(crate) mod filters;
pub(crate) mod ipset;
pub(crate) mod iptables;
pub(crate) mod nft;
pub(crate) mod prefix_lists;
mod tokens;

/// A set holds something else than addresses, for both forms of nftables and for ipset.
pub(crate) fn other_set(rows: &mut RouteRows) -> Result<(), String> {
    rows.leave_out("set", " of something else than addresses")
}
