//! What every format yields: routes, one at a time ([`RouteSource`]).
//!
//! To the rest of popfib a format is nothing else: a prefix, a text that stands for the next hop, and at the end what was left out.

use popfib::IpPrefix;
use popfib::image::Source;

use crate::error::ReadError;
use crate::peers::Peer;

/// One route of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route<'a> {
    /// The prefix; no host bits set.
    pub prefix: IpPrefix,
    /// The next hop as the source names it: an address, an AS number, any name; empty if its value is absent, or in a value-less list.
    /// Or, where [records](crate::ColumnSelection::are_records) are read, one as only [`load`](crate::load()) understands it.
    pub next_hop: &'a str,
}

/// The columns of records, as far as a source has met them.
#[derive(Clone, Debug)]
pub struct RecordColumns<'a> {
    /// Their names.
    pub names: &'a [String],
    /// The index of the one that is the value of a record.
    pub value: usize,
    /// Whether the next hop of a route is a whole [record](crate::ColumnSelection::are_records), and not the value of the
    /// only column.
    pub are_records: bool,
    /// That a column which was asked for by name was in no record, for an error: which it is, and which there are.
    pub missing: Option<String>,
}

/// A stream of routes, in the order of its file.
///
/// Not an [`Iterator`], because a route borrows the source's buffer: a table of
/// a million routes is read without a million strings.
pub trait RouteSource: Send {
    /// The next route; `None` at the end.
    ///
    /// # Errors
    /// A [`ReadError`] that names the place. After one that
    /// [concerns a single line](ReadError::is_invalid_line), the next call goes
    /// on after that line; any other ends the source.
    fn next_route(&mut self) -> Result<Option<Route<'_>>, ReadError>;

    /// Which updates were applied, for the user; `None` where there are none to apply.
    fn applied(&self) -> Option<String> {
        None
    }

    /// What was left out so far without being an error, for the user: a line
    /// for each kind, such as `3 records of unknown types left out`.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether a file without an error, in which there is no route and nothing was left out, is a list of none: not where damage
    /// would look the same.
    fn says_none(&self) -> bool {
        true
    }

    /// The columns of the records that routes lead to, where columns are read.
    fn columns(&self) -> Option<RecordColumns<'_>> {
        None
    }

    /// Whether routes have values, one that is absent included: false for a value-less list.
    fn has_values(&self) -> bool {
        self.columns().is_some()
    }

    /// What the file says of where its routes come from; empty where it says nothing.
    fn sources(&self) -> Vec<Source> {
        Vec::new()
    }

    /// The peers met so far, each with how many routes it has, wanted or not;
    /// none in formats that know of no peers.
    fn peers(&self) -> &[Peer] {
        &[]
    }
}
