//! What a form of tables is: its name, and how a table becomes its bytes.
//!
//! There are four ways, and not one trait with a method for a whole table, so that what forms have in common (blocks, names of
//! next hops, what a list lacks) is done once, in [`write_table`](super::write_table).

use std::io::Write;

use popfib::IpPrefix;

use super::error::WriteError;
use super::list::ListTemplate;
use super::options::WriteOptions;
use super::records::RecordForm;
use crate::load::RouteTable;

/// Appends the bytes of a route, or says why the form cannot hold its next hop.
pub(super) type AppendRoute = fn(&mut Vec<u8>, IpPrefix, &str) -> Result<(), &'static str>;

/// What the module of a form declares.
pub(super) struct WriteEntry {
    pub(super) name: &'static str,
    /// Another, shorter name.
    pub(super) alias: Option<&'static str>,
    /// What it is, in one line for users.
    pub(super) description: &'static str,
    pub(super) method: WriteMethod,
}

/// How a form is written.
pub(super) enum WriteMethod {
    /// Each route with its next hop.
    Routes {
        /// What comes first.
        header: &'static str,
        /// The header of a list of prefixes, whose routes all have the empty next hop; or what each would need.
        list: Result<&'static str, &'static str>,
        append: AppendRoute,
        /// What follows the prefix of a route without a value, if the form holds one that way.
        absent: Option<&'static str>,
        /// How records are written with all columns, if the form holds them.
        records: Option<RecordForm>,
    },
    /// The prefixes alone, in the language of a router or a firewall.
    List(ListTemplate),
    /// The addresses of the prefixes, without these.
    Addresses(fn(&RouteTable, &mut dyn Write) -> Result<(), WriteError>),
    /// The table in one piece, which a form needs that is no sequence of routes.
    Whole(fn(&RouteTable, &WriteOptions, &mut dyn Write) -> Result<(), WriteError>),
}
