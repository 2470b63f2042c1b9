//! What a form of tables is: its name, and how it is written, route by route or as a list.

use std::io::Write;

use super::error::WriteError;
use super::list::List;
use super::options::WriteOptions;
use super::records::RecordForm;
use crate::load::RouteTable;
use crate::route::Route;

/// Appends the bytes of a route, or says why the form cannot hold its next hop.
pub(super) type Append = fn(&mut Vec<u8>, Route<'_>) -> Result<(), &'static str>;

/// What `WriteFormat` knows about a form.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) alias: Option<&'static str>,
    pub(super) description: &'static str,
    pub(super) body: Body,
}

/// How a form is written.
pub(super) enum Body {
    /// Each route with its next hop.
    Routes {
        header: &'static str,
        /// The header of a list of prefixes, whose routes all have the empty next hop; or what they would need.
        list: Result<&'static str, &'static str>,
        append: Append,
        /// With all columns of records, where the form holds them.
        records: Option<RecordForm>,
    },
    /// The prefixes alone.
    List(List),
    /// The addresses of the prefixes.
    Addresses(fn(&RouteTable, &mut dyn Write) -> Result<(), WriteError>),
    /// The table in one piece.
    Whole(fn(&RouteTable, &WriteOptions, &mut dyn Write) -> Result<(), WriteError>),
}
