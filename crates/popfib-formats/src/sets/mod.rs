//! Sets of prefixes as firewalls and routers hold them: lines of a configuration in, the elements of its sets out, each
//! with the name of its set.
//!
//! An element is a prefix, an address or a range of addresses. Each element counts, unlike in a
//! [listing](crate::show): of several sets with one prefix the last answers.
//!
//! - What a table of prefixes cannot say is an error: exceptions (`nomatch`, `deny`, `!`) and elements that are more
//!   than an address. To leave an exception out would turn "all of 10.0.0.0/8 but 10.1.0.0/16" into a wrong answer.
//! - So are commands that take away what was read before (`flush`, `delete element`, `no`): its elements are in the table already.
//!   Those that empty what is not there yet, as scripts begin, change nothing.
//! - Bounds of length (`le 24`) are left out and counted: they are about the routes that a filter lets pass, and the
//!   addresses in question are those of the prefix all the same.
//! - Rules, chains, interfaces and the like are passed over; prefixes in them are counted.

use std::collections::HashSet;

use crate::error::quote;
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

/// The names of the sets that have elements so far.
#[derive(Default)]
pub(crate) struct FilledSets(HashSet<String>);

impl FilledSets {
    /// This set has elements.
    pub(crate) fn add(&mut self, name: &str) {
        if !self.0.contains(name) {
            self.0.insert(name.to_owned());
        }
    }

    /// Nothing is lost by passing over a command that takes away from the set `name`, or from all if there is none.
    pub(crate) fn removal(
        &self,
        name: Option<&str>,
        command: &str,
        rows: &RouteRows,
    ) -> Result<(), String> {
        let is_filled = name.map_or(!self.0.is_empty(), |name| self.0.contains(name));
        match is_filled {
            false => rows.detail(),
            true => Err(format!(
                "{}: it takes away what was read before, and is not applied",
                quote(command.trim())
            )),
        }
    }
}
