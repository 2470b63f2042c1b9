//! What a form of tables is: its name, and how a table becomes its bytes.
//!
//! There are five ways, and not one trait with a method for a whole table, so that what forms have in common (blocks, names of
//! next hops, what a list lacks) is done once, in [`write_table`](super::write_table).

use std::io::Write;

use popfib::{IpPrefix, NextHop};
use popfib_table::Records;

use super::error::WriteError;
use super::list::ListTemplate;
use super::options::WriteOptions;
use crate::load::RouteTable;

/// Appends the bytes of a route, or says why the form cannot hold its next hop.
pub(super) type AppendRoute = fn(&mut Vec<u8>, IpPrefix, &str) -> Result<(), &'static str>;

/// What the module of a form declares.
pub(crate) struct WriteEntry {
    pub(super) name: &'static str,
    /// Another, shorter name.
    pub(super) aliases: &'static [&'static str],
    /// What it is, in one line for users.
    pub(super) description: &'static str,
    pub(super) method: WriteMethod,
}

/// How the routes of a form are written that has the columns of records. It gets their names: none for a list.
pub(super) struct ColumnsForm {
    /// What comes first.
    pub(super) header: fn(&[&str]) -> Vec<u8>,
    /// Appends the bytes of a route.
    pub(super) append: fn(&mut Vec<u8>, IpPrefix, &[&str], &Records, NextHop),
}

/// How a form is written.
pub(super) enum WriteMethod {
    /// Each route with its next hop.
    Routes {
        /// What each prefix has to have, so that a value-less list is refused.
        needed: Option<&'static str>,
        append: AppendRoute,
        /// What follows the prefix of a route without a value, if the form holds one that way.
        absent: Option<&'static str>,
    },
    /// Each route with all columns of its record.
    Columns(ColumnsForm),
    /// The prefixes alone, in the language of a router or a firewall.
    List(ListTemplate),
    /// The addresses of the prefixes, without these.
    Addresses(fn(&RouteTable, &mut dyn Write) -> Result<(), WriteError>),
    /// The table in one piece, which a form needs that is no sequence of routes.
    Whole(fn(&RouteTable, &WriteOptions, &mut dyn Write) -> Result<(), WriteError>),
}
